//! The four methods, each a call on the store, executed once in a reliable session; and such a session's beginning and end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cache::key;
use cache::store::{Counted, Expiry, Refusal, Seconds, Store};
use cache_rpc::reliable::{self, Limits, Numbered, Sessions};
use cache_rpc::{
    BeginRequest, BeginResponse, DeleteRequest, DeleteResponse, EndRequest, EndResponse, GetRequest, GetResponse,
    IncrementRequest, IncrementResponse, Item, SetRequest, SetResponse,
};
use tonic::{Code, Request, Response, Status};

use super::answer::{Answer, Message, size};
use super::service::cache_server;
use crate::cache_server::now;

pub struct Calls {
    shared: Mutex<Shared>,
    started: Instant,
}

/// A call has all of it while it is executed, so that no other sees half of what it does.
struct Shared {
    store: Store,
    sessions: Sessions<Result<Answer, Status>>,
}

impl Calls {
    /// On an empty store of `memory` bytes, for items of at most `max_item` bytes.
    pub fn new(memory: usize, max_item: usize, limits: Limits) -> Self {
        let shared = Shared { store: Store::new(memory, max_item), sessions: Sessions::new(limits, size) };
        Self { shared: Mutex::new(shared), started: Instant::now() }
    }

    fn call<R, M: Message>(
        &self,
        request: Request<R>,
        execute: impl FnOnce(R, &mut Store, Seconds) -> Result<Answer, Status>,
    ) -> Result<Response<M>, Status> {
        let (metadata, _, message) = request.into_parts();
        let numbered = Numbered::read(|name| metadata.get(name).map(tonic::metadata::AsciiMetadataValue::as_bytes))
            .map_err(|malformed| Status::invalid_argument(malformed.to_string()))?;
        let mut shared = self.lock();
        let Shared { store, sessions } = &mut *shared;
        let execute = || execute(message, store, now());
        let answer = match numbered {
            None => execute(),
            Some(numbered) => sessions.call(self.started.elapsed(), numbered, execute).map_err(refused)?,
        }?;
        let message =
            M::of(answer).ok_or_else(|| Status::aborted("a call of that number was made of another method"))?;
        Ok(Response::new(message))
    }

    /// A call that panicked has left the store as far as it came; the others go on.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tonic::async_trait]
impl cache_server::Cache for Calls {
    async fn begin(&self, request: Request<BeginRequest>) -> Result<Response<BeginResponse>, Status> {
        let session = session(&request.into_inner().session)?;
        self.lock().sessions.begin(self.started.elapsed(), session).map_err(refused)?;
        Ok(Response::new(BeginResponse {}))
    }

    async fn end(&self, request: Request<EndRequest>) -> Result<Response<EndResponse>, Status> {
        let session = session(&request.into_inner().session)?;
        self.lock().sessions.end(session);
        Ok(Response::new(EndResponse {}))
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        self.call(request, |GetRequest { key }, store, now| {
            check(&key)?;
            let item = store.get(&key, now).map(|item| {
                let mut value = Vec::with_capacity(item.length());
                item.value().for_each(|piece| value.extend_from_slice(piece));
                Item { value: value.into(), flags: item.flags() }
            });
            Ok(Answer::Get(GetResponse { item }))
        })
    }

    async fn set(&self, request: Request<SetRequest>) -> Result<Response<SetResponse>, Status> {
        self.call(request, |SetRequest { key, value, flags, expiry }, store, now| {
            check(&key)?;
            match store.set(&key, &value, flags, Expiry::from_client(expiry, now), now) {
                Ok(_) => Ok(Answer::Set(SetResponse {})),
                Err(Refusal::TooLarge) => Err(Status::invalid_argument(format!(
                    "the item is too large: key and value have {} bytes, and an item, with what is kept about it, at most {}",
                    key.len() + value.len(),
                    store.max_item()
                ))),
                Err(Refusal::NoRoom) => Err(no_room()),
            }
        })
    }

    async fn delete(&self, request: Request<DeleteRequest>) -> Result<Response<DeleteResponse>, Status> {
        self.call(request, |DeleteRequest { key }, store, now| {
            check(&key)?;
            Ok(Answer::Delete(DeleteResponse { found: store.delete(&key, now) }))
        })
    }

    async fn increment(&self, request: Request<IncrementRequest>) -> Result<Response<IncrementResponse>, Status> {
        self.call(request, |IncrementRequest { key, by }, store, now| {
            check(&key)?;
            let value = match store.increment(&key, by, now) {
                Counted::Number(number) => Some(number),
                Counted::NotFound => None,
                Counted::NoNumber => {
                    return Err(Status::failed_precondition("what is kept under that key is no number"));
                }
                // It cannot have another cas than it must have, since none was asked for.
                Counted::NoRoom | Counted::Exists => return Err(no_room()),
            };
            Ok(Answer::Increment(IncrementResponse { value }))
        })
    }
}

/// ABORTED is how a client knows a session that is of no more use from a call's own refusal.
fn refused(refusal: reliable::Refusal) -> Status {
    let code = if refusal.is_of_the_call() { Code::ResourceExhausted } else { Code::Aborted };
    Status::new(code, refusal.to_string())
}

fn session(bytes: &[u8]) -> Result<u128, Status> {
    reliable::session(bytes).ok_or_else(|| {
        Status::invalid_argument(format!("a session's number has 16 bytes; this one has {}", bytes.len()))
    })
}

fn check(key: &[u8]) -> Result<(), Status> {
    if key::is_valid(key) {
        return Ok(());
    }
    Err(Status::invalid_argument(format!(
        "a key has 1 to {} bytes without blanks or control characters; this one has {}: {:?}",
        key::MAX_LENGTH,
        key.len(),
        String::from_utf8_lossy(&key[..key.len().min(key::MAX_LENGTH)])
    )))
}

fn no_room() -> Status {
    Status::resource_exhausted("there is no room for it: everything else in memory is being written too")
}
