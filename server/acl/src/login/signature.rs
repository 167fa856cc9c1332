//! The signatures of bearer tokens, by rustls' own library.

use std::borrow::Cow;

use rustls_pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use webpki::RawPublicKeyEntity;
use webpki::ring as algorithms;

use super::bearer::Bearer;
use super::{LoginFlaw, key, unverified};

/// Whether a PEM text is a public key, or a certificate of one.
pub(super) fn is_key(pem: &str) -> bool {
    key::public_key(pem).is_some()
}

/// Checks that one of the keys has signed a token.
///
/// # Errors
/// None has, or the algorithm is not emulated.
pub(super) fn check(bearer: &Bearer, keys: &[String]) -> Result<(), LoginFlaw> {
    let Some(algorithm) = algorithm(&bearer.algorithm)? else {
        return Err(unverified());
    };
    let signature = match &bearer.algorithm[..2] {
        "ES" => Cow::Owned(der(&bearer.signature).ok_or_else(unverified)?),
        _ => Cow::Borrowed(&bearer.signature[..]),
    };
    let message = bearer.message.as_bytes();
    let is_signed_by = |key: &String| verifies(key, algorithm, message, &signature) == Some(true);
    match keys.iter().any(is_signed_by) {
        true => Ok(()),
        false => Err(unverified()),
    }
}

/// Returns the algorithm of a name; `None` for one that Consul does not know, or not with public keys.
fn algorithm(name: &str) -> Result<Option<&'static dyn SignatureVerificationAlgorithm>, LoginFlaw> {
    Ok(Some(match name {
        "RS256" => algorithms::RSA_PKCS1_2048_8192_SHA256,
        "RS384" => algorithms::RSA_PKCS1_2048_8192_SHA384,
        "RS512" => algorithms::RSA_PKCS1_2048_8192_SHA512,
        "PS256" => algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
        "PS384" => algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
        "PS512" => algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
        "ES256" => algorithms::ECDSA_P256_SHA256,
        "ES384" => algorithms::ECDSA_P384_SHA384,
        "EdDSA" => algorithms::ED25519,
        "ES512" => {
            let words = "signatures with ES512 are not emulated by proconsul: its library lacks the curve P-521";
            return Err(LoginFlaw::NotEmulated(words.to_owned()));
        }
        _ => return Ok(None),
    }))
}

/// Whether a key verifies a signature; `None` if the text is no key.
fn verifies(
    pem: &str,
    algorithm: &dyn SignatureVerificationAlgorithm,
    message: &[u8],
    signature: &[u8],
) -> Option<bool> {
    let key = SubjectPublicKeyInfoDer::from(key::public_key(pem)?);
    let key = RawPublicKeyEntity::try_from(&key).ok()?;
    Some(key.verify_signature(algorithm, message, signature).is_ok())
}

/// Returns a signature with an elliptic curve as the library wants it: two numbers in DER, of which a token has the
/// bytes side by side.
fn der(signature: &[u8]) -> Option<Vec<u8>> {
    if !matches!(signature.len(), 64 | 96) {
        return None;
    }
    let mut numbers = Vec::new();
    for number in signature.chunks(signature.len() / 2) {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let digits = &number[zeros.min(number.len() - 1)..];
        let sign = (digits[0] >= 0x80).then_some(0);
        numbers.extend([0x02, u8::try_from(digits.len() + sign.iter().len()).ok()?]);
        numbers.extend(sign);
        numbers.extend(digits);
    }
    let mut der = vec![0x30, u8::try_from(numbers.len()).ok()?];
    der.extend(numbers);
    Some(der)
}
