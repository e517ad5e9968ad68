//! What a report says of each socket and of each name lookup.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wrun_net::Ending;
use wrun_net::metered::{self, Meter};

use super::words::cut;

/// Bytes of a host name that are kept: no name of the domain name system is longer.
const NAME_BYTES: usize = 255;

/// Addresses of one lookup that are kept.
const ADDRESSES: usize = 64;

/// A socket: points in time are since the run began, and null where they were not reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// From 1, in the order of their making.
    pub id: u64,
    pub role: Role,
    pub local: Option<String>,
    pub remote: Option<String>,
    pub opened_ns: u64,
    pub connect_start_ns: Option<u64>,
    /// When the answer to the connect was noticed.
    pub connect_end_ns: Option<u64>,
    pub first_sent_ns: Option<u64>,
    pub last_sent_ns: Option<u64>,
    pub first_received_ns: Option<u64>,
    pub last_received_ns: Option<u64>,
    pub ended_ns: Option<u64>,
    /// How long an explicit close took.
    pub close_took_ns: Option<u64>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// Calls that moved bytes, or datagrams.
    pub sends: u64,
    pub receives: u64,
    /// Connections that a listener accepted.
    pub accepts: u64,
    /// Calls that found no room to send.
    pub send_would_blocks: u64,
    /// Calls that found nothing to receive or accept.
    pub receive_would_blocks: u64,
    pub end: End,
    /// The network's word, when `end` is `failed`.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A TCP socket that neither connected nor listened.
    Unused,
    Client,
    /// A connection that a listener accepted.
    Accepted,
    Listener,
    Datagram,
}

/// How a socket came to its end, as far as this side saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It was still open.
    Open,
    /// This side closed it.
    Closed,
    /// The peer had ended its side before this side closed.
    PeerClosed,
    /// An explicit close: the peer acknowledged everything.
    Acknowledged,
    /// An explicit close: the rest was sent unobserved.
    Background,
    /// An explicit close: the connection was cut.
    Reset,
    /// An explicit close: the linger time passed first.
    TimedOut,
    /// An error ended it, or kept it from connecting.
    Failed,
}

/// A name lookup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    pub name: String,
    pub start_ns: u64,
    pub duration_ns: u64,
    /// In the resolver's order, at most 64.
    pub addresses: Vec<String>,
    /// The resolver's word, when it had no address, or `given up` when the guest did not wait for it.
    pub error: Option<String>,
}

impl Connection {
    /// The socket as it is now.
    pub fn of(meter: &Meter) -> Self {
        let sums = meter.sums();
        let (end, error) = match &sums.end {
            metered::End::Open => (End::Open, None),
            metered::End::Closed => (End::Closed, None),
            metered::End::PeerClosed => (End::PeerClosed, None),
            metered::End::Observed(Ending::Acknowledged) => (End::Acknowledged, None),
            metered::End::Observed(Ending::Background) => (End::Background, None),
            metered::End::Observed(Ending::Reset) => (End::Reset, None),
            metered::End::Observed(Ending::TimedOut) => (End::TimedOut, None),
            metered::End::Failed(error) => (End::Failed, Some(error.to_string())),
        };
        Self {
            id: meter.socket,
            role: match sums.role {
                metered::Role::Unused => Role::Unused,
                metered::Role::Client => Role::Client,
                metered::Role::Accepted => Role::Accepted,
                metered::Role::Listener => Role::Listener,
                metered::Role::Datagram => Role::Datagram,
            },
            local: sums.local.map(|address| address.to_string()),
            remote: sums.remote.map(|address| address.to_string()),
            opened_ns: nanoseconds(sums.opened),
            connect_start_ns: sums.connect_start.map(nanoseconds),
            connect_end_ns: sums.connect_end.map(nanoseconds),
            first_sent_ns: sums.first_sent.map(nanoseconds),
            last_sent_ns: sums.last_sent.map(nanoseconds),
            first_received_ns: sums.first_received.map(nanoseconds),
            last_received_ns: sums.last_received.map(nanoseconds),
            ended_ns: sums.ended.map(nanoseconds),
            close_took_ns: sums.close_took.map(nanoseconds),
            sent_bytes: sums.bytes_sent,
            received_bytes: sums.bytes_received,
            sends: sums.sends,
            receives: sums.receives,
            accepts: sums.accepts,
            send_would_blocks: sums.send_would_blocks,
            receive_would_blocks: sums.receive_would_blocks,
            end,
            error,
        }
    }

    /// Every point in time there is in it.
    pub(super) fn moments(&mut self) -> impl Iterator<Item = &mut u64> {
        let reached = [
            &mut self.connect_start_ns,
            &mut self.connect_end_ns,
            &mut self.first_sent_ns,
            &mut self.last_sent_ns,
            &mut self.first_received_ns,
            &mut self.last_received_ns,
            &mut self.ended_ns,
        ];
        std::iter::once(&mut self.opened_ns).chain(reached.into_iter().flatten())
    }

    /// Whether it will not change any more.
    pub fn is_over(&self) -> bool {
        self.ended_ns.is_some()
    }

    /// Calls that were noted, those that would have blocked included.
    pub fn calls(&self) -> u64 {
        [self.sends, self.receives, self.accepts, self.send_would_blocks, self.receive_would_blocks]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

impl From<metered::Lookup> for Lookup {
    fn from(lookup: metered::Lookup) -> Self {
        let (addresses, error) = match lookup.outcome {
            Some(Ok(addresses)) => (addresses.iter().take(ADDRESSES).map(ToString::to_string).collect(), None),
            Some(Err(error)) => (Vec::new(), Some(error.to_string())),
            None => (Vec::new(), Some("given up".to_owned())),
        };
        Self {
            name: cut(&lookup.name, NAME_BYTES).to_owned(),
            start_ns: nanoseconds(lookup.start),
            duration_ns: nanoseconds(lookup.took),
            addresses,
            error,
        }
    }
}

/// A duration as reports write it; 584 years and more are the largest.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
