//! A profile: what a link and a board do to traffic, as plain data.
//!
//! Whoever makes one has checked it: the ranges in these docs are promises that the arithmetic relies on. All times are
//! one-way unless the name says otherwise, all rates are in bytes a second, all probabilities from 0 to 1. An effect that
//! is `None`, zero or empty is not there at all.

use std::ops::RangeInclusive;
use std::time::Duration;

use std::net::IpAddr;

use crate::backend::OptionKind;

/// Everything that [`crate::throttled::Throttled`] does to the backend inside it.
///
/// The default is the empty profile, which changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// As in `netmf3-board`.
    pub name: String,
    pub scope: Scope,
    /// The first that matches an operation decides about it. What none matches is left alone.
    pub rules: Vec<Rule>,
    pub board: Board,
}

/// Who shares the queues, the rates and the bursts of a rule. Each rule has a line of its own each way, so that what
/// meets another rule is on another line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// All sockets together that meet the rule: they stand behind one link.
    #[default]
    Link,
    /// Nobody: each socket has a link of its own.
    Socket,
}

/// Effects, and the traffic they are for.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// As the user wrote it, or `all`. For reports.
    pub name: String,
    pub matches: Match,
    /// Gone through in turn, again and again, from the start of the run. At least one; if one, it lasts for ever.
    pub regimes: Vec<Regime>,
}

/// The traffic of a rule: everything, but for what is named here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Match {
    pub protocol: Option<Protocol>,
    /// Of the remote end, any of these. Empty for any address; an operation that has no remote end yet, such as a name
    /// lookup, is matched by no rule that names addresses or ports.
    pub addresses: Vec<Network>,
    /// Of the remote end.
    pub port: Option<RangeInclusive<u16>>,
    /// Any of these. Empty for all.
    pub operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Udp,
}

/// Addresses with a common prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    pub address: IpAddr,
    /// Leading bits that count: at most 32 or 128.
    pub prefix: u8,
}

/// What a rule may be about. Each decides about the effects named here and no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// [`Effects::connect`], [`Stalls::connect`], and the handshake's way there and back. Of a connection that is
    /// accepted the way here only: the delay and the losses of `down` that its peer's SYN meets.
    Connect,
    /// [`Effects::up`], [`Stalls::send`], [`Effects::acknowledgement`].
    Send,
    /// [`Effects::down`], [`Stalls::answer`].
    Receive,
    /// [`Effects::resolve`].
    Resolve,
}

/// Effects for a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Regime {
    /// More than zero.
    pub lasts: Duration,
    pub effects: Effects,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// From the guest to its peers.
    pub up: Path,
    /// From its peers to the guest.
    pub down: Path,
    pub connect: Opening,
    pub resolve: Opening,
    pub stalls: Stalls,
    /// How long the peer keeps an acknowledgement back that it has nothing to send with. Two small sends without no-delay
    /// are that and a round trip apart. `None` leaves Nagle's algorithm to the stack inside where `up`
    /// changes nothing, and otherwise is [`DELAYED_ACKNOWLEDGEMENT`].
    pub acknowledgement: Option<Duration>,
}

/// How long Linux keeps an acknowledgement back at least.
pub const DELAYED_ACKNOWLEDGEMENT: Duration = Duration::from_millis(40);

/// A direction of a link, as the guest sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    Up,
    Down,
}

/// One direction of a link.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    pub delay: Delay,
    pub rate: Option<Rate>,
    /// Bytes that may wait for the rate, more than zero. What comes then is dropped if it is a datagram; of a TCP
    /// stream the sender waits. `None` is [`QUEUE`]. Without a rate nothing waits, and it does nothing.
    pub queue: Option<u64>,
    pub loss: Loss,
    /// Of datagrams. A TCP stream has none that its reader could see.
    pub duplicate: f64,
    /// The share of datagrams that skip [`Self::delay`] and so overtake others. A TCP stream puts them in order again.
    pub reorder: f64,
    /// Nothing passes at all: datagrams are lost, a TCP stream stands still, connects time out.
    pub offline: bool,
}

/// Bytes that wait for a rate where a profile says nothing: what a small router holds.
pub const QUEUE: u64 = 256 << 10;

/// From the moment something is handed over, or from the moment the rate lets it go.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delay {
    pub base: Duration,
    /// The furthest a delay is from `base`, or for a normal distribution its standard deviation. At most `base`.
    pub jitter: Duration,
    pub distribution: Distribution,
}

/// How [`Delay::jitter`] is spread. A delay is never below zero, and jitter alone never changes an order.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Distribution {
    /// Every delay from `base - jitter` to `base + jitter` alike.
    #[default]
    Uniform,
    /// Mean `base`, standard deviation `jitter`, cut at zero and at four deviations.
    Normal,
    /// From `base` upwards with a long tail: `jitter` is the mean excess, of shape 3, cut at a hundred times `jitter`.
    Pareto,
    /// `base + jitter * x`, with `x` drawn from these numbers alike, each from -1 to 100. Not empty.
    Table(Vec<f64>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Rate {
    /// Bytes a second, more than zero.
    Constant(u64),
    Trace(Trace),
}

/// Opportunities to send, as in a Mahimahi trace file.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Milliseconds since the start of the trace, in order, not empty, the last more than 0: at each of them up to
    /// [`OPPORTUNITY`] bytes pass. After the last it begins again.
    pub milliseconds: Vec<u64>,
}

/// Bytes that pass at one line of a Mahimahi trace.
pub const OPPORTUNITY: u64 = 1500;

/// Of datagrams. A TCP stream loses nothing: what would be lost comes a retransmission later.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Loss {
    #[default]
    None,
    Independent(f64),
    /// Gilbert and Elliott's two states. It begins in the good one.
    Bursts {
        /// Of going from the good state to the bad one, at each datagram.
        good_to_bad: f64,
        bad_to_good: f64,
        loss_in_good: f64,
        loss_in_bad: f64,
    },
}

/// The beginning of something: a connect or a name lookup.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Opening {
    /// On top of what the way there and back takes.
    pub delay: Delay,
    /// The share that fails, after the delay.
    pub failure: f64,
    pub how: Failure,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Failure {
    /// A connect is refused; a name has no address.
    #[default]
    Refused,
    /// A connect finds no way; a resolver is out of order for now.
    Unreachable,
    /// Nothing answers, until the stack gives up after this long (the delay included).
    Timeout(Duration),
}

/// Waits of whole operations, beside what the link does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stalls {
    pub connect: Mixture,
    /// The first bytes that a connection receives after it has sent something.
    pub answer: Mixture,
    /// The first bytes that are sent after something was received, or ever; a datagram each.
    pub send: Mixture,
}

/// A duration that is drawn from several modes. Empty: there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mixture(pub Vec<Mode>);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// How often, in proportion to the other modes. More than zero.
    pub weight: f64,
    /// Every duration of these alike, in order.
    pub from: Duration,
    pub to: Duration,
}

/// What the board's stack is like, whatever the traffic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// Sockets that can be open at once; one more is [`crate::Error::NewSocketLimit`].
    pub sockets: Option<u32>,
    /// Bytes a single receive answers with at most, more than zero. Of a longer datagram the rest is lost.
    pub receive: Option<usize>,
    /// Options that are answered with [`crate::Error::NotSupported`].
    pub unsupported: Vec<OptionKind>,
    /// The guest's clock moves on in steps of this. More than zero. Whoever gives the guest its clock sees to it.
    pub tick: Option<Duration>,
    pub linger: Linger,
    pub send_queue: Option<SendQueue>,
}

/// How closing a TCP connection goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linger {
    /// What a close does for which no linger time was set, or on a board that ignores it.
    pub without: WithoutLinger,
    pub option: LingerOption,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WithoutLinger {
    /// It returns at once, the rest is sent in the background.
    #[default]
    Background,
    /// It returns after this long.
    Stall(Duration),
    /// What was not sent is lost and the peer gets a reset.
    Reset,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LingerOption {
    #[default]
    Honoured,
    /// Set without an error, and without an effect.
    Ignored,
    NotSupported,
}

/// A queue of datagrams that does not drain while the destinations are of several kinds.
#[derive(Debug, Clone, PartialEq)]
pub struct SendQueue {
    /// Datagrams that it holds before a send would block. At least 1.
    pub depth: u32,
    /// The most that a guest can set it to.
    pub max_depth: u32,
    /// After this long without a place it is empty again. A new socket begins with an empty one.
    pub clears_after: Duration,
    /// Kinds of destinations, by their addresses; who is in none is of a kind of its own, together with all such. Only
    /// a socket that has sent to more than one kind is concerned. Empty: every socket is.
    pub kinds: Vec<Vec<Network>>,
}
