//! Frames: what stands in a header, and how answers are written.

use crate::binary::{HEADER, REQUEST, RESPONSE, opcode};
use crate::server::value::Ending;
use crate::store::Outcome;

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    NotFound = 0x01,
    Exists = 0x02,
    TooLarge = 0x03,
    BadArguments = 0x04,
    NotStored = 0x05,
    NoNumber = 0x06,
    UnknownCommand = 0x81,
    NoRoom = 0x82,
}

impl Status {
    fn words(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Exists => "Data exists for key.",
            Self::TooLarge => "Too large.",
            Self::BadArguments => "Invalid arguments",
            Self::NotStored => "Not stored.",
            Self::NoNumber => "Non-numeric server-side value for incr or decr",
            Self::UnknownCommand => "Unknown command",
            Self::NoRoom => "Out of memory allocating item",
        }
    }
}

/// A request's header, and what its answer takes from it.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    opcode: u8,
    /// The command, in its loud form.
    pub command: u8,
    /// Whether what is as it should be needs no answer.
    pub is_quiet: bool,
    pub extras_length: usize,
    pub key_length: usize,
    body_length: usize,
    /// The client's, given back as it is.
    opaque: [u8; 4],
    /// The cas to compare with; 0 is any.
    pub cas: u64,
}

/// A request but for its value.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    pub asked: Asked,
    pub extras: &'a [u8],
    pub key: &'a [u8],
}

impl Asked {
    /// `None` where it is no request.
    pub fn read(header: &[u8; HEADER]) -> Option<Self> {
        let [magic, opcode, key_high, key_low, extras, _type, _, _, b0, b1, b2, b3, o0, o1, o2, o3, cas @ ..] = *header;
        let (command, is_quiet) = opcode::loud(opcode);
        (magic == REQUEST).then_some(Self {
            opcode,
            command,
            is_quiet,
            extras_length: extras.into(),
            key_length: u16::from_be_bytes([key_high, key_low]).into(),
            body_length: u32::from_be_bytes([b0, b1, b2, b3]) as usize,
            opaque: [o0, o1, o2, o3],
            cas: u64::from_be_bytes(cas),
        })
    }

    /// Whether the body is as long as what it holds.
    pub fn lengths_agree(&self) -> bool {
        self.key_length + self.extras_length <= self.body_length
    }

    /// Bytes behind extras and key, if the lengths agree.
    pub fn value_length(&self) -> usize {
        self.body_length.saturating_sub(self.key_length + self.extras_length)
    }

    /// Writes an answer's header. The body's parts are to follow.
    pub fn header(&self, status: u16, lengths: Lengths, cas: u64, output: &mut Vec<u8>) {
        let Lengths { extras, key, value } = lengths;
        let body = (extras + key + value) as u32;
        output.extend_from_slice(&[RESPONSE, self.opcode]);
        output.extend_from_slice(&(key as u16).to_be_bytes());
        output.extend_from_slice(&[extras as u8, 0]);
        output.extend_from_slice(&status.to_be_bytes());
        output.extend_from_slice(&body.to_be_bytes());
        output.extend_from_slice(&self.opaque);
        output.extend_from_slice(&cas.to_be_bytes());
    }

    /// An answer that went well, with nothing else to say; none if it was asked quietly.
    pub fn done(&self, output: &mut Vec<u8>) {
        self.done_with(&[], 0, output);
    }

    pub fn done_with(&self, value: &[u8], cas: u64, output: &mut Vec<u8>) {
        if !self.is_quiet {
            self.header(0, Lengths { value: value.len(), ..Lengths::default() }, cas, output);
            output.extend_from_slice(value);
        }
    }

    /// An answer that did not go well, in memcached's words. It is given even if it was asked quietly.
    pub fn error(&self, status: Status, output: &mut Vec<u8>) {
        let words = status.words();
        self.header(status as u16, Lengths { value: words.len(), ..Lengths::default() }, 0, output);
        output.extend_from_slice(words.as_bytes());
    }

    /// What came of a value.
    pub fn stored(&self, ending: Ending, output: &mut Vec<u8>) {
        let status = match ending {
            Ending::Is(Outcome::Stored(cas)) => return self.done_with(&[], cas, output),
            Ending::Is(Outcome::Exists) => Status::Exists,
            Ending::Is(Outcome::NotFound) => Status::NotFound,
            Ending::Is(Outcome::NotStored) => match self.command {
                opcode::ADD => Status::Exists,
                opcode::REPLACE => Status::NotFound,
                _ => Status::NotStored,
            },
            // Only text values have an end.
            Ending::NoRoom | Ending::BadEnd => Status::NoRoom,
        };
        self.error(status, output);
    }
}

/// Bytes of the parts of an answer's body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lengths {
    pub extras: usize,
    pub key: usize,
    pub value: usize,
}
