//! Decimal numbers as memcached reads them, which is as C's `strtol` and its kin do: blanks and a sign may come first,
//! and the number ends with the text or at a blank.

/// A number below 2^64. A negative one is taken modulo that, unless what comes of it has the highest bit.
pub fn unsigned(text: &[u8]) -> Option<u64> {
    unsigned_of(text.iter().copied())
}

/// The same of text that comes a byte at a time.
pub fn unsigned_of(text: impl Iterator<Item = u8>) -> Option<u64> {
    let (negative, magnitude) = read(text)?;
    if !negative {
        return Some(magnitude);
    }
    let number = magnitude.wrapping_neg();
    (number >> 63 == 0).then_some(number)
}

/// The lowest 32 bits of one.
pub fn unsigned32(text: &[u8]) -> Option<u32> {
    unsigned(text).map(|number| number as u32)
}

/// The lowest 32 bits of a number of 64, which may be negative.
pub fn signed32(text: &[u8]) -> Option<i32> {
    let (negative, magnitude) = read(text.iter().copied())?;
    let magnitude = i128::from(magnitude);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok().map(|number| number as i32)
}

/// Whether there is a minus, and what follows it.
fn read(text: impl Iterator<Item = u8>) -> Option<(bool, u64)> {
    let mut text = text.skip_while(|byte| is_blank(*byte)).peekable();
    let negative = *text.peek()? == b'-';
    text.next_if(|byte| matches!(byte, b'-' | b'+'));
    let mut magnitude: Option<u64> = None;
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                magnitude = Some(magnitude.unwrap_or(0).checked_mul(10)?.checked_add(digit)?);
            }
            0 => break,
            blank if is_blank(blank) => break,
            _ => return None,
        }
    }
    Some((negative, magnitude?))
}

/// C's `isspace`.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Writes the digits of `number` behind what is in `out`. The formatting of the standard library takes several times as long,
/// and a request has up to four numbers.
pub fn write(out: &mut Vec<u8>, number: u64) {
    let (digits, start) = digits(number);
    out.extend_from_slice(&digits[start..]);
}

/// The digits of `number`, and where they begin.
pub fn digits(mut number: u64) -> ([u8; 20], usize) {
    // As many as the largest number has.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return (digits, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (text, number) in [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("  12", Some(12)),
            ("12 x", Some(12)),
            ("12x", None),
            ("+5", Some(5)),
            ("-1", None),
            ("-0", Some(0)),
            ("-18446744073709551615", Some(1)),
            ("", None),
            (" ", None),
            ("-", None),
        ] {
            assert_eq!(unsigned(text.as_bytes()), number, "{text:?}");
        }
        assert_eq!(signed32(b"-2147483648"), Some(i32::MIN));
        assert_eq!(signed32(b"4294967297"), Some(1));
        assert_eq!(signed32(b"9223372036854775808"), None);
        assert_eq!(signed32(b"-99999999999999999999"), None);
        assert_eq!(unsigned32(b"4294967297"), Some(1));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for number in [0, 9, 10, 1234, u64::MAX] {
            let mut out = Vec::new();
            write(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
            assert_eq!(unsigned(&out), Some(number));
        }
    }
}
