//! The form of node ids: UUIDs in print, as Consul reads them before it looks at anything else of a node.

/// What is wrong with a text that should be a node id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeIdFlaw {
    /// It has not 36 bytes.
    Length,
    /// Its hyphens are not where they belong.
    Format,
    /// This byte is no hexadecimal digit.
    InvalidByte(u8),
}

/// The first thing that is wrong with a node id, in the order in which Consul looks (seen on 1.8.7).
///
/// # Errors
/// The text is no node id.
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
