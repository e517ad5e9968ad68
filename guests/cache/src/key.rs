//! What a key may be.

/// The longest key, in bytes, of every protocol.
pub const MAX_LENGTH: usize = 250;

/// Whether `key` is one: 1 to 250 bytes, none of them a blank or a control character.
pub fn is_valid(key: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&key.len()) && key.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_1_to_250_bytes_and_no_blank_or_control_character() {
        assert!(is_valid(b"k"));
        assert!(is_valid("schlüssel".as_bytes()));
        assert!(is_valid(&[b'k'; 250]));
        for wrong in [&b""[..], b"a b", b"a\r\n", b"a\0", b"a\x7f", &[b'k'; 251]] {
            assert!(!is_valid(wrong), "{wrong:?}");
        }
    }
}
