//! Any profile.

use std::time::Duration;

use proptest::prelude::*;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Delay, Distribution, Effects, Loss, Path, Rate, Stalls, Trace};

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
        send in prop::option::of(0..500u64),
        answer in prop::option::of(0..500u64),
        acknowledgement in prop::option::of((0..200u64).prop_map(ms)),
    ) -> Effects {
        let stall = |time: Option<u64>| time.map(|time| wait(ms(time))).unwrap_or_default();
        let stalls = Stalls { send: stall(send), answer: stall(answer), ..Stalls::default() };
        Effects { up, down, stalls, acknowledgement, ..Effects::default() }
    }
}

pub fn profile() -> impl Strategy<Value = Profile> {
    let regime = (1..2000u64, effects(), any::<bool>()).prop_map(|(lasts, mut effects, offline)| {
        effects.up.offline = offline && lasts % 2 == 0;
        effects.down.offline = offline && lasts % 3 == 0;
        (ms(lasts), effects)
    });
    // One that lasts and passes, so that nothing stands still for ever.
    (prop::collection::vec(regime, 0..3), effects()).prop_map(|(mut regimes, lasting)| {
        regimes.push((ms(1000), lasting));
        turns(&regimes)
    })
}
