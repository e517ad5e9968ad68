//! The server's side of the meta protocol: an item is there, and the first line is a meta command.

#![no_main]

mod session;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session::feed(b"ms k 1\r\n7\r\nm", input));
