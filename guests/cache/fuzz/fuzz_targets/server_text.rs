//! The server's side of the text protocol.

#![no_main]

mod session;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session::feed(b"", input));
