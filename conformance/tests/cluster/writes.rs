//! What is written to the own datacenter, whichever the request names (cluster.md 5.33).

use proconsul_conformance::wire::Request;

use crate::agents::{Cluster, MANAGEMENT, text};
use crate::datacenters::{CLIENT, HERE, THERE};
use crate::held;

held! {
    writes_are_of_the_own_datacenter
}

/// Requests about ACLs with their bodies, and how the refusals begin: a prefix would tell that dc2 was asked.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "PUT acl/policy",
        r#"{"Name":"global-management"}"#,
        "Invalid Policy",
    ),
    ("PUT acl/role", "{}", "Invalid Role"),
    (
        "PUT acl/token/44444444-4444-4444-4444-444444444444",
        "{}",
        "Cannot find token",
    ),
    (
        "DELETE acl/token/00000000-0000-0000-0000-000000000002",
        "",
        "Delete operation",
    ),
    (
        "DELETE acl/policy/00000000-0000-0000-0000-000000000001",
        "",
        "Delete operation",
    ),
    ("DELETE acl/role/x", "", "failed acl role lookup"),
    (
        "PUT acl/auth-method/x",
        r#"{"Type":"jwt"}"#,
        "Invalid Auth Method",
    ),
    (
        "DELETE acl/binding-rule/x",
        "",
        "failed acl binding rule lookup",
    ),
    ("PUT acl/bootstrap", "", "Permission denied: ACL bootstrap"),
    ("PUT acl/create", r#"{"Type":"x"}"#, "Invalid ACL Type"),
    (
        "PUT acl/update",
        r#"{"ID":"deny"}"#,
        "Permission denied: Cannot modify",
    ),
    (
        "PUT acl/destroy/anonymous",
        "",
        "Permission denied: Cannot delete",
    ),
    // These go there.
    (
        "POST acl/login",
        r#"{"AuthMethod":"x","BearerToken":"y"}"#,
        "rpc error making call: ACL",
    ),
    ("POST acl/logout", "", "rpc error making call: Permission"),
];

fn writes_are_of_the_own_datacenter(cluster: &Cluster) {
    entries_are(cluster);
    acls_are(cluster);
    nodes_of_transactions_are(cluster);
}

fn entries_are(cluster: &Cluster) {
    let entry = "/v1/config/service-defaults/own";
    let body = r#"{"Kind":"service-defaults","Name":"own"}"#;
    let written = cluster.put(HERE, "/v1/config?dc=dc2", body);
    cluster.is(&written, 200, "true");
    let shown = || [HERE, THERE].map(|agent| cluster.get(agent, entry).status);
    assert_eq!(shown(), [200, 404], "{}", cluster.name);
    let deleted = Request::new("DELETE", &format!("{entry}?dc=dc2"));
    assert_eq!(cluster.ask(CLIENT, &deleted).status, 200);
    assert_eq!(shown(), [404, 404], "{}", cluster.name);
    let refused = cluster.put(HERE, "/v1/config?dc=dc2", r#"{"Kind":"service-defaults"}"#);
    cluster.is(&refused, 500, "serviceName is required");
}

fn acls_are(cluster: &Cluster) {
    let token = format!("token={MANAGEMENT}");
    let target = format!("/v1/acl/policy?dc=dc2&{token}");
    assert_eq!(cluster.put(HERE, &target, r#"{"Name":"own"}"#).status, 200);
    let policy = format!("/v1/acl/policy/name/own?{token}");
    let shown = [HERE, THERE].map(|agent| cluster.get(agent, &policy).status);
    assert_eq!(shown, [200, 403], "{}", cluster.name);
    for (request, body, says) in REFUSED {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        let request = Request::new(method, &format!("/v1/{path}?dc=dc2&{token}"));
        let told = text(&cluster.ask(HERE, &request.body(body)));
        assert!(told.starts_with(says), "{}: {path}: {told}", cluster.name);
    }
    let refused = cluster.get(CLIENT, "/v1/snapshot?dc=dc2&token=none");
    cluster.is(&refused, 403, "ACL not found");
}

/// A node gets the datacenter of the agent that is asked, and is in the catalog of the other one.
fn nodes_of_transactions_are(cluster: &Cluster) {
    let node = r#"[{"Node":{"Verb":"set","Node":{"Node":"own","Address":"1.1.1.1"}}}]"#;
    assert_eq!(cluster.put(CLIENT, "/v1/txn?dc=dc2", node).status, 200);
    let node = text(&cluster.get(THERE, "/v1/catalog/node/own"));
    let is_own = node.contains(r#""Datacenter":"dc1""#);
    assert!(is_own, "{}: {node}", cluster.name);
    let gone = cluster.put(THERE, "/v1/catalog/deregister", r#"{"Node":"own"}"#);
    assert_eq!(gone.status, 200);
}
