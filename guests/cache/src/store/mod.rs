//! What is kept: values by key, within a bound of memory, the least recently used forgotten first.
//!
//! A [`Store`] has no clock: every call that may find something is given the time, in [`Seconds`] since 1970. Values go in
//! whole ([`Store::set`], [`Store::put_value`]) or in pieces, as a [`Draft`]; either way they are kept within the bound
//! from their first byte on. A key is any bytes, at most 255 of them; what a protocol allows is asked before.
//!
//! - `blocks`: the memory; `head`: how an item lies in it; `index`, `order`: how it is found, and forgotten;
//! - [`Draft`]: storing, in each [`Mode`]; `arithmetic`: counting; [`Expiry`]: until when; [`Flush`]: from when on not;
//! - [`Statistics`].
//!
//! What was flushed or has expired is forgotten when it is looked for, or when its room is needed; nothing is done in
//! between. Left out: memcached's segments of the order of use, which save its threads from waiting for one another.

mod arithmetic;
mod blocks;
mod draft;
mod expiry;
mod flush;
mod head;
mod index;
mod item;
mod order;
mod statistics;

#[cfg(test)]
mod tests;

pub use arithmetic::{Change, Counted};
pub use blocks::Pieces;
pub use draft::{Draft, Intent, Mode, Outcome, Refusal};
pub use expiry::{Expiry, LONGEST_FROM_NOW, Seconds};
pub use flush::Flush;
pub use head::mark;
pub use item::Item;
pub use statistics::Statistics;

use blocks::{Blocks, SIZE};
use index::Index;
use order::Order;

/// The longest key, in bytes: its length is kept in one.
const LONGEST_KEY: usize = u8::MAX as usize;

/// What memcached adds to the bytes of a key and a value when it asks whether an item is too large. Ours is less; the same
/// items are refused.
const ITEM_OVERHEAD: usize = 59;

/// What it adds for flags that are not 0.
const FLAGS_OVERHEAD: usize = 4;

/// Values by key.
#[derive(Debug)]
pub struct Store {
    blocks: Blocks,
    index: Index,
    order: Order,
    limit: usize,
    max_item: usize,
    items: u64,
    /// The last that was given out.
    cas: u64,
    /// Items up to this cas were flushed.
    flushed: u64,
    /// The second in which, and from which on, everything that was stored until its end is flushed.
    flush_in: Option<Seconds>,
    statistics: Statistics,
}

/// An item that was found; good until the store changes in another way than through this.
#[derive(Debug, Clone, Copy)]
pub struct Found(u32);

impl Store {
    /// A store of at most `limit` bytes, its own bookkeeping included, for items of at most `max_item` bytes, memcached's
    /// bookkeeping included: 1 MiB there holds values of some 60 bytes and a key less.
    ///
    /// The memory is asked for as it is needed, and kept.
    pub fn new(limit: usize, max_item: usize) -> Self {
        let index_bytes = Index::bytes_for(limit);
        Self {
            blocks: Blocks::new(limit.saturating_sub(index_bytes)),
            index: Index::new(index_bytes),
            order: Order::new(),
            limit,
            max_item,
            items: 0,
            cas: 0,
            flushed: 0,
            flush_in: None,
            statistics: Statistics::default(),
        }
    }

    /// The value of a key. It is then the most recently used.
    pub fn get(&mut self, key: &[u8], now: Seconds) -> Option<Item<'_>> {
        let Some(found) = self.find(key, now) else {
            self.statistics.get_misses += 1;
            return None;
        };
        self.statistics.get_hits += 1;
        self.used(found, now);
        Some(self.item(found.0))
    }

    /// As [`Self::get`], and keeps it until `expiry`.
    pub fn touch(&mut self, key: &[u8], expiry: Expiry, now: Seconds) -> Option<Item<'_>> {
        let Some(found) = self.find(key, now) else {
            self.statistics.touch_misses += 1;
            return None;
        };
        self.statistics.touch_hits += 1;
        self.set_expiry(found, expiry);
        self.used(found, now);
        Some(self.item(found.0))
    }

    /// Stores a value under a key, and says with which cas.
    ///
    /// # Errors
    /// Where it cannot be stored; what was there is then removed.
    pub fn set(&mut self, key: &[u8], value: &[u8], flags: u32, expiry: Expiry, now: Seconds) -> Result<u64, Refusal> {
        self.statistics.cmd_set += 1;
        self.put_value(key, value, Intent { flags, expiry, ..Intent::default() }, now)
    }

    /// Removes a key; whether it was there.
    pub fn delete(&mut self, key: &[u8], now: Seconds) -> bool {
        let found = self.remove(key, now);
        let counter = if found { &mut self.statistics.delete_hits } else { &mut self.statistics.delete_misses };
        *counter += 1;
        found
    }

    /// Adds to the number that is kept in decimal digits under a key.
    pub fn increment(&mut self, key: &[u8], by: u64, now: Seconds) -> Counted {
        self.count(key, Change::Up(by), 0, now)
    }

    /// Forgets everything that is there, now or at a time to come. A later call takes the place of one to come.
    pub fn flush(&mut self, when: Flush, now: Seconds) {
        self.statistics.cmd_flush += 1;
        self.flush_in = match when {
            Flush::In(second) if second >= now => Some(second),
            Flush::Now | Flush::In(_) | Flush::Never => None,
        };
        if self.flush_in.is_none_or(|second| second == now) {
            // A cas is used up, as by memcached.
            self.cas += 1;
        }
        if self.flush_in.is_none() && when != Flush::Never {
            self.flushed = self.cas;
        }
    }

    /// The item of a key, without counting it as used.
    pub fn find(&mut self, key: &[u8], now: Seconds) -> Option<Found> {
        let hash = self.index.hash(key);
        self.flush_if_due(now);
        let item = self.index.find(&self.blocks, hash, key)?;
        self.alive(item, now)
    }

    /// The item that has the key of another, which is in no order.
    fn item_of(&mut self, draft: u32, now: Seconds) -> Option<u32> {
        let mut key = [0; LONGEST_KEY];
        let key = draft::copy(self.item(draft).key(), &mut key);
        let hash = self.blocks.word(draft, head::HASH);
        self.flush_if_due(now);
        let item = self.index.find(&self.blocks, hash, key)?;
        self.alive(item, now).map(|found| found.0)
    }

    fn flush_if_due(&mut self, now: Seconds) {
        if let Some(second) = self.flush_in.filter(|second| *second <= now) {
            // While that second lasts, what is stored in it goes too.
            self.flush_in = (second == now).then_some(second);
            self.flushed = self.cas;
        }
    }

    /// The item, unless it was flushed or has expired: then it is forgotten.
    fn alive(&mut self, item: u32, now: Seconds) -> Option<Found> {
        if self.item(item).cas() <= self.flushed {
            self.statistics.get_flushed += 1;
        } else if self.item(item).expiry().has_passed(now) {
            self.statistics.get_expired += 1;
        } else {
            return Some(Found(item));
        }
        self.forget(item);
        None
    }

    /// What is known of an item that was found.
    pub fn look(&self, found: Found) -> Item<'_> {
        self.item(found.0)
    }

    /// Counts an item as used now.
    pub fn used(&mut self, found: Found, now: Seconds) {
        self.set_marks(found, mark::FETCHED, 0);
        self.blocks.set_word(found.0, head::LAST_USED, now);
        self.order.renew(&mut self.blocks, found.0);
    }

    pub fn set_expiry(&mut self, found: Found, expiry: Expiry) {
        self.blocks.set_word(found.0, head::EXPIRY, expiry.word());
    }

    /// Sets some bits of [`mark`] and takes away others.
    pub fn set_marks(&mut self, found: Found, set: u8, taken_away: u8) {
        let marks = head::marks(&self.blocks, found.0) & !taken_away | set;
        head::set_marks(&mut self.blocks, found.0, marks);
    }

    /// Gives an item another cas, as a change does.
    pub fn renew_cas(&mut self, found: Found) {
        self.cas += 1;
        head::set_cas(&mut self.blocks, found.0, self.cas);
    }

    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    pub fn statistics_mut(&mut self) -> &mut Statistics {
        &mut self.statistics
    }

    /// Items there are, those included that have expired and were not looked for since.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Bytes that items take, those being written included.
    pub fn bytes(&self) -> u64 {
        u64::from(self.blocks.used()) * SIZE as u64
    }

    /// The bound, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The largest item, in bytes.
    pub fn max_item(&self) -> usize {
        self.max_item
    }

    fn fits(&self, key: usize, value: usize, flags: u32) -> bool {
        let flags = if flags == 0 { 0 } else { FLAGS_OVERHEAD };
        let size = ITEM_OVERHEAD.saturating_add(flags).saturating_add(key).saturating_add(value);
        size <= self.max_item && u32::try_from(value).is_ok()
    }

    /// Stores a value that is there whole, whatever the mode says of counting.
    pub fn put_value(&mut self, key: &[u8], value: &[u8], intent: Intent, now: Seconds) -> Result<u64, Refusal> {
        let mut draft = self.draft(key, value.len(), Intent { mode: Mode::Set, ..intent }, now)?;
        if let Err(refusal) = self.write(&mut draft, value) {
            self.discard(draft);
            self.remove(key, now);
            return Err(refusal);
        }
        let old = self.item_of(draft.first, now);
        Ok(self.put(draft.first, old, now))
    }

    /// Puts a written item into the place of another, or of none.
    fn put(&mut self, new: u32, old: Option<u32>, now: Seconds) -> u64 {
        if let Some(old) = old {
            self.forget(old);
        }
        self.blocks.set_word(new, head::LAST_USED, now);
        self.index.insert(&mut self.blocks, new);
        self.order.insert(&mut self.blocks, new);
        self.renew_cas(Found(new));
        self.items += 1;
        self.statistics.total_items += 1;
        self.cas
    }

    /// Removes a key without counting; whether it was there.
    pub fn remove(&mut self, key: &[u8], now: Seconds) -> bool {
        let found = self.find(key, now);
        found.into_iter().for_each(|found| self.forget(found.0));
        found.is_some()
    }

    fn forget(&mut self, item: u32) {
        self.index.remove(&mut self.blocks, item);
        self.order.remove(&mut self.blocks, item);
        self.blocks.give_back(item);
        self.items -= 1;
    }

    /// A block, for which items are forgotten if it must be; `None` if there is none to forget.
    fn take_block(&mut self) -> Option<u32> {
        loop {
            if let Some(block) = self.blocks.take() {
                return Some(block);
            }
            let oldest = self.order.oldest()?;
            let flushed = self.item(oldest).cas() <= self.flushed;
            let counter = if flushed { &mut self.statistics.reclaimed } else { &mut self.statistics.evictions };
            *counter += 1;
            self.forget(oldest);
        }
    }

    fn item(&self, item: u32) -> Item<'_> {
        Item::new(&self.blocks, item)
    }
}

/// Bytes of the blocks of an item whose key and value have so many together.
fn footprint(bytes: usize) -> usize {
    let behind = bytes.saturating_sub(SIZE - head::BYTES);
    SIZE * (1 + behind.div_ceil(SIZE - blocks::CONTINUED))
}
