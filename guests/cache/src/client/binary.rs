//! memcached's binary protocol: a header of 24 bytes each way, then extras, key and value, all numbers big-endian.

use super::dialogue::{Asked, Dialogue, Kind, Protocol};
use super::words::{shown, words};
use super::{Answer, Broken, Request};
use crate::binary::{DO_NOT_CREATE, HEADER, REQUEST, RESPONSE, opcode};
use crate::key::MAX_LENGTH;
use crate::store::LONGEST_FROM_NOW;

/// A conversation in the binary protocol.
pub type Binary = Dialogue<BinaryProtocol>;

#[derive(Debug)]
pub struct BinaryProtocol;

/// Bytes of the longest extras of any answer: a value's flags.
const EXTRAS: usize = 4;

/// An expiry that has passed whatever the time is: the first that is read as a time since 1970, and not from now.
const LONG_AGO: u32 = LONGEST_FROM_NOW as u32 + 1;

mod status {
    pub const OK: u16 = 0;
    pub const NO_SUCH_KEY: u16 = 1;
}

impl Kind {
    /// A get is the one whose answer gives back the key.
    fn opcode(self) -> u8 {
        match self {
            Self::Get => opcode::GETK,
            Self::Set => opcode::SET,
            Self::Delete => opcode::DELETE,
            Self::Increment => opcode::INCREMENT,
        }
    }
}

impl Protocol for BinaryProtocol {
    fn write(request: Request<'_>, number: u32, out: &mut Vec<u8>) {
        match request {
            Request::Get { key } => put(out, Kind::Get, number, &[], key, &[]),
            Request::Set { key, value, flags, expiry } => {
                // There is no negative here: it would be a time in 2106.
                let expiry = u32::try_from(expiry).unwrap_or(LONG_AGO);
                let extras = [flags.to_be_bytes(), expiry.to_be_bytes()];
                put(out, Kind::Set, number, extras.as_flattened(), key, value);
            }
            Request::Delete { key } => put(out, Kind::Delete, number, &[], key, &[]),
            Request::Increment { key, by } => {
                let mut extras = [0; 20];
                extras[..8].copy_from_slice(&by.to_be_bytes());
                extras[16..].copy_from_slice(&DO_NOT_CREATE.to_be_bytes());
                put(out, Kind::Increment, number, &extras, key, &[]);
            }
        }
    }

    fn read<'a>(asked: Asked<'_>, bytes: &'a [u8], longest: usize) -> Result<Option<(Answer<'a>, usize)>, Broken> {
        // Before there is a header: a server that speaks something else may never send that much.
        if let Some(magic) = bytes.first().filter(|magic| **magic != RESPONSE) {
            return Err(Broken(format!("the byte {magic:#04x} where an answer begins: {}", shown(bytes))));
        }
        let Some((header, body)) = bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
        let header = Header::read(header);
        header.check(asked, longest)?;
        let Some(body) = body.get(..header.body) else { return Ok(None) };
        Ok(Some((answer(asked, &header, body)?, HEADER + header.body)))
    }
}

/// What a header says, lengths in bytes.
struct Header {
    opcode: u8,
    status: u16,
    extras: usize,
    key: usize,
    /// All that follows the header.
    body: usize,
    number: u32,
}

impl Header {
    fn read(bytes: &[u8; HEADER]) -> Self {
        let [
            _,
            opcode,
            key1,
            key2,
            extras,
            _,
            status1,
            status2,
            body1,
            body2,
            body3,
            body4,
            opaque1,
            opaque2,
            opaque3,
            opaque4,
            ..,
        ] = *bytes;
        Self {
            opcode,
            status: u16::from_be_bytes([status1, status2]),
            extras: extras.into(),
            key: u16::from_be_bytes([key1, key2]).into(),
            // A length that this machine cannot count is longer than any that is taken.
            body: usize::try_from(u32::from_be_bytes([body1, body2, body3, body4])).unwrap_or(usize::MAX),
            number: u32::from_be_bytes([opaque1, opaque2, opaque3, opaque4]),
        }
    }

    fn check(&self, asked: Asked<'_>, longest: usize) -> Result<(), Broken> {
        if self.number != asked.number {
            return Err(Broken(format!("the answer to request {} for {}", self.number, asked.number)));
        }
        if self.opcode != asked.kind.opcode() {
            let asked = asked.kind.opcode();
            return Err(Broken(format!("an answer to operation {:#04x} for {asked:#04x}", self.opcode)));
        }
        if self.extras + self.key > self.body {
            let Self { extras, key, body, .. } = self;
            return Err(Broken(format!("{extras} bytes of extras and {key} of key in a body of {body}")));
        }
        let most = EXTRAS + MAX_LENGTH + longest;
        if self.body > most {
            return Err(Broken(format!("an answer of {} bytes, of which {most} are taken", self.body)));
        }
        Ok(())
    }
}

fn answer<'a>(asked: Asked<'_>, header: &Header, body: &'a [u8]) -> Result<Answer<'a>, Broken> {
    let (extras, rest) = body.split_at(header.extras);
    let (key, value) = rest.split_at(header.key);
    if !key.is_empty() && key != asked.key {
        return Err(Broken(format!("an answer about {} for {}", shown(key), shown(asked.key))));
    }
    match (header.status, asked.kind) {
        (status::OK, Kind::Get) => {
            let flags = extras.try_into().map(u32::from_be_bytes);
            let flags = flags.map_err(|_| Broken(format!("a value with {} bytes of flags", extras.len())))?;
            if key.is_empty() {
                return Err(Broken(format!("a value without its key, {}", shown(asked.key))));
            }
            Ok(Answer::Value { flags, value })
        }
        (status::OK, Kind::Set | Kind::Delete) if body.is_empty() => Ok(Answer::Done),
        (status::OK, Kind::Set | Kind::Delete) => {
            Err(Broken(format!("{} where nothing more was to be said", shown(body))))
        }
        (status::OK, Kind::Increment) => match value.try_into() {
            Ok(number) if body.len() == value.len() => Ok(Answer::Number(u64::from_be_bytes(number))),
            _ => Err(Broken(format!("{} for a number of 8 bytes", shown(body)))),
        },
        (status::NO_SUCH_KEY, Kind::Get | Kind::Delete | Kind::Increment) => Ok(Answer::Miss),
        (status, _) if value.is_empty() => Ok(Answer::Refused(format!("status {status:#06x}").into())),
        _ => Ok(Answer::Refused(words(value))),
    }
}

fn put(out: &mut Vec<u8>, kind: Kind, number: u32, extras: &[u8], key: &[u8], value: &[u8]) {
    // Keys have 250 bytes at most and extras 20. A value of 4 GiB does not fit into the memory of a guest.
    let (key_length, extras_length) = (key.len() as u16, extras.len() as u8);
    let body_length = (extras.len() + key.len() + value.len()) as u32;
    out.extend_from_slice(&[REQUEST, kind.opcode()]);
    out.extend_from_slice(&key_length.to_be_bytes());
    // The data type and what other servers use for a partition are zero.
    out.extend_from_slice(&[extras_length, 0, 0, 0]);
    out.extend_from_slice(&body_length.to_be_bytes());
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(extras);
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}
