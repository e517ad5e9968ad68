//! Rules in their order, the effects of the file being the last of them, and schedules.

use std::time::Duration;

use toml::Spanned;
use wrun_net::shape::profile::{Effects, Match, Regime, Rule};

use super::effects::{self, effects};
use super::matching::{OPERATIONS, matching};
use super::notes::{NAME, Notes};
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
    let mut rules: Vec<Rule> = Vec::new();
    let written = file.rule.as_ref().map(Spanned::get_ref).map(|list| &list[..]).unwrap_or_default();
    if let (Some(all), true) = (&file.rule, written.len() > MOST) {
        notes.note(all.span(), format!("{} rules", written.len()), format!("at most {MOST}"));
    }
    for (index, written) in written.iter().take(MOST).enumerate() {
        let rule = rule(notes, index, written);
        if rule.name == ALL || rules.iter().any(|other| other.name == rule.name) {
            let span = written.get_ref().name.as_ref().map_or(written.span(), Spanned::span);
            let help = format!("give each rule a name of its own; `{ALL}` is that of the effects outside of rules");
            notes.note(span, format!("a second rule named `{}`", rule.name), help);
        }
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
    for (effect, span, operations) in every.flat_map(|written| effects::given(&written)) {
        if !matches.operations.is_empty() && !operations.iter().any(|it| matches.operations.contains(it)) {
            let names = OPERATIONS.iter().filter(|(_, it)| operations.contains(it)).map(|(name, _)| *name);
            let help = format!(
                "it is for the operations {}: match these too, or leave it out",
                names.collect::<Vec<_>>().join(", ")
            );
            notes.note(span, format!("`{effect}` does nothing in this rule"), help);
        }
    }
    let regimes = regimes(notes, &rule.effects(), &rule.schedule);
    Rule { name: name.unwrap_or_else(|| format!("rule {}", index + 1)), matches, regimes }
}

fn regimes(notes: &mut Notes<'_>, always: &written::Effects<'_>, schedule: &Schedule) -> Vec<Regime> {
    let Some(schedule) = schedule else {
        return vec![Regime { lasts: DAY, effects: effects(notes, always) }];
    };
    for (effect, span, _) in effects::given(always) {
        let help = "while there is a schedule its entries have all the effects: write it into those it is for";
        notes.note(span, format!("`{effect}` beside a schedule"), help);
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
