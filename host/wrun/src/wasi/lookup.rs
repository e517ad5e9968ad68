//! `wasi:sockets/ip-name-lookup`: names to addresses, as far as the policy allows the name.

use std::net::IpAddr;
use std::task::{Context, Poll, Waker};
use std::vec;

use url::Host;
use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wrun_net::Error;
use wrun_net::backend::Pending;

use super::bindings::wasi::sockets::ip_name_lookup;
use super::bindings::wasi::sockets::network::{ErrorCode, IpAddress};
use super::error::SocketError;
use super::network::Network;
use super::turn::ready_now;
use super::{Place, View};
use crate::policy::Policy;

/// A lookup under way, then its addresses one by one.
pub struct Lookup {
    state: State,
    /// Set where the addresses become allowed because the name is.
    learn: Option<(Policy, String)>,
    /// Until the answer is there.
    place: Option<Place>,
}

enum State {
    Waiting(Pending<Vec<IpAddr>>),
    Done(Result<vec::IntoIter<IpAddr>, Error>),
}

impl Lookup {
    fn known(address: IpAddr) -> Self {
        Self { state: State::Done(Ok(vec![address].into_iter())), learn: None, place: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<&mut Result<vec::IntoIter<IpAddr>, Error>> {
        if let State::Waiting(pending) = &mut self.state {
            let Poll::Ready(answer) = pending.as_mut().poll(cx) else { return Poll::Pending };
            if let (Ok(addresses), Some((policy, name))) = (&answer, &self.learn) {
                policy.learn(name, addresses);
            }
            // It holds no thread any more.
            self.place = None;
            self.state = State::Done(answer.map(Vec::into_iter));
        }
        match &mut self.state {
            State::Done(done) => Poll::Ready(done),
            State::Waiting(_) => Poll::Pending,
        }
    }
}

/// What a guest wrote where a name is asked for: a domain in ASCII, without its last dot, or an address in digits.
fn parse(name: &str) -> Option<Host<String>> {
    // The URL standard's host has no bare IPv6 address, and guests write those.
    if let Ok(address) = name.parse() {
        return Some(Host::Ipv6(address));
    }
    match Host::parse(name).ok()? {
        Host::Domain(domain) => {
            let absolute = domain.strip_suffix('.').unwrap_or(&domain);
            let label = |label: &str| (1..=63).contains(&label.len());
            let fits = absolute.len() <= 253 && absolute.split('.').all(label);
            fits.then(|| Host::Domain(absolute.to_owned()))
        }
        address => Some(address),
    }
}

impl ip_name_lookup::Host for View<'_> {
    fn resolve_addresses(&mut self, network: Resource<Network>, name: String) -> Result<Resource<Lookup>, SocketError> {
        self.table.get(&network)?;
        let lookup = match parse(&name).ok_or(ErrorCode::InvalidArgument)? {
            Host::Ipv4(address) => Lookup::known(address.into()),
            Host::Ipv6(address) => Lookup::known(address.into()),
            Host::Domain(name) => {
                self.sockets.policy.check_name(&name)?;
                let place = self.sockets.lookups.take().ok_or(ErrorCode::TemporaryResolverFailure)?;
                let pending = self.sockets.backend.resolve(&name);
                let learn = Some((self.sockets.policy.clone(), name));
                let mut lookup = Lookup { state: State::Waiting(pending), learn, place: Some(place) };
                // Sets it going now, not when the guest comes to ask.
                _ = lookup.poll(&mut Context::from_waker(Waker::noop()));
                lookup
            }
        };
        Ok(self.table.push(lookup)?)
    }
}

impl ip_name_lookup::HostResolveAddressStream for View<'_> {
    async fn resolve_next_address(&mut self, lookup: Resource<Lookup>) -> Result<Option<IpAddress>, SocketError> {
        let lookup = self.table.get_mut(&lookup)?;
        ready_now(|cx| lookup.poll(cx).map(|_| ())).await;
        match lookup.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Err(ErrorCode::WouldBlock.into()),
            Poll::Ready(Ok(addresses)) => Ok(addresses.next().map(IpAddress::from)),
            Poll::Ready(Err(error)) => Err(error.clone().into()),
        }
    }

    fn subscribe(&mut self, lookup: Resource<Lookup>) -> Result<Resource<DynPollable>> {
        subscribe(self.table, lookup)
    }

    fn drop(&mut self, lookup: Resource<Lookup>) -> Result<()> {
        self.table.delete(lookup)?;
        Ok(())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Lookup {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| self.poll(cx).map(|_| ())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_a_name_nor_an_address_is_refused() {
        let long = "a".repeat(64);
        for text in ["", ".", "a..b", "256.1.1.1", "a b", "a\0b", "a/b", "[::1", &long] {
            assert!(parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_name_is_ascii_in_lower_case_without_its_last_dot() {
        for (text, name) in
            [("LocalHost", "localhost"), ("example.com.", "example.com"), ("münchen.de", "xn--mnchen-3ya.de")]
        {
            assert_eq!(parse(text), Some(Host::Domain(name.to_owned())), "{text}");
        }
        for text in ["127.0.0.1", "::1", "[::1]"] {
            assert!(matches!(parse(text), Some(Host::Ipv4(_) | Host::Ipv6(_))), "{text}");
        }
    }
}
