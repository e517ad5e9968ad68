//! Profiles from their text to what they mean, and back.

mod errors;
mod random;

use std::time::Duration;

use wrun_net::OptionKind;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::*;

use super::{Loaded, find, load, presets};

/// A profile with every key there is.
const EVERYTHING: &str = include_str!("everything.toml");

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn network(address: &str, prefix: u8) -> Network {
    Network { address: address.parse().unwrap(), prefix }
}

/// The effects of a profile that has no others.
fn only(text: &str) -> Effects {
    let profile = load(text).unwrap_or_else(|unfit| panic!("{unfit}")).profile;
    match &profile.rules[..] {
        [Rule { regimes, .. }] if regimes.len() == 1 => regimes[0].effects.clone(),
        rules => panic!("{rules:?}"),
    }
}

#[test]
fn every_key_means_what_it_says() {
    let loaded = load(EVERYTHING).unwrap_or_else(|unfit| panic!("{unfit}"));
    assert_eq!((&*loaded.description, &*loaded.source), ("every key there is", "made up\nfor tests"));
    let path = Path {
        delay: Delay { base: ms(2), jitter: ms(1), distribution: Distribution::Normal },
        rate: Some(Rate::Constant(32_000)),
        queue: Some(8_000),
        loss: Loss::Independent(0.01),
        duplicate: 0.02,
        reorder: 0.25,
        offline: false,
    };
    let mode = |weight, from, to| Mode { weight, from: ms(from), to: ms(to) };
    let dns = Effects {
        resolve: Opening { delay: Delay { base: ms(5), ..Delay::default() }, failure: 0.1, how: Failure::Unreachable },
        ..Effects::default()
    };
    let stalled = Effects {
        up: path.clone(),
        down: Path {
            rate: Some(Rate::Trace(Trace { milliseconds: vec![1, 1, 5, 9] })),
            loss: Loss::Bursts { good_to_bad: 0.01, bad_to_good: 0.25, loss_in_good: 0.001, loss_in_bad: 0.75 },
            delay: Delay { base: ms(50), jitter: ms(20), distribution: Distribution::Table(vec![-1.0, 0.5, 3.0]) },
            ..path
        },
        connect: Opening {
            delay: Delay { base: ms(100), jitter: ms(50), distribution: Distribution::Pareto },
            failure: 0.5,
            how: Failure::Timeout(ms(75_000)),
        },
        resolve: Opening::default(),
        stalls: Stalls {
            connect: Mixture(vec![mode(1.0, 10, 10)]),
            answer: Mixture(vec![mode(1.0, 200, 900), mode(2.5, 1000, 8000)]),
            send: Mixture(vec![mode(0.5, 0, 1)]),
        },
        acknowledgement: Some(ms(200)),
    };
    let offline = Effects { down: Path { offline: true, ..Path::default() }, ..Effects::default() };
    let rule = |name: &str, matches, regimes: Vec<(u64, Effects)>| Rule {
        name: name.to_owned(),
        matches,
        regimes: regimes.into_iter().map(|(lasts, effects)| Regime { lasts: ms(lasts), effects }).collect(),
    };
    let day = 86_400_000;
    let to = Match {
        protocol: Some(Protocol::Udp),
        addresses: vec![network("192.0.2.7", 32), network("10.0.0.0", 8), network("fd00::", 8)],
        port: Some(8000..=8099),
        operations: vec![Operation::Send, Operation::Receive],
    };
    let expected = Profile {
        name: "everything".to_owned(),
        scope: Scope::Socket,
        rules: vec![
            rule("names", Match { operations: vec![Operation::Resolve], ..Match::default() }, vec![(day, dns)]),
            rule("rule 2", Match { port: Some(53..=53), ..Match::default() }, vec![(day, Effects::default())]),
            rule("now and then", to, vec![(10_000, Effects::default()), (1_500, offline)]),
            rule("all", Match::default(), vec![(day, stalled)]),
        ],
        board: Board {
            sockets: Some(8),
            receive: Some(1024),
            unsupported: vec![OptionKind::KeepAlive, OptionKind::MulticastHops],
            tick: Some(ms(10)),
            linger: Linger { without: WithoutLinger::Stall(ms(3000)), option: LingerOption::Ignored },
            send_queue: Some(SendQueue {
                depth: 2,
                max_depth: 7,
                clears_after: ms(3000),
                kinds: vec![vec![network("127.0.0.2", 32)], vec![network("192.0.2.0", 24), network("::1", 128)]],
            }),
        },
    };
    assert_eq!(loaded.profile, expected);
}

#[test]
fn a_round_trip_is_twice_a_delay() {
    let expected = |up, down| Effects {
        up: Path { delay: Delay { base: up, ..Delay::default() }, ..Path::default() },
        down: Path { delay: Delay { base: down, ..Delay::default() }, ..Path::default() },
        ..Effects::default()
    };
    assert_eq!(only("rtt = '300 ms'"), expected(ms(150), ms(150)));
    assert_eq!(only("both.delay = '300 ms'"), expected(ms(300), ms(300)));
    assert_eq!(only("up.delay = '300 ms'"), expected(ms(300), ms(0)));
    // Nothing is lost in halving.
    assert_eq!(only("rtt = '3 ns'"), expected(Duration::from_nanos(1), Duration::from_nanos(2)));
}

#[test]
fn bursts_of_a_mean_length_lose_the_share_that_was_asked_for() {
    let Loss::Bursts { good_to_bad, bad_to_good, loss_in_good, loss_in_bad } =
        only("down.loss = { share = '3 %', length = 10 }").down.loss
    else {
        panic!("no bursts");
    };
    // What a chain of two states does in the long run.
    let in_bad = good_to_bad / (good_to_bad + bad_to_good);
    assert!((in_bad * loss_in_bad + (1.0 - in_bad) * loss_in_good - 0.03).abs() < 1e-12);
    assert!((1.0 / bad_to_good - 10.0).abs() < 1e-12);
}

#[test]
fn what_asks_for_nothing_is_the_empty_profile() {
    for text in ["", "schema = 1", "[both]", "both.loss = 0", "[board]\n[board.linger]", "connect.delay = '0 ms'"] {
        let profile = load(text).unwrap_or_else(|unfit| panic!("{text}: {unfit}")).profile;
        assert_eq!(profile, Profile { name: "nameless".to_owned(), ..Profile::default() }, "{text}");
    }
    assert_eq!(find("none").unwrap().profile, Profile { name: "none".to_owned(), ..Profile::default() });
}

#[test]
fn what_is_shown_of_a_preset_reads_as_the_same_profile() {
    for preset in presets::all() {
        let Loaded { profile, effective, description, source, .. } = find(preset.name).unwrap();
        let again = load(&effective).unwrap_or_else(|unfit| panic!("{unfit}"));
        assert_eq!(again.profile, profile, "{}", preset.name);
        assert_eq!(again.effective, effective, "{}", preset.name);
        assert_eq!((again.description, again.source), (description.clone(), source.clone()), "{}", preset.name);
        assert!(!description.is_empty() && !source.is_empty(), "{} says not what it is and where from", preset.name);
    }
}

#[test]
fn what_is_shown_has_every_key() {
    let loaded = load(EVERYTHING).unwrap_or_else(|unfit| panic!("{unfit}"));
    assert_eq!(load(&loaded.effective).map(|again| again.profile), Ok(loaded.profile));
    insta::assert_snapshot!("effective-everything", loaded.effective);
    for preset in presets::all() {
        insta::assert_snapshot!(format!("effective-{}", preset.name), find(preset.name).unwrap().effective);
    }
}

#[test]
fn the_list_has_every_preset_once() {
    let list = super::commands::list().unwrap();
    for preset in presets::all() {
        assert_eq!(list.matches(&format!("\n  {} ", preset.name)).count(), 1, "{}", preset.name);
    }
    insta::assert_snapshot!("list", list);
}

#[test]
fn a_trace_is_found_beside_its_profile_and_kept_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("up.trace"), "1\n1\n5\r\n9\n").unwrap();
    let path = folder.path().join("traced.toml");
    std::fs::write(&path, "[up]\ntrace = \"up.trace\"").unwrap();
    let loaded = super::open(&path).unwrap();
    let trace = Rate::Trace(Trace { milliseconds: vec![1, 1, 5, 9] });
    assert_eq!(loaded.profile.rules[0].regimes[0].effects.up.rate, Some(trace));
    assert_eq!(loaded.profile.name, "traced");
    // Nothing else is needed to have it again.
    drop(folder);
    assert_eq!(load(&loaded.effective).map(|again| again.profile), Ok(loaded.profile));
}
