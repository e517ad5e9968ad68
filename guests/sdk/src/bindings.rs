//! The one place where bindings are generated: `wrun:net`'s own interfaces, over the standard's resources as crate
//! `wasip2` has them. So a plain `wasip2` socket can be handed to them.

wit_bindgen::generate!({
    path: ["../../wit/deps/io.wit", "../../wit/deps/clocks.wit", "../../wit/deps/sockets.wit", "../../wit/wrun-net.wit"],
    world: "wrun:net/workload",
    with: {
        "wasi:io/error@0.2.12": wasip2::io::error,
        "wasi:io/poll@0.2.12": wasip2::io::poll,
        "wasi:io/streams@0.2.12": wasip2::io::streams,
        "wasi:clocks/monotonic-clock@0.2.12": wasip2::clocks::monotonic_clock,
        "wasi:sockets/network@0.2.12": wasip2::sockets::network,
        "wasi:sockets/instance-network@0.2.12": wasip2::sockets::instance_network,
        "wasi:sockets/tcp@0.2.12": wasip2::sockets::tcp,
        "wasi:sockets/tcp-create-socket@0.2.12": wasip2::sockets::tcp_create_socket,
        "wasi:sockets/udp@0.2.12": wasip2::sockets::udp,
        "wasi:sockets/udp-create-socket@0.2.12": wasip2::sockets::udp_create_socket,
        "wasi:sockets/ip-name-lookup@0.2.12": wasip2::sockets::ip_name_lookup,
    },
});

pub use wrun::net::{options, timing};
