//! The text protocol: lines, and values behind some of them.

mod counting;
mod retrieval;
mod storage;
mod upkeep;

pub use counting::{NO_NUMBER, NO_ROOM as NO_ROOM_TO_COUNT};
pub use retrieval::keys;
pub use storage::{LONGEST_VALUE, refused, stored};

use super::session::{State, Step};
use super::{Cache, Wants, meta};

/// The longest line that is waited for; all but a get's, whose keys are answered as they come. As with memcached a longer
/// one is a command all the same if its end has come before it is looked at.
const LONGEST_LINE: usize = 2048;

/// Blanks before a get that is longer than that.
const MOST_BLANKS: usize = 100;

/// Words of a line that are looked at.
const MOST_WORDS: usize = 23;

pub const ERROR: &[u8] = b"ERROR\r\n";
pub const BAD_FORMAT: &[u8] = b"CLIENT_ERROR bad command line format\r\n";
pub const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";
pub const NO_ROOM: &[u8] = b"SERVER_ERROR out of memory storing object\r\n";

/// The words of a line, the first ones.
#[derive(Debug)]
pub struct Words<'a> {
    words: [&'a [u8]; MOST_WORDS],
    count: usize,
}

impl<'a> Words<'a> {
    fn of(line: &'a [u8]) -> Self {
        let mut words = [&line[..0]; MOST_WORDS];
        let mut count = 0;
        let all = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        for (place, word) in words.iter_mut().zip(all) {
            *place = word;
            count += 1;
        }
        Self { words, count }
    }

    pub fn as_slice(&self) -> &[&'a [u8]] {
        &self.words[..self.count]
    }

    /// Whether the last word asks for no answer.
    fn quiet(&self) -> bool {
        self.as_slice().last().is_some_and(|word| *word == b"noreply")
    }
}

/// Does the command at the start of `input`, if its line is complete.
pub fn command(input: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> (usize, Step) {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return incomplete(input) };
    cache.traffic.commands += 1;
    let mut line = &input[..end];
    if let [some @ .., b'\r'] = line
        && !some.is_empty()
    {
        line = some;
    }
    // As C's strings end.
    if let Some(end) = line.iter().position(|byte| *byte == 0) {
        line = &line[..end];
    }
    let words = Words::of(line);
    let answered = output.len();
    let step = dispatch(&words, line, output, cache);
    if output[answered..].starts_with(ERROR) || output[answered..].starts_with(b"CLIENT_ERROR") {
        cache.traffic.errors += 1;
    }
    match step {
        // The keys are read from the line again, one by one.
        Command::Keys(state, first_key) => (first_key, Step::Next(state)),
        Command::Then(state) => (end + 1, Step::Next(state)),
    }
}

/// What to do about a line whose end has not come.
fn incomplete(input: &[u8]) -> (usize, Step) {
    if input.len() <= LONGEST_LINE {
        return (0, Step::Wait(Wants::Input));
    }
    match retrieval::begins(input) {
        Some((keys, state)) => (keys, Step::Next(state)),
        None => (input.len(), Step::Next(State::Closed)),
    }
}

/// What comes after a line.
enum Command {
    /// This state, behind the line.
    Then(State),
    /// The keys of the same line, from this place on.
    Keys(State, usize),
}

fn dispatch(words: &Words<'_>, line: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> Command {
    let all = words.as_slice();
    let Some((name, arguments)) = all.split_first() else { return answer(ERROR, output) };
    match *name {
        b"get" | b"gets" | b"gat" | b"gats" | b"bget" => return retrieval::get(name, line, arguments, output, cache),
        [b'm', kind] => return Command::Then(meta::command(*kind, arguments, output, cache)),
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => {
            return Command::Then(storage::store(name, arguments, words.quiet(), output, cache));
        }
        b"quit" => return Command::Then(State::Closed),
        b"incr" | b"decr" => counting::count(*name == b"incr", arguments, words.quiet(), output, cache),
        b"touch" => retrieval::touch(arguments, words.quiet(), output, cache),
        b"delete" => upkeep::delete(arguments, words.quiet(), output, cache),
        b"flush_all" => upkeep::flush(arguments, words.quiet(), output, cache),
        b"verbosity" => upkeep::verbosity(arguments, words.quiet(), output),
        b"version" => upkeep::version(output),
        b"stats" => upkeep::stats(arguments, output, cache),
        b"shutdown" => output.extend_from_slice(b"ERROR: shutdown not enabled\r\n"),
        _ => output.extend_from_slice(ERROR),
    }
    Command::Then(State::Ready)
}

fn answer(words: &[u8], output: &mut Vec<u8>) -> Command {
    output.extend_from_slice(words);
    Command::Then(State::Ready)
}

/// An answer that is not given if none was asked for.
fn reply(quiet: bool, words: &[u8], output: &mut Vec<u8>) {
    if !quiet {
        output.extend_from_slice(words);
    }
}

/// Whether a word can be a key: it has no blanks, since it is a word.
pub fn is_key(word: &[u8]) -> bool {
    word.len() <= crate::key::MAX_LENGTH
}
