//! The whole of a profile as commented TOML: every key, with its value or, in a comment, what holds without one.
//!
//! What is written reads as the same profile again, without any other file: that is how a report keeps it. The first
//! effects are written with all their keys; further rules and entries of schedules only with those they set.

mod board;
mod effects;
mod page;

use wrun_net::shape::profile::{Match, Network, Rule};

use super::meaning::{ALL, Meaning, OPERATIONS, PROTOCOLS, SCOPES, named};
use super::reading::SCHEMA;
use page::{Page, list, text};

const LEGEND: &str = "\
# A line that begins with # and a key says what holds while that key is not set.
# Times are one way unless they say otherwise. Units: ns us ms s min h; kbit/s is 1000 bits and kB/s 1000 bytes a
# second, KiB is 1024 bytes; a share is \"1 %\" or 0.01. Bytes are those of payload, without headers.
";

pub fn effective(meaning: &Meaning) -> String {
    let Meaning { profile, description, source } = meaning;
    let mut page = Page::new(LEGEND);
    page.set("schema", SCHEMA, "the version of this format");
    page.set("name", text(&profile.name), "");
    page.key("description", Some(description).filter(|it| !it.is_empty()).map(|it| text(it)), "none", "");
    page.key(
        "source",
        Some(source).filter(|it| !it.is_empty()).map(|it| text(it)),
        "none",
        "where the figures are from",
    );
    let about = "who shares rates and queues: \"link\" all sockets together, \"socket\" none";
    page.set("scope", text(named(&SCOPES, profile.scope)), about);

    // What stands outside of rules comes first, whatever its turn: in TOML it could not stand behind them.
    let (all, rules): (Vec<_>, Vec<_>) = profile.rules.iter().partition(|rule| rule.name == ALL);
    let mut fully = true;
    match all.first() {
        Some(all) => regimes(&mut page, "", all, &mut fully),
        None => effects::effects(&mut page, "", &Default::default(), std::mem::take(&mut fully)),
    }
    board::board(&mut page, &profile.board);
    for rule in rules {
        page.heading("[[rule]]", "the first rule that matches decides; what is outside of rules is the last");
        page.set("name", text(&rule.name), "as reports have it");
        page.set("match", matching(&rule.matches), "all that is named here has to fit");
        regimes(&mut page, "rule.", rule, &mut fully);
    }
    page.end()
}

fn regimes(page: &mut Page, prefix: &str, rule: &Rule, fully: &mut bool) {
    if let [always] = &rule.regimes[..] {
        return effects::effects(page, prefix, &always.effects, std::mem::take(fully));
    }
    for regime in &rule.regimes {
        page.heading(&format!("[[{prefix}schedule]]"), "gone through in turn, again and again");
        page.set("lasts", page::time(regime.lasts), "");
        effects::effects(page, &format!("{prefix}schedule."), &regime.effects, std::mem::take(fully));
    }
}

fn matching(matches: &Match) -> String {
    let Match { protocol, addresses, port, operations } = matches;
    let mut parts = Vec::new();
    parts.extend(protocol.map(|protocol| format!("protocol = {}", text(named(&PROTOCOLS, protocol)))));
    if !addresses.is_empty() {
        parts.push(format!("address = {}", list(addresses.iter().map(network))));
    }
    parts.extend(port.as_ref().map(|port| match port.start() == port.end() {
        true => format!("port = {}", port.start()),
        false => format!("port = \"{}-{}\"", port.start(), port.end()),
    }));
    if !operations.is_empty() {
        parts.push(format!("operation = {}", list(operations.iter().map(|it| text(named(&OPERATIONS, *it))))));
    }
    format!("{{ {} }}", parts.join(", "))
}

fn network(network: &Network) -> String {
    let whole = if network.address.is_ipv4() { 32 } else { 128 };
    match network.prefix == whole {
        true => format!("\"{}\"", network.address),
        false => format!("\"{}/{}\"", network.address, network.prefix),
    }
}
