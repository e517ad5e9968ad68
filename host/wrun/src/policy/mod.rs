//! What a guest may reach: nothing, unless a rule says so.
//!
//! [`Rule`] is one `--allow` as the user wrote it. [`Policy`] holds the rules of a run and answers every question the
//! sockets ask before they act. A denial is the guest's `access-denied`, and is told to whoever made the policy as
//! the rule that would have allowed it.

mod rule;

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use wrun_net::{Error, Result};

use rule::{Host, Scheme};
pub use rule::{Rule, RuleError};

/// The name that means this machine without being asked for anywhere.
const LOCALHOST: &str = "localhost";

/// The rules of a run. Clones share what was learned.
#[derive(Clone)]
pub struct Policy(Arc<Inner>);

struct Inner {
    rules: Vec<Rule>,
    /// Addresses that a lookup of a name in the rules gave, with those names: one address may have several.
    learned: Mutex<HashMap<IpAddr, BTreeSet<String>>>,
    denied: Box<dyn Fn(Denial) + Send + Sync>,
}

/// Something a guest tried and no rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// What it tried, in words.
    pub what: String,
    /// The rule that would allow it.
    pub rule: String,
}

impl Policy {
    /// A policy of these rules; `denied` is told of every denial, and may be told of the same one often.
    pub fn new(rules: Vec<Rule>, denied: impl Fn(Denial) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { rules, learned: Mutex::default(), denied: Box::new(denied) }))
    }

    /// A name may be looked up if a rule has it, or if the guest may talk to anybody.
    pub fn check_name(&self, name: &str) -> Result<()> {
        let allowed = self.0.rules.iter().any(|rule| match &rule.host {
            // Whoever only serves has nobody to look up, and a lookup is a message to whoever owns the name.
            Host::Any => matches!(rule.scheme, Scheme::Tcp | Scheme::Udp),
            Host::Name(known) => known == name,
            Host::Net(net) => name == LOCALHOST && net.addr().is_loopback(),
        });
        self.decide(allowed, || Denial { what: format!("look up {name}"), rule: format!("tcp://{name}:*") })
    }

    /// Takes the addresses of a name in the rules for allowed.
    pub fn learn(&self, name: &str, addresses: &[IpAddr]) {
        // Only those names, of which there are few: others mean nothing to the rules.
        if self.0.rules.iter().any(|rule| matches!(&rule.host, Host::Name(known) if known == name)) {
            let mut learned = self.0.learned.lock().unwrap_or_else(PoisonError::into_inner);
            for address in addresses {
                learned.entry(*address).or_default().insert(name.to_owned());
            }
        }
    }

    pub fn check_tcp_connect(&self, remote: SocketAddr) -> Result<()> {
        self.decide(self.matches(Scheme::Tcp, remote), || Denial {
            what: format!("connect to {remote}"),
            rule: self.suggest(Scheme::Tcp, remote),
        })
    }

    /// Binding a TCP socket; the answer says whether it may listen there.
    ///
    /// A port of the system's choice may always be bound: alone it reaches nobody and is reached by nobody.
    pub fn check_tcp_bind(&self, local: SocketAddr) -> Result<bool> {
        self.check_bind(Scheme::TcpListen, local)
    }

    /// Listening on `local`, which is where binding to `asked` led.
    pub fn check_tcp_listen(&self, asked: SocketAddr, local: SocketAddr) -> Result<()> {
        self.decide(self.matches(Scheme::TcpListen, local), || Denial {
            what: format!("listen on {asked}"),
            rule: self.suggest(Scheme::TcpListen, asked),
        })
    }

    /// Binding a UDP socket; the answer says whether it is a server there, which hears everyone and may answer.
    ///
    /// A port of the system's choice may always be bound: where it is no server's, it hears only whom it may send to.
    pub fn check_udp_bind(&self, local: SocketAddr) -> Result<bool> {
        self.check_bind(Scheme::UdpBind, local)
    }

    fn check_bind(&self, scheme: Scheme, local: SocketAddr) -> Result<bool> {
        let serves = self.matches(scheme, local);
        self.decide(serves || local.port() == 0, || Denial {
            what: format!("bind to {local}"),
            rule: self.suggest(scheme, local),
        })?;
        Ok(serves)
    }

    /// Tells of a datagram that a socket bound to `local` was sent by somebody it may not talk to. It is dropped.
    pub fn deny_stranger(&self, local: SocketAddr) {
        (self.0.denied)(Denial {
            what: format!("hear strangers on {local}"),
            rule: self.suggest(Scheme::UdpBind, local),
        });
    }

    pub fn check_udp_send(&self, remote: SocketAddr) -> Result<()> {
        self.decide(self.allows_udp(remote), || Denial {
            what: format!("send to {remote}"),
            rule: self.suggest(Scheme::Udp, remote),
        })
    }

    /// Whether datagrams may be exchanged with this address. Asks without telling of a denial.
    pub fn allows_udp(&self, remote: SocketAddr) -> bool {
        self.matches(Scheme::Udp, remote)
    }

    /// Joining a group needs a rule for the group, with whatever port.
    pub fn check_join(&self, group: IpAddr) -> Result<()> {
        let allowed =
            self.0.rules.iter().any(|rule| rule.scheme == Scheme::Udp && self.host_matches(&rule.host, group));
        self.decide(allowed, || Denial {
            what: format!("join {group}"),
            rule: format!("{}://{}:*", Scheme::Udp, rule::bracketed(group)),
        })
    }

    fn decide(&self, allowed: bool, denial: impl FnOnce() -> Denial) -> Result<()> {
        if allowed {
            return Ok(());
        }
        (self.0.denied)(denial());
        Err(Error::AccessDenied)
    }

    fn matches(&self, scheme: Scheme, address: SocketAddr) -> bool {
        self.0.rules.iter().any(|rule| {
            rule.scheme == scheme && rule.ports.contains(&address.port()) && self.host_matches(&rule.host, address.ip())
        })
    }

    fn host_matches(&self, host: &Host, address: IpAddr) -> bool {
        match host {
            Host::Any => true,
            Host::Net(net) => net.contains(&address),
            Host::Name(name) if name == LOCALHOST && address.is_loopback() => true,
            Host::Name(name) => {
                let learned = self.0.learned.lock().unwrap_or_else(PoisonError::into_inner);
                learned.get(&address).is_some_and(|names| names.contains(name))
            }
        }
    }

    /// The narrowest rule that would allow it, by the name the guest knows the address under.
    fn suggest(&self, scheme: Scheme, address: SocketAddr) -> String {
        let learned = self.0.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let name = learned.get(&address.ip()).and_then(BTreeSet::first).cloned();
        let host = name.unwrap_or_else(|| rule::bracketed(address.ip()));
        format!("{scheme}://{host}:{}", address.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy of these rules, with a list of the rules that would have been needed.
    fn policy(rules: &[&str]) -> (Policy, Arc<Mutex<Vec<String>>>) {
        let rules = rules.iter().flat_map(|text| Rule::parse(text).unwrap()).collect();
        let denied = Arc::new(Mutex::new(Vec::new()));
        let list = denied.clone();
        (Policy::new(rules, move |denial| list.lock().unwrap().push(denial.rule)), denied)
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn without_a_rule_nothing_is_allowed_and_each_denial_names_a_rule_that_would_do() {
        let (none, denied) = policy(&[]);
        assert!(none.check_tcp_connect(address("127.0.0.1:80")).is_err());
        assert!(none.check_tcp_bind(address("0.0.0.0:80")).is_err());
        assert!(none.check_tcp_listen(address("[::]:80"), address("[::]:80")).is_err());
        assert!(none.check_udp_bind(address("0.0.0.0:53")).is_err());
        none.deny_stranger(address("127.0.0.1:0"));
        assert!(none.check_udp_send(address("[::1]:53")).is_err());
        assert!(none.check_join("239.1.2.3".parse().unwrap()).is_err());
        assert!(none.check_name("example.com").is_err());
        let rules = denied.lock().unwrap().clone();
        assert_eq!(
            rules,
            [
                "tcp://127.0.0.1:80",
                "tcp-listen://0.0.0.0:80",
                "tcp-listen://[::]:80",
                "udp-bind://0.0.0.0:53",
                "udp-bind://127.0.0.1:0",
                "udp://[::1]:53",
                "udp://239.1.2.3:*",
                "tcp://example.com:*",
            ]
        );

        let (all, denied) = policy(&rules.iter().map(String::as_str).collect::<Vec<_>>());
        all.check_tcp_connect(address("127.0.0.1:80")).unwrap();
        assert!(all.check_tcp_bind(address("0.0.0.0:80")).unwrap());
        all.check_tcp_listen(address("[::]:80"), address("[::]:80")).unwrap();
        assert!(all.check_udp_bind(address("0.0.0.0:53")).unwrap());
        assert!(all.check_udp_bind(address("127.0.0.1:0")).unwrap());
        all.check_udp_send(address("[::1]:53")).unwrap();
        all.check_join("239.1.2.3".parse().unwrap()).unwrap();
        all.check_name("example.com").unwrap();
        assert!(denied.lock().unwrap().is_empty());
    }

    #[test]
    fn an_allowed_name_allows_its_addresses_on_its_ports_only() {
        let (policy, denied) = policy(&["tcp://example.com:80-81"]);
        assert!(policy.check_tcp_connect(address("192.0.2.1:80")).is_err());
        policy.learn("example.com", &["192.0.2.1".parse().unwrap()]);
        policy.check_tcp_connect(address("192.0.2.1:80")).unwrap();
        policy.check_tcp_connect(address("192.0.2.1:81")).unwrap();
        assert!(policy.check_tcp_connect(address("192.0.2.1:82")).is_err());
        assert!(policy.check_udp_send(address("192.0.2.1:80")).is_err());
        assert!(policy.check_name("example.org").is_err());
        assert_eq!(denied.lock().unwrap()[1], "tcp://example.com:82");
    }

    #[test]
    fn two_names_on_one_address_are_both_allowed() {
        let (policy, _) = policy(&["tcp://a.example:80", "tcp://b.example:443"]);
        for name in ["a.example", "b.example"] {
            policy.learn(name, &["192.0.2.1".parse().unwrap()]);
        }
        policy.check_tcp_connect(address("192.0.2.1:80")).unwrap();
        policy.check_tcp_connect(address("192.0.2.1:443")).unwrap();
    }

    #[test]
    fn whoever_only_serves_or_stays_here_looks_nobody_up() {
        for rules in [&["tcp-listen://*:8080", "udp-bind://*:*"] as &[&str], &["loopback"]] {
            let (policy, _) = policy(rules);
            assert!(policy.check_name("example.com").is_err());
            assert!(policy.check_name("secret.localhost").is_err());
        }
    }

    #[test]
    fn loopback_allows_this_machine_and_nothing_else() {
        let (policy, _) = policy(&["loopback"]);
        for local in ["127.0.0.1:1", "127.9.9.9:65535", "[::1]:80"] {
            policy.check_tcp_connect(address(local)).unwrap();
            policy.check_udp_send(address(local)).unwrap();
        }
        assert!(policy.check_tcp_bind(address("127.0.0.1:0")).unwrap());
        assert!(policy.check_udp_bind(address("[::1]:5353")).unwrap());
        policy.check_name("localhost").unwrap();
        assert!(policy.check_tcp_connect(address("192.0.2.1:80")).is_err());
        assert!(policy.check_tcp_listen(address("0.0.0.0:80"), address("0.0.0.0:80")).is_err());
        assert!(policy.check_name("example.com").is_err());
    }

    #[test]
    fn whoever_may_not_serve_can_bind_a_free_port_and_listens_on_none() {
        let (policy, _) = policy(&["tcp://*:80", "udp://*:53"]);
        assert!(!policy.check_tcp_bind(address("0.0.0.0:0")).unwrap());
        assert!(policy.check_tcp_bind(address("0.0.0.0:8080")).is_err());
        assert!(policy.check_tcp_listen(address("0.0.0.0:41000"), address("0.0.0.0:41000")).is_err());
        assert!(!policy.check_udp_bind(address("0.0.0.0:0")).unwrap());
        assert!(policy.check_udp_bind(address("0.0.0.0:53")).is_err());
    }
}
