//! Throttled name lookups.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use tokio::time::Instant;

use super::core::{Core, Ground};
use super::terms::Terms;
use crate::backend::{Backend, Pending};
use crate::error::Error;
use crate::shape::opening::{Opened, OpeningDice};
use crate::shape::profile::{Failure, Operation};

/// Looks a name up, and answers when and as the profile says.
pub fn resolve(inner: &Arc<dyn Backend>, core: &Arc<Core>, name: &str) -> Pending<Vec<IpAddr>> {
    // Without a rule there is no difference, not even that of a task more or less.
    let rule = core.terms().rule(Operation::Resolve, None, None);
    let (Some(rule), Ok(ground)) = (rule, Ground::here(core)) else { return inner.resolve(name) };
    let rule = u32::try_from(rule).unwrap_or(u32::MAX);
    let mut dice = OpeningDice::resolve(core.seed, core.birth(), rule);
    let inner = inner.clone();
    let name = name.to_owned();
    Box::pin(async move {
        let core = &ground.core;
        // On new terms it is decided anew, as if the guest had asked then.
        let (told, failure) = loop {
            let renewed = core.renewed();
            let mut renewed = pin!(renewed);
            renewed.as_mut().enable();
            let Some((told, failure)) = plan(core, &core.terms(), &mut dice) else { break (Instant::now(), None) };
            // The lookup inside is a part of the time.
            let waits = async {
                let found = match failure {
                    None => Some(inner.resolve(&name).await),
                    Some(_) => None,
                };
                ground.until(told).await;
                found
            };
            tokio::select! {
                biased;
                () = renewed => {}
                found = waits => match found {
                    Some(found) => return found,
                    None => break (told, failure),
                },
            }
        };
        ground.until(told).await;
        let Some(failure) = failure else { return inner.resolve(&name).await };
        core.quirks.note(|quirks| quirks.lookups_failed += 1);
        Err(match failure {
            Failure::Refused => Error::NameUnresolvable,
            Failure::Unreachable | Failure::Timeout(_) => Error::TemporaryResolverFailure,
        })
    })
}

/// When the answer is due, and how it fails if it does. `None` where no rule decides.
fn plan(core: &Core, terms: &Terms, dice: &mut OpeningDice) -> Option<(Instant, Option<Failure>)> {
    let rule = terms.rule(Operation::Resolve, None, None)?;
    let now = core.since(Instant::now());
    let opening = &terms.effects(rule, now)?.resolve;
    let Opened { after, failure } = opening.draw(std::time::Duration::ZERO, dice);
    Some((core.at(now.saturating_add(after)), failure))
}
