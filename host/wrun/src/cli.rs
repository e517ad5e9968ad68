//! What can be typed. Types only: what it means is [`crate::plan`]'s.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use wrun_peers::Fault;

use crate::compare::expression::Expression;
use crate::policy::Rule;
use crate::progress::Mode;
use crate::units;

/// Runs a network workload, a WebAssembly component, and says where the time went.
///
/// The guest is sandboxed: it reaches no address, name or folder that is not allowed with --allow and --dir. Its own
/// output goes to standard output; what wrun says goes to standard error.
#[derive(Debug, Parser)]
#[command(
    name = "wrun",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = EXAMPLES
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub run: Option<Run>,

    /// Of a run. Beside it, since clap does not see that a flattened option is there if it has another within.
    #[command(flatten)]
    pub judging: Judging,
}

/// Reads the command line. What is meant for the guest and stands before `--` is the commonest slip: the error says so.
pub fn parse() -> Result<Cli, clap::Error> {
    Cli::try_parse().map_err(|mut error| {
        // Not as text, which an argument need not be.
        let first = std::env::args_os().nth(1).unwrap_or_default();
        let is_of_a_run = Cli::command().find_subcommand(&first).is_none();
        if error.kind() == ErrorKind::UnknownArgument && is_of_a_run {
            let tip = "what is meant for the guest stands behind two dashes: wrun [OPTIONS] GUEST -- ARGS";
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        error
    })
}

const EXAMPLES: &str = "\
Examples:
  wrun --allow loopback socket-client.wasm -- http://127.0.0.1:8080/
  wrun --allow tcp://example.com:443 --report run.json socket-client.wasm -- https://example.com/
  wrun show run.json

Rules for --allow (none: nothing is reachable):
  tcp://HOST:PORT         connect; HOST is a name, an address, a network (10.0.0.0/8) or *
  udp://HOST:PORT         send to, and hear from; also the groups that may be joined
  tcp-listen://HOST:PORT  listen; port 0 for one of the system's choice
  udp-bind://HOST:PORT    be a UDP server: hear everyone, answer whoever asked
  loopback                all of these on 127.0.0.0/8 and ::1
  all                     all of these everywhere
  PORT is a number, a range such as 8000-8099, or *.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what a guest imports and whether wrun can run it
    Check(Check),
    /// Print a report that was written with --report, also one of a run that was killed
    Show(Show),
    /// List, show or check profiles: what a link or a board does to traffic
    Profile(Profile),
    /// Compare reports with the first of them: what differs, by how much, where and why
    Compare(Compare),
    /// Start a peer on this machine for guests to talk to
    Peer(Peer),
    /// Print a script that teaches a shell to complete wrun's commands and options
    Completions(Completions),
}

#[derive(Debug, Args)]
pub struct Run {
    /// The guest: a WebAssembly component that exports wasi:cli/run@0.2
    pub guest: PathBuf,

    /// Arguments for the guest
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,

    /// Whose sockets the guest gets; given more than once, the guest is run on each and the runs are compared
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub backend: Vec<Backend>,

    /// What the throttled backend does: a preset (see wrun profile list) or a TOML file. One for all throttled
    /// backends, or one for each of them in their order
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Vec<String>,

    /// Makes the throttled backend decide as it did under this seed before
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Run each backend so many times, in turn, and put together what they measured
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,

    /// Allow the guest a use of the network; can be given more than once
    #[arg(long, value_name = "RULE", value_parser = parse_rule)]
    pub allow: Vec<AllowRule>,

    /// Give the guest a folder, under its own or another name, perhaps read-only
    #[arg(long, value_name = "HOST[::GUEST][:ro]")]
    pub dir: Vec<String>,

    /// Give the guest an environment variable: a value, or this process's own
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// End the guest after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub timeout: Option<Duration>,

    /// Memory the guest may use
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = units::size)]
    pub max_memory: u64,

    /// Sockets the guest may have open at once
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_sockets: u32,

    /// Start every TCP socket of the guest with TCP_NODELAY set
    #[arg(long)]
    pub no_delay: bool,

    /// Write the report as JSON to a file, or with - to standard output
    #[arg(long, value_name = "FILE|-")]
    pub report: Option<PathBuf>,

    /// Print every socket call with its duration
    #[arg(long)]
    pub trace: bool,

    /// How progress is shown: a bar on a terminal and lines elsewhere, always lines, or not at all
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub progress: Progress,

    /// Print nothing but the guest's output, errors, denials and conditions that fail
    #[arg(long, short)]
    pub quiet: bool,
}

/// A rule, with the text it was written as.
#[derive(Debug, Clone)]
pub struct AllowRule {
    pub text: String,
    pub rules: Vec<Rule>,
}

fn parse_rule(text: &str) -> Result<AllowRule, String> {
    let rules = Rule::parse(text).map_err(|error| error.to_string())?;
    Ok(AllowRule { text: text.to_owned(), rules })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// This machine's sockets
    Native,
    /// This machine's sockets, impaired as --profile says
    Throttled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    Auto,
    Plain,
    None,
}

impl From<Progress> for Mode {
    fn from(progress: Progress) -> Self {
        match progress {
            Progress::Auto => Self::Auto,
            Progress::Plain => Self::Plain,
            Progress::None => Self::None,
        }
    }
}

#[derive(Debug, Args)]
pub struct Check {
    /// The guest
    pub guest: PathBuf,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The report, or the .partial file beside it
    pub report: PathBuf,
}

#[derive(Debug, Args)]
pub struct Profile {
    #[command(subcommand)]
    pub kind: ProfileKind,
}

#[derive(Debug, Subcommand)]
pub enum ProfileKind {
    /// Print the names of the profiles that come with wrun
    List,
    /// Print all of a profile, with what each key means, as a file that can be used again
    Show {
        /// A name, or a file: what has a / in it or ends in .toml
        #[arg(value_name = "NAME|FILE")]
        profile: String,
    },
    /// Say whether a profile is good, and if not, what is wrong and where
    Check {
        /// A name, or a file: what has a / in it or ends in .toml
        #[arg(value_name = "NAME|FILE")]
        profile: String,
    },
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell; bash reads the script with: source <(wrun completions bash)
    pub shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = CONDITIONS)]
pub struct Compare {
    /// The report that the others are held against
    pub base: PathBuf,

    /// The others
    #[arg(required = true, value_name = "OTHER")]
    pub others: Vec<PathBuf>,

    #[command(flatten)]
    pub judging: Judging,

    /// Compare even runs of different guests, arguments or samples
    #[arg(long)]
    pub force: bool,

    /// Print nothing but what makes the exit code another than 0
    #[arg(long, short, conflicts_with = "format")]
    pub quiet: bool,
}

/// What is made of several runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparing")]
pub struct Judging {
    /// End with exit code 3 if this is so beyond doubt, as in 'request.p95 > 1.5x'; can be given more than once
    #[arg(long, value_name = "EXPR", value_parser = Expression::parse)]
    pub fail_if: Vec<Expression>,

    /// The smallest change of a median that counts, in percent; 5% where nothing is said
    #[arg(long, value_name = "PERCENT", value_parser = units::percentage)]
    pub threshold: Option<f64>,

    /// How the comparison is printed, on standard output; of runs just made, text goes with what else wrun says, to
    /// standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// Draw the runs to a file, as its ending says: .svg, .png or .html
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// All of it, as compare.schema.json describes
    Json,
    /// The tables and verdicts, for a page or a comment
    Markdown,
    /// The figures, a line for each sample or phase of each run
    Csv,
    /// A test for each condition and each verdict, for build servers
    Junit,
}

const CONDITIONS: &str = "\
Conditions for --fail-if are NAME[.PHASE].METRIC OP VALUE:
  METRIC  median, mean, min, max, p1 to p99; errors and n
  OP      >, >=, < or <=
  VALUE   1.5x (of the base), 300ms; of errors a count or 5%; of n a count

Examples:
  wrun compare native.json board.json
  wrun compare --fail-if 'request.p95 > 1.5x' --fail-if 'request.errors > 0' before.json after.json
  wrun compare --format markdown before.json after.json >> summary.md";

#[derive(Debug, Args)]
pub struct Peer {
    #[command(subcommand)]
    pub kind: PeerKind,
}

#[derive(Debug, Subcommand)]
pub enum PeerKind {
    /// An HTTP server that answers every request alike
    Http(HttpPeer),
    /// A cache that speaks memcached's protocols, as the guest cache-server does, without a guest
    Cache(CachePeer),
    /// A cache as a service over gRPC, with memcached's operations get, set, delete and increment
    CacheRpc(CacheRpcPeer),
}

#[derive(Debug, Args)]
pub struct CachePeer {
    /// Where to listen; port 0 for a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = parse_address)]
    pub listen: SocketAddr,

    /// Most bytes that are kept; beyond it, what was used least recently is forgotten
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = units::size)]
    pub memory: u64,
}

#[derive(Debug, Args)]
pub struct CacheRpcPeer {
    /// Serve over TLS, with a certificate authority made for this run
    #[arg(long)]
    pub tls: bool,

    /// Write the authority's certificate, for clients to trust, to this file; else to a temporary one
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub ca_file: Option<PathBuf>,

    /// Where to listen; port 0 for a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = parse_address)]
    pub listen: SocketAddr,

    /// Most bytes that are kept; beyond it, what was used least recently is forgotten
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = units::size)]
    pub memory: u64,
}

#[derive(Debug, Args)]
pub struct HttpPeer {
    /// Serve HTTPS, with a certificate authority made for this run
    #[arg(long)]
    pub tls: bool,

    /// Write the authority's certificate, for clients to trust, to this file; else to a temporary one
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub ca_file: Option<PathBuf>,

    /// Which certificate to show
    #[arg(long, value_name = "KIND", requires = "tls", default_value = "good")]
    pub certificate: Certificate,

    /// Where to listen; port 0 for a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = parse_address)]
    pub listen: SocketAddr,

    /// Bytes in the body of an answer
    #[arg(long, value_name = "SIZE", default_value = "1K", value_parser = units::size)]
    pub body: u64,

    /// Time before an answer
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = units::delay)]
    pub delay: Duration,

    /// Status of an answer
    #[arg(long, value_name = "CODE", default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..=599))]
    pub status: u16,

    /// Send the body in chunks, without saying its length
    #[arg(long)]
    pub chunked: bool,

    /// Misbehave instead
    #[arg(long, value_name = "HOW", value_parser = fault_parser())]
    pub fault: Option<Fault>,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "no address with a port: write one such as 127.0.0.1:8080 or [::1]:0".to_owned())
}

fn fault_parser() -> impl TypedValueParser<Value = Fault> {
    PossibleValuesParser::new(Fault::ALL.map(Fault::name)).try_map(|name| name.parse::<Fault>())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Certificate {
    /// For localhost, 127.0.0.1 and ::1
    Good,
    /// The same, but out of date
    Expired,
    /// For another host
    WrongHost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
