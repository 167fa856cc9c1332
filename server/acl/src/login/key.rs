//! Public keys in PEM, as Consul takes them (acl.md 8.4.r10).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

// The tags of DER.
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const NULL: u8 = 0x05;
const OBJECT_ID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;

/// The kinds of keys, as DER names them.
const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
const ELLIPTIC: &[u8] = b"\x2a\x86\x48\xce\x3d\x02\x01";
const ED25519: &[u8] = b"\x2b\x65\x70";

/// The curves, P-224 to P-521, with the bytes of a coordinate.
const CURVES: [(&[u8], usize); 4] = [
    (b"\x2b\x81\x04\x00\x21", 28),
    (b"\x2a\x86\x48\xce\x3d\x03\x01\x07", 32),
    (b"\x2b\x81\x04\x00\x22", 48),
    (b"\x2b\x81\x04\x00\x23", 66),
];

/// Returns the key in the first block of a text, as DER: it is that key, or a certificate of it, whatever its label says.
/// `None` if it is neither.
pub(super) fn public_key(pem: &str) -> Option<Vec<u8>> {
    let block = first_block(pem)?;
    if is_public_key(&block) {
        return Some(block);
    }
    let certificate = CertificateDer::from(block);
    let certificate = EndEntityCert::try_from(&certificate).ok()?;
    let key = certificate.subject_public_key_info();
    is_public_key(&key).then(|| key.to_vec())
}

/// Returns what the first block of a PEM text has.
fn first_block(pem: &str) -> Option<Vec<u8>> {
    let mut lines = pem.lines().map(str::trim_end);
    let label = |line: &str, edge: &str| {
        let label = line.strip_prefix(edge)?.strip_suffix("-----")?;
        Some(label.to_owned())
    };
    let named = lines.find_map(|line| label(line, "-----BEGIN "))?;
    let mut text = String::new();
    for line in lines {
        if label(line, "-----END ").is_some_and(|label| label == named) {
            return BASE64_STANDARD.decode(text).ok();
        }
        text.push_str(line.trim_start());
    }
    None
}

/// Whether DER is a public key of a kind that tokens are signed with. That a point lies on its curve is not checked.
fn is_public_key(der: &[u8]) -> bool {
    fits(der).unwrap_or(false)
}

/// Whether a key fits its kind; `None` if it has no such form.
fn fits(der: &[u8]) -> Option<bool> {
    let key = only(der, SEQUENCE)?;
    let (algorithm, key) = take(key, SEQUENCE)?;
    let key = only(key, BIT_STRING)?.strip_prefix(&[0])?;
    let (kind, parameters) = take(algorithm, OBJECT_ID)?;
    Some(match kind {
        RSA => {
            only(parameters, NULL)?;
            let (modulus, exponent) = take(only(key, SEQUENCE)?, INTEGER)?;
            let exponent = only(exponent, INTEGER)?;
            let is_positive = |number: &[u8]| number.first().is_some_and(|first| *first < 0x80);
            is_positive(modulus) && is_positive(exponent)
        }
        ELLIPTIC => {
            let curve = only(parameters, OBJECT_ID)?;
            let (_, size) = CURVES.iter().find(|(known, _)| *known == curve)?;
            key.len() == 1 + 2 * size && key[0] == 4
        }
        ED25519 => parameters.is_empty() && key.len() == 32,
        _ => false,
    })
}

/// Returns the contents of a value of DER that is all that there is.
fn only(der: &[u8], tag: u8) -> Option<&[u8]> {
    let (contents, rest) = take(der, tag)?;
    rest.is_empty().then_some(contents)
}

/// Returns the contents of the first value of DER, and what follows it.
fn take(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [first, length, rest @ ..] = der else {
        return None;
    };
    let (length, rest) = match usize::from(*length) {
        short if short < 0x80 => (short, rest),
        long => {
            let (digits, rest) = rest.split_at_checked(long - 0x80)?;
            let length = digits.iter().try_fold(0_usize, |length, digit| {
                length.checked_mul(256)?.checked_add(usize::from(*digit))
            })?;
            (length, rest)
        }
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    (*first == tag).then_some((contents, rest))
}
