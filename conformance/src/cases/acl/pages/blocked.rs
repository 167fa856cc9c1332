//! Whose rights count when a read of the catalog that waited is answered (acl.md 10).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{ROOT, SETTINGS, delete, granted, ready, with};
use crate::wire::Request;
use crate::wire::waiting::Waiting;

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[
        Feature::AclPolicies,
        Feature::Registration,
        Feature::Blocking,
    ],
    settings: SETTINGS,
    ..Case::SHOULD
};
const RULES: &str = r#"node_prefix "" { policy = "read" } service_prefix "" { policy = "read" }"#;
/// Reads that use the rights at the moment of answering.
const READS: &[&str] = &[
    "catalog/nodes",
    "catalog/service/web",
    "catalog/node/w1",
    "health/node/w1",
    "health/checks/web",
    "health/state/critical",
];

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/blocked/deleted-token",
        claim: "The deletion of its token does not wake a blocked read of the catalog; the next change answers it with 403",
        source: "acl.md 10.5",
        run: |t| {
            t.not_compared("the indexes of the server's own rows move by themselves");
            refused_at_the_change(t, READS);
        },
        ..BASE
    },
    Case {
        id: "acl/blocked/deleted-token-of-health-service",
        claim: "The same for health/service",
        source: "acl.md 10.6",
        until: Some(Version::V1_10),
        run: |t| refused_at_the_change(t, &["health/service/web"]),
        ..BASE
    },
    Case {
        id: "acl/blocked/emptied-policy",
        claim: "A blocked read of the catalog shows nothing if its token has lost its rights",
        source: "acl.md 10.5",
        run: |t| {
            t.not_compared("the indexes of the server's own rows move by themselves");
            let (accessor, secret) = prepared(t);
            let reads = [
                "catalog/nodes",
                "catalog/service/web",
                "health/checks/web",
                "health/node/w1",
            ];
            let waiting = blocked(t, &secret, &reads);
            with(
                t,
                ROOT,
                &Request::put(&format!("/v1/acl/token/{accessor}"), "{}"),
            )
            .status_is(200);
            for read in &waiting {
                t.still_blocked(read);
            }
            change(t);
            for read in waiting {
                read.answer().is(200, "[]");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/blocked/catalog-services",
        claim: "A blocked read of catalog/services keeps the rights it started with",
        source: "acl.md 10.4, trap 16",
        run: |t| {
            let (accessor, secret) = prepared(t);
            let waiting = blocked(t, &secret, &["catalog/services"]);
            delete(t, &format!("token/{accessor}")).is(200, "true");
            change(t);
            for read in waiting {
                let shown = read.answer().status_is(200).json();
                t.check(shown.get("web").is_some(), "web is missing");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/blocked/what-it-cannot-see",
        claim: "A read of the catalog that shows nothing blocks, and wakes on changes that it cannot see",
        source: "acl.md 10.7",
        run: |t| {
            prepared(t);
            let waiting = blocked(t, "", &["catalog/nodes", "health/checks/web"]);
            change(t);
            for read in waiting {
                read.answer().is(200, "[]");
            }
        },
        ..BASE
    },
];

fn refused_at_the_change(t: &Trial, reads: &[&str]) {
    let (accessor, secret) = prepared(t);
    let waiting = blocked(t, &secret, reads);
    delete(t, &format!("token/{accessor}")).is(200, "true");
    for read in &waiting {
        t.still_blocked(read);
    }
    change(t);
    for read in waiting {
        read.answer().says(403, "ACL not found");
    }
}

/// A token that may read everything, on a server with a service.
fn prepared(t: &Trial) -> (String, String) {
    ready(t);
    register(t, "1.2.3.4", "passing");
    granted(t, "reads", RULES)
}

/// Starts reads that wait for the next change.
fn blocked(t: &Trial, secret: &str, reads: &[&str]) -> Vec<Waiting> {
    let requests: Vec<_> = reads
        .iter()
        .map(|path| {
            let path = format!("/v1/{path}");
            let read = |path: &str| Request::get(path).header("X-Consul-Token", secret);
            let index = t.send(&read(&path)).status_is(200).index();
            read(&format!("{path}?index={index}"))
        })
        .collect();
    t.start_all(&requests)
}

/// Changes a node, its service and its check.
fn change(t: &Trial) {
    register(t, "1.2.3.5", "critical");
}

fn register(t: &Trial, address: &str, status: &str) {
    let body = json!({
        "Node": "w1", "Address": address,
        "Service": {"ID": "web-1", "Service": "web", "Address": address},
        "Check": {"CheckID": "c", "ServiceID": "web-1", "Status": status},
    });
    let request = Request::put("/v1/catalog/register", body.to_string());
    with(t, ROOT, &request).is(200, "true");
}
