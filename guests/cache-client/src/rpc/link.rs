//! HTTP/2 on one connection, polled by hand.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use cache_rpc::reliable::Numbered;
use h2::client::{Builder, Connection, SendRequest};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri, header};

use super::call::{Call, words};
use super::flag::Flag;
use super::method::{Encoded, Method};
use super::pipe::{Pipe, Transport};

/// What the server may send of one answer, and of all together, before some of it is taken, in bytes. Everything is
/// taken at once, so it bounds what is under way and not what waits here.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// Most bytes of names and values in the head of an answer.
const HEAD_LIMIT: u32 = 16 << 10;

/// Whose service is called.
#[derive(Debug, Clone)]
pub struct Target {
    /// In the order of [`Method::ALL`].
    addresses: [Uri; Method::ALL.len()],
}

impl Target {
    /// The service at `server`, a host and a port, with TLS or without.
    ///
    /// # Errors
    /// Words for a `server` that HTTP has no way to write.
    pub fn new(server: &str, tls: bool) -> Result<Self, String> {
        let scheme = if tls { Scheme::HTTPS } else { Scheme::HTTP };
        let authority: Authority =
            server.parse().map_err(|error| format!("{server:?} is no host and port of HTTP: {error}"))?;
        let address = |method: Method| {
            let mut parts = http::uri::Parts::default();
            parts.scheme = Some(scheme.clone());
            parts.authority = Some(authority.clone());
            parts.path_and_query = Some(PathAndQuery::from_static(method.path()));
            Uri::from_parts(parts).map_err(|error| format!("{server:?} is no host and port of HTTP: {error}"))
        };
        let [begin, end, get, set, delete, increment] = Method::ALL.map(address);
        Ok(Self { addresses: [begin?, end?, get?, set?, delete?, increment?] })
    }

    fn request(&self, method: Method, numbered: Option<Numbered>) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.addresses[method as usize].clone();
        *request.version_mut() = http::Version::HTTP_2;
        let fields = request.headers_mut();
        fields.insert(header::TE, HeaderValue::from_static("trailers"));
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        for (name, value) in numbered.iter().flat_map(Numbered::fields) {
            // Digits, all of them.
            if let Ok(mut value) = HeaderValue::try_from(value) {
                // What is another with each call would only push what stays out of the table that both ends keep.
                value.set_sensitive(!Numbered::is_constant(name));
                fields.insert(name, value);
            }
        }
        request
    }
}

/// A connection from its first byte to its last.
pub struct Link {
    pipe: Pipe,
    flag: Flag,
    /// Of an answer's message, in bytes.
    limit: usize,
    requests: SendRequest<Bytes>,
    /// `None` when it has ended.
    connection: Option<Connection<Transport, Bytes>>,
}

impl Link {
    /// A new one, that takes answers of at most `limit` bytes.
    ///
    /// # Errors
    /// Words, should HTTP/2 not begin, which in memory it does.
    pub fn new(limit: usize) -> Result<Self, String> {
        let pipe = Pipe::default();
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEAD_LIMIT);
        let flag = Flag::raised();
        let handshake = pin!(builder.handshake(pipe.transport()));
        match handshake.poll(&mut Context::from_waker(flag.waker())) {
            Poll::Ready(Ok((requests, connection))) => {
                Ok(Self { pipe, flag, limit, requests, connection: Some(connection) })
            }
            Poll::Ready(Err(error)) => Err(format!("HTTP/2 cannot begin: {error}")),
            Poll::Pending => Err("HTTP/2 cannot begin: it waits".to_owned()),
        }
    }

    /// Begins a call. `None` while the server has as many as it takes, or is about to end the connection.
    ///
    /// # Errors
    /// Words for a connection that takes no call ever again.
    pub fn call(
        &mut self,
        target: &Target,
        encoded: &Encoded,
        numbered: Option<Numbered>,
    ) -> Result<Option<Call>, String> {
        match self.requests.poll_ready(&mut Context::from_waker(self.flag.waker())) {
            Poll::Pending => return Ok(None),
            Poll::Ready(ready) => ready.map_err(words)?,
        }
        let request = target.request(encoded.method, numbered);
        let (response, mut body) = self.requests.send_request(request, false).map_err(words)?;
        // It waits in h2 for as long as the server has no room for it.
        body.send_data(encoded.message.clone(), true).map_err(words)?;
        Ok(Some(Call::new(encoded.method, response, self.limit)))
    }

    /// Moves what can be moved. False when nothing could.
    ///
    /// # Errors
    /// Words for how the connection ended. Calls under way may have their answers even so.
    pub fn advance(&mut self) -> Result<bool, String> {
        if !self.flag.lower() {
            return Ok(false);
        }
        let Some(connection) = &mut self.connection else { return Ok(false) };
        let ended = match Pin::new(connection).poll(&mut Context::from_waker(self.flag.waker())) {
            Poll::Pending => return Ok(true),
            Poll::Ready(Ok(())) => "the server ends the connection".to_owned(),
            Poll::Ready(Err(error)) => words(error),
        };
        self.connection = None;
        Err(ended)
    }

    pub fn pipe(&self) -> &Pipe {
        &self.pipe
    }
}
