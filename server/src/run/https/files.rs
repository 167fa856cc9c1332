//! Certificates and keys as Consul takes them from files, and what it says of wrong ones (operator.md 9).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::pem::{PemObject, SectionKind, from_buf};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use proconsul_config::HttpsConfig;
use proconsul_gocompat::syscall::error_text;

/// The identifier of RSA keys in DER.
const RSA_ENCRYPTION: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];

/// A certificate with those that lead to its authority, and its key.
pub(super) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Returns the server's certificate and key; `None` unless both files are set, as in Consul.
///
/// # Errors
/// Consul's text about a file.
pub(super) fn identity(config: &HttpsConfig) -> Result<Option<Identity>, String> {
    let (Some(certificate), Some(key)) = (&config.cert_file, &config.key_file) else {
        return Ok(None);
    };
    let text = |error: String| format!("Failed to load cert/key pair: {error}");
    // Both are read before either is parsed.
    let certificate = read(certificate).map_err(text)?;
    let key = read(key).map_err(text)?;
    identity_of(&certificate, &key).map(Some).map_err(text)
}

/// Parses a certificate and its key.
///
/// # Errors
/// Go's text.
pub(super) fn identity_of(certificate: &[u8], key: &[u8]) -> Result<Identity, String> {
    let certificates = certificates(certificate)
        .filter(|found| !found.is_empty())
        .ok_or_else(|| no_certificate(certificate))?;
    let found = PrivateKeyDer::from_pem_slice(key);
    let key = found.map_err(|_| match first_kind(key) {
        None => "tls: failed to find any PEM data in key input",
        Some(SectionKind::Certificate) => {
            "tls: found a certificate rather than a key in the PEM for the private key"
        }
        Some(_) => "tls: failed to parse private key",
    })?;
    Ok((certificates, key))
}

/// Returns the length of an RSA key in bits; `None` for other keys.
pub(super) fn rsa_bits(key: &PrivateKeyDer<'_>) -> Option<usize> {
    let rsa = match key {
        PrivateKeyDer::Pkcs1(key) => key.secret_pkcs1_der(),
        // A version, the algorithm and the key.
        PrivateKeyDer::Pkcs8(key) => {
            let (_, rest) = der_value(der_value(key.secret_pkcs8_der())?.0)?;
            let (algorithm, rest) = der_value(rest)?;
            if !algorithm.starts_with(RSA_ENCRYPTION) {
                return None;
            }
            der_value(rest)?.0
        }
        _ => return None,
    };
    // A version and the modulus.
    let (_, rest) = der_value(der_value(rsa)?.0)?;
    let (modulus, _) = der_value(rest)?;
    let start = modulus.iter().position(|&byte| byte != 0)?;
    let bits = 8 * (modulus.len() - start);
    Some(bits - usize::try_from(modulus[start].leading_zeros()).ok()?)
}

/// Splits off the content of the first value of DER.
fn der_value(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[_, first], rest) = der.split_first_chunk()?;
    if first < 0x80 {
        return rest.split_at_checked(first.into());
    }
    // The length takes several bytes.
    let (length, rest) = rest.split_at_checked((first & 0x7f).into())?;
    let length = length.iter().try_fold(0_usize, |length, &byte| {
        length.checked_mul(256)?.checked_add(byte.into())
    })?;
    rest.split_at_checked(length)
}

/// Returns Go's text about a certificate that is not there.
fn no_certificate(pem: &[u8]) -> String {
    use SectionKind::{EcPrivateKey, PrivateKey, RsaPrivateKey};
    let text = match first_kind(pem) {
        Some(EcPrivateKey | PrivateKey | RsaPrivateKey) => {
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs \
             may have been switched"
        }
        _ => "tls: failed to find any PEM data in certificate input",
    };
    text.to_owned()
}

fn first_kind(pem: &[u8]) -> Option<SectionKind> {
    let mut pem = pem;
    from_buf(&mut pem).ok().flatten().map(|(kind, _)| kind)
}

/// Returns the authorities of `ca_file`, or of the files of `ca_path`.
///
/// # Errors
/// Consul's text about a file.
pub(super) fn authorities(config: &HttpsConfig) -> Result<RootCertStore, String> {
    let paths = match (&config.ca_file, &config.ca_path) {
        (Some(file), _) => vec![file.clone()],
        (None, Some(folder)) => files_below(folder)?,
        (None, None) => return Ok(RootCertStore::empty()),
    };
    let mut roots = RootCertStore::empty();
    for path in paths {
        let text = |error| format!("Error loading from {}: {error}", path.display());
        add_authorities(&mut roots, &read(&path).map_err(text)?)?;
    }
    Ok(roots)
}

/// Adds the authorities of a file. As in Go, what is no certificate is left out, but there has to be one.
///
/// # Errors
/// Consul's text, which has all of the file.
pub(super) fn add_authorities(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), String> {
    let before = roots.len();
    roots.add_parsable_certificates(certificates(pem).unwrap_or_default());
    if roots.len() == before {
        return Err(format!(
            "Couldn't parse PEM {}",
            String::from_utf8_lossy(pem)
        ));
    }
    Ok(())
}

/// Returns the certificates of a PEM; `None` if it is none.
fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .ok()
}

/// Returns the files below a folder in the order of their names, or the path itself if it is a file.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        let failed = |verb: &str, error: &io::Error| {
            format!("{verb} {}: {}", path.display(), error_text(error))
        };
        let found = fs::symlink_metadata(&path).map_err(|error| failed("lstat", &error))?;
        if !found.is_dir() {
            files.push(path);
            continue;
        }
        let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|error| failed("open", &error))?;
        let mut below: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
        below.sort();
        left.extend(below.into_iter().rev());
    }
    if files.is_empty() {
        return Err("Error loading from CAPath: no CAs found".to_owned());
    }
    Ok(files)
}

/// Reads a file.
///
/// # Errors
/// Go's text.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| {
        let verb = if error.kind() == io::ErrorKind::IsADirectory {
            "read"
        } else {
            "open"
        };
        format!("{verb} {}: {}", path.display(), error_text(&error))
    })
}
