//! TLS for connections to servers of the user's own: which authorities are believed, and one side of a conversation.
//!
//! Model: rustls with the algorithms of ring. Believed are the authorities of a PEM file, or those of this system; a certificate has to have the
//! name of the host, as everywhere else in the world. A certificate that stands in the file itself is believed as well, also when it
//! says to be an authority, as those that people sign themselves do.
//!
//! Limits: no certificates of clients; the bundle of this system is looked for where Debian, Red Hat, SUSE and Alpine have it.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::server::{MailServer, Security, Service};

/// Where systems keep the certificates that they believe.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What connections to one server are begun with.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
}

impl Tls {
    /// Of a service; `None` where its connections are plain.
    pub(crate) fn of(service: &Service, server: &MailServer) -> std::result::Result<Option<Self>, String> {
        if service.security == Security::None {
            return Ok(None);
        }
        let host = ServerName::try_from(service.host.clone());
        let host = host.map_err(|_| format!("'{}' is no name that a certificate could have", service.host))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let builder = builder.map_err(|problem| problem.to_string())?;
        let believing = Believing::of(server.ca.as_deref(), provider)?;
        let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(believing)).with_no_client_auth();
        Ok(Some(Self { config: Arc::new(config), host }))
    }

    /// The client's side of a new conversation.
    pub(crate) fn begin(&self) -> Result<ClientConnection> {
        ClientConnection::new(Arc::clone(&self.config), self.host.clone()).map_err(failed)
    }
}

/// As the error of a connection.
pub(crate) fn failed(problem: rustls::Error) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

/// What certificates of servers are held against.
#[derive(Debug)]
struct Believing {
    authorities: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl Believing {
    fn of(ca: Option<&Path>, provider: Arc<CryptoProvider>) -> std::result::Result<Self, String> {
        let (store, named) = believed(ca)?;
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build();
        Ok(Self { authorities: authorities.map_err(|problem| problem.to_string())?, named })
    }
}

impl ServerCertVerifier for Believing {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if self.named.iter().any(|one| one == end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, host)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities.verify_server_cert(end_entity, intermediates, host, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Authorities; and of a file that was named, every certificate in it.
fn believed(ca: Option<&Path>) -> std::result::Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let path = match ca {
        Some(path) => path,
        None => BUNDLES.iter().map(Path::new).find(|path| path.exists()).ok_or_else(|| {
            "this system has no list of authorities; install ca-certificates, or name a file with ca=".to_owned()
        })?,
    };
    let unread =
        |problem: &dyn std::fmt::Display| format!("the certificates of {} cannot be read ({problem})", path.display());
    let (mut store, mut named) = (RootCertStore::empty(), Vec::new());
    let found = CertificateDer::pem_file_iter(path).map_err(|problem| unread(&problem))?;
    for certificate in found {
        let certificate = certificate.map_err(|problem| unread(&problem))?;
        // Bundles of systems have one or the other that nobody can read.
        let _ = store.add(certificate.clone());
        if ca.is_some() {
            named.push(certificate);
        }
    }
    if store.is_empty() {
        Err(format!("{} has no certificate of an authority", path.display()))
    } else {
        Ok((store, named))
    }
}
