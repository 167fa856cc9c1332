//! The endpoints around the mesh, ACLs and configuration as a Consul answers that uses none of them.

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// One root certificate is active, and has this name.
fn shows_roots(t: &Trial, name: &str) {
    t.not_compared("whether the agent has the roots in its cache is left to chance");
    for path in ["/v1/connect/ca/roots", "/v1/agent/connect/ca/roots"] {
        let roots = t.eventually("a root is active", Duration::from_secs(10), || {
            let answer = t.api_get(path).status_is(200);
            let active = answer.json()["ActiveRootID"]
                .as_str()
                .is_some_and(|id| !id.is_empty());
            active.then_some(answer)
        });
        let id = roots.json()["ActiveRootID"].clone();
        roots
            .field_is("/Roots/0/ID", id)
            .field_is("/Roots/0/Active", true)
            .field_is("/Roots/0/Name", name)
            .field_is("/Roots/0/IntermediateCerts", json!(null))
            .field_is("/Roots/0/PrivateKeyType", "ec")
            .has_header("X-Consul-Index");
    }
    t.api_get("/v1/connect/ca/configuration")
        .field_is("/Provider", "consul")
        .field_is("/Config/LeafCertTTL", "72h");
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "shaped/connect/roots",
        claim: "There is one active root certificate, in connect/ca/roots as for the agent, with its key's kind and its trust domain",
        source: "operator.md 3.r8",
        until: Some(Version::V1_22),
        // Enabled in development mode alone.
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| shows_roots(t, "Consul CA Root Cert"),
        ..Case::SHOULD
    },
    Case {
        id: "shaped/connect/roots-since-1-22",
        claim: "There is one active root certificate, as before, by the name of a primary one",
        source: "1.22.md B4.5 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| shows_roots(t, "Consul CA Primary Cert"),
        ..Case::SHOULD
    },
    Case {
        id: "shaped/connect/roots-in-pem",
        claim: "The root certificates come in PEM, without the headers of a read, where pem is true; what is no boolean is refused before the datacenter",
        source: "operator.md 3.r8b",
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| {
            t.not_compared("the roots are the server's own");
            let roots = "/v1/connect/ca/roots";
            let shown = t.eventually("a root is active", Duration::from_secs(10), || {
                let answer = t.api_get(roots).status_is(200);
                answer.json()["Roots"][0]["RootCert"]
                    .as_str()
                    .map(str::to_owned)
            });
            for text in ["true", "1", "T"] {
                t.api_get(&format!("{roots}?pem={text}"))
                    .is(200, &shown)
                    .header_is("Content-Type", "application/pem-certificate-chain")
                    .has_no_header("X-Consul-Index");
            }
            for query in ["?pem", "?pem=", "?pem=false"] {
                let answer = t.api_get(&format!("{roots}{query}")).status_is(200);
                answer.header_is("Content-Type", "application/json");
            }
            let refusal = "The 'pem' query parameter must be a boolean value";
            t.api_get(&format!("{roots}?pem=x&dc=nope"))
                .says(400, refusal);
            let agents = t.api_get("/v1/agent/connect/ca/roots?pem=true");
            agents.header_is("Content-Type", "application/json");
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/connect/configuration-since-1-22",
        claim: "The settings of the certificate authority have the lives of its certificates",
        source: "operator.md 3.r9 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| {
            t.api_get("/v1/connect/ca/configuration").field_is(
                "/Config",
                json!({"IntermediateCertTTL": "8760h", "LeafCertTTL": "72h", "RootCertTTL": "87600h"}),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/connect/unknown-paths",
        claim: "Below agent/connect there are authorize and the certificates alone, and before 1.13 no peering, with or without a slash",
        source: "operator.md 3.r2, 3.r11b; operator.md 3.r11",
        run: |t| {
            for path in ["nope", "ca", "proxy/x", ""] {
                t.api_get(&format!("/v1/agent/connect/{path}"))
                    .status_is(404);
            }
            t.api_put("/v1/agent/connect/authorize", "")
                .is(405, "method PUT not allowed")
                .header_is("Allow", "OPTIONS,POST");
            let status = if t.since(Version::V1_13) {
                t.moved()
            } else {
                404
            };
            t.api_get("/v1/peering").status_is(status);
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/connect/intentions",
        claim: "Without intentions the list of them is empty, at index 1",
        source: "operator.md 4.5.r3",
        until: Some(Version::V1_22),
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_get("/v1/connect/intentions")
                .is(200, "[]")
                .header_is("X-Consul-Index", "1");
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/config/none",
        claim: "Without config entries a kind has none, one is 404 by its name, and its deletion succeeds",
        source: "operator.md 4.1.r5, 4.1.r6, 4.1.r10",
        until: Some(Version::V1_22),
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_get("/v1/config/service-defaults").is(200, "[]");
            t.api_get("/v1/config/service-defaults/nobody")
                .says(
                    404,
                    "Config entry not found for \"service-defaults\" / \"nobody\"",
                )
                .header_is("X-Consul-Index", "1");
            t.send(&Request::delete("/v1/config/service-defaults/nobody"))
                .is(200, "{}");
            t.send(&Request::delete("/v1/config/service-defaults"))
                .says(404, "Must provide both a kind and name to delete");
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/config/none-since-1-22",
        claim: "Without config entries a kind has none and one is 404 by its name, at one index with the list of intentions, which is not 1",
        source: "operator.md 3.r7, 4.1 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let list = t.api_get("/v1/config/service-defaults").is(200, "[]");
            t.check(list.index() > 1, "the index is that of an empty table");
            let index = list.index().to_string();
            t.api_get("/v1/config/service-defaults/nobody")
                .says(
                    404,
                    "Config entry not found for \"service-defaults\" / \"nobody\"",
                )
                .header_is("X-Consul-Index", &index);
            t.api_get("/v1/connect/intentions")
                .is(200, "[]")
                .header_is("X-Consul-Index", &index);
            t.send(&Request::delete("/v1/config/service-defaults/nobody"))
                .is(200, "{}");
            t.send(&Request::delete("/v1/config/service-defaults"))
                .says(404, "Must provide both a kind and name to delete");
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/config/tenancy",
        claim: "Whoever names a namespace is refused before the kind is looked at",
        source: "operator.md 4.1",
        until: Some(Version::V1_10),
        run: |t| {
            let refusal = "Bad request: Invalid query parameter: \"ns\" - Namespaces are a Consul Enterprise feature";
            t.api_get("/v1/config/conformance-kind?ns=x")
                .is(400, refusal);
            t.send(&Request::delete("/v1/config/service-defaults/nobody?ns=x"))
                .is(400, refusal);
        },
        ..Case::REAL
    },
    Case {
        id: "shaped/config/kinds",
        claim: "A kind of config entries that there is not is 500, and 400 when it is to be deleted",
        source: "operator.md 4.1.r9, 4.1.r14",
        until: Some(Version::V1_10),
        run: |t| {
            let text = "invalid config entry kind: nope";
            t.api_get("/v1/config/nope").is(500, text);
            t.api_get("/v1/config/nope/x").is(500, text);
            t.send(&Request::delete("/v1/config/nope/x")).is(400, text);
        },
        ..Case::REAL
    },
    Case {
        id: "shaped/acl/disabled",
        claim: "Where ACLs are disabled their endpoints are 401",
        source: "session.md 6; 1.22.md B6",
        needs: &[Feature::AclsOff],
        run: |t| {
            let text = "ACL support disabled";
            for path in [
                "tokens",
                "token/self",
                "policies",
                "policy/x",
                "roles",
                "auth-methods",
            ] {
                t.api_get(&format!("/v1/acl/{path}")).is(401, text);
            }
            t.api_put("/v1/acl/bootstrap", "").is(401, text);
            t.api_put("/v1/acl/policy", "{}").is(401, text);
            t.send(&Request::delete("/v1/acl/token/x")).is(401, text);
        },
        ..Case::MUST
    },
    Case {
        id: "shaped/coordinate/nodes",
        claim: "A node whose place is not known is 404 without a text, and the datacenters list the agent's own",
        source: "operator.md 2.r15, 2.r17",
        run: |t| {
            t.api_get("/v1/coordinate/node/nobody").is(404, "");
            t.api_get("/v1/coordinate/nodes").status_is(200);
            let node = t.facts().node.clone();
            t.api_get("/v1/coordinate/datacenters")
                .field_is("/0/AreaID", "wan")
                .field_is("/0/Coordinates/0/Node", node.as_str())
                .field_is("/0/Coordinates/0/Segment", "");
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/operator/raft-configuration",
        claim: "The one server leads and votes",
        source: "1.22.md part C",
        needs: &[Feature::SingleServer],
        run: |t| {
            t.api_get("/v1/operator/raft/configuration")
                .field_is("/Servers/0/Node", t.facts().node.as_str())
                .field_is("/Servers/0/Leader", true)
                .field_is("/Servers/0/Voter", true)
                .field_is("/Servers/0/ProtocolVersion", "3");
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/operator/raft-last-index-since-1-22",
        claim: "The one server is shown with the last index of its log, after its vote",
        source: "operator.md 2.r1 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: &[Feature::SingleServer],
        run: |t| {
            t.not_compared("the last index of the log grows with every write of anybody");
            let servers = t.api_get("/v1/operator/raft/configuration").json()["Servers"].clone();
            let index = servers[0]["LastIndex"].as_u64();
            t.check(index > Some(1), format!("LastIndex is {index:?}"));
        },
        ..Case::SHOULD
    },
    Case {
        id: "shaped/operator/parameters",
        claim: "The parameters of reads are looked at before the datacenter, though nothing can be waited for",
        source: "operator.md 2",
        run: |t| {
            let path = "/v1/operator/raft/configuration";
            t.api_get(&format!("{path}?dc=conformance-nowhere"))
                .is(500, "No path to datacenter");
            t.api_get(&format!("{path}?dc=conformance-nowhere&wait=x"))
                .is(400, "Invalid wait time");
            t.api_get(&format!("{path}?index=x"))
                .is(400, "Invalid index");
        },
        ..Case::REAL
    },
];
