//! Claims about several effects at once. What concerns one alone is beside it.
//!
//! Nothing here waits: time is whatever a test says. What is random is from the seed that stands in the test, or from
//! one that proptest prints when it fails.

mod chances;
mod kit;
mod oracle;
mod orders;
mod other_tools;
mod rates;
mod tables;
