//! The hash of a service's content. For a service without a proxy it is Consul's (session.md 4.4): Go's library hashes each
//! value with FNV-1, and combines the fields of a structure in any order. A release that gives services a field has other
//! hashes, also for a service that does not set it.

use std::sync::Arc;

use proconsul_store::{NewService, ServiceAddress, Weights};
use proconsul_version::{Behaviour, Version};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the hash of a service that has only what is known to be hashed; `None` for others.
pub(crate) fn of_plain(service: &NewService, version: Version) -> Option<u64> {
    let rest = NewService {
        id: String::new(),
        name: String::new(),
        tags: None,
        address: String::new(),
        meta: None,
        port: 0,
        weights: Weights::default(),
        enable_tag_override: false,
        tagged_addresses: None,
        connect_native: false,
        // A service without a kind does not show it.
        proxy: Arc::default(),
        ..service.clone()
    };
    (rest == NewService::default()).then(|| hash(service, version))
}

/// What later releases hash beside the fields of 1.8.7: the text, the list or the pointer of one who does not set it.
type Later = (Behaviour, &'static str, fn() -> u64);
const LATER: [Later; 4] = [
    (
        Behaviour::JsonCatalogServiceSocketPath,
        "SocketPath",
        || text(""),
    ),
    (Behaviour::JsonNodeServicePeerName, "PeerName", || text("")),
    (Behaviour::JsonServicePorts, "Ports", || 0),
    (Behaviour::ServiceAiHashed, "AI", || number(0)),
];

fn hash(service: &NewService, version: Version) -> u64 {
    let later = LATER.iter().filter(|(has, ..)| version.has(*has));
    let later = map(later.map(|(_, field, unset)| (field, unset())));
    later ^ of_1_8_7(service)
}

fn of_1_8_7(service: &NewService) -> u64 {
    let tags = service.tags().iter();
    let meta = service.meta.iter().flatten();
    let addresses = service.tagged_addresses.iter().flatten();
    structure(
        "AgentService",
        &[
            ("Kind", text("")),
            ("ID", text(&service.id)),
            ("Service", text(&service.name)),
            ("Tags", tags.fold(0, |hash, tag| ordered(hash, text(tag)))),
            ("Meta", map(meta.map(|(name, value)| (name, text(value))))),
            ("Port", number(service.port)),
            ("Address", text(&service.address)),
            (
                "TaggedAddresses",
                map(addresses.map(|(name, one)| (name, address(one)))),
            ),
            ("Weights", weights(service.weights)),
            (
                "EnableTagOverride",
                bytes(&[u8::from(service.enable_tag_override)]),
            ),
            ("CreateIndex", number(0)),
            ("ModifyIndex", number(0)),
            ("ContentHash", text("")),
            // Pointers to nothing are hashed as the number 0.
            ("Proxy", number(0)),
            ("Connect", connect(service.connect_native)),
        ],
    )
}

fn connect(is_native: bool) -> u64 {
    if !is_native {
        return number(0);
    }
    let fields = [("Native", bytes(&[1])), ("SidecarService", number(0))];
    structure("AgentServiceConnect", &fields)
}

fn weights(weights: Weights) -> u64 {
    let fields = [
        ("Passing", number(weights.passing)),
        ("Warning", number(weights.warning)),
    ];
    structure("AgentWeights", &fields)
}

fn address(address: &ServiceAddress) -> u64 {
    let fields = [
        ("Address", text(&address.address)),
        ("Port", number(address.port)),
    ];
    structure("ServiceAddress", &fields)
}

fn structure(name: &str, fields: &[(&str, u64)]) -> u64 {
    let fields = fields.iter().map(|(field, hash)| (*field, *hash));
    text(name) ^ map(fields)
}

fn map<K: AsRef<str>>(entries: impl Iterator<Item = (K, u64)>) -> u64 {
    let entries = entries.map(|(key, value)| ordered(text(key.as_ref()), value));
    entries.fold(0, |hash, entry| hash ^ entry)
}

fn ordered(first: u64, second: u64) -> u64 {
    bytes(&[first.to_le_bytes(), second.to_le_bytes()].concat())
}

fn text(text: &str) -> u64 {
    bytes(text.as_bytes())
}

fn number(number: i64) -> u64 {
    bytes(&number.to_le_bytes())
}

/// FNV-1 of 64 bits.
fn bytes(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| hash.wrapping_mul(PRIME) ^ u64::from(*byte);
    bytes.iter().fold(OFFSET, step)
}

/// FNV-1a of 64 bits, for a content of which Consul's hash is not known.
pub(crate) fn of_text(text: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    text.iter().fold(OFFSET, step)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn named<T>(
        entries: impl IntoIterator<Item = (&'static str, T)>,
    ) -> Option<BTreeMap<String, T>> {
        let own = |(name, value): (&str, T)| (name.to_owned(), value);
        Some(entries.into_iter().map(own).collect())
    }

    fn service(id: &str) -> NewService {
        NewService {
            id: id.to_owned(),
            name: "a".to_owned(),
            ..NewService::default()
        }
    }

    #[test]
    fn plain_services_have_the_hashes_of_1_8_7() {
        let address = |address: &str, port| ServiceAddress {
            address: address.to_owned(),
            port,
        };
        let full = NewService {
            address: "10.0.0.1".to_owned(),
            port: 80,
            enable_tag_override: true,
            weights: Weights {
                passing: 3,
                warning: 2,
            },
            tagged_addresses: named([
                ("lan", address("1.2.3.4", 5)),
                ("lan_ipv4", address("10.0.0.1", 80)),
                ("wan", address("w", 0)),
                ("wan_ipv4", address("10.0.0.1", 80)),
            ]),
            ..service("i")
        };
        let tags = |tags: [&str; 2]| Some(tags.map(str::to_owned).to_vec());
        for (service, hash) in [
            (service("a"), 0xd952_0ded_3001_b3c4),
            (full, 0x4d_f669_9ed3_4086),
            (
                NewService {
                    tags: tags(["x", "y"]),
                    meta: named([("m", "1".to_owned())]),
                    ..service("a")
                },
                0xa30f_204d_54e5_e830,
            ),
            (
                NewService {
                    tags: tags(["y", "x"]),
                    ..service("t")
                },
                0x415a_4a06_5781_9785,
            ),
        ] {
            let found = of_plain(&service, Version::new(1, 8, 7));
            assert_eq!(found, Some(hash), "{service:?}");
        }
    }

    /// What the tests of the releases' Go clients expect of a server.
    #[test]
    fn a_field_more_is_another_hash() {
        let service = NewService {
            name: "foo".to_owned(),
            tags: Some(vec!["bar".to_owned(), "baz".to_owned()]),
            port: 8000,
            ..service("foo")
        };
        for (release, hash) in [
            (Version::new(1, 9, 0), 0x6b13_684b_fe17_9e67),
            (Version::new(1, 10, 0), 0xf725_63ca_e692_4fb5),
            (Version::new(1, 13, 0), 0x3e35_2f34_8d44_f7eb),
            (Version::new(1, 22, 0), 0xc4bb_6737_c185_ed93),
            (Version::new(2, 1, 0), 0x1d5d_568c_1430_9fa8),
        ] {
            assert_eq!(of_plain(&service, release), Some(hash), "{release}");
        }
    }

    #[test]
    fn proxies_are_not_plain() {
        let proxy = NewService {
            kind: "connect-proxy".to_owned(),
            ..service("a")
        };
        assert_eq!(of_plain(&proxy, Version::new(1, 8, 7)), None);
    }
}
