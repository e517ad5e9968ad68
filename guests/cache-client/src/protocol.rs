//! How operations are said.

use std::error::Error;
use std::sync::Arc;

use cache::client::{Binary, Conversation, Meta, Text};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::args::{Server, Settings};
use crate::random;
use crate::rpc;
use crate::secure::Secure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Text,
    Meta,
    Binary,
    Rpc,
}

/// What makes conversations: all that they need beside a connection.
pub struct Speech {
    protocol: Protocol,
    /// Bytes: a longer value is a fault of the server.
    longest: usize,
    /// Whether calls are in reliable sessions, where the protocol has calls.
    reliable: bool,
    /// By server, where the protocol is [`Protocol::Rpc`].
    targets: Vec<rpc::Target>,
    tls: Option<Tls>,
}

struct Tls {
    config: Arc<ClientConfig>,
    /// By server.
    names: Vec<ServerName<'static>>,
}

impl Speech {
    /// # Errors
    /// In words, for a server that has no name which the protocol or TLS could use, or an authority's file that is none.
    pub fn new(settings: &Settings, longest: usize) -> Result<Self, Box<dyn Error>> {
        let servers = &settings.servers;
        let protocol = settings.protocol;
        let targets = match protocol {
            Protocol::Rpc => servers.iter().map(|server| target(server, settings.tls)).collect::<Result<_, _>>()?,
            Protocol::Text | Protocol::Meta | Protocol::Binary => Vec::new(),
        };
        let tls = if settings.tls {
            let inside: &[&[u8]] = if protocol == Protocol::Rpc { &[b"h2"] } else { &[] };
            let config = guest_tls::config(settings.ca.as_deref(), inside)?;
            Some(Tls { config, names: servers.iter().map(name).collect::<Result<_, _>>()? })
        } else {
            None
        };
        Ok(Self { protocol, longest, reliable: settings.reliable, targets, tls })
    }

    /// The conversation of a new connection to a server, by its place.
    pub fn conversation(&self, server: usize) -> Box<dyn Conversation> {
        let inner: Box<dyn Conversation> = match self.protocol {
            Protocol::Text => Box::new(Text::new(self.longest)),
            Protocol::Meta => Box::new(Meta::new(self.longest)),
            Protocol::Binary => Box::new(Binary::new(self.longest)),
            Protocol::Rpc => {
                let session = self.reliable.then(random::secret);
                Box::new(rpc::Conversation::new(self.targets[server].clone(), self.longest, session))
            }
        };
        match &self.tls {
            None => inner,
            Some(tls) => Box::new(Secure::new(inner, Arc::clone(&tls.config), tls.names[server].clone())),
        }
    }
}

fn target(server: &Server, tls: bool) -> Result<rpc::Target, String> {
    let Server { host, port } = server;
    rpc::Target::new(&if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }, tls)
}

fn name(server: &Server) -> Result<ServerName<'static>, String> {
    let host = &server.host;
    ServerName::try_from(host.clone()).map_err(|_| format!("--servers: {host:?} is no name a certificate can have"))
}
