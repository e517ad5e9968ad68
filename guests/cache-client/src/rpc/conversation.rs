//! The queue of calls on a connection, and in a reliable session across several.

use std::collections::VecDeque;
use std::task::Poll;

use cache::client::{Answer, Broken, Request};
use cache_rpc::reliable::Outbox;

use super::call::{Call, Failure};
use super::link::{Link, Target};
use super::method::{Encoded, Outcome};

/// What the schema puts around a value, generously, in bytes.
const AROUND: usize = 64;

/// A conversation with the service.
///
/// gRPC gives calls that are under way together no order. So that a pipeline means here what it means in the other
/// protocols, a request whose key is written by one under way, or that writes a key of one under way, waits for that one.
pub struct Conversation {
    target: Target,
    /// Of an answer's message, in bytes.
    limit: usize,
    /// `None` from when it is broken.
    link: Option<Link>,
    /// Why no more calls can be begun on the connection; those under way may still be answered.
    ending: Option<String>,
    broken: Option<Broken>,
    /// In a reliable session, its side of it.
    session: Option<Outbox>,
    /// The call that begins the session or ends it, while it is under way.
    aside: Option<Call>,
    /// Nothing more will be asked, so the session can end.
    over: bool,
    /// The server refused the session: to ask it again would be of no use.
    refused: bool,
    /// In the order in which they were asked.
    entries: VecDeque<Entry>,
    /// How many at the front of `entries` need not be begun on this connection any more.
    begun: usize,
    /// The answer that was given last, as long as it is lent.
    lent: Option<Outcome>,
    outgoing: Vec<u8>,
}

struct Entry {
    encoded: Encoded,
    /// In a reliable session, when it was begun.
    number: Option<u64>,
    state: State,
}

enum State {
    /// Until the call is begun; and again, in a reliable session, when its connection is lost.
    Waiting,
    UnderWay(Call),
    Ended(Outcome),
}

impl Conversation {
    /// A conversation with `target`. A value longer than `longest` bytes is a fault of the server.
    ///
    /// With a `session`, which has to be a random number, it is in a reliable session of that number, and can go on when
    /// its connection is lost.
    pub fn new(target: Target, longest: usize, session: Option<u128>) -> Self {
        let mut conversation = Self {
            target,
            limit: longest.saturating_add(AROUND),
            link: None,
            ending: None,
            broken: None,
            session: session.map(Outbox::new),
            aside: None,
            over: false,
            refused: false,
            entries: VecDeque::new(),
            begun: 0,
            lent: None,
            outgoing: Vec::new(),
        };
        conversation.connect();
        conversation
    }

    fn connect(&mut self) {
        match Link::new(self.limit) {
            Ok(link) => self.link = Some(link),
            Err(words) => self.broken = Some(Broken(words)),
        }
    }

    /// Does whatever can be done without more bytes.
    fn advance(&mut self) {
        if let Err(words) = self.try_advance() {
            self.link = None;
            self.broken = Some(Broken(words));
        }
    }

    fn try_advance(&mut self) -> Result<(), String> {
        loop {
            let begun = self.begin();
            let Some(link) = &mut self.link else { return Ok(()) };
            let moved = link.advance();
            let ended = self.collect();
            // Of a connection that has ended, that was all; and why it has is why its calls fail.
            let (moved, ended) = (moved?, ended?);
            if !begun && !moved && !ended {
                break;
            }
        }
        match self.ending.take() {
            Some(words) if !self.is_any_under_way() => Err(words),
            ending => {
                self.ending = ending;
                if let Some(link) = &self.link {
                    link.pipe().take(&mut self.outgoing);
                }
                Ok(())
            }
        }
    }

    fn is_any_under_way(&self) -> bool {
        self.aside.is_some() || self.entries.iter().any(|entry| matches!(entry.state, State::UnderWay(_)))
    }

    /// Begins the session when there is something to ask in it, and ends it when that was all. Whether there was either.
    fn begin_aside(&mut self) -> Result<bool, String> {
        let (Some(link), Some(session), None) = (&mut self.link, &self.session, &self.aside) else { return Ok(false) };
        let encoded = match (session.is_begun(), self.entries.is_empty()) {
            (false, false) => Encoded::begin(session.session()),
            (true, true) if self.over => Encoded::end(session.session()),
            _ => return Ok(false),
        };
        self.aside = link.call(&self.target, &encoded, None)?;
        Ok(self.aside.is_some())
    }

    /// Begins the calls that can be begun. Whether there was one.
    fn begin(&mut self) -> bool {
        let aside = self.ending.is_none()
            && self.begin_aside().unwrap_or_else(|words| {
                self.ending = Some(words);
                false
            });
        let Some(link) = &mut self.link else { return false };
        let before = self.begun;
        while self.ending.is_none()
            && let Some(entry) = self.entries.get(self.begun)
        {
            if matches!(entry.state, State::Waiting) {
                if self.entries.range(..self.begun).any(|earlier| earlier.holds(entry)) {
                    break;
                }
                let number = match (entry.number, &mut self.session) {
                    (None, Some(session)) => match session.begin() {
                        None => break,
                        number => number,
                    },
                    (number, _) => number,
                };
                let numbered = number.and_then(|number| self.session.as_ref().map(|session| session.numbered(number)));
                let entry = &mut self.entries[self.begun];
                entry.number = number;
                match link.call(&self.target, &entry.encoded, numbered) {
                    Ok(Some(call)) => entry.state = State::UnderWay(call),
                    Ok(None) => break,
                    Err(words) => {
                        self.ending = Some(words);
                        break;
                    }
                }
            }
            self.begun += 1;
        }
        aside || self.begun > before
    }

    /// Takes what calls under way have come to. Whether there was one.
    fn collect(&mut self) -> Result<bool, String> {
        let mut failed = None;
        let mut any = false;
        if let Some(call) = &mut self.aside
            && let Poll::Ready(outcome) = call.poll()
        {
            self.aside = None;
            any = true;
            match outcome {
                Ok(Outcome::Refused(words)) | Err(Failure::Session(words)) => {
                    self.refused = true;
                    failed = Some(refusal(&words));
                }
                Err(Failure::Connection(words)) => failed = Some(words),
                Ok(_) if self.session.as_ref().is_some_and(Outbox::is_begun) => self.session = None,
                Ok(_) => self.session.iter_mut().for_each(Outbox::begun),
            }
        }
        for entry in self.entries.range_mut(..self.begun) {
            let State::UnderWay(call) = &mut entry.state else { continue };
            let Poll::Ready(outcome) = call.poll() else { continue };
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(Failure::Session(words)) if self.session.is_none() => Outcome::Refused(words),
                Err(Failure::Session(words)) => {
                    self.refused = true;
                    failed.get_or_insert(refusal(&words));
                    continue;
                }
                Err(Failure::Connection(words)) => {
                    failed.get_or_insert(words);
                    continue;
                }
            };
            if let (Some(session), Some(number)) = (&mut self.session, entry.number) {
                session.answered(number);
            }
            entry.state = State::Ended(outcome);
            any = true;
        }
        failed.map_or(Ok(any), Err)
    }
}

impl cache::client::Conversation for Conversation {
    fn ask(&mut self, request: Request<'_>) {
        self.entries.push_back(Entry { encoded: Encoded::new(request), number: None, state: State::Waiting });
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        if let Some(link) = &self.link {
            link.pipe().sent(self.outgoing.len());
        }
        // Only here, so that requests that are asked one after another leave together.
        self.advance();
        &mut self.outgoing
    }

    fn received(&mut self, bytes: &[u8]) {
        let Some(link) = &self.link else { return };
        if link.pipe().received(bytes) {
            self.advance();
        } else {
            self.link = None;
            self.broken = Some(Broken("the server sends and does not read".to_owned()));
        }
    }

    fn answer(&mut self) -> Result<Option<Answer<'_>>, Broken> {
        match self.entries.pop_front_if(|entry| matches!(entry.state, State::Ended(_))) {
            Some(Entry { state: State::Ended(outcome), .. }) => {
                self.begun = self.begun.saturating_sub(1);
                Ok(Some(self.lent.insert(outcome).lend()))
            }
            _ => self.broken.clone().map_or(Ok(None), Err),
        }
    }

    fn unanswered(&self) -> usize {
        self.entries.len()
    }

    fn begin_again(&mut self) -> bool {
        let Some(session) = self.session.as_mut().filter(|_| !self.refused) else { return false };
        session.lost();
        self.aside = None;
        self.link = None;
        self.ending = None;
        self.broken = None;
        self.outgoing.clear();
        self.begun = 0;
        for entry in &mut self.entries {
            if matches!(entry.state, State::UnderWay(_)) {
                entry.state = State::Waiting;
            }
        }
        self.connect();
        true
    }

    fn end(&mut self) {
        self.over = true;
    }

    fn is_ending(&self) -> bool {
        self.over && self.link.is_some() && self.session.as_ref().is_some_and(Outbox::is_begun)
    }
}

fn refusal(words: &str) -> String {
    format!("the server refuses the session: {words}")
}

impl Entry {
    /// Whether a later request has to wait for this one.
    fn holds(&self, later: &Self) -> bool {
        matches!(self.state, State::UnderWay(_))
            && (self.encoded.method.writes() || later.encoded.method.writes())
            && self.encoded.key == later.encoded.key
    }
}
