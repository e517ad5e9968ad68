//! How the samples of each name spread: a bar a sample while they are few, a histogram when they are many.

use super::page::{BAD, Column, FAINT, HEAD, Line, PLAIN, Page};
use super::units::{count, duration};
use crate::report::data::{Report, Sample};

/// Samples of a name that have a bar each.
const EACH: usize = 40;
/// Buckets of a histogram, about.
const BUCKETS: usize = 12;
/// Names that have bars.
const NAMES: usize = 8;
/// Columns of the longest bar.
const LONGEST: u64 = 24;
/// From this ratio of the longest to the shortest on, equal steps would hide the short ones.
const WIDE: u64 = 30;

pub fn samples(page: &mut Page, report: &Report) {
    for name in report.statistics.iter().take(NAMES) {
        if let Some(histogram) = report.histograms.iter().find(|histogram| histogram.name == name.name) {
            let buckets = histogram.times.buckets.iter();
            spread(page, &name.name, buckets.map(|bucket| (bucket.from_ns.midpoint(bucket.to_ns), bucket.count)));
            continue;
        }
        let samples: Vec<&Sample> = report.samples.iter().filter(|sample| sample.name == name.name).collect();
        if samples.len() <= EACH {
            each(page, &name.name, &samples);
        } else {
            let timed = samples.iter().filter(|sample| sample.finished && sample.error.is_none());
            spread(page, &name.name, timed.map(|sample| (sample.duration_ns, 1)));
        }
    }
}

/// A line a sample: how long it took, and what took longest.
fn each(page: &mut Page, name: &str, samples: &[&Sample]) {
    let longest = samples.iter().map(|sample| sample.duration_ns).max().unwrap_or(0);
    let row = |(sample, number): (&&Sample, u64)| {
        let (style, words) = match (&sample.error, sample.finished) {
            (Some(error), _) => (BAD, error.to_string()),
            (None, false) => (FAINT, "unfinished".to_owned()),
            (None, true) => (PLAIN, slowest(sample)),
        };
        Line::new(style, [number.to_string(), duration(sample.duration_ns), bar(sample.duration_ns, longest), words])
    };
    page.gap();
    page.paragraph(HEAD, "each", name);
    let columns = [Column::Right, Column::Right, Column::Left, Column::Rest];
    page.columns(&columns, samples.iter().zip(1..).map(row).collect());
}

/// The phase that took most of a sample, and how much of it.
fn slowest(sample: &Sample) -> String {
    let Some(phase) = sample.phases.iter().rev().max_by_key(|phase| phase.duration_ns) else { return String::new() };
    let percent = u128::from(phase.duration_ns) * 100 / u128::from(sample.duration_ns.max(1));
    format!("{} {}%", phase.name, percent.min(100))
}

/// How many durations, given as values with their counts, fall between round figures.
fn spread(page: &mut Page, name: &str, values: impl Iterator<Item = (u64, u64)> + Clone) {
    let (Some(shortest), Some(longest)) =
        (values.clone().map(|(value, _)| value).min(), values.clone().map(|(value, _)| value).max())
    else {
        return;
    };
    let edges = edges(shortest, longest);
    let mut counts = vec![0u64; edges.len()];
    for (value, times) in values {
        // The bucket of the last edge that is not above it; the first edge is not above any.
        let place = edges.partition_point(|edge| *edge <= value).saturating_sub(1);
        counts[place] = counts[place].saturating_add(times);
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let row = |(edge, number): (&u64, &u64)| {
        Line::new(PLAIN, [format!("from {}", duration(*edge)), count(*number), bar(*number, most)])
    };
    page.gap();
    page.paragraph(HEAD, "spread", name);
    page.columns(&[Column::Right, Column::Right, Column::Left], edges.iter().zip(&counts).map(row).collect());
}

/// The lower edges of at most [`BUCKETS`] or so buckets that hold everything between two durations: round figures, in
/// equal steps, or in equal ratios where the two are far apart.
fn edges(shortest: u64, longest: u64) -> Vec<u64> {
    if longest / shortest.max(1) >= WIDE {
        return ratios(shortest, longest);
    }
    let step = round_up((longest - shortest) / BUCKETS as u64);
    let first = shortest - shortest % step;
    (0..).map_while(|index| first.checked_add(step.checked_mul(index)?)).take_while(|edge| *edge <= longest).collect()
}

/// Powers of ten, and between them twice and five times those if that is not too many.
fn ratios(shortest: u64, longest: u64) -> Vec<u64> {
    let decades = || (0..20).map(|power| 10u64.pow(power));
    let fine = decades().flat_map(|decade| [1, 2, 5].map(|factor| decade.checked_mul(factor))).flatten().collect();
    for edges in [fine, decades().collect::<Vec<_>>()] {
        // From the last edge that is not above the shortest.
        let from = edges.partition_point(|edge| *edge <= shortest).saturating_sub(1);
        let until = edges.partition_point(|edge| *edge <= longest);
        if until - from <= BUCKETS + BUCKETS / 4 {
            return edges[from..until].to_vec();
        }
    }
    decades().skip_while(|decade| decade.saturating_mul(10) <= shortest).take_while(|edge| *edge <= longest).collect()
}

/// The next number, at least 1, that is 1, 2 or 5 times a power of ten.
fn round_up(number: u64) -> u64 {
    (0..20)
        .flat_map(|power| [1, 2, 5].map(|factor| 10u64.pow(power).saturating_mul(factor)))
        .find(|round| *round > number)
        .unwrap_or(u64::MAX)
}

/// A bar as long as its share of the longest, to an eighth of a column. What is not nothing is not empty.
fn bar(value: u64, longest: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(value.min(longest)) * u128::from(LONGEST * 8) / u128::from(longest.max(1));
    let eighths = (eighths as usize).max(usize::from(value > 0));
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges_are_round_and_few() {
        assert_eq!(edges(100, 1_000), [100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
        assert_eq!(edges(5, 5), [5]);
        assert_eq!(edges(900, 80_000), [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000]);
        assert_eq!(edges(0, 0), [0]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!([bar(0, 0), bar(0, 9), bar(1, u64::MAX)], ["", "", "▏"]);
        assert_eq!(bar(u64::MAX, u64::MAX).chars().count() as u64, LONGEST);
        assert_eq!(bar(3, 48), "█▌");
    }

    proptest! {
        #[test]
        fn every_duration_has_a_bucket_and_there_are_not_many(a in any::<u64>(), b in any::<u64>()) {
            let (shortest, longest) = (a.min(b), a.max(b));
            let edges = edges(shortest, longest);
            prop_assert!(edges[0] <= shortest.max(1) && *edges.last().unwrap() <= longest.max(1));
            prop_assert!(edges.is_sorted() && edges.len() <= 22, "{edges:?}");
        }
    }
}
