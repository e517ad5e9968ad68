//! What a chart looks like, held still, and what strangers cannot do to it. A browser looks at one in `tests/chart.rs`.

mod fixture;
mod pages;
mod pictures;
