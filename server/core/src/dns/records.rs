//! The records of nodes, services and addresses.

use std::net::{IpAddr, Ipv6Addr};

use super::encode::Answer;
use super::lookup::{Lookup, Zone, seconds};
use super::message::{Data, Name, Record, kind};
use proconsul_store::{ConnectInstances, Instance, NewNode, ServiceView};
use proconsul_version::Behaviour;

/// The tags of addresses for clients in the same datacenter, by family.
const LAN: [(&str, u16); 2] = [("lan_ipv6", kind::A), ("lan_ipv4", kind::AAAA)];

/// The priority of all records of services.
const PRIORITY: u16 = 1;

/// How the names of metadata begin of which the value alone is shown.
const BARE: &str = "rfc1035-";

/// Where an instance is.
enum Host {
    /// At the address of its node, under the node's name.
    Node(IpAddr),
    /// At an address of its own.
    Ip(IpAddr),
    /// At a host whose name others know.
    Name(String),
}

impl Lookup<'_> {
    /// Returns the name of a node.
    pub(super) fn node_name(&self, node: &str, domain: &Name) -> Name {
        self.below(&format!("{node}.node"), domain)
    }

    /// Returns the name of something of this datacenter.
    pub(super) fn below(&self, text: &str, domain: &Name) -> Name {
        let own = Name::of(&format!("{text}.{}", self.context.config.datacenter));
        Name([own.0, domain.0.clone()].concat())
    }

    /// Returns the address of a node, if the type asked for includes it.
    pub(super) fn node_address(
        &self,
        node: &NewNode,
        owner: &Name,
        asked: u16,
        ttl: u32,
    ) -> Option<Record> {
        let data = match parsed(chosen_of_node(node, asked)) {
            Some(address) => address_data(address),
            None => Data::Cname(Name::of(&node.address)),
        };
        let fits = asked == kind::ANY || asked == data.kind() || data.kind() == kind::CNAME;
        fits.then(|| Record {
            owner: owner.clone(),
            ttl,
            data,
        })
    }

    /// Returns what a node says of itself (cluster.md 6.13).
    pub(super) fn meta(&self, node: &NewNode, owner: &Name, ttl: u32) -> Vec<Record> {
        let meta = node.meta.iter().flatten();
        let text = meta.map(|(name, value)| match name.strip_prefix(BARE) {
            Some(_) => value.clone(),
            None => format!("{name}={value}"),
        });
        text.map(|text| Record {
            owner: owner.clone(),
            ttl,
            data: Data::Txt(text),
        })
        .collect()
    }

    /// Answers with a record of the type SRV for each instance, and with where each is.
    pub(super) fn service_records(
        &self,
        zone: &Zone<'_>,
        rows: &[Instance],
        ttl: u32,
        depth: u8,
    ) -> Answer {
        let mut answer = Answer::default();
        for row in rows {
            let node = &row.node.node;
            let (target, address) = match host(row, kind::ANY) {
                Host::Node(address) => (self.node_name(&node.node, &zone.domain), Some(address)),
                Host::Ip(address) => (
                    self.below(&hexadecimal(address), &zone.domain),
                    Some(address),
                ),
                Host::Name(name) => (Name::of(&name), None),
            };
            let service = &row.service.service;
            let port = u16::try_from(service.main_port()).unwrap_or_default();
            answer.records.push(Record {
                owner: zone.owner.clone(),
                ttl,
                data: Data::Srv([PRIORITY, weight(row), port], target.clone()),
            });
            match address {
                Some(address) => answer.additional.push(Record {
                    owner: target,
                    ttl,
                    data: address_data(address),
                }),
                None => {
                    let followed = self.followed(&target, depth).into_iter();
                    answer
                        .additional
                        .extend(followed.filter(|record| record.data.is_address()));
                }
            }
            if self.config.node_meta_txt {
                let name = self.node_name(&node.node, &zone.domain);
                answer.additional.extend(self.meta(node, &name, ttl));
            }
        }
        answer
    }

    /// Answers with the addresses of instances, each once. The name of another host is told only where there is no address,
    /// and then one.
    pub(super) fn service_addresses(
        &self,
        zone: &Zone<'_>,
        asked: u16,
        rows: &[Instance],
        ttl: u32,
        depth: u8,
    ) -> Answer {
        let (mut records, mut names) = (Vec::new(), Vec::new());
        let record = |data| Record {
            owner: zone.owner.clone(),
            ttl,
            data,
        };
        for row in rows {
            match host(row, asked) {
                Host::Node(address) | Host::Ip(address) => {
                    let data = address_data(address);
                    let fits = matches!(asked, kind::ANY | kind::TXT) || asked == data.kind();
                    let record = record(data);
                    if fits && !records.contains(&record) {
                        records.push(record);
                    }
                }
                Host::Name(name) => names.push(Name::of(&name)),
            }
        }
        if let (true, Some(name)) = (records.is_empty(), names.first()) {
            records.push(record(Data::Cname(name.clone())));
            let followed = self.followed(name, depth).into_iter();
            records.extend(followed.filter(|record| record.data.is_address()));
        }
        let limit = self.config.a_record_limit;
        if limit > 0 {
            records.truncate(limit);
        }
        Answer {
            records,
            ..Answer::default()
        }
    }

    /// Answers with the address that a name spells (cluster.md 6.26 to 6.28).
    pub(super) fn address(&self, zone: &Zone<'_>, asked: u16, text: &str) -> Answer {
        let is_new = self.context.has(Behaviour::DnsServer);
        let number = u128::from_str_radix(text, 16)
            .ok()
            .filter(|_| !text.starts_with('+'));
        let address = match (number, text.len()) {
            (Some(number), 8) => u32::try_from(number)
                .ok()
                .map(|number| IpAddr::V4(number.into())),
            (Some(number), 32) => Some(IpAddr::V6(Ipv6Addr::from(number))),
            (_, 8 | 9 | 32 | 33) => None,
            _ if !is_new => return Answer::default(),
            _ => None,
        };
        let Some(address) = address else {
            return self.unknown(zone);
        };
        let domain = &zone.domain;
        let lower = zone
            .before_domain()
            .iter()
            .map(|label| label.to_ascii_lowercase());
        let data = address_data(address);
        let is_asked = !is_new || asked == kind::ANY || asked == data.kind();
        let record = Record {
            owner: Name(lower.chain(domain.0.clone()).collect()),
            ttl: seconds(self.config.node_ttl),
            data,
        };
        let (records, additional) = if is_asked {
            (vec![record], Vec::new())
        } else {
            (Vec::new(), vec![record])
        };
        Answer {
            records,
            additional,
            ..Answer::default()
        }
    }

    /// Answers with the virtual address of a service of the mesh (cluster.md 6.23).
    pub(super) fn virtual_address(&self, zone: &Zone<'_>, asked: u16, service: &str) -> Answer {
        let read = ConnectInstances(ServiceView::Catalog, service.to_owned());
        let Ok(found) = self.context.engine.read(&read);
        let mut addresses = found.rows.iter().filter_map(|row| {
            let tagged = row.service.service.tagged_addresses.as_ref()?;
            parsed(&tagged.get("consul-virtual")?.address)
        });
        let data = addresses.next().map(address_data);
        let data = data.filter(|data| asked == kind::ANY || asked == data.kind());
        let records = data.map(|data| Record {
            owner: zone.owner.clone(),
            ttl: 0,
            data,
        });
        Answer {
            records: records.into_iter().collect(),
            ..Answer::default()
        }
    }
}

/// Returns the address of a node for clients that ask for this type.
fn chosen_of_node(node: &NewNode, asked: u16) -> &str {
    let tagged = node.tagged_addresses.as_ref();
    let mut lan = LAN.iter().filter(|(_, other)| asked != *other);
    let tagged = lan.find_map(|(tag, _)| tagged?.get(*tag));
    tagged.map_or(&node.address, String::as_str)
}

/// Returns where an instance is for clients that ask for this type: at an address of its own, or that of its node.
fn host(row: &Instance, asked: u16) -> Host {
    let (node, service) = (&row.node.node, &row.service.service);
    let tagged = service.tagged_addresses.as_ref();
    let mut lan = LAN.iter().filter(|(_, other)| asked != *other);
    let tagged = lan.find_map(|(tag, _)| Some(&tagged?.get(*tag)?.address));
    let own = tagged.unwrap_or(&service.address);
    if !own.is_empty() {
        return parsed(own).map_or_else(|| Host::Name(own.clone()), Host::Ip);
    }
    let chosen = chosen_of_node(node, asked);
    match parsed(chosen) {
        Some(address) if chosen == node.address => Host::Node(address),
        Some(address) => Host::Ip(address),
        None => Host::Name(chosen.to_owned()),
    }
}

fn weight(row: &Instance) -> u16 {
    let weights = row.service.service.weights;
    let mut checks = row.checks.iter();
    let warns = checks.any(|row| row.check.status == "warning");
    let weight = if warns {
        weights.warning
    } else {
        weights.passing
    };
    u16::try_from(weight).unwrap_or_default()
}

pub(super) fn parsed(text: &str) -> Option<IpAddr> {
    text.parse::<IpAddr>()
        .ok()
        .map(|address| address.to_canonical())
}

fn address_data(address: IpAddr) -> Data {
    match address {
        IpAddr::V4(address) => Data::A(address),
        IpAddr::V6(address) => Data::Aaaa(address),
    }
}

/// Returns the label that spells an address.
fn hexadecimal(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("{:08x}.addr", u32::from(address)),
        IpAddr::V6(address) => format!("{:032x}.addr", u128::from(address)),
    }
}
