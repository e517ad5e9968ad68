//! The client's side of the text protocol.

#![no_main]

mod conversation;

use cache::client::Text;

libfuzzer_sys::fuzz_target!(|input: &[u8]| conversation::feed(Text::new, input));
