//! What the protocols that are made of lines share: lines, numbers, refusals.

use std::borrow::Cow;

pub use crate::number::write as digits;

use super::{Answer, Broken};

/// The longest line that is waited for, in bytes: a value's first line has 300 at most, an error's words somewhat more.
pub const LONGEST_LINE: usize = 2048;

/// A line of the front of `bytes` without its end, and where what follows it begins; `None` while its end has not come.
pub fn line(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, Broken> {
    let looked_at = &bytes[..bytes.len().min(LONGEST_LINE)];
    match looked_at.iter().position(|byte| *byte == b'\n') {
        Some(end) if looked_at[..end].ends_with(b"\r") => Ok(Some((&bytes[..end - 1], end + 1))),
        Some(end) => Err(Broken(format!("a line without its carriage return: {}", shown(&bytes[..end])))),
        None if bytes.len() >= LONGEST_LINE => {
            Err(Broken(format!("a line of more than {LONGEST_LINE} bytes: {}", shown(bytes))))
        }
        None => Ok(None),
    }
}

/// A block of data of a stated length and the line end behind it; `None` while they have not come whole.
pub fn block(bytes: &[u8], length: usize) -> Result<Option<&[u8]>, Broken> {
    // What has come of the line end is looked at as soon as it has: a wrong length must not wait for bytes that never come.
    let behind = bytes.get(length..).unwrap_or_default();
    let end = &behind[..behind.len().min(2)];
    if !b"\r\n".starts_with(end) {
        return Err(Broken(format!("a value that goes on after the {length} bytes it was to have")));
    }
    Ok((end.len() == 2).then(|| &bytes[..length]))
}

/// A length that a value may have.
pub fn length(word: Option<&[u8]>, longest: usize) -> Result<usize, Broken> {
    let length = number(word.unwrap_or_default());
    let length = length.ok_or_else(|| Broken(format!("no length: {}", shown(word.unwrap_or_default()))))?;
    let fits = usize::try_from(length).ok().filter(|length| *length <= longest);
    fits.ok_or_else(|| Broken(format!("a value of {length} bytes, of which {longest} are taken")))
}

/// Decimal digits and nothing else.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Writes a number that may be negative.
pub fn signed(out: &mut Vec<u8>, number: i32) {
    if number < 0 {
        out.push(b'-');
    }
    digits(out, number.unsigned_abs().into());
}

/// Puts parts behind each other.
pub fn parts(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// The words of a line that refuses whatever was asked.
pub fn refusal(line: &[u8]) -> Option<Answer<'_>> {
    let word = line.split(|byte| *byte == b' ').next()?;
    let refuses = [&b"ERROR"[..], b"CLIENT_ERROR", b"SERVER_ERROR"].contains(&word);
    refuses.then(|| Answer::Refused(words(line)))
}

/// A server's words, as text.
pub fn words(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Bytes for a message: their beginning, and nothing in it that a terminal would obey.
pub fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let more = if bytes.len() > MOST { "…" } else { "" };
    format!("`{}`{more}", bytes[..bytes.len().min(MOST)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_that_fit() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [&b""[..], b"-1", b"+1", b" 1", b"1 ", b"0x1", b"18446744073709551616"] {
            assert_eq!(number(wrong), None, "{}", shown(wrong));
        }
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for number in [0, 9, 10, 1234567890, u64::MAX] {
            let mut out = Vec::new();
            digits(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
        }
        for number in [i32::MIN, -1, 0, 7, i32::MAX] {
            let mut out = Vec::new();
            signed(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }

    #[test]
    fn a_line_ends_with_both_of_its_ends_and_within_its_bound() {
        assert_eq!(line(b"END\r\nx"), Ok(Some((&b"END"[..], 5))));
        assert_eq!(line(b"END\r"), Ok(None));
        assert!(line(b"END\n").is_err());
        assert_eq!(line(&[b'x'; LONGEST_LINE - 1]), Ok(None));
        assert!(line(&[b'x'; LONGEST_LINE]).is_err());
    }

    #[test]
    fn a_block_that_is_longer_than_stated_is_seen_before_it_ends() {
        assert_eq!(block(b"abc\r\n", 3), Ok(Some(&b"abc"[..])));
        assert_eq!(block(b"abc\r", 3), Ok(None));
        assert_eq!(block(b"ab", 3), Ok(None));
        assert!(block(b"abcd", 3).is_err());
        assert!(block(b"abc\rd", 3).is_err());
    }
}
