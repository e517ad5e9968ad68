//! One connection, without the connection: whoever has that moves the bytes.

use super::value::Incoming;
use super::{Cache, binary, text};
use crate::binary::REQUEST;
use crate::store::{Expiry, Store};

/// Answers are not added to while so many bytes of them wait to be sent. A single value may go beyond it.
pub(super) const HIGH_WATER: usize = 64 * 1024;

/// What a session needs to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// More bytes behind those that were not used.
    Input,
    /// That answers are sent. The bytes that were not used are to be given again.
    Room,
    /// Nothing any more: the connection is to be closed when the answers are sent.
    Close,
}

/// One client's conversation.
#[derive(Debug, Default)]
pub struct Session {
    protocol: Option<Protocol>,
    pub(super) state: State,
}

/// What a connection speaks, for all of its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// And meta, which is text too.
    Text,
    Binary,
}

/// Where in a command a session is.
#[derive(Debug, Default)]
pub(super) enum State {
    /// Between two commands.
    #[default]
    Ready,
    /// In a value that is to be stored.
    Value(Incoming),
    /// In so many bytes that mean nothing, since the command before them was refused.
    Skip(u64),
    /// In a line that means nothing any more, until its end.
    SkipLine,
    /// In the keys of a text get.
    Keys { with_cas: bool, touch: Option<Expiry> },
    /// At the end.
    Closed,
}

impl Session {
    /// Does what `input` asks for, as far as it is there and `output` has room, and says how many of its bytes are used
    /// up. What is not used is to be given again, with more behind it or with room for answers, as is said.
    ///
    /// Little more than 2 KiB is left for [`Wants::Input`], so that whoever keeps it is bounded.
    pub fn receive(&mut self, input: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> (usize, Wants) {
        let Some(first) = input.first() else { return (0, Wants::Input) };
        let binary = *first == REQUEST;
        let protocol = *self.protocol.get_or_insert(if binary { Protocol::Binary } else { Protocol::Text });
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let (more, step) = match &mut self.state {
                State::Closed => return (input.len(), Wants::Close),
                State::Skip(left) => skip(left, rest),
                State::SkipLine => skip_line(rest),
                State::Value(_) => self.value(rest, output, cache),
                State::Keys { with_cas, touch } => text::keys(rest, *with_cas, *touch, output, cache),
                State::Ready if output.len() >= HIGH_WATER => (0, Step::Wait(Wants::Room)),
                State::Ready => match protocol {
                    Protocol::Text => text::command(rest, output, cache),
                    Protocol::Binary => binary::command(rest, output, cache),
                },
            };
            used += more;
            match step {
                Step::Next(state) => self.state = state,
                Step::Wait(wants) => return (used, wants),
            }
            if used == input.len() && !matches!(self.state, State::Closed) {
                return (used, Wants::Input);
            }
        }
    }

    /// Gives back what a value on its way in takes. A session that is dropped without this keeps that from the store.
    pub fn close(&mut self, store: &mut Store) {
        if let State::Value(incoming) = std::mem::replace(&mut self.state, State::Closed) {
            incoming.give_up(store);
        }
    }

    fn value(&mut self, input: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> (usize, Step) {
        // It is put back if it is not complete.
        let State::Value(incoming) = std::mem::take(&mut self.state) else { return (0, Step::Next(State::Ready)) };
        let (used, state) = incoming.receive(input, output, cache);
        (used, Step::Next(state))
    }
}

/// What comes after a piece of work.
pub(super) enum Step {
    /// The next piece, in this state.
    Next(State),
    /// Something must come from outside first.
    Wait(Wants),
}

fn skip(left: &mut u64, input: &[u8]) -> (usize, Step) {
    let used = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
    *left -= used as u64;
    let left = *left;
    (used, if left == 0 { Step::Next(State::Ready) } else { Step::Wait(Wants::Input) })
}

fn skip_line(input: &[u8]) -> (usize, Step) {
    match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (end + 1, Step::Next(State::Ready)),
        None => (input.len(), Step::Wait(Wants::Input)),
    }
}
