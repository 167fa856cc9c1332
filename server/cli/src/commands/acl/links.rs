//! The flags that link tokens and roles with policies, roles and identities.

use proconsul_client::Client;
use serde_json::{Map, Value, json};

use super::object::{Kind, POLICY, ROLE};
use crate::commands::Failure;
use crate::commands::support::flags::Given;

/// The links of a command line to one kind of thing.
struct Links {
    /// The field of the body.
    field: &'static str,
    /// The switch that keeps present links; absent where that is the rule.
    merge: &'static str,
    /// Two links with the same values here are of the same thing.
    same: &'static [&'static str],
    links: Vec<Value>,
}

/// How the links of a command line and the present ones go together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Merge {
    /// The present ones stay.
    All,
    /// The present ones are replaced.
    Nothing,
    /// The `-merge-...` switches decide.
    AsAsked,
}

/// The links of a command line.
pub(super) struct Linked(Vec<Links>);

impl Linked {
    /// Reads the identities.
    ///
    /// # Errors
    /// An argument has the wrong number of parts.
    pub(super) fn identities(given: &Given) -> Result<Self, Failure> {
        let wrong = |flag: &str, text: &str| format!("Malformed -{flag} argument: {text:?}");
        let service = |text: &str| match text.split(':').collect::<Vec<_>>()[..] {
            [name] => Ok(json!({ "ServiceName": name })),
            [name, datacenters] => {
                let datacenters: Vec<&str> = datacenters.split(',').collect();
                Ok(json!({ "ServiceName": name, "Datacenters": datacenters }))
            }
            _ => Err(wrong("service-identity", text)),
        };
        let node = |text: &str| match text.split(':').collect::<Vec<_>>()[..] {
            [name, datacenter] => Ok(json!({ "NodeName": name, "Datacenter": datacenter })),
            _ => Err(wrong("node-identity", text)),
        };
        let services = given.texts("service-identity").into_iter().map(service);
        let services = services.collect::<Result<_, String>>()?;
        let nodes = given.texts("node-identity").into_iter().map(node);
        let nodes = nodes.collect::<Result<_, String>>()?;
        Ok(Self(vec![
            Links {
                field: "ServiceIdentities",
                merge: "merge-service-identities",
                same: &["ServiceName"],
                links: services,
            },
            Links {
                field: "NodeIdentities",
                merge: "merge-node-identities",
                same: &["NodeName", "Datacenter"],
                links: nodes,
            },
        ]))
    }

    /// Reads the policies.
    ///
    /// # Errors
    /// No policy has that id, or several do.
    pub(super) async fn policies(given: &Given, client: &Client) -> Result<Self, Failure> {
        let links = links(&POLICY, given, client).await?;
        Ok(Self(vec![Links {
            field: "Policies",
            merge: "merge-policies",
            same: &[],
            links,
        }]))
    }

    /// Reads the policies and roles.
    ///
    /// # Errors
    /// No policy or role has that id, or several do.
    pub(super) async fn policies_and_roles(
        given: &Given,
        client: &Client,
    ) -> Result<Self, Failure> {
        let mut linked = Self::policies(given, client).await?;
        linked.0.push(Links {
            field: "Roles",
            merge: "merge-roles",
            same: &[],
            links: links(&ROLE, given, client).await?,
        });
        Ok(linked)
    }

    /// Puts the links into the body of a token or role.
    pub(super) fn into_body(self, given: &Given, merge: Merge, body: &mut Map<String, Value>) {
        for links in self.0 {
            let keeps = match merge {
                Merge::All => true,
                Merge::Nothing => false,
                Merge::AsAsked => given.is_set(links.merge),
            };
            let mut all = match body.remove(links.field) {
                Some(Value::Array(present)) if keeps => present,
                _ => Vec::new(),
            };
            for link in links.links {
                // `acl role update` takes two datacenters of one node for the same, and keeps the present one.
                let by_node = merge == Merge::All && links.field == "NodeIdentities";
                let fields = if by_node {
                    &links.same[..1]
                } else {
                    links.same
                };
                let same = |present: &&mut Value| keeps && is_same(fields, present, &link);
                match all.iter_mut().find(same) {
                    Some(_) if by_node => {}
                    Some(present) => *present = link,
                    None => all.push(link),
                }
            }
            if !all.is_empty() {
                body.insert(links.field.to_owned(), all.into());
            }
        }
    }
}

/// Whether two links are of the same thing, by these fields. Links with ids and names need only one in common.
fn is_same(fields: &[&str], present: &Value, new: &Value) -> bool {
    let equal = |field: &str| new[field].is_string() && new[field] == present[field];
    if fields.is_empty() {
        return equal("ID") || equal("Name");
    }
    fields.iter().all(|field| equal(field))
}

/// Whether a command line has any link.
pub(super) fn has_any(given: &Given) -> bool {
    let flags = [
        "policy-name",
        "policy-id",
        "role-name",
        "role-id",
        "service-identity",
        "node-identity",
    ];
    flags.iter().any(|flag| given.text(flag).is_some())
}

async fn links(kind: &Kind, given: &Given, client: &Client) -> Result<Vec<Value>, Failure> {
    let names = given.texts(&format!("{}-name", kind.noun)).into_iter();
    let mut links: Vec<Value> = names.map(|name| json!({ "Name": name })).collect();
    for id in given.texts(&format!("{}-id", kind.noun)) {
        let found = kind.complete(client, id).await;
        // Consul leaves the id out of its text.
        let id = found.map_err(|why| format!("Error resolving {} ID : {why}", kind.noun))?;
        links.push(json!({ "ID": id }));
    }
    Ok(links)
}
