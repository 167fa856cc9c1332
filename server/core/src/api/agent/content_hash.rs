//! The hash of a service's content. For a service without a proxy it is that of 1.8.7 (seen there, session.md 4.4): Go's
//! library hashes each value with FNV-1, and combines the fields of a structure in any order.

use proconsul_store::{NewService, ServiceAddress, Weights};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the hash of a service that has only what is known to be hashed; `None` for others.
pub(crate) fn of_plain(service: &NewService) -> Option<u64> {
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
        ..service.clone()
    };
    (rest == NewService::default()).then(|| hash(service))
}

fn hash(service: &NewService) -> u64 {
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
            ("Connect", number(0)),
        ],
    )
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
            assert_eq!(of_plain(&service), Some(hash), "{service:?}");
        }
    }

    #[test]
    fn other_services_are_not_plain() {
        let native = NewService {
            connect_native: true,
            ..service("a")
        };
        assert_eq!(of_plain(&native), None);
    }
}
