//! The service from outside, by a client of HTTP/2 that says what it likes.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cache_rpc::reliable::Numbered;
use cache_rpc::{
    BeginRequest, EndRequest, GetRequest, GetResponse, IncrementRequest, IncrementResponse, SetRequest, path,
};
use h2::client::SendRequest;
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use prost::Message;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;

/// How a call ended: gRPC's code, its message, and the answer's own, without its frame.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    code: String,
    words: String,
    answer: Bytes,
}

impl Ended {
    fn answer<M: Message + Default>(self) -> M {
        assert_eq!(self.code, "0", "{}", self.words);
        M::decode(self.answer).unwrap()
    }
}

/// Serves for as long as the test runs.
async fn peer() -> SocketAddr {
    let listener = crate::listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, CacheRpc { memory: 16 << 20, tls: None }, std::future::pending()));
    address
}

async fn connect(address: SocketAddr) -> SendRequest<Bytes> {
    let (requests, connection) = h2::client::handshake(TcpStream::connect(address).await.unwrap()).await.unwrap();
    tokio::spawn(async { drop(connection.await) });
    requests.ready().await.unwrap()
}

/// Makes a call with these bytes for a body.
async fn call(
    requests: &mut SendRequest<Bytes>,
    path: &str,
    body: Bytes,
    fields: &[(&'static str, String)],
) -> Result<Ended, h2::Error> {
    let mut request =
        Request::post(format!("http://peer{path}")).header("te", "trailers").header("content-type", "application/grpc");
    for (name, value) in fields {
        request = request.header(*name, value);
    }
    let (response, mut stream) = requests.send_request(request.body(()).unwrap(), false)?;
    stream.send_data(body, true)?;
    let (head, mut body) = response.await?.into_parts();
    let mut framed = Vec::new();
    while let Some(bytes) = body.data().await {
        let bytes = bytes?;
        body.flow_control().release_capacity(bytes.len())?;
        framed.extend_from_slice(&bytes);
    }
    let ending = body.trailers().await?.unwrap_or(head.headers);
    let answer = framed.get(5..).unwrap_or_default().to_vec().into();
    Ok(Ended { code: field(&ending, "grpc-status"), words: field(&ending, "grpc-message"), answer })
}

fn field(fields: &HeaderMap, name: &str) -> String {
    fields.get(name).map(|value| value.to_str().unwrap().replace("%20", " ")).unwrap_or_default()
}

fn framed(message: &impl Message) -> Bytes {
    let message = message.encode_to_vec();
    [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), &message].concat().into()
}

fn set(key: &'static str, value: impl Into<Bytes>) -> Bytes {
    framed(&SetRequest { key: key.into(), value: value.into(), flags: 7, expiry: 0 })
}

fn get(key: &'static str) -> Bytes {
    framed(&GetRequest { key: key.into() })
}

fn increment(key: &'static str) -> Bytes {
    framed(&IncrementRequest { key: key.into(), by: 1 })
}

/// A message that begins a session.
fn beginning(session: u128) -> Bytes {
    framed(&BeginRequest { session: session.to_be_bytes().to_vec().into() })
}

async fn begin(requests: &mut SendRequest<Bytes>, session: u128) {
    assert_eq!(call(requests, path::BEGIN, beginning(session), &[]).await.unwrap().code, "0");
}

async fn value(requests: &mut SendRequest<Bytes>, key: &'static str) -> Option<(Bytes, u32)> {
    let ended = call(requests, path::GET, get(key), &[]).await.unwrap();
    ended.answer::<GetResponse>().item.map(|item| (item.value, item.flags))
}

#[tokio::test]
async fn what_is_set_is_found_by_another_connection() {
    let address = peer().await;
    let big = Bytes::from(vec![b'x'; 1_000_000]);
    let ended = call(&mut connect(address).await, path::SET, set("k", big.clone()), &[]).await.unwrap();
    assert_eq!(ended.code, "0");
    assert!(value(&mut connect(address).await, "k").await == Some((big, 7)));
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_in_words_and_the_connection_goes_on() {
    let mut requests = connect(peer().await).await;
    call(&mut requests, path::SET, set("text", "no number"), &[]).await.unwrap();
    begin(&mut requests, 2).await;
    let long = "k".repeat(251).leak();
    let session =
        |session: &str, call: &str| vec![("cache-session", session.to_owned()), ("cache-call", call.to_owned())];
    let cases = [
        (path::GET, get(""), vec![], "3", "1 to 250 bytes"),
        (path::GET, get("a b"), vec![], "3", "1 to 250 bytes"),
        (path::SET, set(long, "v"), vec![], "3", "this one has 251"),
        (path::INCREMENT, increment("text"), vec![], "9", "no number"),
        (path::SET, set("k", vec![0; MAX_ITEM]), vec![], "3", "too large"),
        (path::SET, set("k", vec![0; 3 * MAX_ITEM]), vec![], "11", "too large"),
        ("/cache.v1.Cache/Flush", get("k"), vec![], "12", ""),
        ("/other.Service/Get", get("k"), vec![], "12", ""),
        (path::GET, Bytes::from_static(&[0, 0, 0, 0, 2, 0xff, 0xff]), vec![], "13", "decode"),
        (path::GET, Bytes::from_static(&[1, 0, 0, 0, 1, 0]), vec![], "13", ""),
        (path::GET, Bytes::from_static(&[0, 0, 0, 0, 9, 0]), vec![], "13", ""),
        (path::GET, Bytes::new(), vec![], "13", ""),
        (path::GET, get("k"), session("0", "1"), "3", "cache-session is missing or malformed"),
        (path::GET, get("k"), session(&"0".repeat(32), "1"), "3", "cache-acknowledged is missing or malformed"),
        (
            path::GET,
            get("k"),
            Numbered { session: 1, call: 9, acknowledged: 8 }.fields().to_vec(),
            "10",
            "begin another",
        ),
        (
            path::GET,
            get("k"),
            Numbered { session: 1, call: 1, acknowledged: 0 }.fields().to_vec(),
            "10",
            "begin another",
        ),
        (path::GET, get("k"), Numbered { session: 2, call: 999, acknowledged: 0 }.fields().to_vec(), "10", "above"),
        (path::BEGIN, framed(&BeginRequest { session: vec![0; 15].into() }), vec![], "3", "16 bytes; this one has 15"),
        (path::END, framed(&EndRequest { session: Bytes::new() }), vec![], "3", "16 bytes; this one has 0"),
    ];
    for (path, body, fields, code, words) in cases {
        let ended = call(&mut requests, path, body, &fields).await.unwrap();
        assert_eq!(ended.code, code, "{path} {fields:?}: {ended:?}");
        assert!(ended.words.contains(words), "{path} {fields:?}: {ended:?}");
        assert_eq!(value(&mut requests, "text").await, Some(("no number".into(), 7)));
    }
}

#[tokio::test]
async fn garbage_costs_its_sender_the_connection_and_nobody_else() {
    let address = peer().await;
    let mut requests = connect(address).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice();
    for garbage in [&b"GET / HTTP/1.1\r\nhost: peer\r\n\r\n"[..], &[0xff; 100], &[preface, &[0xff; 100]].concat()] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        // With an end or a reset: it ends.
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(value(&mut requests, "k").await, None);
    }
}

#[tokio::test]
async fn a_number_that_was_used_by_another_method_is_refused() {
    let mut requests = connect(peer().await).await;
    begin(&mut requests, 1).await;
    let fields = Numbered { session: 1, call: 1, acknowledged: 0 }.fields();
    assert_eq!(call(&mut requests, path::GET, get("k"), &fields).await.unwrap().code, "0");
    assert_eq!(call(&mut requests, path::INCREMENT, increment("k"), &fields).await.unwrap().code, "10");
}

#[tokio::test]
async fn answers_that_nobody_acknowledges_cost_calls_and_no_session_until_they_are_or_the_session_ends() {
    let mut requests = connect(peer().await).await;
    assert_eq!(call(&mut requests, path::SET, set("big", vec![b'x'; 1_000_000]), &[]).await.unwrap().code, "0");
    begin(&mut requests, 1).await;
    begin(&mut requests, 2).await;
    let fields = |session, call, acknowledged| Numbered { session, call, acknowledged }.fields();
    let full = SESSIONS.bytes as u64 / 1_000_000 + 1;
    for number in 1..=full {
        let ended = call(&mut requests, path::GET, get("big"), &fields(1, number, 0)).await.unwrap();
        assert_eq!(ended.code, "0", "{number}: {}", ended.words);
    }
    let increment = |session, number, acknowledged| (increment("n"), fields(session, number, acknowledged));
    call(&mut requests, path::SET, set("n", "1"), &[]).await.unwrap();
    for (session, number) in [(1, full + 1), (2, 1)] {
        let (body, fields) = increment(session, number, 0);
        for _ in 0..2 {
            let ended = call(&mut requests, path::INCREMENT, body.clone(), &fields).await.unwrap();
            assert_eq!(ended.code, "8", "{}", ended.words);
            assert!(ended.words.contains("not executed"), "{}", ended.words);
        }
    }
    // Both sessions live: one goes on as it acknowledges, and when it ends the other has room too.
    let (body, fields) = increment(1, full + 2, full - 5);
    assert_eq!(call(&mut requests, path::INCREMENT, body, &fields).await.unwrap().code, "0");
    let end = framed(&EndRequest { session: 1_u128.to_be_bytes().to_vec().into() });
    assert_eq!(call(&mut requests, path::END, end, &[]).await.unwrap().code, "0");
    let (body, fields) = increment(2, 2, 1);
    let ended = call(&mut requests, path::INCREMENT, body, &fields).await.unwrap();
    assert_eq!(ended.answer::<IncrementResponse>().value, Some(3));
}

#[tokio::test]
async fn an_increment_whose_connection_is_cut_before_its_answer_is_executed_once() {
    let address = peer().await;
    let cut = Arc::new(AtomicBool::new(false));
    let proxy = proxy(address, Arc::clone(&cut)).await;
    let numbered = |call| Numbered { session: 7, call, acknowledged: 0 }.fields();

    let mut requests = connect(proxy).await;
    begin(&mut requests, 7).await;
    assert_eq!(call(&mut requests, path::SET, set("n", "41"), &numbered(1)).await.unwrap().code, "0");
    cut.store(true, Ordering::Relaxed);
    assert!(call(&mut requests, path::INCREMENT, increment("n"), &numbered(2)).await.is_err());
    // It was executed: only its answer is lost.
    assert_eq!(value(&mut connect(address).await, "n").await, Some(("42".into(), 7)));

    cut.store(false, Ordering::Relaxed);
    let mut requests = connect(proxy).await;
    for _ in 0..2 {
        let ended = call(&mut requests, path::INCREMENT, increment("n"), &numbered(2)).await.unwrap();
        assert_eq!(ended.answer::<IncrementResponse>().value, Some(42));
    }
    assert_eq!(value(&mut requests, "n").await, Some(("42".into(), 7)));
    // Outside of a session the same is executed as often as it is asked.
    let ended = call(&mut requests, path::INCREMENT, increment("n"), &[]).await.unwrap();
    assert_eq!(ended.answer::<IncrementResponse>().value, Some(43));
}

/// Passes connections on to `address`. While `cut` is true, what the server says next ends its connection unheard.
async fn proxy(address: SocketAddr, cut: Arc<AtomicBool>) -> SocketAddr {
    let listener = crate::listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let here = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let cut = Arc::clone(&cut);
            tokio::spawn(async move {
                let server = TcpStream::connect(address).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = server.into_split();
                let there = tokio::io::copy(&mut from_client, &mut to_server);
                let back = async {
                    let mut bytes = vec![0; 1 << 16];
                    while let Ok(count @ 1..) = from_server.read(&mut bytes).await
                        && !cut.load(Ordering::Relaxed)
                    {
                        to_client.write_all(&bytes[..count]).await.unwrap();
                    }
                };
                tokio::select! {
                    _ = there => {}
                    () = back => {}
                }
            });
        }
    });
    here
}
