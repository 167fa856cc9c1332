//! The form of node ids, which Consul checks before anything else of a node, and of their beginnings.

use crate::kv::key::Key;

/// The most hyphens in what is read as an id.
const HYPHENS: usize = 4;

/// Why a node id is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeIdFlaw {
    /// Its length is not 36 bytes.
    Length,
    /// A hyphen is misplaced.
    Format,
    /// This byte is not a hexadecimal digit.
    InvalidByte(u8),
}

/// Checks a node id, in Consul's order (seen on 1.8.7).
///
/// # Errors
/// The id is invalid; the first defect is returned.
pub fn check_node_id(text: &str) -> Result<(), NodeIdFlaw> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return Err(NodeIdFlaw::Length);
    }
    if [8, 13, 18, 23].iter().any(|place| bytes[*place] != b'-') {
        return Err(NodeIdFlaw::Format);
    }
    let is_hyphen = |place: usize| matches!(place, 8 | 13 | 18 | 23);
    let digits = bytes.iter().enumerate();
    let mut digits = digits.filter(|(place, _)| !is_hyphen(*place));
    match digits.find(|(_, byte)| !byte.is_ascii_hexdigit()) {
        Some((_, byte)) => Err(NodeIdFlaw::InvalidByte(*byte)),
        None => Ok(()),
    }
}

/// Returns the bytes of an id or of its beginning, as a read takes it for the name of a node (session.md 4.5.r12). What has an
/// odd length loses its last character; hyphens count, wherever they are.
pub(crate) fn key_of_id(text: &str) -> Option<Key> {
    let even = &text.as_bytes()[..text.len() & !1];
    let digits = even.iter().filter(|byte| **byte != b'-');
    let digits: Option<Vec<u8>> = digits.map(|byte| digit(*byte)).collect();
    let digits = digits?;
    let hyphens = even.len() - digits.len();
    let is_id = !even.is_empty() && hyphens <= HYPHENS && digits.len().is_multiple_of(2);
    let bytes = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]);
    is_id.then(|| Key::new(bytes.collect::<Vec<u8>>()))
}

fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}
