//! The server's side of the binary protocol: the first byte begins a frame.

#![no_main]

mod session;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session::feed(&[0x80], input));
