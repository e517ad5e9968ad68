//! Multicast groups, and the interfaces they are joined on.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{netdevice, sockopt};

use crate::backend::{Family, Interface};
use crate::error::{Error, Result};

/// An interface as the kernel takes it: by its address, or by its number, where 0 is whichever the system picks.
#[derive(Debug, Clone, Copy)]
enum Device {
    Address(Ipv4Addr),
    Number(u32),
}

impl Device {
    fn address(self) -> Ipv4Addr {
        match self {
            Self::Address(address) => address,
            Self::Number(_) => Ipv4Addr::UNSPECIFIED,
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Address(_) => 0,
            Self::Number(number) => number,
        }
    }
}

pub fn join(socket: impl AsFd, group: IpAddr, interface: &Interface) -> Result<()> {
    let device = find(&socket, Family::of(group), interface)?;
    match group {
        IpAddr::V4(group) => {
            sockopt::set_ip_add_membership_with_ifindex(socket, &group, &device.address(), device.number())
        }
        IpAddr::V6(group) => sockopt::set_ipv6_add_membership(socket, &group, device.number()),
    }
    .map_err(|errno| failure(errno, interface))
}

pub fn leave(socket: impl AsFd, group: IpAddr, interface: &Interface) -> Result<()> {
    let device = find(&socket, Family::of(group), interface)?;
    match group {
        IpAddr::V4(group) => {
            sockopt::set_ip_drop_membership_with_ifindex(socket, &group, &device.address(), device.number())
        }
        IpAddr::V6(group) => sockopt::set_ipv6_drop_membership(socket, &group, device.number()),
    }
    .map_err(|errno| match errno {
        // Not a member, which is a matter of the calls so far, not of an address.
        Errno::ADDRNOTAVAIL => Error::InvalidState,
        errno => failure(errno, interface),
    })
}

/// Sets the interface that multicast leaves by.
pub fn set_outgoing(socket: impl AsFd, family: Family, interface: &Interface) -> Result<()> {
    let device = find(&socket, family, interface)?;
    match family {
        Family::V4 => sockopt::set_ip_multicast_if_with_ifindex(
            socket,
            &Ipv4Addr::UNSPECIFIED,
            &device.address(),
            device.number(),
        ),
        Family::V6 => sockopt::set_ipv6_multicast_if(socket, device.number()),
    }
    .map_err(|errno| failure(errno, interface))
}

fn find(socket: impl AsFd, family: Family, interface: &Interface) -> Result<Device> {
    match (interface, family) {
        (Interface::Default, _) => Ok(Device::Number(0)),
        (Interface::Name(name), _) => {
            netdevice::name_to_index(socket, name).map(Device::Number).map_err(|errno| failure(errno, interface))
        }
        (Interface::Address(IpAddr::V4(address)), Family::V4) => Ok(Device::Address(*address)),
        (Interface::Address(IpAddr::V6(address)), _) => number_of(*address).map(Device::Number),
        // IPv6 takes numbers only, and the kernel has no plain way to ask for the number of an IPv4 address.
        (Interface::Address(IpAddr::V4(_)), Family::V6) => Err(Error::InvalidArgument),
    }
}

/// The number of the interface with this address, from the kernel's list: address in 32 hexadecimal digits, number in
/// hexadecimal, and more.
fn number_of(address: Ipv6Addr) -> Result<u32> {
    let list = fs::read_to_string("/proc/net/if_inet6")?;
    let digits = format!("{:032x}", u128::from(address));
    list.lines()
        .filter_map(|line| line.strip_prefix(&digits))
        .find_map(|rest| u32::from_str_radix(rest.split_whitespace().next()?, 16).ok())
        .ok_or(Error::InvalidArgument)
}

/// The kernel's word for an interface that does not exist depends on the call; the guest is told one thing.
fn failure(errno: Errno, interface: &Interface) -> Error {
    match (errno, interface) {
        // No route says where multicast goes, so the system cannot pick.
        (Errno::NODEV, Interface::Default) => Error::RemoteUnreachable,
        (Errno::NODEV | Errno::NXIO | Errno::ADDRNOTAVAIL | Errno::NAMETOOLONG, _) => Error::InvalidArgument,
        _ => errno.into(),
    }
}
