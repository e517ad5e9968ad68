//! What every stack of sockets must meet, as one list of claims.
//!
//! A claim is an async function over a [`Backend`], with a name that could be false. It gets a backend that nobody else
//! changes, and stays on its loopback addresses with ports that the backend picks. It answers with what is wrong, in
//! words. Claims only end by themselves where the backend keeps its word, so whoever runs them sets a time limit.
//!
//! Run them on a runtime with time, in `tokio::task::coop::unconstrained`. A claim that needs what a backend says it
//! cannot do is [excluded](Claim::excluded), which is for whoever runs them to say aloud.
//!
//! To add one: write the function in the file of its subject, and a row below.

mod binding;
mod closing;
mod connecting;
mod datagrams;
mod kit;
mod multicast;
mod options;
mod resolving;
mod streaming;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use self::kit::{V4, V6, Verdict};
use crate::backend::{Backend, Capabilities, OptionKind, SocketOption};

/// A claim being checked: nothing, or what is wrong.
pub type Checking = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// Something that is true of every backend.
pub struct Claim {
    pub name: &'static str,
    needs: &'static [Need],
    check: fn(Arc<dyn Backend>) -> Checking,
}

/// What a backend must be able to do for a claim to make sense.
enum Need {
    Ipv6,
    Multicast,
    Broadcast,
    Option(OptionKind),
}

impl Claim {
    /// Why the claim cannot be asked of a backend that is able to do this much, if it cannot.
    pub fn excluded(&self, capabilities: &Capabilities) -> Option<String> {
        self.needs.iter().find_map(|need| match need {
            Need::Ipv6 => (!capabilities.ipv6).then(|| "no IPv6".to_owned()),
            Need::Multicast => (!capabilities.multicast).then(|| "no multicast".to_owned()),
            Need::Broadcast => (!capabilities.broadcast).then(|| "no broadcast".to_owned()),
            Need::Option(kind) => (!capabilities.options.contains(kind)).then(|| format!("no option {kind}")),
        })
    }

    pub fn check(&self, backend: Arc<dyn Backend>) -> Checking {
        (self.check)(backend)
    }
}

/// All claims.
pub fn claims() -> &'static [Claim] {
    CLAIMS
}

macro_rules! claim {
    ($name:literal, [$($need:ident $(($kind:ident))?),*], $($check:ident)::+ $(, $address:expr)?) => {
        Claim {
            name: $name,
            needs: &[$(Need::$need $((OptionKind::$kind))?),*],
            check: |backend| Box::pin($($check)::+(backend $(, $address)?)),
        }
    };
}

const NO_DELAY: SocketOption = SocketOption::NoDelay(true);
const KEEP_ALIVE: SocketOption = SocketOption::KeepAlive(true);
const HOP_LIMIT: SocketOption = SocketOption::HopLimit(42);

const CLAIMS: &[Claim] = &[
    claim!("port 0 is any free port", [], binding::port_zero),
    claim!("two cannot listen at one address", [], binding::in_use),
    claim!("an address is taken by who listens on all of them", [], binding::in_use_by_all),
    claim!("an address can be bound again right after its connections", [], binding::bound_again),
    claim!("another machine's address is not bindable", [], binding::not_here),
    claim!("a socket that listens unbound gets an address", [], binding::listening_unbound),
    claim!("two UDP sockets cannot have one address, until one is gone", [], binding::udp_in_use),
    claim!("an IPv6 socket leaves the port of IPv4 alone", [Ipv6], binding::families_apart),
    claim!("connecting to nobody is refused", [], connecting::nobody),
    claim!("connecting to a listener that is gone is refused", [], connecting::listener_gone),
    claim!("both ends know both addresses", [], connecting::addresses, V4),
    claim!("both ends know both addresses of IPv6", [Ipv6], connecting::addresses, V6),
    claim!("a bound socket connects from its address", [], connecting::from_bound),
    claim!("a connect that is called off disturbs nobody", [], connecting::called_off),
    claim!("the backlog holds connections until they are accepted", [], connecting::backlog),
    claim!("a listener is ready when, and only when, somebody is there", [], connecting::accept_readiness),
    claim!("an accepted connection has its listener's no-delay", [Option(NoDelay)], connecting::inherited, NO_DELAY),
    claim!(
        "an accepted connection has its listener's keep-alive",
        [Option(KeepAlive)],
        connecting::inherited,
        KEEP_ALIVE
    ),
    claim!("an accepted connection has its listener's hop limit", [Option(HopLimit)], connecting::inherited, HOP_LIMIT),
    claim!("an option set before connecting is kept", [Option(NoDelay)], connecting::kept_when_connected),
    claim!("300 sockets can be open at once", [], connecting::many),
    claim!("what is sent comes back", [], streaming::echo, V4),
    claim!("what is sent comes back over IPv6", [Ipv6], streaming::echo, V6),
    claim!("four megabytes arrive whole and in order", [], streaming::large),
    claim!(
        "bytes arrive whole and in order through small buffers",
        [Option(ReceiveBuffer), Option(SendBuffer)],
        streaming::small_buffers
    ),
    claim!("both directions carry at once", [], streaming::both_ways),
    claim!("a stream is ready to read when something is there", [], streaming::read_readiness),
    claim!("a full stream is ready to write when there is room again", [], streaming::write_readiness),
    claim!("a reader is woken by a writer on another thread", [], streaming::from_another_thread),
    claim!("what is queued counts until the peer has it", [], streaming::queue),
    claim!("one side can end and still hear the other", [], streaming::half_close),
    claim!("a side that ends its receiving can still send", [], streaming::deaf),
    claim!("a dropped stream ends after what was sent", [], closing::dropped),
    claim!("a close with linger time zero resets, which the peer is told once", [Option(Linger)], closing::linger_zero),
    claim!("a drop with linger time zero resets", [Option(Linger)], closing::linger_zero_dropped),
    claim!("a close with data left unread resets", [], closing::unread),
    claim!("a close without a linger time loses nothing", [], closing::background),
    claim!("a lingering close ends when all is acknowledged", [Option(Linger)], closing::acknowledged),
    claim!("a lingering close waits for a slow peer", [Option(Linger)], closing::acknowledged_late),
    claim!("a lingering close ends though the peer ended first", [Option(Linger)], closing::acknowledged_last),
    claim!("a lingering close times out, and loses nothing", [Option(Linger)], closing::timed_out),
    claim!("a lingering close notices that the peer cuts", [Option(Linger)], closing::cut_meanwhile),
    claim!("after a close every call is out of state", [], closing::afterwards),
    claim!("a close wakes who waits", [], closing::wakes),
    claim!("a close that cuts wakes who waits", [Option(Linger)], closing::wakes_on_cut),
    claim!("a close outlives its stream and its backend", [Option(Linger)], closing::outlives),
    claim!("writing to a peer that is gone fails", [], closing::peer_gone),
    claim!("dropping a stream that lingers does not wait", [Option(Linger)], closing::drop_does_not_wait),
    claim!("options are read as they were set", [], options::kept, V4),
    claim!("options of IPv6 are read as they were set", [Ipv6], options::kept, V6),
    claim!("an option that a socket lacks is not supported", [], options::not_supported),
    claim!("a value beyond all range is adjusted", [], options::excessive),
    claim!("options start as they do everywhere", [], options::defaults),
    claim!("a datagram arrives with its sender", [], datagrams::carried, V4),
    claim!("a datagram arrives with its sender over IPv6", [Ipv6], datagrams::carried, V6),
    claim!("datagrams arrive whole, the empty and the largest too", [], datagrams::whole),
    claim!("a datagram that is too large is refused", [], datagrams::too_large),
    claim!("a UDP socket is ready when, and only when, something is there", [], datagrams::readiness),
    claim!("a bound UDP socket can send at once", [], datagrams::ready_at_once),
    claim!("a connected UDP socket hears its peer only", [], datagrams::connected),
    claim!("what a stranger sent before a UDP socket connected is not heard after", [], datagrams::stranger_before),
    claim!("a dissolved UDP socket keeps its port and hears all", [], datagrams::dissolved),
    claim!("a connected UDP socket has a definite address", [], datagrams::definite),
    claim!("a connected UDP socket is told once that nobody is there", [], datagrams::nobody),
    claim!("an unconnected UDP socket is not told that nobody is there", [], datagrams::not_told),
    claim!("a broadcast needs the option, and reaches all", [Broadcast], datagrams::broadcast),
    claim!("a broadcast is not heard at one address", [Broadcast], datagrams::broadcast_elsewhere),
    claim!("a broadcast is heard at the address for it", [Broadcast], datagrams::broadcast_there),
    claim!("a group is heard between join and leave", [Multicast], multicast::joined),
    claim!("a group is heard by who joined it only", [Multicast], multicast::only_members),
    claim!("a group is not heard at one address, joined or not", [Multicast], multicast::elsewhere),
    claim!("a group is heard at its own address, and nothing else is", [Multicast], multicast::at_its_address),
    claim!("a member hears itself", [Multicast], multicast::own),
    claim!("a group is joined once and left once", [Multicast], multicast::membership, V4),
    claim!("a group of IPv6 is joined once and left once", [Multicast, Ipv6], multicast::membership, V6),
    claim!("an interface that does not exist is an invalid argument", [Multicast], multicast::no_interface),
    claim!("localhost is here", [], resolving::localhost),
    claim!("a name that does not exist is not found", [], resolving::unknown),
    claim!("a lookup that is called off disturbs nobody", [], resolving::called_off),
];
