//! Rights on coordinates, the operator's endpoints, intentions and configuration entries (acl.md 7).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{NOBODY, ROOT, SETTINGS, granted, ready, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies],
    settings: SETTINGS,
    ..Case::SHOULD
};
const DENIED: &str = "Permission denied";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/coordinates/rights",
        claim: "coordinate/nodes is filtered by node:read; coordinate/node needs it, also for a node without a coordinate",
        source: "acl.md 7.r13, 7.r14",
        run: |t| {
            ready(t);
            let (_, reads) = granted(t, "p1", r#"node "w1" { policy = "read" }"#);
            for token in ["", &reads] {
                get(t, token, "coordinate/nodes").is(200, "[]");
                get(t, token, "coordinate/node/w2")
                    .says(403, DENIED)
                    .header_is("X-Consul-Index", "1");
            }
            get(t, &reads, "coordinate/node/w1").is(404, "");
            get(t, NOBODY, "coordinate/node/w1?dc=other").is(500, "No path to datacenter");
        },
        ..BASE
    },
    Case {
        id: "acl/operator/reads",
        claim: "raft/configuration needs operator:read, the settings of the certificate authority operator:write, without headers of a read",
        source: "acl.md 7.r33, 7.r44",
        needs: &[Feature::AclPolicies, Feature::Connect],
        run: |t| {
            t.not_compared("the indexes of the server's own rows move by themselves");
            ready(t);
            let (_, reads) = granted(t, "p1", r#"operator = "read""#);
            let (_, writes) = granted(t, "p2", r#"operator = "write""#);
            for path in ["operator/raft/configuration", "connect/ca/configuration"] {
                get(t, "", path)
                    .says(403, DENIED)
                    .has_no_header("X-Consul-Index");
                get(t, NOBODY, path).says(403, "ACL not found");
                get(t, NOBODY, &format!("{path}?dc=other")).is(500, "No path to datacenter");
                get(t, &writes, path).status_is(200);
            }
            get(t, &reads, "operator/raft/configuration").status_is(200);
            get(t, &reads, "connect/ca/configuration").says(403, DENIED);
        },
        ..BASE
    },
    Case {
        id: "acl/operator/writes",
        claim: "Changes of the operator's settings need operator:write",
        source: "acl.md 7.r34",
        run: |t| {
            ready(t);
            let (_, reads) = granted(t, "p1", r#"operator = "read""#);
            let autopilot = Request::put("/v1/operator/autopilot/configuration", "{}");
            let peer = Request::delete("/v1/operator/raft/peer?id=x");
            for request in [autopilot, peer] {
                for token in ["", &reads] {
                    with(t, token, &request).says(403, DENIED);
                }
                with(t, NOBODY, &request).says(403, "ACL not found");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/operator/keyring",
        claim: "The keyring is refused with 500 and words of its own",
        source: "acl.md 7.r35, 2.11.r7, 13.r17",
        until: Some(Version::V1_22),
        run: |t| {
            ready(t);
            let (_, operator) = granted(t, "p1", r#"operator = "write""#);
            let write = Request::new("POST", "/v1/operator/keyring").body(r#"{"Key":"x"}"#);
            for token in ["", &operator] {
                get(t, token, "operator/keyring").is(500, "Reading keyring denied by ACLs");
                with(t, token, &write).is(500, "Modifying keyring denied due to ACLs");
            }
            get(t, NOBODY, "operator/keyring").says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/operator/snapshot",
        claim: "Snapshots need acl:write",
        source: "acl.md 7.r36",
        run: |t| {
            ready(t);
            let (_, reads) = granted(t, "p1", r#"acl = "read" operator = "write""#);
            for token in ["", &reads] {
                get(t, token, "snapshot").says(403, DENIED);
                with(t, token, &Request::put("/v1/snapshot", "x")).says(403, DENIED);
            }
            get(t, NOBODY, "snapshot").says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/connect/intentions",
        claim: "The list of intentions is filtered, and making one needs a right on its destination",
        source: "acl.md 7.r38, 7.r39",
        run: |t| {
            ready(t);
            get(t, "", "connect/intentions")
                .is(200, "[]")
                .has_header("X-Consul-Index");
            get(t, NOBODY, "connect/intentions").says(403, "ACL not found");
            let body = r#"{"SourceName":"a","DestinationName":"web","Action":"allow"}"#;
            let create = Request::new("POST", "/v1/connect/intentions").body(body);
            with(t, NOBODY, &create).says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/config/services",
        claim: "Entries about a service need service:read and service:write on it; lists are filtered, and a kind is looked at after the token",
        source: "acl.md 7.r40",
        run: |t| {
            ready(t);
            let (_, reads) = granted(t, "p1", r#"service "web" { policy = "read" }"#);
            let (_, writes) = granted(t, "p2", r#"service "web" { policy = "write" }"#);
            for kind in [
                "service-defaults",
                "service-router",
                "service-splitter",
                "service-resolver",
            ] {
                let path = format!("config/{kind}/web");
                let delete = Request::delete(&format!("/v1/{path}"));
                get(t, "", &path)
                    .says(403, DENIED)
                    .has_no_header("X-Consul-Index");
                get(t, &reads, &path).status_is(404);
                for token in ["", &reads] {
                    with(t, token, &delete).says(403, DENIED);
                    get(t, token, &format!("config/{kind}")).is(200, "[]");
                }
                with(t, &writes, &delete).is(200, "{}");
            }
            get(t, "", "config/bogus/x").is(500, "invalid config entry kind: bogus");
            get(t, NOBODY, "config/bogus/x").says(403, "ACL not found");
            with(t, NOBODY, &Request::delete("/v1/config/bogus/x")).status_is(400);
        },
        ..BASE
    },
    Case {
        id: "acl/config/no-name-in-1-8",
        claim: "Some kinds need the right before a name, and others the name before the right",
        source: "operator.md 4.2.r7",
        until: Some(Version::V1_10),
        run: |t| {
            ready(t);
            let put = |kind: &str| {
                let body = format!(r#"{{"Kind":"{kind}"}}"#);
                with(t, "", &Request::put("/v1/config?cas=5", body))
            };
            for kind in ["service-defaults", "terminating-gateway", "ingress-gateway"] {
                put(kind).says(403, DENIED);
            }
            put("service-resolver").says(500, "Name is required");
        },
        ..BASE
    },
    Case {
        id: "acl/config/proxy-defaults",
        claim: "Everybody with a valid token reads proxy-defaults; changing it, and gateways, needs operator:write",
        source: "acl.md 7.r41",
        until: Some(Version::V1_10),
        run: |t| {
            ready(t);
            let (_, operator) = granted(t, "p1", r#"operator = "write""#);
            let (_, service) = granted(t, "p2", r#"service "web" { policy = "write" }"#);
            get(t, "", "config/proxy-defaults/global").status_is(404);
            get(t, NOBODY, "config/proxy-defaults/global").says(403, "ACL not found");
            for path in [
                "proxy-defaults/global",
                "ingress-gateway/web",
                "terminating-gateway/web",
            ] {
                let delete = Request::delete(&format!("/v1/config/{path}"));
                with(t, &service, &delete).says(403, DENIED);
                with(t, &operator, &delete).is(200, "{}");
            }
            get(t, &operator, "config/ingress-gateway/web").says(403, DENIED);
            get(t, &service, "config/ingress-gateway/web").status_is(404);
        },
        ..BASE
    },
    Case {
        id: "acl/connect/discovery-chain",
        claim: "The discovery chain of a service needs service:read on it",
        source: "acl.md 7.r42",
        needs: &[Feature::AclPolicies, Feature::Connect],
        run: |t| {
            ready(t);
            get(t, "", "discovery-chain/web")
                .says(403, DENIED)
                .header_is("X-Consul-Index", "1");
            get(t, NOBODY, "discovery-chain/web").says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/status/nothing-asked",
        claim: "status, datacenters and root certificates ask for nothing, and do not look at the token",
        source: "acl.md 7.r43, 2.6",
        needs: &[Feature::AclPolicies, Feature::Connect],
        run: |t| {
            t.not_compared("every server makes its own root certificate");
            ready(t);
            for path in [
                "status/leader",
                "status/peers",
                "catalog/datacenters",
                "coordinate/datacenters",
                "connect/ca/roots",
                "agent/connect/ca/roots",
            ] {
                for token in ["", NOBODY, "deny"] {
                    get(t, token, path).status_is(200);
                }
            }
            get(t, ROOT, "status/leader").status_is(200);
        },
        ..BASE
    },
];

fn get(t: &Trial, token: &str, path: &str) -> Answer {
    with(t, token, &Request::get(&format!("/v1/{path}")))
}
