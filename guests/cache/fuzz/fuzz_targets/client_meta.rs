//! The client's side of the meta protocol.

#![no_main]

mod conversation;

use cache::client::Meta;

libfuzzer_sys::fuzz_target!(|input: &[u8]| conversation::feed(Meta::new, input));
