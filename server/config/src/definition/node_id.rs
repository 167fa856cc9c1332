//! What is wrong with the id of a node, in the words of the library that parses it for Consul.

use proconsul_store::{NodeIdFlaw, check_node_id};

/// Why an id is invalid; `None` for a valid one.
pub fn flaw(id: &str) -> Option<String> {
    check_node_id(id).err().map(text)
}

/// The text of a flaw.
pub fn text(flaw: NodeIdFlaw) -> String {
    match flaw {
        NodeIdFlaw::Length => "uuid string is wrong length".into(),
        NodeIdFlaw::Format => "uuid is improperly formatted".into(),
        NodeIdFlaw::InvalidByte(byte) => invalid_hex_byte(byte),
    }
}

/// Go's text about a byte that is not a hexadecimal digit.
pub fn invalid_hex_byte(byte: u8) -> String {
    let shown = char::from(byte);
    format!("encoding/hex: invalid byte: U+{byte:04X} '{shown}'")
}
