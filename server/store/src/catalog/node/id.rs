//! The form of node ids. Consul checks it before anything else of a node.

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
