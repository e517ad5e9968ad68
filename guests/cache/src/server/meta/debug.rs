//! me: what is known of an item, for people.

use super::super::text::{BAD_FORMAT, is_key};
use super::{Key, write_key_itself};
use crate::number::write;
use crate::server::Cache;
use crate::store::{Item, Seconds, mark};

pub fn debug(arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) {
    let Some((word, rest)) = arguments.split_first().filter(|(key, _)| is_key(key)) else {
        return output.extend_from_slice(BAD_FORMAT);
    };
    let is_base64 = rest.first().is_some_and(|flag| *flag == b"b");
    let key = if is_base64 { Key::base64(word) } else { Key::plain(word) };
    let Some(key) = key else { return output.extend_from_slice(BAD_FORMAT) };
    match cache.store.find(key.as_slice(), cache.now) {
        None => output.extend_from_slice(b"EN\r\n"),
        Some(found) => tell(cache.store.look(found), cache.now, output),
    }
}

/// The class is always the first, since there is one for all sizes.
fn tell(item: Item<'_>, now: Seconds, output: &mut Vec<u8>) {
    output.extend_from_slice(b"ME ");
    write_key_itself(item.key(), item.has(mark::BASE64), output);
    output.extend_from_slice(b" exp=");
    match item.expiry().at() {
        None => output.extend_from_slice(b"-1"),
        Some(at) => {
            // As memcached has it: what has passed of it, so negative while it lasts.
            if at > now {
                output.push(b'-');
            }
            write(output, at.abs_diff(now).into());
        }
    }
    output.extend_from_slice(b" la=");
    write(output, now.saturating_sub(item.last_used()).into());
    output.extend_from_slice(b" cas=");
    write(output, item.cas());
    output.extend_from_slice(if item.has(mark::FETCHED) { b" fetch=yes" } else { b" fetch=no" });
    output.extend_from_slice(b" cls=1 size=");
    write(output, item.footprint() as u64);
    output.extend_from_slice(b"\r\n");
}
