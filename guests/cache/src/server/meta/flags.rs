//! What stands behind the key of a meta command: letters, some with a token.

use super::Key;
use crate::number::{signed32, unsigned, unsigned32};
use crate::store::{Expiry, Seconds};

/// The flags of a command, each at most once.
#[derive(Debug)]
pub struct Flags<'a> {
    /// All of them in their order, for what is answered in that order.
    pub words: &'a [&'a [u8]],
    /// v: the value is wanted.
    pub value: bool,
    /// q: what is as it should be needs no answer.
    pub quiet: bool,
    /// u: this does not count as a use.
    pub no_use: bool,
    /// I: mark as stale.
    pub stale: bool,
    /// T
    pub expiry: Option<Expiry>,
    /// N: make the item where there is none, with this expiry.
    pub vivify: Option<Expiry>,
    /// R: renew it if less than this is left.
    pub renew_before: Option<Expiry>,
    /// F
    pub client_flags: u32,
    /// C
    pub compare: Option<u64>,
    /// M
    pub mode: Option<u8>,
    /// J
    pub initial: u64,
    /// D
    pub delta: u64,
}

const DUPLICATE: &[u8] = b"CLIENT_ERROR duplicate flag\r\n";
const UNKNOWN: &[u8] = b"CLIENT_ERROR invalid flag\r\n";
const BAD_KEY: &[u8] = b"CLIENT_ERROR error decoding key\r\n";
const BAD_TOKEN: &[u8] = b"CLIENT_ERROR bad token in command line format\r\n";
const BAD_MODE: &[u8] = b"CLIENT_ERROR incorrect length for M token\r\n";
const BAD_INITIAL: &[u8] = b"CLIENT_ERROR invalid numeric initial value\r\n";
const BAD_DELTA: &[u8] = b"CLIENT_ERROR invalid numeric delta value\r\n";

impl<'a> Flags<'a> {
    /// Reads them and the key that b says is in base64. `unsaid` is said of what memcached has no words of its own for.
    ///
    /// # Errors
    /// What is wrong with them: the last thing that is, as with memcached.
    pub fn read(
        key: &[u8],
        words: &'a [&'a [u8]],
        now: Seconds,
        unsaid: &'static [u8],
    ) -> Result<(Key, Self), &'static [u8]> {
        let mut flags = Self {
            words,
            value: false,
            quiet: false,
            no_use: false,
            stale: false,
            expiry: None,
            vivify: None,
            renew_before: None,
            client_flags: 0,
            compare: None,
            mode: None,
            initial: 0,
            delta: 1,
        };
        let mut seen = 0_u128;
        let mut wrong = None;
        let mut kept = Key::plain(key);
        for word in words {
            let (letter, token) = (word[0], &word[1..]);
            if letter >= 127 || seen >> letter & 1 == 1 {
                return Err(DUPLICATE);
            }
            seen |= 1 << letter;
            let outcome = match letter {
                b'b' => Key::base64(key).map(|key| kept = Some(key)).ok_or(BAD_KEY),
                b'T' => expiry(token, now, &mut flags.expiry),
                b'N' => expiry(token, now, &mut flags.vivify),
                b'R' => expiry(token, now, &mut flags.renew_before),
                // What was wrong before this stays what is said.
                b'F' => number(unsigned32(token), &mut flags.client_flags, wrong.unwrap_or(unsaid)),
                b'C' => number(unsigned(token).map(Some), &mut flags.compare, BAD_TOKEN),
                b'J' => number(unsigned(token), &mut flags.initial, BAD_INITIAL),
                b'D' => number(unsigned(token), &mut flags.delta, BAD_DELTA),
                b'M' => match token {
                    [mode] => number(Some(Some(*mode)), &mut flags.mode, BAD_MODE),
                    _ => Err(BAD_MODE),
                },
                _ => match flags.switch(letter) {
                    true => Ok(()),
                    false => return Err(UNKNOWN),
                },
            };
            wrong = outcome.err().or(wrong);
        }
        match (kept, wrong) {
            (Some(key), None) => Ok((key, flags)),
            (_, wrong) => Err(wrong.unwrap_or(BAD_KEY)),
        }
    }

    /// Takes a letter that needs no token; whether there is one.
    fn switch(&mut self, letter: u8) -> bool {
        match letter {
            b'v' => self.value = true,
            b'q' => self.quiet = true,
            b'u' => self.no_use = true,
            b'I' => self.stale = true,
            // P and L are for proxies; the rest says what is to be answered, which the commands look for themselves.
            b'O' | b'P' | b'L' | b'k' | b's' | b't' | b'c' | b'f' | b'l' | b'h' => {}
            _ => return false,
        }
        true
    }
}

fn expiry(token: &[u8], now: Seconds, place: &mut Option<Expiry>) -> Result<(), &'static [u8]> {
    let number = signed32(token).ok_or(BAD_TOKEN)?;
    *place = Some(Expiry::from_client(number.into(), now));
    Ok(())
}

fn number<T>(read: Option<T>, place: &mut T, wrong: &'static [u8]) -> Result<(), &'static [u8]> {
    *place = read.ok_or(wrong)?;
    Ok(())
}
