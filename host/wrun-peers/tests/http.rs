//! What a client meets at the HTTP peer, byte for byte: the client here is a socket and knows no HTTP.

use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use wrun_peers::http::{Http, serve};
use wrun_peers::{Authority, Fault, listen, tls};

const GET: &[u8] = b"GET /any HTTP/1.1\r\nhost: localhost\r\n\r\n";
const GET_AND_CLOSE: &[u8] = b"GET /any HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn listener() -> TcpListener {
    listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port on loopback")
}

/// A peer with these settings, which cuts its connections after a while: a test cannot hang.
async fn peer(settings: Http) -> SocketAddr {
    let listener = listener();
    let address = listener.local_addr().expect("a bound listener");
    tokio::spawn(serve(listener, settings, tokio::time::sleep(Duration::from_secs(30))));
    address
}

/// Sends `request` on a new connection and reads to the end.
async fn exchange(settings: Http, request: &[u8]) -> io::Result<Vec<u8>> {
    let stream = TcpStream::connect(peer(settings).await).await?;
    converse(stream, request).await
}

async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &[u8]) -> io::Result<Vec<u8>> {
    stream.write_all(request).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}

/// The head as text, and the body.
fn split(answer: &[u8]) -> (&str, &[u8]) {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head that ends");
    (std::str::from_utf8(&answer[..end]).expect("a head of text"), &answer[end + 4..])
}

#[tokio::test]
async fn a_body_has_the_length_it_was_given_and_announces_it() {
    for body in [0, 1, 16 * 1024, 100_001] {
        let answer = exchange(Http { body, ..Http::default() }, GET_AND_CLOSE).await.unwrap();
        let (head, content) = split(&answer);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {body}")), "{head}");
        assert_eq!(content.len() as u64, body);
    }
}

#[tokio::test]
async fn a_connection_takes_a_second_request() {
    let mut stream = TcpStream::connect(peer(Http { body: 3, ..Http::default() }).await).await.unwrap();
    stream.write_all(GET).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\nwru") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "closed after the first request");
    }
    assert!(converse(stream, GET_AND_CLOSE).await.unwrap().starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn chunks_are_for_http_1_1_and_http_1_0_reads_to_the_close() {
    let settings = Http { body: 20_000, chunked: true, ..Http::default() };
    let answer = exchange(settings.clone(), GET_AND_CLOSE).await.unwrap();
    let (head, content) = split(&answer);
    assert!(head.contains("transfer-encoding: chunked") && !head.contains("content-length"), "{head}");
    assert!(content.starts_with(b"4000\r\n") && content.ends_with(b"\r\n0\r\n\r\n"));

    let answer = exchange(settings, b"GET http://localhost/any HTTP/1.0\r\n\r\n").await.unwrap();
    let (head, content) = split(&answer);
    assert!(!head.contains("chunked") && !head.contains("content-length"), "{head}");
    assert_eq!(content.len(), 20_000);
}

#[tokio::test]
async fn a_status_is_the_one_it_was_given() {
    let answer = exchange(Http { status: 503, ..Http::default() }, GET_AND_CLOSE).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 503 Service Unavailable\r\n"));
    let answer = exchange(Http { status: 204, ..Http::default() }, GET_AND_CLOSE).await.unwrap();
    assert_eq!(split(&answer).1, b"");
}

#[tokio::test]
async fn a_status_that_cannot_be_served_is_refused_by_number() {
    for status in [0, 100, 199, 600] {
        let error = serve(listener(), Http { status, ..Http::default() }, pending()).await.unwrap_err();
        assert!(error.to_string().contains(&status.to_string()), "{error}");
    }
}

#[tokio::test]
async fn the_answer_does_not_come_before_the_delay() {
    let delay = Duration::from_millis(50);
    for fault in [None, Some(Fault::Garbage)] {
        let start = Instant::now();
        exchange(Http { delay, fault, ..Http::default() }, GET_AND_CLOSE).await.unwrap();
        assert!(start.elapsed() >= delay, "{fault:?}");
    }
}

#[tokio::test]
async fn reset_is_a_reset_and_not_an_end() {
    let error = exchange(Http { fault: Some(Fault::Reset), ..Http::default() }, GET).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn early_close_announces_twice_what_it_sends_and_ends_without_a_reset() {
    let settings = Http { body: 50_000, fault: Some(Fault::EarlyClose), ..Http::default() };
    let answer = exchange(settings.clone(), GET).await.unwrap();
    let (head, content) = split(&answer);
    assert!(head.contains("content-length: 50000"), "{head}");
    assert_eq!(content.len(), 25_000);

    let answer = exchange(Http { chunked: true, ..settings }, GET).await.unwrap();
    assert!(split(&answer).1.starts_with(b"c350\r\n"), "a chunk of 50000");

    let answer = exchange(Http { body: 0, fault: Some(Fault::EarlyClose), ..Http::default() }, GET).await.unwrap();
    assert!(split(&answer).0.contains("content-length: 1"));
}

#[tokio::test]
async fn garbage_is_not_http() {
    let answer = exchange(Http { fault: Some(Fault::Garbage), ..Http::default() }, GET).await.unwrap();
    assert!(!answer.is_empty() && !answer.starts_with(b"HTTP"));
}

#[tokio::test]
async fn endless_outlasts_any_reader_in_its_body_or_in_its_head() {
    for (fault, head_ends) in [(Fault::Endless, true), (Fault::EndlessHead, false)] {
        let settings = Http { body: 10, fault: Some(fault), ..Http::default() };
        let mut stream = TcpStream::connect(peer(settings).await).await.unwrap();
        stream.write_all(GET).await.unwrap();
        let mut answer = vec![0; 4 << 20];
        stream.read_exact(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
        assert_eq!(answer.windows(4).any(|window| window == b"\r\n\r\n"), head_ends, "{fault}");
    }
}

#[tokio::test]
async fn silent_says_nothing_until_the_client_leaves() {
    let settings = Http { fault: Some(Fault::Silent), ..Http::default() };
    let mut stream = TcpStream::connect(peer(settings).await).await.unwrap();
    stream.write_all(GET).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_head_without_an_end_is_given_up() {
    let settings = Http { fault: Some(Fault::Garbage), ..Http::default() };
    let mut stream = TcpStream::connect(peer(settings).await).await.unwrap();
    let flood = vec![b'x'; 1 << 20];
    let _ = stream.write_all(&flood).await;
    // Whether an end or a reset is seen depends on what was still on its way.
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn https_is_trusted_through_the_authority_and_its_faults_come_after_the_handshake() {
    let authority = Authority::new().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = tokio_rustls::TlsConnector::from(Arc::new(client));
    for (fault, start) in [(None, "HTTP/1.1 200 OK"), (Some(Fault::Garbage), "SSH-")] {
        let settings = Http { tls: Some(authority.server(tls::LOOPBACK).unwrap()), fault, ..Http::default() };
        let stream = TcpStream::connect(peer(settings).await).await.unwrap();
        let stream = client.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        assert!(converse(stream, GET_AND_CLOSE).await.unwrap().starts_with(start.as_bytes()));
    }
}

#[tokio::test]
async fn a_client_that_speaks_no_tls_does_not_stop_the_next_one() {
    let tls = Some(Authority::new().unwrap().server(tls::LOOPBACK).unwrap());
    let address = peer(Http { tls, ..Http::default() }).await;
    for _ in 0..2 {
        let stream = TcpStream::connect(address).await.unwrap();
        let answer = converse(stream, GET_AND_CLOSE).await.unwrap_or_default();
        assert!(!answer.starts_with(b"HTTP"));
    }
}

#[tokio::test]
async fn shutdown_ends_the_service_and_cuts_what_is_open() {
    let (stop, stopped) = oneshot::channel::<()>();
    let listener = listener();
    let address = listener.local_addr().unwrap();
    let service = tokio::spawn(serve(listener, Http::default(), async move { drop(stopped.await) }));
    let mut open = TcpStream::connect(address).await.unwrap();
    open.write_all(GET).await.unwrap();
    assert_ne!(open.read(&mut [0; 1]).await.unwrap(), 0);
    drop(stop);
    service.await.unwrap().unwrap();
    let mut rest = Vec::new();
    let _ = open.read_to_end(&mut rest).await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[test]
fn a_fault_is_read_by_its_name_and_a_wrong_name_lists_the_right_ones() {
    for fault in Fault::ALL {
        assert_eq!(fault.name().parse(), Ok(fault));
    }
    let error = "refuse".parse::<Fault>().unwrap_err();
    assert!(error.contains("`refuse`") && Fault::ALL.iter().all(|fault| error.contains(fault.name())), "{error}");
}
