//! mg: a value, or what is known of it.

use super::flags::Flags;
use super::{BAD_FORMAT, Key, read, write_echoes, write_key, write_opaque, write_ttl, write_value};
use crate::number::write;
use crate::server::Cache;
use crate::store::{Found, Intent, Item, mark};

const TOO_MANY: &[u8] = b"CLIENT_ERROR options flags are too long\r\n";

pub fn get(arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) {
    let (key, flags) = match read(arguments, 0, cache.now, TOO_MANY, BAD_FORMAT) {
        Ok(read) => read,
        Err(words) => return output.extend_from_slice(words),
    };
    let start = output.len();
    let outcome = match find(&key, &flags, cache) {
        Some((found, created)) => hit(found, created, &flags, output, cache),
        None => miss(&key, &flags, output, cache),
    };
    if let Err(words) = outcome {
        output.truncate(start);
        output.extend_from_slice(words);
    }
}

/// The item, and whether it was made for this.
fn find(key: &Key, flags: &Flags<'_>, cache: &mut Cache) -> Option<(Found, bool)> {
    if let Some(found) = cache.store.find(key.as_slice(), cache.now) {
        return Some((found, false));
    }
    flags.vivify?;
    let intent = Intent { base64: key.base64, ..Intent::default() };
    cache.store.put_value(key.as_slice(), b"", intent, cache.now).ok()?;
    cache.store.find(key.as_slice(), cache.now).map(|found| (found, true))
}

fn hit(
    found: Found,
    created: bool,
    flags: &Flags<'_>,
    output: &mut Vec<u8>,
    cache: &mut Cache,
) -> Result<(), &'static [u8]> {
    let now = cache.now;
    let store = &mut cache.store;
    if flags.value {
        output.extend_from_slice(b"VA ");
        write(output, store.look(found).length() as u64);
    } else {
        output.extend_from_slice(b"HD");
    }
    let mut won = false;
    for word in flags.words {
        let item = store.look(found);
        match word[0] {
            b'T' => store.set_expiry(found, flags.expiry.unwrap_or(item.expiry())),
            b'N' if created => {
                store.set_expiry(found, flags.vivify.unwrap_or(item.expiry()));
                won = true;
            }
            b'R' => won |= !created && !item.has(mark::WON) && ends_before(item, flags),
            b's' => pair(b's', item.length() as u64, output),
            b'c' => pair(b'c', item.cas(), output),
            b'f' => pair(b'f', item.flags().into(), output),
            b'l' => pair(b'l', now.saturating_sub(item.last_used()).into(), output),
            b'h' => pair(b'h', item.has(mark::FETCHED).into(), output),
            b't' => {
                output.extend_from_slice(b" t");
                write_ttl(item.expiry(), now, output);
            }
            b'O' => write_opaque(word, output)?,
            b'k' => write_key(item.key(), item.has(mark::BASE64), output),
            _ => {}
        }
    }
    let item = store.look(found);
    let (sent, stale) = (item.has(mark::WON), item.has(mark::STALE));
    if sent {
        output.extend_from_slice(b" Z");
    }
    if stale {
        output.extend_from_slice(b" X");
        won |= !sent;
    }
    if won {
        output.extend_from_slice(b" W");
        store.set_marks(found, mark::WON, 0);
    }
    output.extend_from_slice(b"\r\n");
    if flags.value {
        write_value(store.look(found).value(), output);
    }
    if !flags.no_use {
        store.used(found, now);
    }
    let statistics = store.statistics_mut();
    let counter = if flags.expiry.is_some() { &mut statistics.touch_hits } else { &mut statistics.get_hits };
    *counter += 1;
    Ok(())
}

/// Whether less is left of an item than R asks for.
fn ends_before(item: Item<'_>, flags: &Flags<'_>) -> bool {
    let ends = item.expiry().at();
    let limit = flags.renew_before.and_then(|expiry| expiry.at()).unwrap_or(0);
    ends.is_some_and(|ends| ends < limit)
}

fn pair(letter: u8, number: u64, output: &mut Vec<u8>) {
    output.extend_from_slice(&[b' ', letter]);
    write(output, number);
}

fn miss(key: &Key, flags: &Flags<'_>, output: &mut Vec<u8>, cache: &mut Cache) -> Result<(), &'static [u8]> {
    cache.store.statistics_mut().get_misses += 1;
    let start = output.len();
    output.extend_from_slice(b"EN");
    write_echoes(flags, key, output)?;
    output.extend_from_slice(b"\r\n");
    if flags.quiet {
        output.truncate(start);
    }
    Ok(())
}
