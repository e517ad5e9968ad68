//! Numbers that are kept in decimal digits.

use super::draft::Intent;
use super::{Found, Mode, Seconds, Store, head};
use crate::number;

/// What is done to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Modulo 2^64.
    Up(u64),
    /// Down to 0 and not below.
    Down(u64),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The number that is kept now.
    Number(u64),
    NotFound,
    /// What is kept is no number.
    NoNumber,
    /// Another cas than the one to compare with.
    Exists,
    /// No room for a digit more.
    NoRoom,
}

impl Store {
    /// Changes a number, if its cas is `compare`; 0 is any.
    pub fn count(&mut self, key: &[u8], change: Change, compare: u64, now: Seconds) -> Counted {
        let counted = self.counted(key, change, compare, now);
        let (hits, misses) = match change {
            Change::Up(_) => (&mut self.statistics.incr_hits, &mut self.statistics.incr_misses),
            Change::Down(_) => (&mut self.statistics.decr_hits, &mut self.statistics.decr_misses),
        };
        match counted {
            Counted::Number(_) => *hits += 1,
            Counted::NotFound => *misses += 1,
            _ => {}
        }
        counted
    }

    fn counted(&mut self, key: &[u8], change: Change, compare: u64, now: Seconds) -> Counted {
        let Some(found) = self.find(key, now) else { return Counted::NotFound };
        if self.item(found.0).length() == 0 {
            return Counted::NoNumber;
        }
        if compare != 0 && compare != self.item(found.0).cas() {
            return Counted::Exists;
        }
        let bytes = self.item(found.0).value().flatten().copied();
        let Some(before) = number::unsigned_of(bytes) else { return Counted::NoNumber };
        let after = match change {
            Change::Up(by) => before.wrapping_add(by),
            Change::Down(by) => before.saturating_sub(by),
        };
        if self.keep(key, found, after, now) { Counted::Number(after) } else { Counted::NoRoom }
    }

    /// Puts a number in the place of another: where there is room for its digits with blanks behind them, else as a new
    /// item. Whether that was possible.
    fn keep(&mut self, key: &[u8], found: Found, after: u64, now: Seconds) -> bool {
        let (digits, start) = number::digits(after);
        let digits = &digits[start..];
        let item = self.item(found.0);
        if digits.len() <= item.length() {
            let padding = std::iter::repeat_n(&b' ', item.length() - digits.len());
            self.overwrite(found, digits.iter().chain(padding).copied());
            self.renew_cas(found);
            self.order.renew(&mut self.blocks, found.0);
            return true;
        }
        let intent = Intent { mode: Mode::Set, flags: item.flags(), expiry: item.expiry(), ..Intent::default() };
        self.put_value(key, digits, intent, now).is_ok()
    }

    /// Writes over the first bytes of a value, which are at least as many.
    fn overwrite(&mut self, found: Found, bytes: impl Iterator<Item = u8>) {
        let mut block = found.0;
        let mut at = head::BYTES + head::key_length(&self.blocks, block);
        for byte in bytes {
            while at >= super::blocks::SIZE {
                block = self.blocks.word(block, 0);
                at -= super::blocks::SIZE - super::blocks::CONTINUED;
            }
            self.blocks.block_mut(block)[at] = byte;
            at += 1;
        }
    }
}
