//! wrun from outside: the built tool, built guests, real peers.
//!
//! Each module is one kind of claim. [`support`] starts things and ends them; everything is on loopback, on ports the
//! system picks, and bounded in time. The guests are built by `cargo xtask guests`, which `cargo xtask test` does first.

mod browser;
mod cache_client;
mod cache_rpc;
mod cache_server;
mod chart;
mod check;
mod closing;
mod compare;
mod contract;
mod denials;
mod exchange;
mod exit_codes;
mod files;
mod help;
mod limits;
mod misuse;
mod peers;
mod profiles;
mod real_peers;
mod reports;
mod signals;
mod support;
mod throttled;
