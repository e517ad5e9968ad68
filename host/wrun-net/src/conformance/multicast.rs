//! Claims on multicast, on the loopback interface.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::kit::*;
use crate::backend::{Backend, Family, Interface, SocketOption, UdpSocket};
use crate::error::Error;

/// Groups of scopes that stay on the machine or the site, with any number.
const GROUPS: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(239, 255, 77, 1)), IpAddr::V6(Ipv6Addr::new(0xff11, 0, 0, 0, 0, 0, 0x77, 1))];

fn group(ip: IpAddr) -> IpAddr {
    GROUPS[usize::from(ip.is_ipv6())]
}

/// A member of a group, and a socket that sends to it: with the group's address and port, and the sender's.
struct Meeting {
    member: Arc<dyn UdpSocket>,
    sender: Arc<dyn UdpSocket>,
    group: SocketAddr,
    from: SocketAddr,
}

/// `ip` is the loopback address of the family.
async fn meeting(backend: &Arc<dyn Backend>, ip: IpAddr) -> Verdict<Meeting> {
    let everywhere: IpAddr = match Family::of(ip) {
        Family::V4 => Ipv4Addr::UNSPECIFIED.into(),
        Family::V6 => Ipv6Addr::UNSPECIFIED.into(),
    };
    let (member, bound) = datagrams(backend, everywhere).await?;
    let (sender, from) = datagrams(backend, ip).await?;
    sender.set_multicast_interface(Interface::Address(ip)).await.during("setting the interface to send by")?;
    Ok(Meeting { member, sender, group: SocketAddr::new(group(ip), bound.port()), from })
}

impl Meeting {
    async fn say(&self, words: &[u8]) -> Verdict {
        send(&self.sender, words, Some(self.group)).await.during("sending to the group")
    }

    /// Sends to the member alone, which shows what did not come before.
    async fn say_alone(&self, words: &[u8]) -> Verdict {
        let alone = SocketAddr::new(self.from.ip(), self.group.port());
        send(&self.sender, words, Some(alone)).await.during("sending to the member alone")
    }
}

pub async fn joined(backend: Arc<dyn Backend>, ip: IpAddr) -> Verdict {
    let meeting = meeting(&backend, ip).await?;
    meeting.say(b"before the join").await?;
    meeting.member.join(meeting.group.ip(), Interface::Address(ip)).await.during("joining")?;
    meeting.say(b"to the members").await?;
    receives(&meeting.member, b"to the members", meeting.from).await?;
    meeting.member.leave(meeting.group.ip(), Interface::Address(ip)).await.during("leaving")?;
    meeting.say(b"after the leave").await?;
    meeting.say_alone(b"to you").await?;
    receives(&meeting.member, b"to you", meeting.from).await
}

pub async fn only_members(backend: Arc<dyn Backend>) -> Verdict {
    let meeting = meeting(&backend, V4).await?;
    // Somebody else on the machine is a member.
    let (other, _) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    other.join(meeting.group.ip(), Interface::Address(V4)).await.during("joining")?;
    meeting.say(b"to the members").await?;
    meeting.say_alone(b"to you").await?;
    receives(&meeting.member, b"to you", meeting.from).await
}

pub async fn loopback_off(backend: Arc<dyn Backend>) -> Verdict {
    let meeting = meeting(&backend, V4).await?;
    meeting.member.join(meeting.group.ip(), Interface::Address(V4)).await.during("joining")?;
    meeting.sender.set_option(SocketOption::MulticastLoopback(false)).await.during("setting loopback off")?;
    meeting.say(b"to other machines").await?;
    meeting.sender.set_option(SocketOption::MulticastLoopback(true)).await.during("setting loopback on")?;
    meeting.say(b"to this one too").await?;
    receives(&meeting.member, b"to this one too", meeting.from).await
}

pub async fn own(backend: Arc<dyn Backend>) -> Verdict {
    let (socket, bound) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    socket.join(group(V4), Interface::Address(V4)).await.during("joining")?;
    socket.set_multicast_interface(Interface::Address(V4)).await.during("setting the interface to send by")?;
    send(&socket, b"to us", Some(SocketAddr::new(group(V4), bound.port()))).await.during("sending to the group")?;
    receives(&socket, b"to us", SocketAddr::new(V4, bound.port())).await
}

pub async fn membership(backend: Arc<dyn Backend>) -> Verdict {
    let (socket, _) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    let on = || Interface::Address(V4);
    refused(socket.leave(group(V4), on()).await, &Error::InvalidState, "leaving a group that was never joined")?;
    socket.join(group(V4), on()).await.during("joining")?;
    refused(socket.join(group(V4), on()).await, &Error::AddressInUse, "joining twice")?;
    socket.leave(group(V4), on()).await.during("leaving")?;
    refused(socket.leave(group(V4), on()).await, &Error::InvalidState, "leaving twice")
}

pub async fn no_interface(backend: Arc<dyn Backend>) -> Verdict {
    let missing = [
        Interface::Name("no-such-one".to_owned()),
        Interface::Name("a name that is far longer than any interface has".to_owned()),
        Interface::Name(String::new()),
        Interface::Address(IpAddr::from([192, 0, 2, 1])),
    ];
    let (socket, _) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    for interface in missing {
        let what = format!("{interface:?}");
        let set = socket.set_multicast_interface(interface.clone()).await;
        refused(set, &Error::InvalidArgument, &format!("sending by {what}"))?;
        let join = socket.join(group(V4), interface).await;
        refused(join, &Error::InvalidArgument, &format!("joining on {what}"))?;
    }
    Ok(())
}
