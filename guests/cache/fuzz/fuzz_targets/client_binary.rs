//! The client's side of the binary protocol.

#![no_main]

mod conversation;

use cache::client::Binary;

libfuzzer_sys::fuzz_target!(|input: &[u8]| conversation::feed(Binary::new, input));
