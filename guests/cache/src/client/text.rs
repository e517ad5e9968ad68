//! memcached's text protocol, the oldest: `get key`, `VALUE key 0 5`, `END`.

use super::dialogue::{Asked, Dialogue, Kind, Protocol};
use super::words::{block, digits, length, line, number, parts, refusal, shown, signed, words};
use super::{Answer, Broken, Request};

/// A conversation in the text protocol.
pub type Text = Dialogue<TextProtocol>;

#[derive(Debug)]
pub struct TextProtocol;

/// Ends the answer to a get.
const END: &[u8] = b"END\r\n";

impl Protocol for TextProtocol {
    fn write(request: Request<'_>, _: u32, out: &mut Vec<u8>) {
        match request {
            Request::Get { key } => parts(out, &[b"get ", key]),
            Request::Set { key, value, flags, expiry } => {
                parts(out, &[b"set ", key, b" "]);
                digits(out, flags.into());
                out.push(b' ');
                signed(out, expiry);
                out.push(b' ');
                digits(out, value.len() as u64);
                parts(out, &[b"\r\n", value]);
            }
            Request::Delete { key } => parts(out, &[b"delete ", key]),
            Request::Increment { key, by } => {
                parts(out, &[b"incr ", key, b" "]);
                digits(out, by);
            }
        }
        out.extend_from_slice(b"\r\n");
    }

    fn read<'a>(asked: Asked<'_>, bytes: &'a [u8], longest: usize) -> Result<Option<(Answer<'a>, usize)>, Broken> {
        let Some((first, behind)) = line(bytes)? else { return Ok(None) };
        if let Some(refusal) = refusal(first) {
            return Ok(Some((refusal, behind)));
        }
        let answer = match (asked.kind, first) {
            (Kind::Get, b"END") => Answer::Miss,
            (Kind::Get, _) => return value(asked.key, first, &bytes[behind..], longest, behind),
            (Kind::Set, b"STORED") | (Kind::Delete, b"DELETED") => Answer::Done,
            (Kind::Set, b"NOT_STORED" | b"EXISTS" | b"NOT_FOUND") => Answer::Refused(words(first)),
            (Kind::Delete | Kind::Increment, b"NOT_FOUND") => Answer::Miss,
            (Kind::Increment, digits) if number(digits).is_some() => Answer::Number(number(digits).unwrap_or_default()),
            _ => return Err(Broken(format!("{} for an answer", shown(first)))),
        };
        Ok(Some((answer, behind)))
    }
}

/// The rest of an answer that begins with a value's first line, which had `before` bytes.
fn value<'a>(
    key: &[u8],
    first: &[u8],
    bytes: &'a [u8],
    longest: usize,
    before: usize,
) -> Result<Option<(Answer<'a>, usize)>, Broken> {
    let mut words = first.split(|byte| *byte == b' ');
    if words.next() != Some(b"VALUE") {
        return Err(Broken(format!("{} for an answer", shown(first))));
    }
    let answered = words.next().unwrap_or_default();
    if answered != key {
        return Err(Broken(format!("the value of {} for that of {}", shown(answered), shown(key))));
    }
    let flags = words.next().and_then(number).and_then(|flags| u32::try_from(flags).ok());
    let flags = flags.ok_or_else(|| Broken(format!("no flags in {}", shown(first))))?;
    let length = length(words.next(), longest)?;
    if words.next().is_some() {
        return Err(Broken(format!("more than was asked for in {}", shown(first))));
    }
    let Some(value) = block(bytes, length)? else { return Ok(None) };
    let rest = &bytes[length + 2..];
    let end = &rest[..rest.len().min(END.len())];
    if !END.starts_with(end) {
        return Err(Broken(format!("{} where a value's answer ends", shown(end))));
    }
    let whole = end.len() == END.len();
    Ok(whole.then(|| (Answer::Value { flags, value }, before + length + 2 + END.len())))
}
