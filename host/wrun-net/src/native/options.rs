//! The options of a kernel socket.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::sockopt;

use crate::backend::{Family, OptionKind, SocketOption};
use crate::error::{Error, Result};
use crate::rounding;
use crate::transport::Transport;

/// The value as the kernel holds it. It doubles buffer sizes, to count its own bookkeeping too.
pub fn get(socket: impl AsFd, transport: Transport, family: Family, kind: OptionKind) -> Result<SocketOption> {
    transport.admits(kind)?;
    Ok(match kind {
        OptionKind::KeepAlive => SocketOption::KeepAlive(sockopt::socket_keepalive(socket)?),
        OptionKind::KeepAliveIdle => SocketOption::KeepAliveIdle(sockopt::tcp_keepidle(socket)?),
        OptionKind::KeepAliveInterval => SocketOption::KeepAliveInterval(sockopt::tcp_keepintvl(socket)?),
        OptionKind::KeepAliveCount => SocketOption::KeepAliveCount(sockopt::tcp_keepcnt(socket)?),
        OptionKind::HopLimit => SocketOption::HopLimit(match family {
            Family::V4 => byte(sockopt::ip_ttl(socket)?),
            Family::V6 => sockopt::ipv6_unicast_hops(socket)?,
        }),
        OptionKind::ReceiveBuffer => SocketOption::ReceiveBuffer(sockopt::socket_recv_buffer_size(socket)? as u64),
        OptionKind::SendBuffer => SocketOption::SendBuffer(sockopt::socket_send_buffer_size(socket)? as u64),
        OptionKind::NoDelay => SocketOption::NoDelay(sockopt::tcp_nodelay(socket)?),
        OptionKind::Linger => SocketOption::Linger(sockopt::socket_linger(socket)?),
        OptionKind::Broadcast => SocketOption::Broadcast(sockopt::socket_broadcast(socket)?),
        OptionKind::MulticastHops => SocketOption::MulticastHops(byte(match family {
            Family::V4 => sockopt::ip_multicast_ttl(socket)?,
            Family::V6 => sockopt::ipv6_multicast_hops(socket)?,
        })),
        OptionKind::MulticastLoopback => SocketOption::MulticastLoopback(match family {
            Family::V4 => sockopt::ip_multicast_loop(socket)?,
            Family::V6 => sockopt::ipv6_multicast_loop(socket)?,
        }),
        OptionKind::SendQueue => return Err(Error::NotSupported),
    })
}

pub fn set(socket: impl AsFd, transport: Transport, family: Family, option: SocketOption) -> Result<()> {
    transport.admits(option.kind())?;
    set_known(socket, family, option)?;
    Ok(())
}

fn set_known(socket: impl AsFd, family: Family, option: SocketOption) -> Result<(), Errno> {
    match option {
        SocketOption::KeepAlive(on) => sockopt::set_socket_keepalive(socket, on),
        SocketOption::KeepAliveIdle(time) => sockopt::set_tcp_keepidle(socket, rounding::keep_alive_time(time)),
        SocketOption::KeepAliveInterval(time) => sockopt::set_tcp_keepintvl(socket, rounding::keep_alive_time(time)),
        SocketOption::KeepAliveCount(count) => sockopt::set_tcp_keepcnt(socket, rounding::keep_alive_count(count)),
        SocketOption::HopLimit(hops) => match family {
            Family::V4 => sockopt::set_ip_ttl(socket, u32::from(hops)),
            Family::V6 => sockopt::set_ipv6_unicast_hops(socket, Some(hops)),
        },
        SocketOption::ReceiveBuffer(bytes) => sockopt::set_socket_recv_buffer_size(socket, size(bytes)),
        SocketOption::SendBuffer(bytes) => sockopt::set_socket_send_buffer_size(socket, size(bytes)),
        SocketOption::NoDelay(on) => sockopt::set_tcp_nodelay(socket, on),
        SocketOption::Linger(time) => sockopt::set_socket_linger(socket, rounding::linger(time)),
        SocketOption::Broadcast(on) => sockopt::set_socket_broadcast(socket, on),
        SocketOption::MulticastHops(hops) => match family {
            Family::V4 => sockopt::set_ip_multicast_ttl(socket, u32::from(hops)),
            Family::V6 => sockopt::set_ipv6_multicast_hops(socket, u32::from(hops)),
        },
        SocketOption::MulticastLoopback(on) => match family {
            Family::V4 => sockopt::set_ip_multicast_loop(socket, on),
            Family::V6 => sockopt::set_ipv6_multicast_loop(socket, on),
        },
        SocketOption::SendQueue(_) => Err(Errno::NOPROTOOPT),
    }
}

fn byte(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

fn size(bytes: u64) -> usize {
    // In the range of an i32 by now, so it fits.
    rounding::buffer(bytes) as usize
}
