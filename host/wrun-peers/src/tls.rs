//! A certificate authority that lives as long as the run: its key is never written anywhere.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The names by which this machine reaches itself.
pub const LOOPBACK: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// Signs certificates for servers. A client that trusts [`Authority::pem`] trusts them, and no other client does.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// A new authority with a new key.
    pub fn new() -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named("wrun peer authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().context("cannot make a key for the certificate authority")?;
        let issuer = CertifiedIssuer::self_signed(params, key).context("cannot sign the certificate authority")?;
        Ok(Self { issuer })
    }

    /// The authority's own certificate, which a client has to trust.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Settings for a server whose certificate holds for `names`: host names, or addresses in digits.
    ///
    /// With [`LOOPBACK`] it is what a client on this machine expects; with any other name, a client has to refuse it.
    pub fn server(&self, names: &[&str]) -> Result<Arc<ServerConfig>> {
        self.sign(leaf(names)?)
    }

    /// The same, but the certificate's last day was in 2001.
    pub fn expired(&self, names: &[&str]) -> Result<Arc<ServerConfig>> {
        let mut params = leaf(names)?;
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Result<Arc<ServerConfig>> {
        let key = KeyPair::generate().context("cannot make a key for the server")?;
        let certificate = params.signed_by(&key, &self.issuer).context("cannot sign the server's certificate")?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        // Named here, since the process's default provider belongs to whoever runs the process.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn leaf(names: &[&str]) -> Result<CertificateParams> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).context("a certificate holds for host names and addresses only")?;
    params.distinguished_name = named("wrun peer");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore, ServerConnection};

    use super::*;

    /// A whole handshake in memory: what the client that trusts `authority` says to `server` reached as `name`.
    fn handshake(authority: &Authority, server: Arc<ServerConfig>, name: &str) -> Result<(), rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).expect("our own PEM"))
            .expect("our own CA");
        let client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).expect("a name from a test");
        let mut client = ClientConnection::new(Arc::new(client), name)?;
        let mut server = ServerConnection::new(server)?;
        while client.is_handshaking() || server.is_handshaking() {
            carry(&mut client, &mut server);
            server.process_new_packets()?;
            carry(&mut server, &mut client);
            client.process_new_packets()?;
        }
        Ok(())
    }

    /// Moves everything that `from` has to send into `to`.
    fn carry<A, B, C, D>(from: &mut A, to: &mut B)
    where
        A: std::ops::DerefMut<Target = rustls::ConnectionCommon<C>>,
        B: std::ops::DerefMut<Target = rustls::ConnectionCommon<D>>,
    {
        let mut bytes = Vec::new();
        while from.wants_write() {
            from.write_tls(&mut bytes).expect("a vector takes everything");
        }
        let mut rest = io::Cursor::new(bytes);
        while rest.position() < rest.get_ref().len() as u64 {
            to.read_tls(&mut rest).expect("a vector gives everything");
        }
    }

    fn reason(outcome: Result<(), rustls::Error>) -> CertificateError {
        match outcome {
            Err(rustls::Error::InvalidCertificate(reason)) => reason,
            other => panic!("expected a refused certificate, got {other:?}"),
        }
    }

    #[test]
    fn every_name_of_loopback_is_trusted() {
        let authority = Authority::new().unwrap();
        for name in LOOPBACK {
            handshake(&authority, authority.server(LOOPBACK).unwrap(), name).unwrap();
        }
    }

    #[test]
    fn another_authority_is_not_trusted() {
        let (ours, theirs) = (Authority::new().unwrap(), Authority::new().unwrap());
        assert!(handshake(&ours, theirs.server(LOOPBACK).unwrap(), "localhost").is_err());
    }

    #[test]
    fn an_expired_certificate_is_refused_as_expired() {
        let authority = Authority::new().unwrap();
        let reason = reason(handshake(&authority, authority.expired(LOOPBACK).unwrap(), "localhost"));
        assert!(matches!(reason, CertificateError::Expired | CertificateError::ExpiredContext { .. }), "{reason:?}");
    }

    #[test]
    fn a_certificate_of_another_host_is_refused_by_name() {
        let authority = Authority::new().unwrap();
        let reason = reason(handshake(&authority, authority.server(&["elsewhere.test"]).unwrap(), "localhost"));
        assert!(
            matches!(reason, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }),
            "{reason:?}"
        );
    }
}
