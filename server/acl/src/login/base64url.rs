//! Go's base64 for URLs without padding, with the position of errors.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD};

/// Trailing bits are ignored.
const CONFIG: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);
const DECODER: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Decodes a text without white space.
///
/// # Errors
/// Go's sentence about the first invalid byte.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, String> {
    DECODER.decode(text).map_err(|_| {
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let invalid = text.bytes().position(|byte| !is_digit(byte));
        // A digit that is left over has no whole byte.
        let at = invalid.unwrap_or(text.len() - text.len() % 4);
        format!("illegal base64 data at input byte {at}")
    })
}
