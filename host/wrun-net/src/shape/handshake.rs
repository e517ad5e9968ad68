//! How long a TCP connect takes over the two lines of a link.
//!
//! A SYN goes up and its answer comes down. What is lost of the two is sent again after a second, then after twice that,
//! and so on: the steps at 1, 3 and 7 s that a capture of a lossy link shows.

use std::time::Duration;

use super::lane::Lane;
use super::line::Line;
use super::loss::Attempt;
use super::opening::{Opened, OpeningDice};
use super::profile::{Failure, Opening};

/// How long a SYN is waited for, the first time (RFC 6298).
pub const FIRST_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a SYN is sent again, as on Linux: the last is given up 127 s after the first.
pub const RETRIES: u32 = 6;

/// A line and a socket's lane on it.
pub struct Leg<'a> {
    pub line: &'a mut Line,
    pub lane: &'a mut Lane,
    /// Counts up what is sent over it, and what of that is lost.
    pub segments: &'a mut Segments,
}

/// Segments of handshakes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segments {
    pub sent: u64,
    pub lost: u64,
}

impl Leg<'_> {
    /// When a segment arrives. `None`: it is lost.
    fn carry(&mut self, at: Duration, attempt: Attempt) -> Option<Duration> {
        let arrives = self.line.bare(at, attempt, self.lane);
        self.segments.sent += 1;
        self.segments.lost += u64::from(arrives.is_none());
        arrives
    }
}

/// How long a connect takes that begins now, and how it ends.
pub fn connect(now: Duration, mut up: Leg<'_>, mut down: Leg<'_>, opening: &Opening, dice: &mut OpeningDice) -> Opened {
    let mut answer: Option<Duration> = None;
    for (sent, until, attempt) in tries(now) {
        if let Some(arrived) = up.carry(sent, attempt)
            && let Some(answered) = down.carry(arrived, attempt)
        {
            answer = Some(answer.map_or(answered, |earlier| earlier.min(answered)));
        }
        if let Some(answer) = answer.filter(|&answer| answer <= until) {
            return opening.draw(answer.saturating_sub(now), dice);
        }
    }
    let after = given_up(now).saturating_sub(now);
    Opened { after, failure: Some(Failure::Timeout(after)) }
}

/// When the SYN of a peer arrives that sends it now, or when the peer gives up.
pub fn arrival(now: Duration, mut leg: Leg<'_>) -> Duration {
    let arrived = tries(now).find_map(|(sent, _, attempt)| leg.carry(sent, attempt));
    arrived.unwrap_or_else(|| given_up(now))
}

/// When a SYN is sent, until when it is waited for, and which one it is.
fn tries(now: Duration) -> impl Iterator<Item = (Duration, Duration, Attempt)> {
    (0..=RETRIES).map(move |number| {
        let sent = now.saturating_add(FIRST_TIMEOUT * (2_u32.pow(number) - 1));
        let until = sent.saturating_add(FIRST_TIMEOUT * 2_u32.pow(number));
        (sent, until, if number == 0 { Attempt::First } else { Attempt::Again })
    })
}

fn given_up(now: Duration) -> Duration {
    tries(now).last().map_or(now, |(_, until, _)| until)
}

#[cfg(test)]
mod tests {
    use super::super::dice::Seed;
    use super::super::profile::{Delay, Effects, Loss, Match, Path, Rate, Regime, Rule, Way};
    use super::*;

    const SEED: Seed = Seed(3);

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    fn rule(regimes: impl IntoIterator<Item = (u64, Path)>) -> Rule {
        let regime = |(lasts, up)| Regime { lasts: ms(lasts), effects: Effects { up, ..Effects::default() } };
        Rule { name: "all".into(), matches: Match::default(), regimes: regimes.into_iter().map(regime).collect() }
    }

    /// How connects go, each of a socket of its own, over a link that impairs the way up only.
    fn connects(rule: &Rule, nows: impl IntoIterator<Item = Duration>) -> Vec<Opened> {
        let (mut up, mut down) = (Line::new(rule, Way::Up), Line::new(rule, Way::Down));
        let connect = |(socket, now)| {
            let [mut up_lane, mut down_lane] = [Way::Up, Way::Down].map(|way| Lane::new(SEED, socket, 0, way));
            let up = Leg { line: &mut up, lane: &mut up_lane, segments: &mut Segments::default() };
            let down = Leg { line: &mut down, lane: &mut down_lane, segments: &mut Segments::default() };
            connect(now, up, down, &Opening::default(), &mut OpeningDice::connect(SEED, socket, 0))
        };
        (0..).zip(nows).map(connect).collect()
    }

    fn afters(rule: &Rule, nows: impl IntoIterator<Item = Duration>) -> Vec<Duration> {
        connects(rule, nows).into_iter().map(|opened| opened.after).collect()
    }

    #[test]
    fn lost_syns_make_steps_of_1_3_and_7_seconds() {
        let path = Path { loss: Loss::Independent(0.5), ..Path::default() };
        let mut seconds: Vec<u64> =
            connects(&rule([(1, path)]), vec![ms(0); 1000]).iter().map(|opened| opened.after.as_secs()).collect();
        seconds.sort_unstable();
        let steps: Vec<(u64, usize)> = seconds.chunk_by(|a, b| a == b).map(|step| (step[0], step.len())).collect();
        assert_eq!(steps.iter().map(|step| step.0).collect::<Vec<_>>(), [0, 1, 3, 7, 15, 31, 63, 127]);
        // Each is about half as frequent as the one before.
        assert!((420..580).contains(&steps[0].1) && (180..320).contains(&steps[1].1), "{steps:?}");
    }

    #[test]
    fn a_connect_over_a_link_that_is_offline_times_out_after_127_seconds() {
        let path = Path { offline: true, ..Path::default() };
        let after = ms(127_000);
        let opened = connects(&rule([(1, path)]), [ms(5)]);
        assert_eq!(opened, [Opened { after, failure: Some(Failure::Timeout(after)) }]);
    }

    #[test]
    fn a_link_that_comes_back_is_noticed_by_the_next_syn() {
        let offline = Path { offline: true, ..Path::default() };
        let regimes = rule([(2000, offline), (60_000, Path::default())]);
        assert_eq!(afters(&regimes, [ms(0), ms(1500)]), [ms(3000), ms(1000)]);
    }

    #[test]
    fn an_answer_slower_than_the_timeout_is_that_of_the_first_syn() {
        let path = Path { delay: Delay { base: ms(2500), ..Delay::default() }, ..Path::default() };
        assert_eq!(afters(&rule([(1, path)]), [ms(0)]), [ms(2500)]);
    }

    #[test]
    fn a_burst_that_took_a_syn_does_not_take_the_next() {
        let loss = Loss::Bursts { good_to_bad: 0.001, bad_to_good: 0.001, loss_in_good: 0.0, loss_in_bad: 1.0 };
        let rule = rule([(1, Path { loss, ..Path::default() })]);
        let connects = afters(&rule, vec![ms(0); 10_000]);
        // One of two meets the burst, and of these one of two is through at the second try.
        let count = |after| connects.iter().filter(|&&found| found == ms(after)).count();
        assert!(count(1000) > 1000, "{}", count(1000));
        assert!(count(3000) * 3 < count(1000) * 2, "{} and {}", count(1000), count(3000));
    }

    #[test]
    fn the_syn_of_a_peer_is_sent_again_until_it_arrives_or_is_given_up() {
        let offline = || Path { offline: true, ..Path::default() };
        let arrival = |rule: &Rule| {
            let (mut line, mut lane) = (Line::new(rule, Way::Up), Lane::new(SEED, 0, 0, Way::Up));
            super::arrival(ms(0), Leg { line: &mut line, lane: &mut lane, segments: &mut Segments::default() })
        };
        assert_eq!(arrival(&rule([(1, Path::default())])), ms(0));
        assert_eq!(arrival(&rule([(6000, offline()), (60_000, Path::default())])), ms(7000));
        assert_eq!(arrival(&rule([(1, offline())])), ms(127_000));
    }

    #[test]
    fn a_syn_stands_behind_what_waits_and_takes_no_rate() {
        let rule = rule([(1, Path { rate: Some(Rate::Constant(1000)), ..Path::default() })]);
        let mut line = Line::new(&rule, Way::Up);
        let mut lane = Lane::new(SEED, 0, 0, Way::Up);
        line.piece(ms(0), 500, ms(0), &mut lane);
        assert_eq!(line.bare(ms(100), Attempt::First, &mut lane), Some(ms(500)));
        assert_eq!(line.bare(ms(9000), Attempt::Again, &mut lane), Some(ms(9000)));
        assert_eq!(line.piece(ms(100), 500, ms(0), &mut lane).map(|piece| piece.departs), Some(ms(1000)));
    }
}
