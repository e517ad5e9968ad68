//! A profile in force: its lines, and what is counted on them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::account::{PathAccount, Way};
use super::course::{Course, CourseId, Link};
use super::tally::PathTally;
use crate::shape::Profile;
use crate::shape::dice::Seed;
use crate::shape::profile::{Effects, Match, Operation, Protocol, Scope};
use crate::shape::rules::Subject;
use crate::shape::schedule::Schedule;

pub struct Terms {
    /// Of all that a backend has had, counted.
    pub number: u64,
    pub profile: Profile,
    /// One for each rule, in their order.
    rules: Vec<InForce>,
}

/// A rule in force.
struct InForce {
    schedule: Schedule,
    up: OneWay,
    down: OneWay,
}

struct OneWay {
    /// What all sockets share, where they do.
    link: Arc<Mutex<Link>>,
    tally: Arc<PathTally>,
}

impl Terms {
    pub fn new(profile: Profile, number: u64) -> Self {
        let rules = profile.rules.iter().map(|rule| {
            let way = |way| {
                let tally = Arc::<PathTally>::default();
                OneWay { link: Arc::new(Mutex::new(Link::new(rule, way, tally.clone()))), tally }
            };
            InForce { schedule: Schedule::new(&rule.regimes), up: way(Way::Up), down: way(Way::Down) }
        });
        let rules = rules.collect();
        Self { number, profile, rules }
    }

    /// The rule that decides about an operation, unless it is left alone.
    pub fn rule(&self, operation: Operation, protocol: Option<Protocol>, remote: Option<SocketAddr>) -> Option<usize> {
        self.profile.rule_for(&Subject { operation, protocol, remote })
    }

    /// What a rule does at this time since the beginning.
    pub fn effects(&self, rule: usize, now: Duration) -> Option<&Effects> {
        let turn = self.rules.get(rule)?.schedule.turn(now);
        Some(&self.profile.rules.get(rule)?.regimes.get(turn.regime)?.effects)
    }

    /// Whether a rule does something at any time.
    pub fn ever(&self, rule: usize, does: impl Fn(&Effects) -> bool) -> bool {
        self.profile.rules.get(rule).is_some_and(|rule| rule.regimes.iter().any(|regime| does(&regime.effects)))
    }

    /// Whether a rule that may be about this operation of this protocol does something at any time.
    pub fn any(&self, operation: Operation, protocol: Protocol, does: impl Fn(&Effects) -> bool) -> bool {
        self.profile.rules.iter().any(|rule| {
            let Match { protocol: wanted, operations, .. } = &rule.matches;
            (operations.is_empty() || operations.contains(&operation))
                && wanted.is_none_or(|wanted| wanted == protocol)
                && rule.regimes.iter().any(|regime| does(&regime.effects))
        })
    }

    /// A socket's way over the lines of a rule.
    pub fn course(&self, rule: usize, way: Way, seed: Seed, socket: u64) -> Option<Course> {
        let in_force = self.rules.get(rule)?;
        let one_way = match way {
            Way::Up => &in_force.up,
            Way::Down => &in_force.down,
        };
        let link = match self.profile.scope {
            Scope::Link => one_way.link.clone(),
            Scope::Socket => {
                let link = Link::new(self.profile.rules.get(rule)?, way, one_way.tally.clone());
                Arc::new(Mutex::new(link))
            }
        };
        Some(Course::new(CourseId { terms: self.number, rule, way, socket }, link, seed))
    }

    pub fn account(&self) -> Vec<PathAccount> {
        let named = self.profile.rules.iter().zip(&self.rules);
        let paths = named.flat_map(|(rule, in_force)| {
            let up = in_force.up.tally.account(&rule.name, Way::Up);
            [up, in_force.down.tally.account(&rule.name, Way::Down)]
        });
        paths.flatten().collect()
    }
}
