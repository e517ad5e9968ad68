//! The TCP state machine, one state after the other.

use std::error::Error;

use wasip2::io::streams::StreamError;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily};
use wasip2::sockets::tcp::{ShutdownType, TcpSocket};

use crate::check::Checks;
use crate::raw::{self, Connection, at, port};

pub fn walk(checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    unbound(checks)?;
    addresses(checks)?;
    bound(checks)?;
    let listener = listening(checks)?;
    connecting(checks, &listener)?;
    refused(checks)?;
    let client = raw::connect(raw::tcp()?, listener.local_address()?)?;
    let server = raw::accept(&listener)?;
    streams(checks, &client, &server)
}

fn unbound(checks: &mut Checks) -> Result<(), ErrorCode> {
    let socket = raw::tcp()?;
    checks.is("tcp unbound, family", true, socket.address_family() == IpAddressFamily::Ipv4);
    checks.is("tcp unbound, is listening", false, socket.is_listening());
    checks.answers("tcp unbound, local address", "invalid-state", socket.local_address());
    checks.answers("tcp unbound, remote address", "invalid-state", socket.remote_address());
    checks.answers("tcp unbound, finish bind", "not-in-progress", socket.finish_bind());
    checks.answers("tcp unbound, finish connect", "not-in-progress", socket.finish_connect().map(drop));
    checks.answers("tcp unbound, finish listen", "not-in-progress", socket.finish_listen());
    checks.answers("tcp unbound, start listen", "invalid-state", socket.start_listen());
    checks.answers("tcp unbound, accept", "invalid-state", socket.accept().map(drop));
    checks.answers("tcp unbound, shut down", "invalid-state", socket.shutdown(ShutdownType::Both));
    checks.answers("tcp unbound, backlog 0", "invalid-argument", socket.set_listen_backlog_size(0));
    checks.answers("tcp unbound, backlog 1", "ok", socket.set_listen_backlog_size(1));
    checks.answers("tcp unbound, backlog of the largest number", "ok", socket.set_listen_backlog_size(u64::MAX));
    Ok(())
}

fn addresses(checks: &mut Checks) -> Result<(), ErrorCode> {
    let socket = raw::tcp()?;
    for (what, local, expected) in [
        ("the other family", "[::1]:0", "invalid-argument"),
        ("a multicast address", "224.0.0.1:0", "invalid-argument"),
        ("the broadcast address", "255.255.255.255:0", "invalid-argument"),
        ("another machine's address", "192.0.2.1:0", "address-not-bindable"),
    ] {
        checks.answers(&format!("tcp bind to {what}"), expected, raw::bind(&socket, at(local)));
    }
    checks.answers("tcp bind after binds that failed", "ok", raw::bind(&socket, at("127.0.0.1:0")));
    for (what, remote) in [
        ("the other family", "[::1]:9"),
        ("a multicast address", "224.0.0.1:9"),
        ("the broadcast address", "255.255.255.255:9"),
        ("no address", "0.0.0.0:9"),
        ("no port", "127.0.0.1:0"),
    ] {
        let answer = raw::start_connect(&raw::tcp()?, at(remote));
        checks.answers(&format!("tcp connect to {what}"), "invalid-argument", answer);
    }
    Ok(())
}

fn bound(checks: &mut Checks) -> Result<(), ErrorCode> {
    let socket = raw::tcp()?;
    checks.answers("tcp start bind", "ok", raw::start_bind(&socket, at("127.0.0.1:0")));
    checks.answers("tcp binding, start bind", "concurrency-conflict", raw::start_bind(&socket, at("127.0.0.1:0")));
    let connect = raw::start_connect(&socket, at("127.0.0.1:9"));
    checks.answers("tcp binding, start connect", "concurrency-conflict", connect);
    checks.answers("tcp binding, start listen", "concurrency-conflict", socket.start_listen());
    checks.answers("tcp binding, finish listen", "not-in-progress", socket.finish_listen());
    checks.answers("tcp binding, finish bind", "ok", raw::settled(&socket, || socket.finish_bind()));
    checks.answers("tcp bound, finish bind again", "not-in-progress", socket.finish_bind());
    checks.answers("tcp bound, bind again", "invalid-state", raw::start_bind(&socket, at("127.0.0.1:0")));
    checks.is("tcp bound, has a port", true, socket.local_address().is_ok_and(|local| port(local) != 0));
    checks.answers("tcp bound, remote address", "invalid-state", socket.remote_address());
    checks.answers("tcp bound, accept", "invalid-state", socket.accept().map(drop));
    checks.answers("tcp bound, shut down", "invalid-state", socket.shutdown(ShutdownType::Send));
    checks.is("tcp bound, is listening", false, socket.is_listening());
    Ok(())
}

fn listening(checks: &mut Checks) -> Result<TcpSocket, ErrorCode> {
    let socket = raw::tcp()?;
    socket.set_hop_limit(42)?;
    socket.set_keep_alive_enabled(true)?;
    raw::bind(&socket, at("127.0.0.1:0"))?;
    checks.answers("tcp start listen", "ok", socket.start_listen());
    checks.answers("tcp starting to listen, start listen", "concurrency-conflict", socket.start_listen());
    checks.answers("tcp starting to listen, finish", "ok", raw::settled(&socket, || socket.finish_listen()));
    checks.answers("tcp listening, finish again", "not-in-progress", socket.finish_listen());
    checks.is("tcp listening, is listening", true, socket.is_listening());
    checks.answers("tcp listening, start listen", "invalid-state", socket.start_listen());
    checks.answers("tcp listening, bind", "invalid-state", raw::start_bind(&socket, at("127.0.0.1:0")));
    checks.answers("tcp listening, connect", "invalid-state", raw::start_connect(&socket, at("127.0.0.1:9")));
    checks.answers("tcp listening, nobody to accept", "would-block", socket.accept().map(drop));
    checks.answers("tcp listening, local address", "ok", socket.local_address());
    checks.answers("tcp listening, remote address", "invalid-state", socket.remote_address());
    checks.answers("tcp listening, shut down", "invalid-state", socket.shutdown(ShutdownType::Both));
    let backlog = socket.set_listen_backlog_size(5);
    checks.is(
        "tcp listening, backlog set or not supported",
        true,
        matches!(backlog, Ok(()) | Err(ErrorCode::NotSupported)),
    );
    let taken = raw::bind(&raw::tcp()?, socket.local_address()?);
    checks.answers("tcp bind to the address of a listener", "address-in-use", taken);
    Ok(socket)
}

fn connecting(checks: &mut Checks, listener: &TcpSocket) -> Result<(), ErrorCode> {
    let remote = listener.local_address()?;
    let socket = raw::tcp()?;
    checks.answers("tcp start connect", "ok", raw::start_connect(&socket, remote));
    checks.answers("tcp connecting, start connect", "concurrency-conflict", raw::start_connect(&socket, remote));
    let bind = raw::start_bind(&socket, at("127.0.0.1:0"));
    checks.answers("tcp connecting, start bind", "concurrency-conflict", bind);
    checks.answers("tcp connecting, start listen", "concurrency-conflict", socket.start_listen());
    checks.answers("tcp connecting, finish bind", "not-in-progress", socket.finish_bind());
    checks.answers("tcp connecting, backlog", "invalid-state", socket.set_listen_backlog_size(5));
    socket.subscribe().block();
    // There is a connection by now, and the guest was not told.
    for (what, how) in
        [("receiving", ShutdownType::Receive), ("sending", ShutdownType::Send), ("both", ShutdownType::Both)]
    {
        let what = format!("tcp connected and not finished, shut down {what}");
        checks.answers(&what, "invalid-state", socket.shutdown(how));
    }
    let finished = raw::settled(&socket, || socket.finish_connect());
    checks.answers("tcp connecting, finish", "ok", finished.as_ref().map(|_| ()).map_err(|code| *code));
    let (input, output) = finished?;
    let client = Connection { input, output, socket };
    connected(checks, &client.socket);
    let asked_for = port(remote) == port(client.socket.remote_address()?);
    checks.is("tcp connected, remote address is the one asked for", true, asked_for);

    let server = raw::accept(listener)?;
    checks.answers("tcp accepted, bind", "invalid-state", raw::start_bind(&server.socket, at("127.0.0.1:0")));
    let (local, remote) = (client.socket.local_address()?, server.socket.remote_address()?);
    checks.is("tcp accepted, remote address is the client's", true, port(local) == port(remote));
    checks.is("tcp accepted, hop limit is the listener's", 42, server.socket.hop_limit()?);
    checks.is("tcp accepted, keep-alive is the listener's", true, server.socket.keep_alive_enabled()?);
    Ok(())
}

fn connected(checks: &mut Checks, socket: &TcpSocket) {
    checks.answers("tcp connected, finish connect again", "not-in-progress", socket.finish_connect().map(drop));
    checks.answers("tcp connected, connect", "invalid-state", raw::start_connect(socket, at("127.0.0.1:9")));
    checks.answers("tcp connected, bind", "invalid-state", raw::start_bind(socket, at("127.0.0.1:0")));
    checks.answers("tcp connected, listen", "invalid-state", socket.start_listen());
    checks.answers("tcp connected, accept", "invalid-state", socket.accept().map(drop));
    checks.answers("tcp connected, backlog", "invalid-state", socket.set_listen_backlog_size(5));
    checks.answers("tcp connected, local address", "ok", socket.local_address());
    checks.is("tcp connected, is listening", false, socket.is_listening());
}

fn refused(checks: &mut Checks) -> Result<(), ErrorCode> {
    // Bound and not listening: a port where nobody can be.
    let nobody = raw::tcp()?;
    raw::bind(&nobody, at("127.0.0.1:0"))?;
    let socket = raw::tcp()?;
    raw::start_connect(&socket, nobody.local_address()?)?;
    let answer = raw::settled(&socket, || socket.finish_connect());
    checks.answers("tcp connect where nobody listens", "connection-refused", answer.map(drop));
    checks.answers("tcp after a failed connect, finish", "not-in-progress", socket.finish_connect().map(drop));
    checks.answers(
        "tcp after a failed connect, connect",
        "invalid-state",
        raw::start_connect(&socket, at("127.0.0.1:9")),
    );
    checks.answers("tcp after a failed connect, bind", "invalid-state", raw::start_bind(&socket, at("127.0.0.1:0")));
    checks.answers("tcp after a failed connect, listen", "invalid-state", socket.start_listen());
    checks.answers("tcp after a failed connect, shut down", "invalid-state", socket.shutdown(ShutdownType::Both));
    Ok(())
}

fn streams(checks: &mut Checks, client: &Connection, server: &Connection) -> Result<(), Box<dyn Error>> {
    checks.reads("tcp stream, nothing to read", "", server.input.read(16)?);
    checks.is("tcp stream, room to write", true, client.output.check_write()? > 0);
    client.output.write(b"ping")?;
    checks.reads("tcp stream, what was written is read", "ping", server.input.blocking_read(16)?);
    checks.reads("tcp stream, a read of nothing", "", server.input.read(0)?);

    checks.answers("tcp shut down sending", "ok", client.socket.shutdown(ShutdownType::Send));
    checks.answers("tcp shut down sending again", "ok", client.socket.shutdown(ShutdownType::Send));
    checks.shows("tcp shut, a write", "closed", stream(client.output.check_write()));
    checks.shows("tcp shut, the peer reads the end", "closed", stream(server.input.blocking_read(16)));
    checks.shows("tcp shut, the peer reads the end again", "closed", stream(server.input.blocking_read(16)));
    server.output.blocking_write_and_flush(b"pong")?;
    checks.reads("tcp shut, the peer can still send", "pong", client.input.blocking_read(16)?);

    checks.answers("tcp shut down receiving", "ok", client.socket.shutdown(ShutdownType::Receive));
    checks.shows("tcp shut, a read", "closed", stream(client.input.blocking_read(16)));
    checks.answers("tcp shut down both", "ok", client.socket.shutdown(ShutdownType::Both));
    checks.answers("tcp shut down, remote address", "ok", client.socket.remote_address());
    Ok(())
}

fn stream<T>(answer: Result<T, StreamError>) -> &'static str {
    match answer {
        Ok(_) => "ok",
        Err(StreamError::Closed) => "closed",
        Err(StreamError::LastOperationFailed(_)) => "failed",
    }
}
