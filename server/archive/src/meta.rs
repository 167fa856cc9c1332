//! `meta.json`: what a snapshot says about itself.

use serde::Serialize;

use proconsul_gocompat::json::context::{DecodeOptions, Release, UnknownFields};
use proconsul_gocompat::json::decode::{decode, go_struct};

go_struct! {
    /// What a snapshot says about itself, as far as it is used.
    #[derive(Debug)]
    pub struct Meta as "raft.SnapshotMeta" {
        "Version" is "raft.SnapshotVersion": i64 => version,
        "ID": String => id,
        "Index": u64 => index,
        "Term": u64 => term,
        "Size": i64 => size,
    }
}

impl Meta {
    /// Decodes the file over what is known already.
    ///
    /// # Errors
    /// Go's text.
    pub fn decode(&mut self, file: &[u8]) -> Result<(), String> {
        let rules = DecodeOptions {
            unknown_fields: UnknownFields::Accepted,
            release: Release::NEWEST,
            go_type: None,
        };
        decode::<Self>(file, self, rules).map_err(|error| {
            if error.is_truncation() {
                "unexpected end of JSON input".to_owned()
            } else {
                error.to_string()
            }
        })
    }
}

/// The server whose snapshot it is, a raft cluster of its own.
pub struct Origin<'a> {
    /// The id of its node.
    pub node_id: &'a str,
    /// The address at which other servers would call it.
    pub address: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetaFile<'a> {
    version: i64,
    #[serde(rename = "ID")]
    id: String,
    index: u64,
    term: u64,
    peers: String,
    configuration: Configuration<'a>,
    configuration_index: u64,
    size: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration<'a> {
    servers: [Voter<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Voter<'a> {
    suffrage: u64,
    #[serde(rename = "ID")]
    id: &'a str,
    address: &'a str,
}

/// Returns the file of a state of `size` bytes that was saved at this index and time.
pub(crate) fn of(
    origin: &Origin<'_>,
    index: u64,
    wall: std::time::Duration,
    size: usize,
) -> String {
    let address = origin.address.as_bytes();
    // A list of one text in MessagePack, whose lengths are in one byte up to 31.
    let mut peers = vec![0x91];
    match u8::try_from(address.len()) {
        Ok(length @ ..=31) => peers.push(0xa0 | length),
        Ok(length) => peers.extend([0xda, 0, length]),
        Err(_) => unreachable!("an address is shorter than 256 bytes"),
    }
    peers.extend(address);
    let mut encoded = Vec::new();
    proconsul_gocompat::base64::encode(&peers, &mut encoded);
    let file = MetaFile {
        version: VERSION,
        id: format!("{TERM}-{index}-{}", wall.as_millis()),
        index,
        term: TERM,
        peers: String::from_utf8(encoded).expect("base64 is text"),
        configuration: Configuration {
            servers: [Voter {
                suffrage: 0,
                id: origin.node_id,
                address: origin.address,
            }],
        },
        configuration_index: 1,
        size,
    };
    let mut text = serde_json::to_string(&file).expect("it is made of texts and numbers");
    text.push('\n');
    text
}

/// The version of every archive that this server makes. Raft's is 1; a real Consul would try to read a state under that, and
/// end. Any other one it refuses (operator.md 6.r14).
pub(crate) const VERSION: i64 = 1000;

/// The term of every emulated leader.
const TERM: u64 = 2;
