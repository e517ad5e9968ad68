//! get, getk, touch, gat, gatk.

use super::frame::{Frame, Lengths, Status};
use crate::binary::{HEADER, opcode};
use crate::server::Cache;
use crate::store::{Expiry, Item};

pub fn get(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) {
    match cache.store.get(frame.key, cache.now) {
        Some(item) => hit(frame, item, output),
        None => miss(frame, output),
    }
}

pub fn touch(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) {
    let [a, b, c, d] = *frame.extras else { return };
    // Negative times cannot be said in this protocol.
    let expiry = Expiry::from_client(u32::from_be_bytes([a, b, c, d]).into(), cache.now);
    match cache.store.touch(frame.key, expiry, cache.now) {
        Some(item) => hit(frame, item, output),
        None => miss(frame, output),
    }
}

/// Whether the key is given back.
fn names_key(frame: Frame<'_>) -> bool {
    matches!(frame.asked.command, opcode::GETK | opcode::GATK)
}

fn hit(frame: Frame<'_>, item: Item<'_>, output: &mut Vec<u8>) {
    let key = if names_key(frame) { frame.key } else { &[] };
    let with_value = frame.asked.command != opcode::TOUCH;
    let value = if with_value { item.length() } else { 0 };
    output.reserve(HEADER + 4 + key.len() + value);
    frame.asked.header(0, Lengths { extras: 4, key: key.len(), value }, item.cas(), output);
    output.extend_from_slice(&item.flags().to_be_bytes());
    output.extend_from_slice(key);
    if with_value {
        item.value().for_each(|piece| output.extend_from_slice(piece));
    }
}

fn miss(frame: Frame<'_>, output: &mut Vec<u8>) {
    if frame.asked.is_quiet {
        return;
    }
    if names_key(frame) {
        let lengths = Lengths { key: frame.key.len(), ..Lengths::default() };
        frame.asked.header(Status::NotFound as u16, lengths, 0, output);
        output.extend_from_slice(frame.key);
    } else {
        frame.asked.error(Status::NotFound, output);
    }
}
