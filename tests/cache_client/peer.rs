//! A small server of the text protocol that can be told to misbehave.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What the server was asked.
#[derive(Debug)]
pub enum Asked {
    Get(String),
    Set(String),
}

/// An answer instead of the right one; `None` ends the connection.
pub type Answer = Option<Vec<u8>>;

/// Values by key: flags as they were written, and bytes.
pub type Store = Arc<Mutex<HashMap<String, (String, Vec<u8>)>>>;

/// A server that listens until the tests end.
pub struct Server {
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Hands each connection, with its number, to `serve`.
    pub fn raw(serve: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let (serve, number) = (Arc::new(serve), connections.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serve, number) = (serve.clone(), number.fetch_add(1, Ordering::SeqCst));
                std::thread::spawn(move || serve(number, stream));
            }
        });
        Self { port, connections }
    }

    /// A cache whose right answers `change` may replace: it is told all there is, what was asked and the answer.
    pub fn cache(change: impl Fn(&Store, &Asked, Vec<u8>) -> Answer + Send + Sync + 'static) -> Self {
        let store = Store::default();
        Self::raw(move |_, stream| {
            // However the connection ends, this server goes on.
            _ = serve(&store, stream, |asked, answer| change(&store, asked, answer));
        })
    }

    /// A cache that answers every write alike, and stores its value only where `stores` says so, which is asked each time.
    pub fn cache_that_stores(stores: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let kept = Store::default();
        Self::cache(move |store, asked, right| {
            let (mut store, mut kept) = (store.lock().unwrap(), kept.lock().unwrap());
            match asked {
                Asked::Set(_) if stores() => *kept = store.clone(),
                Asked::Set(_) => *store = kept.clone(),
                Asked::Get(_) => {}
            }
            Some(right)
        })
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(store: &Store, stream: TcpStream, change: impl Fn(&Asked, Vec<u8>) -> Answer) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let (asked, answer) = match words[..] {
            ["get", key] => {
                let answer = match store.lock().unwrap().get(key) {
                    Some((flags, value)) => value_of(key, flags, value),
                    None => b"END\r\n".to_vec(),
                };
                (Asked::Get(key.to_owned()), answer)
            }
            ["set", key, flags, _, length] => {
                let mut value = vec![0; length.parse::<usize>().unwrap() + 2];
                reader.read_exact(&mut value)?;
                value.truncate(value.len() - 2);
                store.lock().unwrap().insert(key.to_owned(), (flags.to_owned(), value));
                (Asked::Set(key.to_owned()), b"STORED\r\n".to_vec())
            }
            _ => panic!("the client said {line:?}"),
        };
        match change(&asked, answer) {
            Some(answer) => writer.write_all(&answer)?,
            None => return Ok(()),
        }
    }
}

/// A whole answer to a get.
pub fn value_of(key: &str, flags: &str, value: &[u8]) -> Vec<u8> {
    let head = format!("VALUE {key} {flags} {}\r\n", value.len());
    [head.as_bytes(), value, b"\r\nEND\r\n"].concat()
}
