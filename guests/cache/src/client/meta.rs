//! memcached's meta protocol: `mg key v f k O7`, `VA 5 f0 kkey O7`. Every answer to something that is there carries the
//! request's key and its number.

use super::dialogue::{Asked, Dialogue, Kind, Protocol};
use super::words::{block, digits, length, line, number, parts, refusal, shown, signed, words};
use super::{Answer, Broken, Request};

/// A conversation in the meta protocol.
pub type Meta = Dialogue<MetaProtocol>;

#[derive(Debug)]
pub struct MetaProtocol;

impl Protocol for MetaProtocol {
    fn write(request: Request<'_>, number: u32, out: &mut Vec<u8>) {
        match request {
            Request::Get { key } => parts(out, &[b"mg ", key, b" v f"]),
            Request::Set { key, value, flags, expiry } => {
                parts(out, &[b"ms ", key, b" "]);
                digits(out, value.len() as u64);
                out.extend_from_slice(b" F");
                digits(out, flags.into());
                out.extend_from_slice(b" T");
                signed(out, expiry);
            }
            Request::Delete { key } => parts(out, &[b"md ", key]),
            Request::Increment { key, by } => {
                parts(out, &[b"ma ", key, b" v D"]);
                digits(out, by);
            }
        }
        out.extend_from_slice(b" k O");
        digits(out, number.into());
        out.extend_from_slice(b"\r\n");
        if let Request::Set { value, .. } = request {
            parts(out, &[value, b"\r\n"]);
        }
    }

    fn read<'a>(asked: Asked<'_>, bytes: &'a [u8], longest: usize) -> Result<Option<(Answer<'a>, usize)>, Broken> {
        let Some((first, behind)) = line(bytes)? else { return Ok(None) };
        if let Some(refusal) = refusal(first) {
            return Ok(Some((refusal, behind)));
        }
        let mut tokens = first.split(|byte| *byte == b' ').filter(|token| !token.is_empty());
        let answer = match (asked.kind, tokens.next().unwrap_or_default()) {
            (Kind::Get | Kind::Increment, b"VA") => {
                let length = length(tokens.next(), longest)?;
                let returned = Returned::read(asked, tokens, first)?.whole(first)?;
                let Some(value) = block(&bytes[behind..], length)? else { return Ok(None) };
                let answer = match asked.kind {
                    Kind::Get => {
                        let flags = returned.flags;
                        let flags = flags.ok_or_else(|| Broken(format!("no flags in {}", shown(first))))?;
                        Answer::Value { flags, value }
                    }
                    _ => {
                        let number = number(value).ok_or_else(|| Broken(format!("{} for a number", shown(value))))?;
                        Answer::Number(number)
                    }
                };
                return Ok(Some((answer, behind + length + 2)));
            }
            (Kind::Set | Kind::Delete, b"HD") => {
                Returned::read(asked, tokens, first)?.whole(first)?;
                Answer::Done
            }
            (Kind::Get, b"EN") | (Kind::Delete | Kind::Increment, b"NF") => {
                Returned::read(asked, tokens, first)?;
                Answer::Miss
            }
            (Kind::Set | Kind::Increment, b"NS") | (Kind::Set | Kind::Delete, b"EX") | (Kind::Set, b"NF") => {
                Returned::read(asked, tokens, first)?;
                Answer::Refused(words(first))
            }
            _ => return Err(Broken(format!("{} for an answer", shown(first)))),
        };
        Ok(Some((answer, behind)))
    }
}

/// What an answer gives back of its request.
#[derive(Default)]
struct Returned {
    key: bool,
    number: bool,
    flags: Option<u32>,
}

impl Returned {
    /// Whatever is given back must be the request's own. Flags that were not asked for are the server's business.
    fn read<'a>(asked: Asked<'_>, tokens: impl Iterator<Item = &'a [u8]>, line: &[u8]) -> Result<Self, Broken> {
        let mut returned = Self::default();
        for token in tokens {
            match token {
                [b'k', key @ ..] if key == asked.key => returned.key = true,
                [b'k', key @ ..] => {
                    return Err(Broken(format!("an answer about {} for {}", shown(key), shown(asked.key))));
                }
                [b'O', digits @ ..] if number(digits) == Some(asked.number.into()) => returned.number = true,
                [b'O', digits @ ..] => {
                    return Err(Broken(format!("the answer to request {} for {}", shown(digits), asked.number)));
                }
                [b'f', digits @ ..] => {
                    let flags = number(digits).and_then(|flags| u32::try_from(flags).ok());
                    returned.flags = Some(flags.ok_or_else(|| Broken(format!("no flags in {}", shown(line))))?);
                }
                _ => {}
            }
        }
        Ok(returned)
    }

    /// Where the key and the number must have come back.
    fn whole(self, line: &[u8]) -> Result<Self, Broken> {
        if self.key && self.number {
            return Ok(self);
        }
        Err(Broken(format!("{} without the key and number that were asked for", shown(line))))
    }
}
