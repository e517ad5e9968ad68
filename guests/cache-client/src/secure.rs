//! TLS around a conversation: it is a conversation itself, whose bytes are the inner one's, encrypted.
//!
//! The handshake goes with the first bytes that are moved, so its time is the first operation's.

use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;

use cache::client::{Answer, Broken, Conversation, Request};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

/// Bytes that may wait to be sent before more of the inner conversation's are encrypted.
const OUTGOING_LIMIT: usize = 256 << 10;

/// Bytes that are handed on at a time: what a record holds.
const PIECE: usize = 16 << 10;

/// A conversation over TLS.
pub struct Secure {
    inner: Box<dyn Conversation>,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// `None` from when it is broken.
    tls: Option<ClientConnection>,
    broken: Option<Broken>,
    outgoing: Vec<u8>,
    piece: Box<[u8; PIECE]>,
}

impl Secure {
    /// `inner`, with a server whose certificate has to be for `name`. Where `config` names protocols, the server has to
    /// agree to one.
    pub fn new(inner: Box<dyn Conversation>, config: Arc<ClientConfig>, name: ServerName<'static>) -> Self {
        let mut secure =
            Self { inner, config, name, tls: None, broken: None, outgoing: Vec::new(), piece: Box::new([0; PIECE]) };
        secure.connect();
        secure
    }

    fn connect(&mut self) {
        match ClientConnection::new(Arc::clone(&self.config), self.name.clone()) {
            Ok(tls) => self.tls = Some(tls),
            Err(error) => self.break_off(guest_tls::reason(&error)),
        }
    }

    fn break_off(&mut self, why: String) {
        self.tls = None;
        self.broken = Some(Broken(format!("tls: {why}")));
    }

    /// Encrypts what there is and may be.
    fn encrypt(&mut self) {
        let Some(tls) = &mut self.tls else { return };
        let plain = self.inner.outgoing();
        loop {
            // It writes to memory, and takes nothing where it has no room, as during a handshake.
            let mut taken = 0;
            if self.outgoing.len() < OUTGOING_LIMIT {
                taken = tls.writer().write(plain).unwrap_or(0);
                plain.drain(..taken);
            }
            while tls.wants_write() && tls.write_tls(&mut self.outgoing).is_ok_and(|written| written > 0) {}
            if taken == 0 {
                return;
            }
        }
    }

    fn decrypt(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while !bytes.is_empty() {
            // Of memory, it reads; nothing only when it was told that there is no more.
            if tls.read_tls(&mut bytes).map_err(|error| error.to_string())? == 0 {
                return Err("the server goes on behind its own end".to_owned());
            }
            tls.process_new_packets().map_err(|error| guest_tls::reason(&error))?;
            let agreed = self.config.alpn_protocols.is_empty() || tls.alpn_protocol().is_some();
            if !tls.is_handshaking() && !agreed {
                return Err("the server does not agree to speak HTTP/2".to_owned());
            }
            loop {
                match tls.reader().read(&mut self.piece[..]) {
                    Ok(0) => return Err("connection ended by the server".to_owned()),
                    Ok(count) => self.inner.received(&self.piece[..count]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error.to_string()),
                }
            }
        }
        Ok(())
    }
}

impl Conversation for Secure {
    fn ask(&mut self, request: Request<'_>) {
        self.inner.ask(request);
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        self.encrypt();
        &mut self.outgoing
    }

    fn received(&mut self, bytes: &[u8]) {
        if let Err(why) = self.decrypt(bytes) {
            self.break_off(why);
        }
    }

    fn answer(&mut self) -> Result<Option<Answer<'_>>, Broken> {
        let answer = self.inner.answer()?;
        match (&self.broken, answer) {
            (Some(broken), None) => Err(broken.clone()),
            (_, answer) => Ok(answer),
        }
    }

    fn unanswered(&self) -> usize {
        self.inner.unanswered()
    }

    fn begin_again(&mut self) -> bool {
        if !self.inner.begin_again() {
            return false;
        }
        self.broken = None;
        self.outgoing.clear();
        self.connect();
        true
    }

    fn end(&mut self) {
        self.inner.end();
    }

    fn is_ending(&self) -> bool {
        self.inner.is_ending()
    }
}

#[cfg(test)]
mod tests {
    use cache::client::Text;
    use rustls::RootCertStore;
    use rustls::crypto::ring;

    use super::*;

    fn secure() -> Secure {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the usual versions")
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").expect("a name");
        Secure::new(Box::new(Text::new(100)), Arc::new(config), name)
    }

    #[test]
    fn nothing_leaves_in_the_clear() {
        let mut secure = secure();
        secure.ask(Request::Get { key: b"secret" });
        let outgoing = secure.outgoing();
        assert!(!outgoing.is_empty());
        assert!(!outgoing.windows(6).any(|window| window == b"secret"));
        assert_eq!(secure.unanswered(), 1);
    }

    #[test]
    fn a_server_without_tls_breaks_the_conversation_in_words() {
        let mut secure = secure();
        secure.received(b"END\r\nEND\r\n");
        let Err(Broken(words)) = secure.answer() else { panic!("not broken") };
        assert!(words.starts_with("tls: "), "{words}");
        secure.received(b"END\r\n");
        assert_eq!(secure.answer(), Err(Broken(words)));
    }
}
