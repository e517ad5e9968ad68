//! Rules in their order, the effects of the file being the last of them, and schedules.

use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use wrun_net::shape::profile::{Effects, Match, Protocol, Regime, Rule};

use super::effects::{self, effects};
use super::matching::{OPERATIONS, matching};
use super::notes::{NAME, Notes};
use super::reach;
use crate::profile::given::List;
use crate::profile::written;

/// The name of the effects of the file, which are for whatever no rule is.
pub const ALL: &str = "all";

/// Rules of a profile, and entries of a schedule.
const MOST: usize = 100;

/// The longest that an entry lasts. What has no schedule lasts that long too, and then begins again as what it was.
pub const DAY: Duration = Duration::from_secs(24 * 3600);

type Schedule = Option<Spanned<List<Spanned<written::Entry>>>>;

pub fn rules(notes: &mut Notes<'_>, file: &written::File) -> Vec<Rule> {
    let (mut rules, mut understood): (Vec<Rule>, Vec<bool>) = Default::default();
    let written = file.rule.as_ref().map(Spanned::get_ref).map(|list| &list[..]).unwrap_or_default();
    if let (Some(all), true) = (&file.rule, written.len() > MOST) {
        notes.note(all.span(), format!("{} rules", written.len()), format!("at most {MOST}"));
    }
    for (index, written) in written.iter().take(MOST).enumerate() {
        let problems = notes.count();
        let rule = rule(notes, index, written);
        if rule.name == ALL || rules.iter().any(|other| other.name == rule.name) {
            let span = written.get_ref().name.as_ref().map_or(written.span(), Spanned::span);
            let help = format!("give each rule a name of its own; `{ALL}` is that of the effects outside of rules");
            notes.note(span, format!("a second rule named `{}`", rule.name), help);
        }
        // What was not understood of a match is not in it, and nothing is concluded from it.
        let is_understood = problems == notes.count();
        if is_understood {
            let span = written.get_ref().r#match.as_ref().map_or(written.span(), Spanned::span);
            let earlier = rules.iter().zip(&understood).filter(|(_, understood)| **understood).map(|(rule, _)| rule);
            unreached(notes, earlier, &rule, span);
        }
        understood.push(is_understood);
        rules.push(rule);
    }
    let regimes = regimes(notes, &file.effects(), &file.schedule);
    if regimes.iter().any(|regime| regime.effects != Effects::default()) {
        rules.push(Rule { name: ALL.to_owned(), matches: Match::default(), regimes });
    }
    rules
}

fn rule(notes: &mut Notes<'_>, index: usize, written: &Spanned<written::Rule>) -> Rule {
    let rule = written.get_ref();
    let name = rule.name.as_ref().and_then(|name| notes.text(name, NAME));
    let matches = rule.r#match.as_ref().map(|written| matching(notes, written)).unwrap_or_default();
    let anything = rule.r#match.as_ref().is_none_or(|written| {
        let written::Match { protocol, address, port, operation } = written.get_ref();
        [protocol, address, port, operation].into_iter().all(Option::is_none)
    });
    if anything {
        let span = rule.r#match.as_ref().map_or(written.span(), Spanned::span);
        let help = "write match = { .. } with protocol, address, port or operation; \
                    effects for whatever no rule matches stand outside of rules";
        notes.note(span, "a rule that says not what it is for", help);
    }
    let entries = rule.schedule.as_ref().map(Spanned::get_ref).map(|list| &list[..]).unwrap_or_default();
    let every = entries.iter().map(|entry| entry.get_ref().effects()).chain([rule.effects()]);
    every.flat_map(|written| effects::given(&written)).for_each(|effect| idle(notes, &matches, &effect));
    let regimes = regimes(notes, &rule.effects(), &rule.schedule);
    Rule { name: name.unwrap_or_else(|| format!("rule {}", index + 1)), matches, regimes }
}

/// Notes an effect that nothing which the rule matches can meet.
fn idle(notes: &mut Notes<'_>, matches: &Match, effect: &effects::Given) {
    let effects::Given { name, span, operations, streams } = effect;
    let met = reach::operations(matches);
    let datagrams = *streams && matches.protocol == Some(Protocol::Udp);
    // Of a rule that meets nothing at all, that is told.
    if met.is_empty() || (!datagrams && operations.iter().any(|it| met.contains(it))) {
        return;
    }
    let left_out = !matches.operations.is_empty() && !operations.iter().any(|it| matches.operations.contains(it));
    let help = if left_out {
        let names = OPERATIONS.iter().filter(|(_, it)| operations.contains(it)).map(|(name, _)| *name);
        let names = names.collect::<Vec<_>>().join(", ");
        format!("it is for the operations {names}: match these too, or leave it out")
    } else if datagrams {
        "it is for TCP: match that, or leave it out".to_owned()
    } else {
        "a name lookup has no protocol, no address and no port: match none of them, or leave it out".to_owned()
    };
    notes.note(span.clone(), format!("`{name}` does nothing in this rule"), help);
}

/// Notes a rule that is never reached.
fn unreached<'a>(notes: &mut Notes<'_>, mut earlier: impl Iterator<Item = &'a Rule>, rule: &Rule, span: Range<usize>) {
    let Some(earlier) = earlier.find(|earlier| reach::covers(&earlier.matches, &rule.matches)) else { return };
    let help = format!(
        "the rule `{}` stands before it and matches all that it does: write the narrower one first, or leave this one out",
        earlier.name
    );
    notes.note(span, "a rule that is never reached", help);
}

fn regimes(notes: &mut Notes<'_>, always: &written::Effects<'_>, schedule: &Schedule) -> Vec<Regime> {
    let Some(schedule) = schedule else {
        return vec![Regime { lasts: DAY, effects: effects(notes, always) }];
    };
    for effects::Given { name, span, .. } in effects::given(always) {
        let help = "while there is a schedule its entries have all the effects: write it into those it is for";
        notes.note(span, format!("`{name}` beside a schedule"), help);
    }
    let entries = schedule.get_ref();
    if !(2..=MOST).contains(&entries.len()) {
        let help = format!("write 2 to {MOST} entries [[schedule]]; what is always so needs no schedule");
        notes.note(schedule.span(), format!("a schedule of {}", entries.len()), help);
    }
    entries.iter().take(MOST).map(|entry| regime(notes, entry)).collect()
}

fn regime(notes: &mut Notes<'_>, entry: &Spanned<written::Entry>) -> Regime {
    let lasts = match &entry.get_ref().lasts {
        Some(lasts) => notes.lasting(lasts, DAY, "write how long this entry lasts, or leave the entry out"),
        None => {
            notes.note(entry.span(), "an entry that lasts nobody knows how long", "write lasts = \"10 s\" into it");
            None
        }
    };
    Regime { lasts: lasts.unwrap_or(DAY), effects: effects(notes, &entry.get_ref().effects()) }
}
