//! Nodes, services and checks in a state: the store's own rows, field by field.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::value::{self, unset};
use crate::store::{
    CheckDefinition, CheckRow, Headers, Index, Labels, NewCheck, NewNode, NewService, NodeRow,
    Proxy, ServiceAddress, ServiceRow, Weights,
};

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Node(#[serde(with = "NodeRowFields")] pub(super) NodeRow);

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Service(#[serde(with = "ServiceRowFields")] pub(super) ServiceRow);

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Check(#[serde(with = "CheckRowFields")] pub(super) CheckRow);

#[derive(Deserialize, Serialize)]
#[serde(remote = "NodeRow", deny_unknown_fields)]
struct NodeRowFields {
    #[serde(with = "NodeFields")]
    node: NewNode,
    #[serde(with = "value::index")]
    create_index: Index,
    #[serde(with = "value::index")]
    modify_index: Index,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "NewNode", deny_unknown_fields)]
struct NodeFields {
    node: String,
    id: String,
    address: String,
    datacenter: String,
    tagged_addresses: Option<Labels>,
    meta: Option<Labels>,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "ServiceRow", deny_unknown_fields)]
struct ServiceRowFields {
    node: String,
    #[serde(with = "ServiceFields")]
    service: NewService,
    #[serde(with = "value::index")]
    create_index: Index,
    #[serde(with = "value::index")]
    modify_index: Index,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "NewService", deny_unknown_fields)]
pub(super) struct ServiceFields {
    id: String,
    name: String,
    tags: Option<Vec<String>>,
    address: String,
    meta: Option<Labels>,
    port: i64,
    #[serde(with = "WeightsFields")]
    weights: Weights,
    enable_tag_override: bool,
    kind: String,
    #[serde(default, skip_serializing_if = "unset", with = "super::proxy")]
    proxy: Arc<Proxy>,
    #[serde(default, skip_serializing_if = "unset")]
    connect_native: bool,
    #[serde(with = "addresses")]
    tagged_addresses: Option<BTreeMap<String, ServiceAddress>>,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "Weights", deny_unknown_fields)]
struct WeightsFields {
    passing: i64,
    warning: i64,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "ServiceAddress", deny_unknown_fields)]
struct AddressFields {
    address: String,
    port: i64,
}

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct Address(#[serde(with = "AddressFields")] ServiceAddress);

/// The addresses of a service, by their tags.
mod addresses {
    use std::collections::BTreeMap;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::{Address, ServiceAddress};

    type Tagged<T> = Option<BTreeMap<String, T>>;

    pub(super) fn serialize<S: Serializer>(
        addresses: &Tagged<ServiceAddress>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let shown: Tagged<Address> = addresses.as_ref().map(|addresses| {
            let addresses = addresses.iter();
            addresses
                .map(|(tag, address)| (tag.clone(), Address(address.clone())))
                .collect()
        });
        shown.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Tagged<ServiceAddress>, D::Error> {
        let read = Tagged::<Address>::deserialize(source)?;
        Ok(read.map(|addresses| {
            let addresses = addresses.into_iter();
            addresses
                .map(|(tag, Address(address))| (tag, address))
                .collect()
        }))
    }
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "CheckRow", deny_unknown_fields)]
struct CheckRowFields {
    node: String,
    #[serde(with = "CheckFields")]
    check: NewCheck,
    service_name: String,
    service_tags: Option<Vec<String>>,
    #[serde(with = "value::index")]
    create_index: Index,
    #[serde(with = "value::index")]
    modify_index: Index,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "NewCheck", deny_unknown_fields)]
pub(super) struct CheckFields {
    check_id: String,
    name: String,
    status: String,
    notes: String,
    output: String,
    service_id: String,
    #[serde(default, skip_serializing_if = "unset")]
    named_service: String,
    #[serde(default, skip_serializing_if = "unset")]
    named_tags: Option<Vec<String>>,
    kind: String,
    #[serde(default, skip_serializing_if = "unset")]
    interval: String,
    #[serde(default, skip_serializing_if = "unset")]
    timeout: String,
    #[serde(default, skip_serializing_if = "unset", with = "CheckDefinitionFields")]
    definition: CheckDefinition,
}

/// Most checks have few of these.
#[derive(Deserialize, Serialize)]
#[serde(remote = "CheckDefinition", deny_unknown_fields)]
struct CheckDefinitionFields {
    #[serde(
        default,
        rename = "interval",
        skip_serializing_if = "unset",
        with = "value::nanoseconds"
    )]
    interval_ns: i64,
    #[serde(
        default,
        rename = "timeout",
        skip_serializing_if = "unset",
        with = "value::nanoseconds"
    )]
    timeout_ns: i64,
    #[serde(
        default,
        rename = "deregister_critical_service_after",
        skip_serializing_if = "unset",
        with = "value::nanoseconds"
    )]
    deregister_critical_service_after_ns: i64,
    #[serde(default, skip_serializing_if = "unset")]
    http: String,
    #[serde(default, skip_serializing_if = "unset")]
    tls_skip_verify: bool,
    #[serde(default, skip_serializing_if = "unset")]
    header: Headers,
    #[serde(default, skip_serializing_if = "unset")]
    method: String,
    #[serde(default, skip_serializing_if = "unset")]
    body: String,
    #[serde(default, skip_serializing_if = "unset")]
    tcp: String,
    #[serde(
        default,
        rename = "ttl",
        skip_serializing_if = "unset",
        with = "value::nanoseconds"
    )]
    ttl_ns: i64,
    #[serde(default, skip_serializing_if = "unset")]
    script_args: Vec<String>,
    #[serde(default, skip_serializing_if = "unset")]
    session_name: String,
}
