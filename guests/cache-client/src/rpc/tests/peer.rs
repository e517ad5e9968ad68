//! A server in memory: HTTP/2 by h2, a small cache, and whatever else a test has it answer.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use cache_rpc::reliable::{self, Limits, Numbered, Refusal, Sessions};
use cache_rpc::{
    BeginRequest, BeginResponse, DeleteRequest, DeleteResponse, EndRequest, EndResponse, GetRequest, GetResponse,
    IncrementRequest, IncrementResponse, Item, SetRequest, SetResponse, path,
};
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderName, HeaderValue, Response, request};

use crate::rpc::frame::{self, Unwrapping};
use crate::rpc::pipe::{Pipe, Transport};

/// How a call is answered.
#[derive(Clone)]
pub enum Reply {
    /// From the cache.
    Cache,
    /// Well, with this in the body.
    Body(Bytes),
    /// With these fields alone, an HTTP status, and no body.
    Head(u16, Vec<(&'static str, &'static str)>),
    /// With this in the body and these fields after it.
    Trailers(Bytes, Vec<(&'static str, &'static str)>),
    Reset(Reason),
    /// Not before [`Peer::answer_late`].
    Late,
}

type Handshake = Pin<Box<dyn Future<Output = Result<Connection<Transport, Bytes>, h2::Error>>>>;

pub struct Peer {
    pipe: Pipe,
    handshake: Option<Handshake>,
    pub connection: Option<Connection<Transport, Bytes>>,
    calls: Vec<Call>,
    late: Vec<Call>,
    /// How the next calls are answered, not counting those that begin or end a session; those beyond from the cache.
    pub replies: Vec<Reply>,
    pub server: Server,
    /// The paths of the calls that came whole, in order.
    pub heard: Vec<String>,
}

/// What outlives a connection.
pub struct Server {
    cache: HashMap<Bytes, (Bytes, u32)>,
    pub sessions: Sessions<Bytes>,
    pub executed: usize,
    pub now: Duration,
}

struct Call {
    head: request::Parts,
    body: RecvStream,
    message: Vec<u8>,
    respond: SendResponse<Bytes>,
}

impl Server {
    pub fn new() -> Self {
        Self::within(100, 1 << 20)
    }

    /// One that has room for so many sessions, and bytes of answers.
    pub fn within(sessions: usize, bytes: usize) -> Self {
        let limits = Limits { sessions, bytes, idle: Duration::from_secs(60) };
        let sessions = Sessions::new(limits, |answer: &Bytes| answer.len());
        Self { cache: HashMap::new(), sessions, executed: 0, now: Duration::ZERO }
    }

    /// The answer in its frame, or why not.
    fn call(&mut self, head: &request::Parts, message: &[u8]) -> Result<Bytes, Refusal> {
        match head.uri.path() {
            path::BEGIN => {
                let BeginRequest { session } = unwrap(message);
                self.sessions.begin(self.now, reliable::session(&session).expect("a number"))?;
                return Ok(frame::wrap(&BeginResponse {}));
            }
            path::END => {
                let EndRequest { session } = unwrap(message);
                self.sessions.end(reliable::session(&session).expect("a number"));
                return Ok(frame::wrap(&EndResponse {}));
            }
            _ => {}
        }
        let numbered =
            Numbered::read(|name| head.headers.get(name).map(HeaderValue::as_bytes)).expect("fields that are right");
        let Some(numbered) = numbered else { return Ok(execute(&mut self.cache, head.uri.path(), message)) };
        let execute = || {
            self.executed += 1;
            execute(&mut self.cache, head.uri.path(), message)
        };
        self.sessions.call(self.now, numbered, execute)
    }
}

impl Peer {
    pub fn new() -> Self {
        Self::with(Server::new(), &Builder::new())
    }

    pub fn with(server: Server, builder: &Builder) -> Self {
        let pipe = Pipe::default();
        let handshake: Handshake = Box::pin(builder.handshake(pipe.transport()));
        Self {
            pipe,
            handshake: Some(handshake),
            connection: None,
            calls: Vec::new(),
            late: Vec::new(),
            replies: Vec::new(),
            server,
            heard: Vec::new(),
        }
    }

    pub fn replying(replies: impl Into<Vec<Reply>>) -> Self {
        Self { replies: replies.into(), ..Self::new() }
    }

    /// Takes bytes, and gives those that it has to say.
    pub fn received(&mut self, bytes: &[u8]) -> Vec<u8> {
        assert!(self.pipe.received(bytes));
        let mut outgoing = Vec::new();
        loop {
            self.advance();
            let before = outgoing.len();
            self.pipe.take(&mut outgoing);
            self.pipe.sent(0);
            if outgoing.len() == before {
                return outgoing;
            }
        }
    }

    /// Answers, from the cache, what was not to be answered before.
    pub fn answer_late(&mut self) {
        for call in std::mem::take(&mut self.late) {
            self.answer(call, &Reply::Cache);
        }
    }

    fn advance(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        if let Some(handshake) = &mut self.handshake {
            let Poll::Ready(connection) = handshake.as_mut().poll(&mut context) else { return };
            self.connection = connection.ok();
            self.handshake = None;
        }
        while let Some(connection) = &mut self.connection {
            match connection.poll_accept(&mut context) {
                Poll::Ready(Some(Ok((request, respond)))) => {
                    let (head, body) = request.into_parts();
                    self.calls.push(Call { head, body, message: Vec::new(), respond });
                }
                Poll::Ready(_) => self.connection = None,
                Poll::Pending => break,
            }
        }
        let (whole, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.calls).into_iter().map(Call::read).partition(|(whole, _)| *whole);
        self.calls = rest.into_iter().map(|(_, call)| call).collect();
        for (_, call) in whole {
            self.heard.push(call.head.uri.path().to_owned());
            let aside = [path::BEGIN, path::END].contains(&call.head.uri.path());
            let reply = if aside || self.replies.is_empty() { Reply::Cache } else { self.replies.remove(0) };
            self.answer(call, &reply);
        }
    }

    fn answer(&mut self, mut call: Call, reply: &Reply) {
        let grpc = [("content-type", "application/grpc")];
        let (body, trailers) = match reply {
            Reply::Cache => match self.server.call(&call.head, &call.message) {
                Ok(body) => (body, vec![("grpc-status", "0")]),
                Err(refusal) => {
                    let code = if refusal.is_of_the_call() { "8" } else { "10" };
                    let why: &'static str = refusal.to_string().leak();
                    let fields = [grpc[0], ("grpc-status", code), ("grpc-message", why)];
                    return send(&mut call.respond, 200, &fields, None);
                }
            },
            Reply::Body(body) => (body.clone(), vec![("grpc-status", "0")]),
            Reply::Trailers(body, trailers) => (body.clone(), trailers.clone()),
            Reply::Head(status, fields) => return send(&mut call.respond, *status, fields, None),
            Reply::Reset(reason) => return call.respond.send_reset(*reason),
            Reply::Late => return self.late.push(call),
        };
        send(&mut call.respond, 200, &grpc, Some((body, fields(&trailers))));
    }
}

impl Call {
    /// Reads what there is of its body. Whether that was all of it.
    fn read(mut self) -> (bool, Self) {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match self.body.poll_data(&mut context) {
                Poll::Ready(Some(Ok(bytes))) => {
                    self.message.extend_from_slice(&bytes);
                    self.body.flow_control().release_capacity(bytes.len()).expect("bytes that were received");
                }
                Poll::Ready(_) => return (true, self),
                Poll::Pending => return (false, self),
            }
        }
    }
}

/// Nobody may be there any more to send it to.
fn send(
    respond: &mut SendResponse<Bytes>,
    status: u16,
    head: &[(&'static str, &'static str)],
    rest: Option<(Bytes, HeaderMap)>,
) {
    let mut response = Response::new(());
    *response.status_mut() = status.try_into().expect("a status");
    *response.headers_mut() = fields(head);
    let Ok(mut stream) = respond.send_response(response, rest.is_none()) else { return };
    if let Some((body, trailers)) = rest {
        let _ = stream.send_data(body, false).and_then(|()| stream.send_trailers(trailers));
    }
}

fn fields(fields: &[(&'static str, &'static str)]) -> HeaderMap {
    fields.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

fn execute(cache: &mut HashMap<Bytes, (Bytes, u32)>, path: &str, framed: &[u8]) -> Bytes {
    match path {
        path::GET => {
            let GetRequest { key } = unwrap(framed);
            frame::wrap(&GetResponse {
                item: cache.get(&key).map(|(value, flags)| Item { value: value.clone(), flags: *flags }),
            })
        }
        path::SET => {
            let SetRequest { key, value, flags, .. } = unwrap(framed);
            cache.insert(key, (value, flags));
            frame::wrap(&SetResponse {})
        }
        path::DELETE => {
            let DeleteRequest { key } = unwrap(framed);
            frame::wrap(&DeleteResponse { found: cache.remove(&key).is_some() })
        }
        path::INCREMENT => {
            let IncrementRequest { key, by } = unwrap(framed);
            let value = cache.get_mut(&key).map(|(value, _)| {
                let number =
                    str::from_utf8(value).ok().and_then(|text| text.parse::<u64>().ok()).expect("a number") + by;
                *value = number.to_string().into();
                number
            });
            frame::wrap(&IncrementResponse { value })
        }
        other => panic!("{other} is no method"),
    }
}

fn unwrap<M: prost::Message + Default>(framed: &[u8]) -> M {
    let mut unwrapping = Unwrapping::new(super::LONGEST + 1000);
    unwrapping.push(framed).expect("a frame");
    unwrapping.finish().expect("a message").unwrap_or_else(|| M::decode(&[][..]).expect("nothing is a message"))
}
