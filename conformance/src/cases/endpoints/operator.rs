//! The operator's endpoints on a lone server of the community edition (operator.md 1 to 3).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::set;
use crate::wire::Request;

const AUTOPILOT: &str = "/v1/operator/autopilot/configuration";
const KEYRING: &str = "/v1/operator/keyring";
const PEER: &str = "/v1/operator/raft/peer";

/// A case on a server of its own, whose settings it changes.
const OWN: Case = Case {
    needs: &[Feature::OwnServer],
    ..Case::SHOULD
};

/// The settings of autopilot, with the index of their last change.
fn settings(t: &Trial) -> (Value, u64) {
    let mut settings = t.api_get(AUTOPILOT).status_is(200).json();
    let index = settings["ModifyIndex"].as_u64().unwrap_or_default();
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("ModifyIndex");
    }
    (settings, index)
}

/// A configuration that leaves most out has these thresholds afterwards.
fn replaces(t: &Trial, contact: &str, stabilization: &str) {
    let (before, _) = settings(t);
    let body = r#"{"CleanupDeadServers":false,"MaxTrailingLogs":100}"#;
    t.api_put(AUTOPILOT, body).is(200, "true");
    let (after, _) = settings(t);
    let expected = json!({
        "CleanupDeadServers": false, "LastContactThreshold": contact, "MaxTrailingLogs": 100, "MinQuorum": 0,
        "ServerStabilizationTime": stabilization, "RedundancyZoneTag": "", "DisableUpgradeMigration": false,
        "UpgradeVersionTag": "", "CreateIndex": before["CreateIndex"],
    });
    t.same("the settings", after, expected);
}

/// The text of several errors, as keyrings have it.
fn errors(t: &Trial, of_nodes: &str, has_wan: bool) -> String {
    let (node, datacenter) = (&t.facts().node, &t.facts().datacenter);
    let failed = "error: 1/1 nodes reported failure";
    let lan = format!("\t* {datacenter} (LAN) {failed}\n\t* {node}: {of_nodes}\n");
    if !has_wan {
        return format!("2 errors occurred:\n{lan}\n");
    }
    let wan = format!("\t* WAN {failed}\n\t* {node}.{datacenter}: {of_nodes}\n");
    format!("4 errors occurred:\n{wan}{lan}\n")
}

/// What 1.12 and earlier put before the texts of bad requests.
fn prefix(t: &Trial) -> &'static str {
    if t.since(Version::V1_13) {
        ""
    } else {
        "Bad request: "
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "operator/autopilot/defaults",
        claim: "A new server has these settings of autopilot, without index headers",
        source: "operator.md 1.r1",
        run: |t| {
            let answer = t.api_get(AUTOPILOT).status_is(200);
            answer.has_no_header("X-Consul-Index");
            let (settings, index) = settings(t);
            let expected = json!({
                "CleanupDeadServers": true, "LastContactThreshold": "200ms", "MaxTrailingLogs": 250, "MinQuorum": 0,
                "ServerStabilizationTime": "10s", "RedundancyZoneTag": "", "DisableUpgradeMigration": false,
                "UpgradeVersionTag": "", "CreateIndex": index,
            });
            t.same("the settings", settings, expected);
        },
        ..OWN
    },
    Case {
        id: "operator/autopilot/missing-is-zero",
        claim: "What a new configuration leaves out is zero afterwards",
        source: "operator.md 1.r2",
        until: Some(Version::V1_9),
        run: |t| replaces(t, "0s", "0s"),
        ..OWN
    },
    Case {
        id: "operator/autopilot/missing-is-default-since-1-22",
        claim: "What a new configuration leaves out has its default afterwards",
        source: "operator.md 1.r2 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        run: |t| replaces(t, "200ms", "10s"),
        ..OWN
    },
    Case {
        id: "operator/autopilot/every-write-has-an-index",
        claim: "A configuration is written and gets a new ModifyIndex even if nothing changes",
        source: "operator.md 1.r3",
        run: |t| {
            t.api_put(AUTOPILOT, "{}").is(200, "true");
            let (_, first) = settings(t);
            t.api_put(AUTOPILOT, "{}").is(200, "true");
            t.grew("the ModifyIndex", first, settings(t).1);
        },
        ..OWN
    },
    Case {
        id: "operator/autopilot/cas",
        claim: "With cas a configuration is written only over the one with this ModifyIndex, which 0 never is",
        source: "operator.md 1.r4",
        run: |t| {
            let (before, index) = settings(t);
            for stale in [0, index + 1_000_000_000] {
                let target = format!("{AUTOPILOT}?cas={stale}");
                t.api_put(&target, r#"{"MaxTrailingLogs":7}"#)
                    .is(200, "false");
            }
            t.same("the settings", settings(t), (before, index));
            let target = format!("{AUTOPILOT}?cas={index}");
            t.api_put(&target, r#"{"MaxTrailingLogs":7}"#)
                .is(200, "true");
            let (after, _) = settings(t);
            t.same("the number", after["MaxTrailingLogs"].clone(), json!(7));
        },
        ..OWN
    },
    Case {
        id: "operator/autopilot/durations",
        claim: "Durations of autopilot are Go's texts or nanoseconds, and are shown as texts",
        source: "operator.md 1.r6b",
        run: |t| {
            for (sent, shown) in [("5", "5ns"), ("1500000000", "1.5s"), ("\"-1m\"", "-1m0s")] {
                let body = format!(r#"{{"lastcontactthreshold":{sent},"CreateIndex":7}}"#);
                t.api_put(AUTOPILOT, body).is(200, "true");
                t.api_get(AUTOPILOT)
                    .field_is("/LastContactThreshold", shown);
            }
        },
        ..OWN
    },
    Case {
        id: "operator/autopilot/refusals",
        claim: "A body is looked at before cas, cas before the datacenter",
        source: "operator.md 1.r5, 1.r6; operator.md 1.r7",
        run: |t| {
            let br = prefix(t);
            let refused = |query: &str, body: &str, words: &str| {
                let text = format!("{br}Error parsing {words}");
                t.api_put(&format!("{AUTOPILOT}?{query}"), body)
                    .is(400, &text);
            };
            refused("", "", "autopilot config: EOF");
            refused("cas=x", "{", "autopilot config: unexpected EOF");
            refused(
                "",
                r#"{"Bogus":1}"#,
                r#"autopilot config: json: unknown field "Bogus""#,
            );
            refused(
                "",
                r#"{"LastContactThreshold":"abc"}"#,
                r#"autopilot config: time: invalid duration "abc""#,
            );
            let number = |text: &str| {
                format!("cas value: strconv.ParseUint: parsing {text:?}: invalid syntax")
            };
            refused("cas=abc&dc=conformance-nowhere", "{}", &number("abc"));
            refused("cas=", "{}", &number(""));
            t.api_put(&format!("{AUTOPILOT}?cas=0&dc=conformance-nowhere"), "{}")
                .is(500, "No path to datacenter");
            t.send(&Request::delete(AUTOPILOT))
                .is(405, "method DELETE not allowed")
                .header_is("Allow", "OPTIONS,GET,PUT");
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/autopilot/health",
        claim: "The one server is healthy, votes, leads, and has been stable since a moment in whole seconds",
        source: "operator.md 1.r8",
        needs: &[Feature::SingleServer],
        run: |t| {
            t.not_compared("the last index of the log grows with every write of anybody");
            let health = t.api_get("/v1/operator/autopilot/health");
            let health = health.status_is(200).has_no_header("X-Consul-Index");
            let since = health.json()["Servers"][0]["StableSince"].clone();
            let since = since.as_str().unwrap_or_default().to_owned();
            t.check(
                since.len() == "2026-11-22T04:53:04Z".len(),
                format!("since {since}"),
            );
            health
                .field_is("/Healthy", true)
                .field_is("/FailureTolerance", 0)
                .field_is("/Servers/0/Name", t.facts().node.as_str())
                .field_is("/Servers/0/SerfStatus", "alive")
                .field_is("/Servers/0/Leader", true)
                .field_is("/Servers/0/LastContact", "0s")
                .field_is("/Servers/0/LastTerm", 2)
                .field_is("/Servers/0/Healthy", true)
                .field_is("/Servers/0/Voter", true);
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/autopilot/state-since-1-9",
        claim: "The state of autopilot names the one server as leader and voter",
        source: "operator.md 1.r10 (since 1.9.0 [D])",
        since: Version::V1_9,
        needs: &[Feature::SingleServer],
        run: |t| {
            t.not_compared("the last index of the log grows with every write of anybody");
            let state = t.api_get("/v1/operator/autopilot/state").status_is(200);
            let id = state.json()["Leader"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            state
                .field_is("/Healthy", true)
                .field_is("/Voters", json!([id]))
                .field_is(&format!("/Servers/{id}/Name"), t.facts().node.as_str())
                .field_is(&format!("/Servers/{id}/Status"), "leader")
                .field_is(&format!("/Servers/{id}/NodeType"), "voter");
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/raft/peer",
        claim: "An unknown server cannot be removed; it is named by its id or its address, and one of them is needed",
        source: "operator.md 2.r2 to 2.r4",
        run: |t| {
            let br = prefix(t);
            let delete = |query: &str| t.send(&Request::delete(&format!("{PEER}{query}")));
            let text = format!(
                "{br}Must specify either ?id with the server's ID or ?address with IP:port of peer to remove"
            );
            delete("?dc=conformance-nowhere").is(400, &text);
            let text = format!("{br}Must specify only one of ?id or ?address");
            delete("?id=a&address=").is(400, &text);
            let unknown = "was not found in the Raft configuration";
            delete("?address=127.0.0.1:1").is(500, &format!("address \"127.0.0.1:1\" {unknown}"));
            delete("?id=").is(500, &format!("id \"\" {unknown}"));
            delete("?id=a%22b").is(500, &format!("id \"a\\\"b\" {unknown}"));
            delete("?id=x&dc=conformance-nowhere").is(500, "No path to datacenter");
            t.api_get(PEER).header_is("Allow", "OPTIONS,DELETE");
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/raft/last-peer",
        claim: "The last server cannot be removed",
        source: "operator.md 2.r4b",
        run: |t| {
            let address = t.api_get("/v1/status/leader").json();
            let address = address.as_str().unwrap_or_default();
            t.send(&Request::delete(&format!("{PEER}?address={address}")))
                .is(500, "Need at least one voter in configuration: {[]}");
        },
        until: Some(Version::V1_9),
        ..OWN
    },
    Case {
        id: "operator/raft/last-peer-since-1-22",
        claim: "The last server cannot be removed, in raft's later words",
        source: "operator.md 2.r4b (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        run: |t| {
            let address = t.api_get("/v1/status/leader").json();
            let address = address.as_str().unwrap_or_default();
            t.send(&Request::delete(&format!("{PEER}?address={address}")))
                .is(500, "need at least one voter in configuration: {[]}");
        },
        ..OWN
    },
    Case {
        id: "operator/raft/transfer-leader-since-1-22",
        claim: "A lone server cannot hand over its leadership, nor to a server that it does not know",
        source: "operator.md 2.r5 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: &[Feature::SingleServer],
        run: |t| {
            let path = "/v1/operator/raft/transfer-leader";
            t.send(&Request::new("POST", path))
                .is(500, "cannot find peer");
            t.send(&Request::new("POST", &format!("{path}?id=nope")))
                .is(500, "Could not find address for server id nope");
            t.api_put(path, "")
                .is(405, "method PUT not allowed")
                .header_is("Allow", "OPTIONS,POST");
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/keyring/list",
        claim: "Without encryption the list of keys is an error of each pool, or of the LAN alone; no datacenter is looked at",
        source: "operator.md 2.r6, 2.r7",
        needs: &[Feature::SingleServer],
        run: |t| {
            let empty = "Keyring is empty (encryption not enabled)";
            t.api_get(KEYRING).is(500, &errors(t, empty, true));
            t.api_get(&format!(
                "{KEYRING}?dc=conformance-nowhere&relay-factor=2&local-only="
            ))
            .is(500, &errors(t, empty, true));
            t.api_get(&format!("{KEYRING}?local-only=1"))
                .is(500, &errors(t, empty, false));
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/keyring/changes",
        claim: "Without encryption keys are neither installed nor used nor removed; one that is no base64 is told before",
        source: "operator.md 2.r9, 2.r10",
        needs: &[Feature::SingleServer],
        run: |t| {
            let datacenter = &t.facts().datacenter;
            for method in ["POST", "PUT", "DELETE"] {
                let send = |body: &str| t.send(&Request::new(method, KEYRING).body(body));
                let text = errors(t, "No keyring to modify (encryption not enabled)", true);
                for body in [r#"{"Key":"YWE="}"#, r#"{"key":"","RelayFactor":1}"#, "null"] {
                    send(body).is(500, &text);
                }
                let error = "error: illegal base64 data at input byte 1";
                let text = format!(
                    "2 errors occurred:\n\t* WAN {error}\n\t* {datacenter} (LAN) {error}\n\n"
                );
                send(r#"{"Key":"x!"}"#).is(500, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/keyring/parameters",
        claim: "The body is looked at before relay-factor, that before local-only, which is for lists alone",
        source: "operator.md 2.r8, 2.r11",
        run: |t| {
            let br = prefix(t);
            let refused = |method: &str, query: &str, body: &str, text: &str| {
                let request = Request::new(method, &format!("{KEYRING}?{query}")).body(body);
                t.send(&request).is(400, &format!("{br}{text}"));
            };
            let range = "Invalid relay-factor: Relay factor must be in range: [0, 5]";
            refused("GET", "relay-factor=9&local-only=x", "", range);
            refused("GET", "relay-factor=-1", "", range);
            refused(
                "GET",
                "relay-factor=x",
                "",
                "Error parsing relay factor: strconv.Atoi: parsing \"x\": invalid syntax",
            );
            refused(
                "GET",
                "local-only=x",
                "",
                "Error parsing local-only: strconv.ParseBool: parsing \"x\": invalid syntax",
            );
            refused("POST", "relay-factor=9", "", "Request decode failed: EOF");
            refused(
                "PUT",
                "",
                r#"{"Foo":1}"#,
                "Request decode failed: json: unknown field \"Foo\"",
            );
            let lists = "Invalid use of local-only: local-only can only be set for list requests";
            refused("DELETE", "local-only=true", "{}", lists);
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/usage/counts-since-1-22",
        claim: "operator/usage counts nodes and services, at the index of the newest of them, whatever datacenter is asked for",
        source: "operator.md 2.r12 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let node = t.node("n");
            let service = |id: &str, name: &str, kind: &str| {
                let mut service = json!({"ID": id, "Service": name, "Kind": kind, "Port": 1});
                if kind == "connect-proxy" {
                    service["Proxy"] = json!({"DestinationServiceName": "web"});
                }
                t.register(&json!({"Node": node, "Address": "10.0.0.1", "Service": service}));
            };
            service("w1", "web", "");
            service("w2", "web", "");
            service("p1", "web-proxy", "connect-proxy");
            let datacenter = t.facts().datacenter.clone();
            t.api_get("/v1/operator/usage?dc=conformance-nowhere")
                .status_is(200)
                .header_is("X-Consul-Effective-Consistency", "leader")
                .has_header("X-Consul-Index")
                .field_is(&format!("/Usage/{datacenter}/Services"), 3)
                .field_is(&format!("/Usage/{datacenter}/ServiceInstances"), 4)
                .field_is(
                    &format!("/Usage/{datacenter}/ConnectServiceInstances/connect-proxy"),
                    1,
                )
                .field_is(&format!("/Usage/{datacenter}/BillableServiceInstances"), 2)
                .field_is(&format!("/Usage/{datacenter}/Nodes"), 2);
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/usage/sleeps-through-nodes-since-1-22",
        claim: "A wait for operator/usage sleeps through a node without services, which moves no index; tenancy is refused",
        source: "operator.md 2.r12",
        since: Version::V1_22,
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let read = "/v1/operator/usage";
            let index = t.api_get(read).index();
            let waiting = t.start(&Request::get(&format!("{read}?index={index}&wait=60s")));
            let node = t.register_node("n");
            t.still_blocked(&waiting);
            t.same("the index", t.api_get(read).index(), index);
            let service =
                json!({"Node": node, "SkipNodeUpdate": true, "Service": {"Service": "s"}});
            t.register(&service);
            t.grew("the index", index, waiting.answer().index());
            t.api_get(&format!("{read}?ns=x"))
                .says(400, "Invalid query parameter: \"ns\"");
        },
        ..Case::REAL
    },
    Case {
        id: "operator/peering/waits-and-refusals-since-1-22",
        claim: "Reads of peerings wait, to no end; partitions, a deletion without a name and empty bodies are refused",
        source: "operator.md 3.r1 to 3.r4",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            for path in ["/v1/peerings", "/v1/peering/x"] {
                let wait = Duration::from_secs(2);
                let waiting = t.start(&Request::get(&format!("{path}?index=1&wait=2s")));
                t.put(&t.key("k"), "", "v").is(200, "true");
                t.still_blocked(&waiting);
                t.runs_out(&waiting, wait);
                t.api_get(&format!("{path}?partition=x"))
                    .says(400, "Invalid query parameter: \"partition\"");
            }
            t.api_get("/v1/exported-services?partition=x")
                .says(400, "Invalid query parameter: \"partition\"");
            t.send(&Request::delete("/v1/peering/"))
                .is(400, "Must specify a name to fetch.");
            for path in ["token", "establish"] {
                t.send(&Request::new("POST", &format!("/v1/peering/{path}")))
                    .is(400, "Body decoding failed: EOF");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "operator/enterprise/unknown",
        claim: "License, segments and areas are unknown paths to the community edition",
        source: "operator.md 2.r13",
        run: |t| {
            for path in ["license", "segment", "area", "area/x"] {
                t.api_get(&format!("/v1/operator/{path}"))
                    .status_is(404)
                    .has_no_header("Vary");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/enterprise/utilization-since-1-22",
        claim: "The utilization is refused by the community edition",
        source: "operator.md 2.r14 (1.22.0 [D])",
        since: Version::V1_22,
        run: |t| {
            t.api_get("/v1/operator/utilization")
                .is(404, "operator utilization requires Consul Enterprise");
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/peering/no-peers-since-1-22",
        claim: "Without peers the list is empty, a peering is unknown, and its deletion succeeds",
        source: "operator.md 3.r1 to 3.r4 (since 1.13.0 [D])",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_get("/v1/peerings")
                .is(200, "[]")
                .header_is("X-Consul-Index", "1");
            t.api_get("/v1/peering/x")
                .is(404, "Peering not found for \"x\"");
            t.api_get("/v1/peering/")
                .is(400, "Must specify a name to fetch.");
            t.send(&Request::delete("/v1/peering/x")).is(200, "");
            for (path, deed) in [
                ("token", "generating a new peering token"),
                ("establish", "establishing a peering"),
            ] {
                let request = Request::new("POST", &format!("/v1/peering/{path}")).body("{}");
                t.send(&request).is(
                    400,
                    &format!("PeerName is required in the payload when {deed}."),
                );
            }
            t.api_get("/v1/exported-services")
                .is(200, "[]")
                .has_header("X-Consul-Index");
        },
        ..Case::SHOULD
    },
    Case {
        id: "operator/exported/by-entry-since-1-22",
        claim: "exported-services lists what the entry exports, with its peers",
        source: "operator.md 3.r5",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let services = json!([{"Name": "web", "Consumers": [{"Peer": "p"}]}]);
            set(
                t,
                &json!({"Kind": "exported-services", "Name": "default", "Services": services}),
            );
            t.api_get("/v1/exported-services")
                .is(200, r#"[{"Service":"web","Consumers":{"Peers":["p"]}}]"#);
            if !t.since(Version::new(1, 22, 3)) {
                t.api_get("/v1/imported-services").status_is(404);
            }
        },
        ..Case::SHOULD
    },
];
