//! How operations are said.

use cache::client::{Binary, Conversation, Meta, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Text,
    Meta,
    Binary,
}

/// The conversation of a new connection. A value longer than `longest` bytes is a fault of the server.
pub fn conversation(protocol: Protocol, longest: usize) -> Box<dyn Conversation> {
    match protocol {
        Protocol::Text => Box::new(Text::new(longest)),
        Protocol::Meta => Box::new(Meta::new(longest)),
        Protocol::Binary => Box::new(Binary::new(longest)),
    }
}
