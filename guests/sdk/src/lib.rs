//! `wrun-guest`: sockets, options and timing for guests of wrun, in the manner of std.
//!
//! By kind:
//! - sockets: [`TcpStream`], [`TcpListener`] and, before they are either, [`TcpSocket`]; [`UdpSocket`]; [`resolve`]; and
//!   [`wait`], for many of them at once and a [`Timer`]. The standard's two-step calls (`wasi:sockets@0.2`) are inside.
//! - options that the standard lacks (`wrun:net/options`): in [`TcpOptions`], [`TcpStream::close`] and the methods of
//!   [`UdpSocket`]. An option that the backend lacks is an error, never a silent success.
//! - timing (`wrun:net/timing`): [`Sample`] with its phases, [`announce`], [`count`], [`note`]. This is how a guest says
//!   "request 7 took this long, of which connect took that".
//! - the rest of a command: [`run`] around `main`, [`args`], [`files`].
//!
//! ```no_run
//! use std::io::{Read, Write};
//! use std::time::Duration;
//! use wrun_guest::{Sample, TcpStream};
//!
//! fn main() -> std::process::ExitCode {
//!     wrun_guest::run(|| {
//!         let sample = Sample::start("echo");
//!         sample.phase("connect");
//!         let mut stream = TcpStream::connect("127.0.0.1:7".parse()?, Some(Duration::from_secs(5)))?;
//!         sample.phase("exchange");
//!         stream.write_all(b"hello")?;
//!         let mut answer = [0; 5];
//!         stream.read_exact(&mut answer)?;
//!         sample.finish();
//!         Ok(())
//!     })
//! }
//! ```
//!
//! In WASI a socket that is dropped before its streams, or a stream before its pollables, traps the guest. That cannot
//! happen here: every type owns what must go first and drops it first.
//!
//! A guest imports from `wrun:net` only what it uses. One that uses no option, no explicit close and no timing runs on
//! any runtime of WASI 0.2.
//!
//! Errors are [`std::io::Error`]s that say what was asked and the standard's name of what went wrong
//! (`connect to 127.0.0.1:9: connection-refused`); [`error_code`] gives the latter as a value.
//!
//! Left out: threads (a guest has one), non-blocking mode (each blocking call has a `try_` beside it), and `std::net`
//! and `std::fs`, which not every toolchain for this target can link.

mod address;
pub mod args;
mod bindings;
mod error;
pub mod files;
mod name;
mod poll;
mod program;
mod sample;
mod tcp;
mod timer;
mod udp;

pub use address::Family;
pub use error::{error_code, reason};
pub use lexopt;
pub use name::resolve;
pub use poll::{Interest, wait};
pub use program::run;
pub use sample::{Sample, announce, count, note};
pub use tcp::{Closed, Connecting, Ending, Incoming, TcpListener, TcpOptions, TcpSocket, TcpStream};
pub use timer::Timer;
pub use udp::{Interface, UdpSocket};
pub use wasip2::sockets::network::ErrorCode;
