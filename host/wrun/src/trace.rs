//! `--trace`: a line for every socket call as it ends, in the manner of strace.

use std::fmt::Write as _;
use std::io::{self, LineWriter, Write};
use std::sync::{Mutex, PoisonError};

use wrun_net::Error;
use wrun_net::metered::Call;

use crate::report::text::units::duration;
use crate::report::words::printable;

/// Where the lines go.
pub struct Trace {
    out: Mutex<LineWriter<Box<dyn Write + Send>>>,
}

impl Trace {
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out: Mutex::new(LineWriter::new(out)) }
    }

    /// To the standard error stream.
    pub fn to_stderr() -> Self {
        Self::new(Box::new(io::stderr()))
    }

    /// Writes one call. A line that cannot be written is lost: a run does not end because nobody reads its trace.
    pub fn call(&self, call: &Call) {
        let line = line(call);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(line.as_bytes());
    }
}

/// Seconds since the run began, socket, call, what it was asked, its answer, how long it took.
fn line(call: &Call) -> String {
    let mut line = format!("{:>4}.{:06} ", call.start.as_secs(), call.start.subsec_micros());
    // A lookup has no socket.
    if call.socket > 0 {
        let _ = write!(line, "#{} ", call.socket);
    }
    line.push_str(call.name);
    if !call.detail.is_empty() {
        let _ = write!(line, " {}", printable(&call.detail));
    }
    let _ = match (&call.outcome, call.bytes) {
        // The commonest of all: it took no time worth a column.
        (Some(Err(Error::WouldBlock)), _) => return line + " = would-block\n",
        (Some(Err(error)), _) => write!(line, " = {}", printable(&error.to_string())),
        (Some(Ok(())), Some(bytes)) => write!(line, " = {bytes}"),
        (Some(Ok(())), None) => write!(line, " = ok"),
        (None, _) => write!(line, " = given up"),
    };
    let _ = writeln!(line, " <{}>", duration(u64::try_from(call.took.as_nanos()).unwrap_or(u64::MAX)));
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_says_when_which_socket_what_and_how_long() {
        let call = |socket, name, detail: &str, bytes, outcome| {
            line(&Call {
                socket,
                name,
                start: Duration::from_micros(1_234),
                took: Duration::from_micros(412),
                detail: detail.to_owned(),
                bytes,
                outcome,
            })
        };
        let lines = [
            call(0, "resolve", "localhost -> [127.0.0.1]", None, Some(Ok(()))),
            call(3, "connect", "127.0.0.1:80", None, Some(Ok(()))),
            call(4, "connect", "127.0.0.1:81", None, None),
            call(3, "send", "", Some(180), Some(Ok(()))),
            call(3, "receive", "", None, Some(Err(Error::WouldBlock))),
            call(3, "receive", "", None, Some(Err(Error::ConnectionReset))),
            call(0, "resolve", "\u{1b}[2J", None, Some(Err(Error::NameUnresolvable))),
        ];
        insta::assert_snapshot!(lines.concat(), @r"
           0.001234 resolve localhost -> [127.0.0.1] = ok <412 µs>
           0.001234 #3 connect 127.0.0.1:80 = ok <412 µs>
           0.001234 #4 connect 127.0.0.1:81 = given up <412 µs>
           0.001234 #3 send = 180 <412 µs>
           0.001234 #3 receive = would-block
           0.001234 #3 receive = connection reset <412 µs>
           0.001234 resolve \u{1b}[2J = name unresolvable <412 µs>
        ");
    }
}
