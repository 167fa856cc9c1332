//! What a name of the domain stands for.

use std::sync::Arc;
use std::time::Duration;

use super::encode::Answer;
use super::message::{Code, Data, Name, Record, kind};
use crate::Context;
use crate::api::query;
use crate::auth::state::Caller;
use crate::pipeline::context::datacenters::Datacenter;
use proconsul_acl::{Question, Resource};
use proconsul_config::DnsConfig;
use proconsul_store::{
    ConnectInstances, IngressInstances, Instance, NodeByNameOrId, ServiceInstances, ServiceView,
};
use proconsul_version::Behaviour;

/// How many names in a row are followed whose answer is another name.
const DEEPEST: u8 = 3;

/// The service that each server of Consul registers.
const SERVERS: &str = "consul";

/// A name below a domain of the server.
pub(super) struct Zone<'a> {
    /// The whole name, spelled as it was asked.
    pub(super) owner: &'a Name,
    /// The labels before the domain.
    labels: Vec<String>,
    /// The domain of the names in the answer.
    pub(super) domain: Name,
}

impl Zone<'_> {
    /// Returns the labels before the domain, as they were asked for.
    pub(super) fn before_domain(&self) -> &[Vec<u8>] {
        &self.owner.0[..self.labels.len()]
    }
}

/// Answers from the state, for who has the agent's token for DNS.
pub(super) struct Lookup<'a> {
    pub(super) context: &'a Context,
    pub(super) config: &'a DnsConfig,
    caller: Option<Arc<Caller>>,
    domain: Name,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let config = &context.config.dns;
        let acls = context.acls.as_ref();
        Self {
            context,
            config,
            caller: acls.map(|acls| acls.caller_of_dns(context)),
            domain: Name::of(&config.domain),
        }
    }

    /// Returns the name if it is in a domain of this server.
    pub(super) fn zone<'n>(&self, name: &'n Name) -> Option<Zone<'n>> {
        let alt = Name::of(&self.config.alt_domain);
        let domains = [&self.domain, &alt];
        let mut domains = domains.into_iter().filter(|domain| !domain.0.is_empty());
        let (domain, labels) = domains.find_map(|domain| Some((domain, name.before(domain)?)))?;
        let text = |label: &Vec<u8>| String::from_utf8_lossy(label).to_lowercase();
        let is_new = self.context.has(Behaviour::DnsServer);
        Some(Zone {
            owner: name,
            labels: labels.iter().map(text).collect(),
            domain: if is_new { domain } else { &self.domain }.clone(),
        })
    }

    /// Whether the token may read this.
    pub(super) fn may_read(&self, resource: Resource, name: &str) -> bool {
        let caller = self.caller.as_ref();
        caller.is_none_or(|caller| caller.may(Question::read(resource, name)))
    }

    /// Returns the answer to a question of this type. `depth` is the number of names that led here.
    pub(super) fn records(&self, zone: &Zone<'_>, asked: u16, depth: u8) -> Answer {
        if asked == kind::SOA || asked == kind::NS {
            return self.authority(zone, asked);
        }
        let Some((place, before, behind)) = Place::of(&zone.labels) else {
            // RFC 2782: `_web._tcp` alone.
            return match zone.labels.split_at_checked(2) {
                Some((_, behind)) if asked == kind::SRV && self.other(behind).is_some() => {
                    self.elsewhere(zone, asked, depth, behind)
                }
                Some((before, behind))
                    if asked == kind::SRV
                        && before.iter().all(|label| label.starts_with('_'))
                        && self.is_own(behind) =>
                {
                    self.service(zone, asked, depth, before)
                }
                _ => self.unknown(zone),
            };
        };
        match (place, before) {
            (Place::Address, [address]) => return self.address(zone, asked, address),
            _ if before.is_empty() || behind.len() > 1 => {}
            _ if self.other(behind).is_some() => {
                return self.elsewhere(zone, asked, depth, behind);
            }
            // What a node cannot have is not looked up.
            (Place::Node, _) if !matches!(asked, kind::A | kind::AAAA | kind::ANY | kind::TXT) => {
                return Answer::default();
            }
            _ if !self.is_own(behind) => {}
            (Place::Node, _) => return self.node(zone, asked, depth, &before.join(".")),
            (Place::Service, _) => return self.service(zone, asked, depth, before),
            (Place::Query, _) => return self.query(zone, asked, depth, before.join(".")),
            (Place::Connect, [.., name]) => {
                let Ok(found) = self
                    .context
                    .engine
                    .read(&ConnectInstances(ServiceView::Health, name.clone()));
                return self.instances(zone, asked, depth, found.rows, self.ttl_of(name));
            }
            (Place::Ingress, [.., name]) => {
                let Ok(found) = self
                    .context
                    .engine
                    .read(&IngressInstances(ServiceView::Health, name.clone()));
                return self.instances(zone, asked, depth, found.rows, self.ttl_of(name));
            }
            (Place::Virtual, [.., name]) if self.context.has(Behaviour::DnsVirtual) => {
                return self.virtual_address(zone, asked, name);
            }
            _ => {}
        }
        self.unknown(zone)
    }

    /// Returns the other datacenter that the labels behind a place name.
    fn other(&self, behind: &[String]) -> Option<&Datacenter> {
        let [name] = behind else { return None };
        self.context.other_datacenter(name.as_bytes())
    }

    /// Lets another datacenter answer, if it is reached (cluster.md 5.14, 5.31).
    fn elsewhere(&self, zone: &Zone<'_>, asked: u16, depth: u8, behind: &[String]) -> Answer {
        let server = self
            .other(behind)
            .map(|there| there.server_for(self.context));
        match server.flatten() {
            Some(Ok(server)) => Lookup::new(&server).records(zone, asked, depth),
            _ => Answer {
                code: Code::ServFail,
                ..Answer::default()
            },
        }
    }

    /// Whether the labels behind a place name this datacenter, or none.
    fn is_own(&self, behind: &[String]) -> bool {
        match behind {
            [] => true,
            [datacenter] => *datacenter == self.context.config.datacenter,
            _ => false,
        }
    }

    /// Returns the record that names the domain and its owner (cluster.md 6.5).
    pub(super) fn soa(&self, domain: &Name) -> Record {
        let below = |label: &str| Name([&[label.as_bytes().to_vec()], &domain.0[..]].concat());
        let now = self.context.engine.clock().wall().as_secs();
        let soa = self.config.soa;
        let serial = u32::try_from(now & u64::from(u32::MAX)).unwrap_or_default();
        let numbers = [serial, soa.refresh, soa.retry, soa.expire, soa.min_ttl];
        Record {
            owner: domain.clone(),
            ttl: soa.min_ttl,
            data: Data::Soa(below("ns"), below("hostmaster"), numbers),
        }
    }

    /// Returns the answer about what there is not.
    pub(super) fn unknown(&self, zone: &Zone<'_>) -> Answer {
        Answer {
            code: Code::NxDomain,
            authority: vec![self.soa(&zone.domain)],
            ..Answer::default()
        }
    }

    /// Returns the answer about what there is, but not in the type asked for.
    fn no_data(&self, zone: &Zone<'_>) -> Answer {
        Answer {
            authority: vec![self.soa(&zone.domain)],
            ..Answer::default()
        }
    }

    /// Answers who serves the domain: all servers that are not critical.
    fn authority(&self, zone: &Zone<'_>, asked: u16) -> Answer {
        let servers = ServiceInstances(ServiceView::Health, SERVERS.to_owned());
        let Ok(found) = self.context.engine.read(&servers);
        let (mut servers, mut addresses) = (Vec::new(), Vec::new());
        for row in self.visible(found.rows) {
            let name = self.node_name(&row.node.node.node, &zone.domain);
            let ttl = seconds(self.config.node_ttl);
            servers.push(Record {
                owner: zone.domain.clone(),
                ttl,
                data: Data::Ns(name.clone()),
            });
            addresses.extend(self.node_address(&row.node.node, &name, kind::ANY, ttl));
        }
        let soa = self.soa(&zone.domain);
        let (records, authority) = if asked == kind::SOA {
            (vec![soa], servers)
        } else {
            (servers, Vec::new())
        };
        Answer {
            records,
            authority,
            additional: addresses,
            ..Answer::default()
        }
    }

    /// Returns the instances that are not critical and that the token may read.
    fn visible(&self, mut rows: Vec<Instance>) -> Vec<Instance> {
        rows.retain(|row| {
            let mut checks = row.checks.iter().map(|row| row.check.status.as_str());
            checks.all(|status| match status {
                "critical" => false,
                "passing" => true,
                _ => !self.config.only_passing,
            }) && self.sees(row)
        });
        rows
    }

    fn sees(&self, row: &Instance) -> bool {
        self.may_read(Resource::Node, &row.service.node)
            && self.may_read(Resource::Service, &row.service.service.name)
    }

    fn node(&self, zone: &Zone<'_>, asked: u16, depth: u8, name: &str) -> Answer {
        let Ok(found) = self.context.engine.read(&NodeByNameOrId(name.to_owned()));
        let Some((row, _)) = found.rows else {
            return self.unknown(zone);
        };
        if !self.may_read(Resource::Node, &row.node.node) {
            return self.unknown(zone);
        }
        let ttl = seconds(self.config.node_ttl);
        let mut answer = Answer::default();
        if asked != kind::TXT {
            answer
                .records
                .extend(self.node_address(&row.node, zone.owner, asked, ttl));
            let target = answer
                .records
                .first()
                .and_then(|record| match &record.data {
                    Data::Cname(target) => Some(target.clone()),
                    _ => None,
                });
            answer.records.extend(
                target
                    .iter()
                    .flat_map(|target| self.followed(target, depth)),
            );
        }
        let meta = self.meta(&row.node, zone.owner, ttl);
        if asked == kind::TXT || asked == kind::ANY {
            answer.records.extend(meta);
        } else if self.config.node_meta_txt {
            answer.additional.extend(meta);
        }
        answer
    }

    /// Returns what a name leads to, if it is one of this server's (cluster.md 6.43).
    pub(super) fn followed(&self, target: &Name, depth: u8) -> Vec<Record> {
        match self.zone(target) {
            Some(zone) if depth < DEEPEST => self.records(&zone, kind::ANY, depth + 1).records,
            _ => Vec::new(),
        }
    }

    fn service(&self, zone: &Zone<'_>, asked: u16, depth: u8, before: &[String]) -> Answer {
        let below = |label: &str| label.strip_prefix('_').map(str::to_owned);
        let (name, tag) = match before {
            [name] => (name.clone(), None),
            [first, second] => match (below(first), below(second)) {
                (Some(name), Some(tag)) => (name, Some(tag).filter(|tag| tag != "tcp")),
                _ => (second.clone(), Some(first.clone())),
            },
            [tag @ .., name] => (name.clone(), Some(tag.join("."))),
            [] => return self.unknown(zone),
        };
        let ttl = self.ttl_of(&name);
        let read = ServiceInstances(ServiceView::Health, name);
        let Ok(mut found) = self.context.engine.read(&read);
        found.rows.retain(|row| {
            let mut tags = row.service.service.tags().iter();
            tag.as_ref()
                .is_none_or(|tag| tags.any(|own| own.to_lowercase() == *tag))
        });
        self.instances(zone, asked, depth, found.rows, ttl)
    }

    fn query(&self, zone: &Zone<'_>, asked: u16, depth: u8, name: String) -> Answer {
        let sees = |row: &Instance| self.sees(row);
        let Some((query, rows)) = query::found_by_name(self.context, name, sees) else {
            return self.unknown(zone);
        };
        let own = proconsul_gocompat::duration::parse(&query.dns_ttl).ok();
        let own = own.and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
        let ttl = own.map_or_else(
            || self.ttl_of(&query.service),
            |nanoseconds| seconds(Duration::from_nanos(nanoseconds)),
        );
        let mut answer = self.found(zone, asked, depth, &rows, ttl);
        answer.is_of_query = !rows.is_empty();
        answer
    }

    /// Answers with instances of a service, in a random order.
    fn instances(
        &self,
        zone: &Zone<'_>,
        asked: u16,
        depth: u8,
        rows: Vec<Instance>,
        ttl: u32,
    ) -> Answer {
        let mut rows = self.visible(rows);
        self.context.engine.shuffle(&mut rows);
        self.found(zone, asked, depth, &rows, ttl)
    }

    fn found(&self, zone: &Zone<'_>, asked: u16, depth: u8, rows: &[Instance], ttl: u32) -> Answer {
        if rows.is_empty() {
            return self.unknown(zone);
        }
        let mut answer = if asked == kind::SRV {
            self.service_records(zone, rows, ttl, depth)
        } else {
            self.service_addresses(zone, asked, rows, ttl, depth)
        };
        if answer.records.is_empty() {
            return self.no_data(zone);
        }
        answer.may_be_cut = true;
        answer
    }

    /// Returns how long the records of a service may be kept: by its name, by the longest prefix of it, or by default.
    fn ttl_of(&self, service: &str) -> u32 {
        let ttls = &self.config.service_ttl;
        let by_prefix = ttls.iter().filter(|(name, _)| {
            let prefix = name.strip_suffix('*');
            prefix.is_some_and(|prefix| service.starts_with(prefix))
        });
        let longest = by_prefix
            .max_by_key(|(name, _)| name.len())
            .map(|(_, ttl)| ttl);
        seconds(ttls.get(service).or(longest).copied().unwrap_or_default())
    }
}

/// What the label before the datacenter says that the labels before it name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Node,
    Service,
    Connect,
    Ingress,
    Virtual,
    Query,
    Address,
}

impl Place {
    /// Splits a name at the last place in it: the labels before and behind it.
    fn of(labels: &[String]) -> Option<(Self, &[String], &[String])> {
        let mut places = labels.iter().enumerate().rev();
        places.find_map(|(at, label)| Some((Self::named(label)?, &labels[..at], &labels[at + 1..])))
    }

    fn named(label: &str) -> Option<Self> {
        Some(match label {
            "node" => Place::Node,
            "service" => Place::Service,
            "connect" => Place::Connect,
            "ingress" => Place::Ingress,
            "virtual" => Place::Virtual,
            "query" => Place::Query,
            "addr" => Place::Address,
            _ => return None,
        })
    }
}

/// Returns a TTL as records have it.
pub(super) fn seconds(ttl: Duration) -> u32 {
    u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX)
}
