//! md: removes a value, or marks it as stale.

use super::{read, write_echoes};
use crate::server::Cache;
use crate::store::mark;

const TOO_MANY: &[u8] = b"CLIENT_ERROR options flags too long\r\n";

/// What memcached says of md and ma, whatever is wrong with their flags.
pub const BAD_FLAGS: &[u8] = b"CLIENT_ERROR invalid or duplicate flag\r\n";

pub fn delete(arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) {
    let (key, flags) = match read(arguments, 0, cache.now, TOO_MANY, BAD_FLAGS) {
        Ok(read) => read,
        Err(words) => return output.extend_from_slice(about_flags(words, TOO_MANY)),
    };
    let start = output.len();
    // The outcome is known last and stands first.
    output.extend_from_slice(b"HD");
    if let Err(words) = write_echoes(&flags, &key, output) {
        output.truncate(start);
        return output.extend_from_slice(words);
    }
    output.extend_from_slice(b"\r\n");
    let store = &mut cache.store;
    let code = match store.find(key.as_slice(), cache.now) {
        None => {
            store.statistics_mut().delete_misses += 1;
            b"NF"
        }
        Some(found) if flags.compare.is_some_and(|cas| cas != store.look(found).cas()) => {
            store.statistics_mut().delete_misses += 1;
            b"EX"
        }
        Some(found) if flags.stale => {
            flags.expiry.into_iter().for_each(|expiry| store.set_expiry(found, expiry));
            // The next who asks is to renew it.
            store.set_marks(found, mark::STALE, mark::WON);
            store.renew_cas(found);
            b"HD"
        }
        Some(_) => {
            store.delete(key.as_slice(), cache.now);
            b"HD"
        }
    };
    if code == b"HD" && flags.quiet {
        output.truncate(start);
    } else {
        output[start..start + 2].copy_from_slice(code);
    }
}

/// Of an error in reading a line: [`BAD_FLAGS`] if it was in the flags.
pub fn about_flags(error: &'static [u8], too_many: &'static [u8]) -> &'static [u8] {
    if [super::ERROR, super::BAD_FORMAT, too_many].contains(&error) { error } else { BAD_FLAGS }
}
