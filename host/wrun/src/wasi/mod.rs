//! What a guest sees of the network: `wasi:sockets@0.2` with its `wasi:io`, and `wrun:net`, over [`wrun_net::Backend`].
//!
//! [`bindings`] is the one `bindgen!` of the host. The standard's rules about addresses, states and ranges are held
//! here, once, for every backend: [`tcp`] and [`udp`] are the state machines, [`lookup`] the names, [`streams`] the
//! bytes of a connection, [`poll`] the waiting for them; [`options`] and [`timing`] are the extension. [`policy`](crate::policy) is asked before
//! anything reaches the backend.
//!
//! What is left out: the rest of WASI. It is wasmtime-wasi's, linked in [`crate::guest`] interface by interface, so
//! that no other socket is ever reachable.

mod address;
mod error;
mod limit;
mod lookup;
mod network;
mod options;
pub mod poll;
mod scratch;
mod streams;
mod tcp;
mod timing;
mod turn;
mod udp;
mod values;

use std::sync::Arc;

use wasmtime::Result;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wrun_net::Backend;
use wrun_net::metered::Tape;

use crate::policy::Policy;
use crate::report::Recorder;

pub use error::{RigFailure, SocketError};
pub use limit::Limit;
use limit::Place;

/// The generated traits, with the resources mapped to this module's types.
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        path: ["../../wit/deps/io.wit", "../../wit/deps/clocks.wit", "../../wit/deps/sockets.wit", "../../wit/wrun-net.wit"],
        world: "wrun:net/workload",
        with: {
            "wasi:io/poll.pollable": wasmtime_wasi::p2::DynPollable,
            "wasi:io/streams.input-stream": wasmtime_wasi::p2::DynInputStream,
            "wasi:io/streams.output-stream": wasmtime_wasi::p2::DynOutputStream,
            "wasi:io/error": wasmtime_wasi_io::bindings::wasi::io::error,
            "wasi:clocks/monotonic-clock": wasmtime_wasi::p2::bindings::clocks::monotonic_clock,
            "wasi:sockets/network.network": super::network::Network,
            "wasi:sockets/tcp.tcp-socket": super::tcp::TcpSocket,
            "wasi:sockets/udp.udp-socket": super::udp::UdpSocket,
            "wasi:sockets/udp.incoming-datagram-stream": super::udp::Incoming,
            "wasi:sockets/udp.outgoing-datagram-stream": super::udp::Outgoing,
            "wasi:sockets/ip-name-lookup.resolve-address-stream": super::lookup::Lookup,
            "wrun:net/timing.sample": super::timing::OpenSample,
        },
        imports: {
            // Only what a backend may have to wait for. The rest is answered at once.
            // And what a guest may ask again and again instead of waiting: the asking then has to let time pass.
            "wasi:io/poll": async | trappable,
            "wasi:io/poll.[drop]pollable": trappable,
            "wasi:io/streams.[method]input-stream.blocking-read": async | trappable,
            "wasi:io/streams.[method]input-stream.blocking-skip": async | trappable,
            "wasi:io/streams.[drop]input-stream": async | trappable,
            "wasi:io/streams.[method]output-stream.blocking-write-and-flush": async | trappable,
            "wasi:io/streams.[method]output-stream.blocking-flush": async | trappable,
            "wasi:io/streams.[method]output-stream.blocking-write-zeroes-and-flush": async | trappable,
            "wasi:io/streams.[method]output-stream.blocking-splice": async | trappable,
            "wasi:io/streams.[drop]output-stream": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.finish-connect": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.accept": async | trappable,
            "wasi:sockets/udp.[method]outgoing-datagram-stream.check-send": async | trappable,
            "wasi:sockets/ip-name-lookup.[method]resolve-address-stream.resolve-next-address": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.start-bind": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.start-listen": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.keep-alive-enabled": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-keep-alive-enabled": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.keep-alive-idle-time": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-keep-alive-idle-time": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.keep-alive-interval": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-keep-alive-interval": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.keep-alive-count": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-keep-alive-count": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.hop-limit": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-hop-limit": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.receive-buffer-size": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-receive-buffer-size": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.send-buffer-size": async | trappable,
            "wasi:sockets/tcp.[method]tcp-socket.set-send-buffer-size": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.start-bind": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.stream": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.unicast-hop-limit": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.set-unicast-hop-limit": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.receive-buffer-size": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.set-receive-buffer-size": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.send-buffer-size": async | trappable,
            "wasi:sockets/udp.[method]udp-socket.set-send-buffer-size": async | trappable,
            "wasi:sockets/tcp-create-socket": async | trappable,
            "wrun:net/options": async | trappable,
            default: trappable,
        },
        trappable_error_type: {
            "wasi:io/streams.stream-error" => wasmtime_wasi::p2::StreamError,
            "wasi:sockets/network.error-code" => super::error::SocketError,
        },
        require_store_data_send: true,
    });
}

/// What the sockets of one run stand on.
pub struct Sockets {
    pub backend: Arc<dyn Backend>,
    pub policy: Policy,
    pub tape: Arc<Tape>,
    pub recorder: Arc<Recorder>,
    /// Whether every TCP socket of the guest starts with no-delay.
    pub no_delay: bool,
    /// Open sockets.
    pub open: Limit,
    /// Lookups under way: each may hold a thread of this process.
    pub lookups: Limit,
    /// Samples that are begun and not finished.
    pub samples: Limit,
}

/// Lookups that a guest may have under way at once.
pub const MAX_LOOKUPS: usize = 256;

/// Samples that a guest may have open at once.
pub const MAX_SAMPLES: usize = 16_384;

/// What the host functions work on: the sockets of the run, and the guest's table of handles.
pub struct View<'a> {
    pub table: &'a mut ResourceTable,
    pub sockets: &'a mut Sockets,
}

/// Store data that has a network.
pub trait HasSockets: Send + 'static {
    fn sockets(&mut self) -> View<'_>;

    /// The guest's table of handles, where it is only looked at.
    fn table(&self) -> &ResourceTable;
}

struct Host;

impl HasData for Host {
    type Data<'a> = View<'a>;
}

/// Links `wasi:io/streams`, the seven interfaces of `wasi:sockets` and the two of `wrun:net`.
pub fn add_to_linker<T: HasSockets>(linker: &mut Linker<T>) -> Result<()> {
    use bindings::wasi::sockets;
    use bindings::wrun::net;

    streams::add_to_linker(linker)?;
    sockets::network::add_to_linker::<T, Host>(linker, &sockets::network::LinkOptions::default(), T::sockets)?;
    sockets::instance_network::add_to_linker::<T, Host>(linker, T::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<T, Host>(linker, T::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<T, Host>(linker, T::sockets)?;
    sockets::tcp::add_to_linker::<T, Host>(linker, T::sockets)?;
    sockets::udp_create_socket::add_to_linker::<T, Host>(linker, T::sockets)?;
    sockets::udp::add_to_linker::<T, Host>(linker, T::sockets)?;
    net::options::add_to_linker::<T, Host>(linker, T::sockets)?;
    net::timing::add_to_linker::<T, Host>(linker, T::sockets)
}
