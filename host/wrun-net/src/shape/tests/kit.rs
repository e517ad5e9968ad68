//! Lines, lanes and senders to make claims about.

use std::time::Duration;

use crate::shape::dice::Seed;
use crate::shape::lane::Lane;
use crate::shape::line::{Line, Passage, Verdict};
use crate::shape::profile::{Delay, Distribution, Effects, Match, Path, Rate, Regime, Rule, Way};

pub const SEED: Seed = Seed(20_260);

pub fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// A rule whose regimes last this long each and have this path upwards and downwards.
pub fn rule(regimes: impl IntoIterator<Item = (Duration, Path)>) -> Rule {
    let regime = |(lasts, path): (Duration, Path)| Regime {
        lasts,
        effects: Effects { up: path.clone(), down: path, ..Effects::default() },
    };
    Rule { name: "all".into(), matches: Match::default(), regimes: regimes.into_iter().map(regime).collect() }
}

/// A line that is always the same.
pub fn line(path: Path) -> Line {
    Line::new(&rule([(ms(1), path)]), Way::Up)
}

pub fn lane(socket: u64) -> Lane {
    Lane::new(SEED, socket, 0, Way::Up)
}

pub fn rate(bytes_a_second: u64) -> Path {
    Path { rate: Some(Rate::Constant(bytes_a_second)), ..Path::default() }
}

pub fn delay(base: Duration, jitter: Duration, distribution: Distribution) -> Path {
    Path { delay: Delay { base, jitter, distribution }, ..Path::default() }
}

pub fn passes(verdict: Verdict) -> Passage {
    match verdict {
        Verdict::Passes(passage) => passage,
        other => panic!("{other:?}, and it should pass"),
    }
}

/// The times and sizes at which a line lets go what a stream writes, which writes as soon as there is room, until
/// `lasts` is over.
pub fn stream(
    line: &mut Line,
    lane: &mut Lane,
    lasts: Duration,
    mut size: impl FnMut() -> u64,
) -> Vec<(Duration, u64)> {
    let mut now = Duration::ZERO;
    let mut departures = Vec::new();
    loop {
        let bytes = size();
        now = line.room_at(now, bytes).expect("a line with a rate has room some time");
        if now >= lasts {
            return departures;
        }
        let piece = line.piece(now, bytes, Duration::ZERO, lane).expect("and what it takes arrives");
        departures.push((piece.departs, bytes));
    }
}

/// Bytes of those that departed from one time up to another.
pub fn departed(departures: &[(Duration, u64)], from: Duration, to: Duration) -> u64 {
    departures.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, bytes)| bytes).sum()
}
