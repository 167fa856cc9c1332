//! The errors of catalog registrations before they reach the store (session.md 4.2, 1.22.md B4.2).

use crate::failure::failures;
use proconsul_config::definition::node_id;
use proconsul_store::NodeIdFlaw;
use proconsul_version::{Behaviour, Version};

failures! {
    /// The node has no name.
    missing_node() => 500, "Must provide node";
    /// The node has no address, and its row is to be written.
    missing_address() => 500, "Must provide address if SkipNodeUpdate is not set";
    /// The node's id is not a UUID.
    invalid_node_id(flaw: NodeIdFlaw) => 500, format!("Bad node ID: {}", node_id::text(flaw));
    /// The registration names a peer, which only Consul's own may do.
    peer_name() => 500, "cannot register requests with PeerName in them";
    /// The service has an id and no name.
    missing_service_name(version: Version) => 500,
        if version.has(Behaviour::CatalogServiceNameText) {
            "Must provide service name (Service.Service) when service ID is provided"
        } else {
            "Must provide service name with ID"
        };
    /// The address of the service is that of all interfaces.
    invalid_service_address() => 500, "Invalid service address";
    /// The service has neither id nor name (since 1.21.2).
    missing_service() => 500, "service name (Service.Service) is required; \
        both Service ID (Service.ID) and Service Name cannot be empty";
    /// A caller without a right on the node names a service that the node lacks (acl.md 7.r5).
    unknown_service(id: &str, version: Version) => 500,
        format!("Unknown service{} '{id}'", id_word(version));
    /// The same about a check.
    unknown_check(id: &str, version: Version) => 500,
        format!("Unknown check{} '{id}'", id_word(version));
    /// The service of a check does not exist, which is found out with its rights (acl.md 7.r4).
    unknown_service_of_check(service: &str, check: &str, version: Version) => 500, {
        let word = id_word(version);
        format!("Unknown service{word} '{service}' for check{word} '{check}'")
    };
    /// A check names another node, which is found out with its rights.
    check_of_other_node(named: &str, check: &str, node: &str) => 500,
        format!("Node '{named}' for check '{check}' doesn't match register request node '{node}'");
    /// The place of the node, the service, proxy or gateway is invalid; `words` is Consul's text.
    invalid_service(words: String) => 500, words;
}

fn id_word(version: Version) -> &'static str {
    if version.has(Behaviour::CatalogRegisterTexts) {
        " ID"
    } else {
        ""
    }
}
