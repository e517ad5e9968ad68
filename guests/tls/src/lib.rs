//! TLS for guests: whom to trust, and its refusals in words. The connection itself is rustls's, and the guest's.

use std::error::Error;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{CertificateError, CipherSuite, ClientConfig, RootCertStore};

/// TLS 1.2 and 1.3, trusting the authorities in the PEM file `ca` alone, or without one the public ones. `protocols` are
/// those that may be spoken inside, by their names for ALPN, the best first; none for whatever the port is known for.
///
/// # Errors
/// When the file cannot be read, or has no certificate in it that can be trusted.
pub fn config(ca: Option<&str>, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, Box<dyn Error>> {
    let roots = match ca {
        Some(path) => authorities(&wrun_guest::files::read(path)?).map_err(|why| format!("--ca {path}: {why}"))?,
        None => webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect(),
    };
    let mut provider = ring::default_provider();
    // Without the processor's AES instructions, which a guest has none of, ChaCha20 is the faster one.
    provider.cipher_suites.sort_by_key(|suite| !is_chacha20(suite.suite()));
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Arc::new(config))
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("is no PEM: {error:?}"))?;
        roots.add(certificate).map_err(|error| format!("has a certificate that cannot be trusted: {error}"))?;
    }
    if roots.is_empty() {
        return Err("has no certificate in it; it must be PEM, with BEGIN CERTIFICATE lines".to_owned());
    }
    Ok(roots)
}

fn is_chacha20(suite: CipherSuite) -> bool {
    matches!(
        suite,
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
            | CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
    )
}

/// Why TLS refused, in words.
pub fn reason(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "certificate of an unknown issuer: give its authority with --ca".to_owned()
        }
        rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after }) => {
            format!("certificate expired {} days ago", days(*not_after, *time))
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext { time, not_before }) => {
            format!("certificate not valid before {} days from now", days(*time, *not_before))
        }
        rustls::Error::InvalidCertificate(error) => {
            let words = error.to_string();
            if words.starts_with("certificate") { words } else { format!("certificate refused: {words}") }
        }
        rustls::Error::InvalidMessage(error) => format!("what the server says is no TLS: {error:?}"),
        error => error.to_string(),
    }
}

/// Whole days, begun ones included.
fn days(from: UnixTime, to: UnixTime) -> u64 {
    to.as_secs().saturating_sub(from.as_secs()).div_ceil(24 * 60 * 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_no_authority() {
        for pem in [&b""[..], b"not PEM at all", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            assert!(authorities(pem).is_err());
        }
    }

    #[test]
    fn chacha20_is_offered_first() {
        let config = config(None, &[]).expect("the public roots need no file");
        assert!(is_chacha20(config.crypto_provider().cipher_suites[0].suite()));
    }

    #[test]
    fn a_refused_certificate_says_so() {
        let error = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert_eq!(reason(&error), "certificate of an unknown issuer: give its authority with --ca");
        let (not_after, time) =
            [1_000_000, 1_100_000].map(|at| UnixTime::since_unix_epoch(Duration::from_secs(at))).into();
        let error = rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after });
        assert_eq!(reason(&error), "certificate expired 2 days ago");
        let error = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(reason(&error), "certificate refused: BadSignature");
    }
}
