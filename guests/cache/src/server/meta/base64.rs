//! Base64, as keys come in it.
//!
//! What is none of its letters is passed over, as memcached does; what is left must be whole groups of four.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes into `into`, and says how many bytes that were. `None` where it is not base64, is empty, or is too long.
pub fn decode(text: &[u8], into: &mut [u8]) -> Option<usize> {
    let letters = || text.iter().filter_map(|letter| sextet(*letter));
    let count = letters().count();
    if count == 0 || !count.is_multiple_of(4) {
        return None;
    }
    let mut length = 0;
    let mut group = 0_u32;
    let mut padding = 0;
    for (place, sextet) in letters().enumerate() {
        padding += usize::from(sextet.is_none());
        group = group << 6 | sextet.unwrap_or(0);
        if place % 4 < 3 {
            continue;
        }
        let bytes = 3_usize.checked_sub(padding).filter(|bytes| *bytes > 0)?;
        into.get_mut(length..length + bytes)?.copy_from_slice(&group.to_be_bytes()[1..1 + bytes]);
        length += bytes;
        group = 0;
        if padding > 0 {
            break;
        }
    }
    Some(length)
}

/// What a letter stands for: six bits, or nothing for padding. `None` for what is no letter.
fn sextet(letter: u8) -> Option<Option<u32>> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        b'=' => return Some(None),
        _ => return None,
    };
    Some(Some(value.into()))
}

/// Writes bytes in base64, padded.
pub fn encode(mut bytes: impl Iterator<Item = u8>, output: &mut Vec<u8>) {
    while let Some(first) = bytes.next() {
        let (second, third) = (bytes.next(), bytes.next());
        let group = u32::from_be_bytes([0, first, second.unwrap_or(0), third.unwrap_or(0)]);
        let letter = |shift: u32| LETTERS[(group >> shift & 63) as usize];
        output.extend_from_slice(&[letter(18), letter(12)]);
        output.push(if second.is_some() { letter(6) } else { b'=' });
        output.push(if third.is_some() { letter(0) } else { b'=' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<Vec<u8>> {
        let mut into = [0; 250];
        decode(text.as_bytes(), &mut into).map(|length| into[..length].to_vec())
    }

    #[test]
    fn what_is_encoded_is_decoded_again() {
        for length in 0..=64_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            let mut text = Vec::new();
            encode(bytes.iter().copied(), &mut text);
            let text = String::from_utf8(text).expect("letters are ASCII");
            assert_eq!(decoded(&text), (length > 0).then_some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_whole_groups_is_refused() {
        for text in ["", "YWJ", "YWJjZ", "====", "Y===", "!!!!"] {
            assert_eq!(decoded(text), None, "{text}");
        }
        assert_eq!(decoded("YW-Jj").as_deref(), Some(&b"abc"[..]));
    }
}
