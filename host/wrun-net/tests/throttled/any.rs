//! Any profile.

use std::time::Duration;

use proptest::prelude::*;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{
    Delay, Distribution, Effects, Failure, Loss, Match, Network, Opening, Operation, Path, Protocol, Rate, Regime,
    Rule, Scope, Stalls, Trace,
};

use super::kit::*;

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        Just(Distribution::Normal),
        Just(Distribution::Pareto),
        prop::collection::vec(-1.0..100.0f64, 1..5).prop_map(Distribution::Table),
    ]
}

fn delay() -> impl Strategy<Value = Delay> {
    (0..200_000u64, 0.0..=1.0f64, distribution()).prop_map(|(base, share, distribution)| {
        let base = Duration::from_micros(base);
        Delay { base, jitter: base.mul_f64(share), distribution }
    })
}

fn rate() -> impl Strategy<Value = Option<Rate>> {
    prop_oneof![
        2 => Just(None),
        2 => (500..10_000_000u64).prop_map(|rate| Some(Rate::Constant(rate))),
        1 => prop::collection::vec(0..50u64, 1..5).prop_map(|mut milliseconds| {
            milliseconds.sort_unstable();
            milliseconds.push(60);
            Some(Rate::Trace(Trace { milliseconds }))
        }),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        2 => Just(Loss::None),
        1 => (0.0..=1.0f64).prop_map(Loss::Independent),
        1 => (0.0..=1.0f64, 0.0..=1.0f64, 0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(a, b, c, d)| Loss::Bursts {
            good_to_bad: a,
            bad_to_good: b,
            loss_in_good: c,
            loss_in_bad: d,
        }),
    ]
}

prop_compose! {
    fn path()(
        delay in delay(),
        rate in rate(),
        queue in prop::option::of(1..100_000u64),
        loss in loss(),
        duplicate in 0.0..=1.0f64,
        reorder in 0.0..=1.0f64,
    ) -> Path {
        Path { delay, rate, queue, loss, duplicate, reorder, offline: false }
    }
}

prop_compose! {
    fn effects()(
        up in prop_oneof![1 => Just(Path::default()), 3 => path()],
        down in prop_oneof![1 => Just(Path::default()), 3 => path()],
        stalls in [prop::option::of(0..500u64), prop::option::of(0..500u64), prop::option::of(0..500u64)],
        connect in opening(),
        resolve in opening(),
        acknowledgement in prop::option::of((0..200u64).prop_map(ms)),
    ) -> Effects {
        let [connect_stall, answer, send] = stalls.map(|time| time.map(|time| wait(ms(time))).unwrap_or_default());
        let stalls = Stalls { connect: connect_stall, answer, send };
        Effects { up, down, connect, resolve, stalls, acknowledgement }
    }
}

/// One that fails now and then: whoever needs a connection asks again.
fn opening() -> impl Strategy<Value = Opening> {
    let how = prop_oneof![
        Just(Failure::Refused),
        Just(Failure::Unreachable),
        (0..5000u64).prop_map(|time| Failure::Timeout(ms(time))),
    ];
    let some = (delay(), prop_oneof![Just(0.0), 0.0..0.7f64], how);
    let some = some.prop_map(|(delay, failure, how)| Opening { delay, failure, how });
    prop_oneof![1 => Just(Opening::default()), 1 => some]
}

fn matches() -> impl Strategy<Value = Match> {
    let networks = || Just(Network { address: HERE, prefix: 8 });
    let operation = prop_oneof![
        Just(Operation::Connect),
        Just(Operation::Send),
        Just(Operation::Receive),
        Just(Operation::Resolve),
    ];
    (
        prop::option::of(prop_oneof![Just(Protocol::Tcp), Just(Protocol::Udp)]),
        prop::collection::vec(networks(), 0..2),
        prop::option::of((any::<u16>(), any::<u16>()).prop_map(|(one, other)| one.min(other)..=one.max(other))),
        prop::collection::vec(operation, 0..3),
    )
        .prop_map(|(protocol, addresses, port, operations)| Match { protocol, addresses, port, operations })
}

fn rule() -> impl Strategy<Value = Rule> {
    let regime = (1..2000u64, effects(), any::<bool>()).prop_map(|(lasts, mut effects, offline)| {
        effects.up.offline = offline && lasts % 2 == 0;
        effects.down.offline = offline && lasts % 3 == 0;
        Regime { lasts: ms(lasts), effects }
    });
    // One that lasts and passes, so that nothing stands still for ever.
    (prop_oneof![1 => Just(Match::default()), 2 => matches()], prop::collection::vec(regime, 0..3), effects()).prop_map(
        |(matches, mut regimes, effects)| {
            regimes.push(Regime { lasts: ms(1000), effects });
            Rule { name: "any".to_owned(), matches, regimes }
        },
    )
}

pub fn profile() -> impl Strategy<Value = Profile> {
    (prop_oneof![Just(Scope::Link), Just(Scope::Socket)], prop::collection::vec(rule(), 0..4))
        .prop_map(|(scope, rules)| Profile { name: "any".to_owned(), scope, rules, ..Profile::default() })
}
