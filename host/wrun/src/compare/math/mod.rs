//! The arithmetic of comparing: pure functions of numbers, each with its source.
//!
//! - [`special`]: the few functions of probability theory that the others need.
//! - [`random`]: numbers from a seed.
//! - [`interval`]: where the true quantile, mean or share lies.
//! - [`ratio`]: the same of the quotient of two.
//! - [`rank`]: whether one sample tends to be above another.
//! - [`counts`]: whether one share is above another.
//! - [`split`]: where a sample falls apart into two.
//!
//! What is left out: what any of it means for a run, which is the business of the modules above.

pub mod counts;
pub mod interval;
pub mod random;
pub mod rank;
pub mod ratio;
pub mod special;
pub mod split;
