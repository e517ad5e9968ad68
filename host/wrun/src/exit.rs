//! The exit codes of wrun, each with its meaning. The README has the table, and a test walks it.

/// The run ended well.
pub const OK: u8 = 0;
/// The guest ended by its own failure.
pub const GUEST: u8 = 1;
/// Something impossible was asked for: a flag, a file, a rule.
pub const USAGE: u8 = 2;
/// What `wrun compare --fail-if` is to keep out has come about beyond doubt, or cannot be known for want of samples.
pub const FAILED: u8 = 3;
/// What stands between wrun and the sockets broke.
pub const RIG: u8 = 4;
/// The guest grew past `--max-memory`.
pub const MEMORY: u8 = 121;
/// The guest failed after asking for more sockets than `--max-sockets`.
pub const SOCKETS: u8 = 122;
/// The guest ran longer than `--timeout`.
pub const TIMEOUT: u8 = 124;
/// Ctrl-C.
pub const INTERRUPTED: u8 = 130;
/// The guest trapped.
pub const TRAP: u8 = 134;
/// SIGTERM.
pub const TERMINATED: u8 = 143;
