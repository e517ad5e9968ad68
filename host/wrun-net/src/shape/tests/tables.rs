//! What lines do, as tables to be read.

use std::fmt::Write;
use std::time::Duration;

use super::kit::{delay, lane, line, ms, rate, rule};
use crate::shape::lane::Lane;
use crate::shape::line::{Line, Verdict};
use crate::shape::profile::{Delay, Distribution, Loss, Path, Rate, Trace, Way};

/// In milliseconds.
fn at(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

fn row(table: &mut String, cells: [&str; 5]) {
    let [now, bytes, departs, due, verdict] = cells;
    let line = format!("{now:>9} {bytes:>6} {departs:>10} {due:>10}  {verdict}");
    writeln!(table, "{}", line.trim_end()).expect("a string takes all that is written");
}

const HEAD: [&str; 5] = ["at", "bytes", "departs", "due", "verdict"];

/// What becomes of datagrams, each handed over at a time in milliseconds.
fn datagrams(mut line: Line, sent: impl IntoIterator<Item = (u64, u64)>) -> String {
    let (mut table, mut lane) = (String::new(), lane(0));
    row(&mut table, HEAD);
    for (now, bytes) in sent {
        let (departs, due, verdict) = match line.datagram(ms(now), bytes, &mut lane) {
            Verdict::Lost => (String::new(), String::new(), "lost".into()),
            Verdict::Overflowed => (String::new(), String::new(), "overflowed".into()),
            Verdict::Passes(passage) => {
                let reordered = if passage.reordered { "reordered" } else { "" };
                let again = passage.duplicate.map(|again| format!("again at {}", at(again))).unwrap_or_default();
                (at(passage.departs), at(passage.due), format!("{reordered}{again}"))
            }
        };
        row(&mut table, [&at(ms(now)), &bytes.to_string(), &departs, &due, &verdict]);
    }
    table
}

/// What becomes of pieces of a stream.
fn pieces(line: &mut Line, lane: &mut Lane, sent: impl IntoIterator<Item = (u64, u64)>) -> String {
    let mut table = String::new();
    row(&mut table, HEAD);
    for (now, bytes) in sent {
        let (departs, due, verdict) = match line.piece(ms(now), bytes, ms(80), lane) {
            None => (String::new(), String::new(), "never".into()),
            Some(piece) if piece.lost > 0 => (at(piece.departs), at(piece.due), format!("{} lost", piece.lost)),
            Some(piece) => (at(piece.departs), at(piece.due), String::new()),
        };
        row(&mut table, [&at(ms(now)), &bytes.to_string(), &departs, &due, &verdict]);
    }
    table
}

/// One every so many milliseconds, of these bytes.
fn every(step: u64, count: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..count).map(move |number| (number * step, bytes))
}

#[test]
fn a_full_queue_overflows_until_the_rate_has_made_room() {
    let path = Path { queue: Some(3000), ..rate(100_000) };
    insta::assert_snapshot!(datagrams(line(path), every(5, 12, 1000)));
}

#[test]
fn jitter_stays_in_order_and_what_is_reordered_overtakes() {
    let path = Path { reorder: 0.2, duplicate: 0.2, ..delay(ms(40), ms(20), Distribution::Normal) };
    insta::assert_snapshot!(datagrams(line(path), every(10, 16, 100)));
}

#[test]
fn losses_come_in_bursts() {
    let loss = Loss::Bursts { good_to_bad: 0.3, bad_to_good: 0.3, loss_in_good: 0.0, loss_in_bad: 1.0 };
    insta::assert_snapshot!(datagrams(line(Path { loss, ..Path::default() }), every(1, 24, 100)));
}

#[test]
fn a_link_that_is_good_then_bad_then_offline_is_good_again() {
    let good = Path { delay: Delay { base: ms(5), ..Delay::default() }, ..rate(1_000_000) };
    let bad = Path { delay: Delay { base: ms(200), ..Delay::default() }, queue: Some(4000), ..rate(10_000) };
    let offline = Path { offline: true, ..Path::default() };
    let regimes = rule([(ms(100), good), (ms(300), bad), (ms(100), offline)]);
    let table = datagrams(Line::new(&regimes, Way::Up), every(40, 16, 1000));
    let stream = pieces(&mut Line::new(&regimes, Way::Up), &mut lane(0), every(40, 16, 1000));
    insta::assert_snapshot!(format!("datagrams\n{table}\nstream\n{stream}"));
}

#[test]
fn a_trace_is_followed_and_repeats() {
    let trace = Rate::Trace(Trace { milliseconds: vec![1, 1, 5, 20] });
    let path = Path { rate: Some(trace), ..Path::default() };
    insta::assert_snapshot!(datagrams(line(path), every(3, 16, 1000)));
}

#[test]
fn a_lost_piece_comes_a_timeout_later_and_holds_up_what_is_behind_it() {
    let path = Path { loss: Loss::Independent(0.3), ..delay(ms(40), ms(0), Distribution::Uniform) };
    insta::assert_snapshot!(pieces(&mut line(path), &mut lane(0), every(60, 20, 1448)));
}
