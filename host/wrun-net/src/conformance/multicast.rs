//! Claims on multicast, on the loopback interface.
//!
//! What Linux does not do there cannot be claimed: it has no route for groups of IPv6 to that interface, and what is
//! sent to a group by it comes back whether multicast loopback is on or not.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::kit::*;
use crate::backend::{Backend, Interface, UdpSocket};
use crate::error::Error;

/// A group that stays within a site, with any number.
const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 255, 77, 1));

/// The same of IPv6, which stays on the machine.
fn group(ip: IpAddr) -> IpAddr {
    if ip.is_ipv4() { GROUP } else { Ipv6Addr::new(0xff11, 0, 0, 0, 0, 0, 0x77, 1).into() }
}

/// A member of a group, and a socket that sends to it: with the group's address and port, and the sender's.
struct Meeting {
    member: Arc<dyn UdpSocket>,
    sender: Arc<dyn UdpSocket>,
    group: SocketAddr,
    from: SocketAddr,
}

async fn meeting(backend: &Arc<dyn Backend>) -> Verdict<Meeting> {
    meeting_at(backend, Ipv4Addr::UNSPECIFIED.into()).await
}

/// With a member that is bound to this address.
async fn meeting_at(backend: &Arc<dyn Backend>, ip: IpAddr) -> Verdict<Meeting> {
    let (member, bound) = datagrams(backend, ip).await?;
    let (sender, from) = datagrams(backend, V4).await?;
    sender.set_multicast_interface(Interface::Address(V4)).await.during("setting the interface to send by")?;
    Ok(Meeting { member, sender, group: SocketAddr::new(GROUP, bound.port()), from })
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

pub async fn joined(backend: Arc<dyn Backend>) -> Verdict {
    let meeting = meeting(&backend).await?;
    meeting.say(b"before the join").await?;
    meeting.member.join(GROUP, Interface::Address(V4)).await.during("joining")?;
    meeting.say(b"to the members").await?;
    receives(&meeting.member, b"to the members", meeting.from).await?;
    meeting.member.leave(GROUP, Interface::Address(V4)).await.during("leaving")?;
    meeting.say(b"after the leave").await?;
    meeting.say_alone(b"to you").await?;
    receives(&meeting.member, b"to you", meeting.from).await
}

pub async fn only_members(backend: Arc<dyn Backend>) -> Verdict {
    let meeting = meeting(&backend).await?;
    // Somebody else on the machine is a member.
    let (other, _) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    other.join(GROUP, Interface::Address(V4)).await.during("joining")?;
    meeting.say(b"to the members").await?;
    meeting.say_alone(b"to you").await?;
    receives(&meeting.member, b"to you", meeting.from).await
}

pub async fn elsewhere(backend: Arc<dyn Backend>) -> Verdict {
    let meeting = meeting_at(&backend, V4).await?;
    meeting.member.join(GROUP, Interface::Address(V4)).await.during("joining")?;
    meeting.say(b"to the members").await?;
    meeting.say_alone(b"to you").await?;
    receives(&meeting.member, b"to you", meeting.from).await
}

pub async fn at_its_address(backend: Arc<dyn Backend>) -> Verdict {
    let meeting = meeting_at(&backend, GROUP).await?;
    meeting.say(b"before the join").await?;
    meeting.member.join(GROUP, Interface::Address(V4)).await.during("joining")?;
    meeting.say_alone(b"to you").await?;
    meeting.say(b"to the members").await?;
    receives(&meeting.member, b"to the members", meeting.from).await?;
    let local = meeting.member.local_address().during("asking for the local address")?;
    ensure!(local == meeting.group, "bound to {}, and is at {local}", meeting.group);
    Ok(())
}

pub async fn own(backend: Arc<dyn Backend>) -> Verdict {
    let (socket, bound) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    socket.join(GROUP, Interface::Address(V4)).await.during("joining")?;
    socket.set_multicast_interface(Interface::Address(V4)).await.during("setting the interface to send by")?;
    send(&socket, b"to us", Some(SocketAddr::new(GROUP, bound.port()))).await.during("sending to the group")?;
    receives(&socket, b"to us", SocketAddr::new(V4, bound.port())).await
}

pub async fn membership(backend: Arc<dyn Backend>, ip: IpAddr) -> Verdict {
    let (socket, _) = datagrams(&backend, ip).await?;
    let on = || Interface::Address(ip);
    refused(socket.leave(group(ip), on()).await, &Error::InvalidState, "leaving a group that was never joined")?;
    socket.join(group(ip), on()).await.during("joining")?;
    refused(socket.join(group(ip), on()).await, &Error::AddressInUse, "joining twice")?;
    socket.leave(group(ip), on()).await.during("leaving")?;
    refused(socket.leave(group(ip), on()).await, &Error::InvalidState, "leaving twice")
}

pub async fn no_interface(backend: Arc<dyn Backend>) -> Verdict {
    let missing = [
        Interface::Name("no-such-one".to_owned()),
        Interface::Name("a name that is far longer than any interface has".to_owned()),
        Interface::Name(String::new()),
        Interface::Address(IpAddr::from([203, 0, 113, 77])),
    ];
    let (socket, _) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    for interface in missing {
        let what = format!("{interface:?}");
        let set = socket.set_multicast_interface(interface.clone()).await;
        refused(set, &Error::InvalidArgument, &format!("sending by {what}"))?;
        let join = socket.join(GROUP, interface).await;
        refused(join, &Error::InvalidArgument, &format!("joining on {what}"))?;
    }
    Ok(())
}
