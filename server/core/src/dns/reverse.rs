//! From addresses to names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::encode::Answer;
use super::lookup::Lookup;
use super::message::{Code, Data, Name, Record, kind};
use super::records::parsed;
use proconsul_acl::Resource;
use proconsul_store::{NodeList, ServiceList};
use proconsul_version::Behaviour;

/// Whether a name stands for an address, or for a network.
pub(super) fn is_asked(name: &Name) -> bool {
    name.before(&Name::of("arpa")).is_some()
}

/// Returns the address that a name stands for.
fn address(name: &Name) -> Option<IpAddr> {
    let text = |label: &Vec<u8>| String::from_utf8(label.clone()).ok();
    if let Some(labels) = name.before(&Name::of("in-addr.arpa")) {
        let octet = |label| {
            let text = text(label)?;
            let octet: u8 = text.parse().ok()?;
            (octet.to_string() == text).then_some(octet)
        };
        let octets: Option<Vec<u8>> = labels.iter().rev().map(octet).collect();
        return Some(Ipv4Addr::from(<[u8; 4]>::try_from(octets?).ok()?).into());
    }
    let labels = name.before(&Name::of("ip6.arpa"))?;
    let digits: Option<Vec<u128>> = labels
        .iter()
        .rev()
        .map(|label| match &label[..] {
            [digit] => char::from(*digit).to_digit(16).map(u128::from),
            _ => None,
        })
        .collect();
    let digits = digits.filter(|digits| digits.len() == 32)?;
    let number = digits.iter().fold(0, |number, digit| number << 4 | digit);
    Some(Ipv6Addr::from(number).into())
}

impl Lookup<'_> {
    /// Answers with the name of the node at an address, or else of the service there; `None` where Consul cannot answer: it
    /// would ask others (cluster.md 6.24, 6.25).
    pub(super) fn pointer(&self, name: &Name, asked: u16) -> Option<Answer> {
        let soa = || vec![self.soa(&Name::of(&self.config.domain))];
        let found = address(name).and_then(|address| self.name_at(address));
        match found {
            Some(target) => Some(Answer {
                records: vec![Record {
                    owner: name.clone(),
                    ttl: 0,
                    data: Data::Ptr(target),
                }],
                authority: if asked == kind::SOA {
                    soa()
                } else {
                    Vec::new()
                },
                ..Answer::default()
            }),
            None if self.context.has(Behaviour::DnsServer) => Some(Answer {
                code: Code::NxDomain,
                authority: soa(),
                ..Answer::default()
            }),
            None => None,
        }
    }

    fn name_at(&self, address: IpAddr) -> Option<Name> {
        let domain = Name::of(&self.config.domain);
        let Ok(nodes) = self.context.engine.read(&NodeList(Default::default()));
        let node = nodes.rows.iter().find(|row| {
            parsed(&row.node.address) == Some(address)
                && self.may_read(Resource::Node, &row.node.node)
        });
        if let Some(row) = node {
            return Some(self.node_name(&row.node.node, &domain));
        }
        let Ok(services) = self.context.engine.read(&ServiceList(Default::default()));
        let service = services
            .rows
            .iter()
            .map(|row| &row.service.service)
            .find(|service| {
                parsed(&service.address) == Some(address)
                    && self.may_read(Resource::Service, &service.name)
            })?;
        Some(self.below(&format!("{}.service", service.name), &domain))
    }
}
