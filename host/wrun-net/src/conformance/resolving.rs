//! Claims on name lookup.

use std::collections::HashSet;
use std::sync::Arc;

use super::kit::*;
use crate::backend::Backend;
use crate::error::Error;

pub async fn localhost(backend: Arc<dyn Backend>) -> Verdict {
    let found = backend.resolve("localhost").await.during("looking localhost up")?;
    ensure!(!found.is_empty(), "localhost has no address");
    ensure!(found.iter().all(|address| address.is_loopback()), "localhost is elsewhere: {found:?}");
    ensure!(found.iter().collect::<HashSet<_>>().len() == found.len(), "addresses come twice: {found:?}");
    Ok(())
}

pub async fn unknown(backend: Arc<dyn Backend>) -> Verdict {
    // Reserved never to exist. Where no resolver can be reached, that is what the answer says.
    match backend.resolve("name.invalid").await {
        Err(Error::NameUnresolvable | Error::TemporaryResolverFailure | Error::PermanentResolverFailure) => Ok(()),
        answer => Err(format!("a name that does not exist was answered {answer:?}")),
    }
}

pub async fn called_off(backend: Arc<dyn Backend>) -> Verdict {
    call_off(backend.resolve("localhost")).await;
    localhost(backend).await
}
