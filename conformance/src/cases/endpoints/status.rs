//! `status/leader`, `status/peers`, `catalog/datacenters`, and what the agent says of itself: `agent/self`, `agent/members`.

use serde_json::Value;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::answer::Answer;
use crate::wire::json::squeezed;

/// The fields of `Config` in `agent/self` are these, in this order, with the values they have.
#[track_caller]
fn config_shows(t: &Trial, names: &[&str]) {
    let answer = t.api_get("/v1/agent/self").status_is(200);
    let json = answer.json();
    let fields: Vec<String> = names
        .iter()
        .map(|name| format!("{name:?}:{}", json["Config"][name]))
        .collect();
    let expected = format!("{{\"Config\":{{{}}},\"DebugConfig\":{{", fields.join(","));
    let body = String::from_utf8_lossy(&squeezed(answer.body())).into_owned();
    t.check(
        body.starts_with(&expected),
        format!("agent/self does not begin with {expected}"),
    );
}

/// The agent's own entry of `agent/members`.
#[track_caller]
fn own_member(t: &Trial) -> Value {
    let members = t.api_get("/v1/agent/members").list();
    let own = |member: &&Value| member["Name"] == t.facts().node.as_str();
    members.iter().find(own).cloned().unwrap_or_default()
}

/// A text of the form `address:port` with a port.
fn is_address(text: &str) -> bool {
    let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
    matches!(port, Some(Ok(port)) if port > 0)
}

#[track_caller]
fn text(answer: &Answer) -> String {
    answer.json().as_str().unwrap_or_default().to_owned()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "status/leader/address-of-a-server",
        claim: "status/leader is the address of one of the servers that status/peers lists, as JSON text",
        source: "session.md 4.5",
        run: |t| {
            let leader = t.api_get("/v1/status/leader");
            let address = text(&leader);
            leader.is(200, &format!("{address:?}"));
            t.check(is_address(&address), format!("{address:?} is no address"));
            let peers = t.api_get("/v1/status/peers").strings();
            t.check(
                peers.contains(&address),
                format!("{address} is not among {peers:?}"),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "status/leader/not-the-http-address",
        claim: "The leader's address is that of its servers' port, not of the HTTP API",
        source: "session.md 4.5",
        run: |t| {
            let leader = text(&t.api_get("/v1/status/leader"));
            t.check(leader != t.host(), format!("both are {leader}"));
        },
        ..Case::REAL
    },
    Case {
        id: "status/leader/never-blocks",
        claim: "status/leader accepts an index and does not block on it",
        source: "session.md 0.7, 4.5",
        run: |t| {
            let answer = t.api_get("/v1/status/leader?index=4611686018427387904&wait=60s");
            t.check(
                answer.took() < std::time::Duration::from_secs(30),
                "it blocked",
            );
            t.same(
                "the leader",
                text(&answer),
                text(&t.api_get("/v1/status/leader")),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "status/peers/of-a-single-server",
        claim: "The peers of a single server are its leader alone",
        source: "session.md 4.5",
        needs: &[Feature::SingleServer],
        run: |t| {
            let leader = text(&t.api_get("/v1/status/leader"));
            t.api_get("/v1/status/peers")
                .is(200, &format!("[{leader:?}]"));
        },
        ..Case::MUST
    },
    Case {
        id: "catalog/datacenters/own",
        claim: "catalog/datacenters lists the agent's own datacenter",
        source: "session.md 4.5",
        needs: &[Feature::SingleServer],
        run: |t| {
            let datacenter = &t.facts().datacenter;
            t.check(!datacenter.is_empty(), "the agent names no datacenter");
            t.api_get("/v1/catalog/datacenters")
                .is(200, &format!("[{datacenter:?}]"));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/self/config",
        claim: "agent/self begins with Config: datacenter, node name and id, revision, whether it is a server, version",
        source: "session.md 4.5; 1.22.md B4.4 (until 1.10.0 [H])",
        until: Some(Version::V1_10),
        run: |t| {
            config_shows(
                t,
                &[
                    "Datacenter",
                    "NodeName",
                    "NodeID",
                    "Revision",
                    "Server",
                    "Version",
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/self/config-since-1-13",
        claim: "Config in agent/self also has the primary datacenter and the build date",
        source: "1.22.md B4.4 (PrimaryDatacenter 1.10/1.11 [H], BuildDate 1.13.0 [H], until 1.22.0 [D])",
        since: Version::V1_13,
        until: Some(Version::V1_22),
        run: |t| {
            config_shows(
                t,
                &[
                    "Datacenter",
                    "PrimaryDatacenter",
                    "NodeName",
                    "NodeID",
                    "Revision",
                    "Server",
                    "Version",
                    "BuildDate",
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/self/config-since-1-22",
        claim: "Config in agent/self also has the address that the agent is bound to",
        source: "1.22.md B4.4 (since 1.22.0 [D])",
        since: Version::V1_22,
        run: |t| {
            config_shows(
                t,
                &[
                    "Datacenter",
                    "PrimaryDatacenter",
                    "NodeName",
                    "NodeID",
                    "Revision",
                    "Server",
                    "Version",
                    "BuildDate",
                    "BindAddr",
                ],
            );
            let bound = t.api_get("/v1/agent/self").json()["Config"]["BindAddr"].clone();
            t.check(
                bound.as_str().is_some_and(|text| !text.is_empty()),
                "BindAddr is empty",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/self/names-the-node",
        claim: "Config in agent/self names a node that the catalog knows under the same id and datacenter",
        source: "session.md 4.5, trap 30",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let config = t.api_get("/v1/agent/self").json()["Config"].clone();
            let name = config["NodeName"].as_str().unwrap_or_default();
            let node = t.api_get(&format!("/v1/catalog/node/{name}")).json()["Node"].clone();
            for (here, there) in [
                ("NodeName", "Node"),
                ("NodeID", "ID"),
                ("Datacenter", "Datacenter"),
            ] {
                t.check(config[here].is_string(), format!("{here} is no text"));
                t.same(here, config[here].clone(), node[there].clone());
            }
        },
        ..Case::MUST
    },
    Case {
        id: "agent/self/parts",
        claim: "agent/self also has the debug configuration, the coordinate, the own member, statistics and metadata",
        source: "session.md 4.5",
        run: |t| {
            let json = t.api_get("/v1/agent/self").json();
            for part in ["Config", "DebugConfig", "Coord", "Member", "Stats", "Meta"] {
                t.check(json[part].is_object(), format!("{part} is no object"));
            }
            t.same("Member", json["Member"].clone(), own_member(t));
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/self/statistics",
        claim: "The statistics of a server have sections for agent, build, consul, raft, runtime and both serf pools",
        source: "session.md 4.5",
        run: |t| {
            let stats = t.api_get("/v1/agent/self").json()["Stats"].clone();
            for section in [
                "agent", "build", "consul", "raft", "runtime", "serf_lan", "serf_wan",
            ] {
                t.check(
                    stats[section].is_object(),
                    format!("there is no section {section}"),
                );
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/self/settings",
        claim: "DebugConfig shows the agent's own settings: its node, addresses as URLs, ports, limits and times as Go prints them",
        source: "operator.md 8",
        needs: &[Feature::SingleServer],
        run: |t| {
            let agent = t.api_get("/v1/agent/self").json();
            let settings = |name: &str| agent["DebugConfig"][name].clone();
            for name in ["Datacenter", "NodeName", "NodeID", "Version", "Revision"] {
                t.same(name, settings(name), agent["Config"][name].clone());
            }
            let member = &agent["Member"];
            t.same(
                "SerfPortLAN",
                settings("SerfPortLAN"),
                member["Port"].clone(),
            );
            let (address, port) = (&member["Addr"], &member["Port"]);
            let lan = format!("tcp://{}:{port}", address.as_str().unwrap_or_default());
            t.same("LAN", settings("SerfAdvertiseAddrLAN"), lan.into());
            let leader = text(&t.api_get("/v1/status/leader"));
            t.same(
                "RPC",
                settings("RPCAdvertiseAddr"),
                format!("tcp://{leader}").into(),
            );
            t.same("ServerMode", settings("ServerMode"), true.into());
            t.same("ACLsEnabled", settings("ACLsEnabled"), false.into());
            t.same("DNSDomain", settings("DNSDomain"), "consul.".into());
            for (name, is_right) in [
                ("BindAddr", Value::is_string as fn(&Value) -> bool),
                ("ClientAddrs", Value::is_array),
                ("HTTPAddrs", Value::is_array),
                ("HTTPSAddrs", Value::is_array),
                ("GRPCAddrs", Value::is_array),
                ("DNSAddrs", Value::is_array),
                ("HTTPPort", Value::is_i64),
                ("GRPCPort", Value::is_i64),
                ("ServerPort", Value::is_i64),
                ("SerfAdvertiseAddrWAN", Value::is_string),
                ("TaggedAddresses", Value::is_object),
                ("NodeMeta", Value::is_object),
                ("Logging", Value::is_object),
                ("KVMaxValueSize", Value::is_u64),
                ("TxnMaxReqLen", Value::is_u64),
                ("HTTPMaxConnsPerClient", Value::is_u64),
                ("BootstrapExpect", Value::is_u64),
                ("SessionTTLMin", Value::is_string),
                ("DefaultQueryTime", Value::is_string),
                ("MaxQueryTime", Value::is_string),
                ("AEInterval", Value::is_string),
                ("CheckUpdateInterval", Value::is_string),
                ("DataDir", Value::is_string),
                ("ConnectEnabled", Value::is_boolean),
                ("DevMode", Value::is_boolean),
            ] {
                let value = settings(name);
                t.check(is_right(&value), format!("{name} is {value}"));
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/self/settings-of-later-releases",
        claim: "DebugConfig has the settings that later releases added, and those of ACLs, TLS and the UI inside of one each",
        source: "operator.md 8 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        run: |t| {
            let agent = t.api_get("/v1/agent/self").json();
            let settings = agent["DebugConfig"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            for name in [
                "ACLResolverSettings",
                "ACLTokens",
                "AutoReloadConfig",
                "BuildDate",
                "DisableKVKeyValidation",
                "Experiments",
                "GRPCTLSAddrs",
                "GRPCTLSPort",
                "HTTPMaxHeaderBytes",
                "Locality",
                "PeeringEnabled",
                "RPCClientTimeout",
                "ReadReplica",
                "Reporting",
                "RequestLimitsMode",
                "TLS",
                "UIConfig",
                "UseStreamingBackend",
            ] {
                t.check(settings.contains_key(name), format!("{name} is not shown"));
            }
            for name in ["ACLDatacenter", "CAFile", "EnableUI", "NonVotingServer"] {
                t.check(!settings.contains_key(name), format!("{name} is shown"));
            }
            let built = settings["BuildDate"].as_str().unwrap_or_default();
            t.check(
                built.ends_with(" +0000 UTC"),
                format!("it was built {built}"),
            );
            t.same(
                "an unset limit",
                settings["HTTPMaxHeaderBytes"].as_u64(),
                Some(0),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/self/settings-as-configured",
        claim: "DebugConfig shows what was configured",
        source: "operator.md 8",
        settings: r#"{"node_meta": {"rack": "r1"}, "session_ttl_min": "5s", "limits": {"http_max_conns_per_client": 77},
            "check_output_max_size": 5, "http_config": {"response_headers": {"A": "b"}, "block_endpoints": ["/v1/operator"]}}"#,
        run: |t| {
            t.api_get("/v1/agent/self")
                .field_is("/DebugConfig/NodeMeta", serde_json::json!({"rack": "r1"}))
                .field_is("/DebugConfig/SessionTTLMin", "5s")
                .field_is("/DebugConfig/HTTPMaxConnsPerClient", 77)
                .field_is("/DebugConfig/CheckOutputMaxSize", 5)
                .field_is(
                    "/DebugConfig/HTTPBlockEndpoints",
                    serde_json::json!(["/v1/operator"]),
                )
                .field_is(
                    "/DebugConfig/HTTPResponseHeaders",
                    serde_json::json!({"A": "b"}),
                )
                .field_is("/Meta/rack", "r1")
                .field_is("/Meta/consul-network-segment", "");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/self/version-in-metadata-since-1-16-1",
        claim: "The metadata of the agent's node have the version",
        source: "operator.md 8; 1.22.md B4.1 (1.16.1 [D])",
        since: Version::new(1, 16, 1),
        run: |t| {
            let agent = t.api_get("/v1/agent/self").json();
            let version = &agent["Config"]["Version"];
            t.same("version", &agent["Meta"]["consul-version"], version);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/members/build-and-intentions-since-1-22",
        claim: "The tags of a server tell its build with the revision of agent/self, and that it knows intentions as config entries",
        source: "operator.md 8; 1.22.md B4.4 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: &[Feature::SingleServer],
        run: |t| {
            let member = own_member(t);
            let config = t.api_get("/v1/agent/self").json()["Config"].clone();
            let part = |name: &str| config[name].as_str().unwrap_or_default().to_owned();
            let build = format!("{}:{}", part("Version"), part("Revision"));
            t.same("build", member["Tags"]["build"].as_str(), Some(&build[..]));
            t.same("ft_si", member["Tags"]["ft_si"].as_str(), Some("1"));
        },
        ..Case::REAL
    },
    Case {
        id: "agent/self/counts-services-and-checks",
        claim: "The statistics count the agent's own services, its checks, and those of them that have a TTL",
        source: "operator.md 8",
        needs: &[Feature::OwnServer, Feature::AgentRegistration],
        run: |t| {
            let service = serde_json::json!({"Name": t.node("s"), "Check": {"TTL": "9s"}});
            t.api_put("/v1/agent/service/register", service.to_string())
                .status_is(200);
            let check =
                serde_json::json!({"Name": t.node("c"), "TCP": "127.0.0.1:1", "Interval": "9s"});
            t.api_put("/v1/agent/check/register", check.to_string())
                .status_is(200);
            t.api_get("/v1/agent/self").field_is(
                "/Stats/agent",
                serde_json::json!({"check_monitors": "0", "check_ttls": "1", "checks": "2", "services": "1"}),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/members/own",
        claim: "agent/members shows the agent itself as an alive server of its datacenter, field by field in this order",
        source: "session.md 4.5",
        needs: &[Feature::SingleServer],
        run: |t| {
            let member = own_member(t);
            t.same("Status", member["Status"].as_u64(), Some(1));
            t.same("role", member["Tags"]["role"].as_str(), Some("consul"));
            let datacenter = t.facts().datacenter.as_str();
            t.same("dc", member["Tags"]["dc"].as_str(), Some(datacenter));
            let names = [
                "Name",
                "Addr",
                "Port",
                "Tags",
                "Status",
                "ProtocolMin",
                "ProtocolMax",
                "ProtocolCur",
                "DelegateMin",
                "DelegateMax",
                "DelegateCur",
            ];
            // Tags are ordered by name, here and there.
            let fields: Vec<String> = names
                .iter()
                .map(|name| format!("{name:?}:{}", member[name]))
                .collect();
            t.api_get("/v1/agent/members")
                .is(200, &format!("[{{{}}}]", fields.join(",")));
        },
        ..Case::MUST
    },
    Case {
        id: "agent/members/tags",
        claim: "The tags of a server tell its node id, the port that status/leader shows, and its protocol versions",
        source: "session.md 4.5",
        needs: &[Feature::SingleServer],
        run: |t| {
            let member = own_member(t);
            let tags = &member["Tags"];
            let config = t.api_get("/v1/agent/self").json()["Config"].clone();
            t.same("id", tags["id"].clone(), config["NodeID"].clone());
            let leader = text(&t.api_get("/v1/status/leader"));
            let port = leader.rsplit_once(':').map(|(_, port)| port);
            t.same("port", tags["port"].as_str(), port);
            for name in ["vsn", "vsn_min", "vsn_max", "raft_vsn"] {
                let number = tags[name].as_str().map(str::parse::<u8>);
                t.check(
                    matches!(number, Some(Ok(_))),
                    format!("{name} is no number"),
                );
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/members/pools",
        claim: "?wan shows the agent with its datacenter behind its name; all segments may be asked for and no single one",
        source: "session.md 4.5.r11",
        needs: &[Feature::SingleServer],
        run: |t| {
            let own = own_member(t);
            let name = |member: &Value| member["Name"].as_str().unwrap_or_default().to_owned();
            let dc = own["Tags"]["dc"].as_str().unwrap_or_default();
            let both = format!("{}.{dc}", name(&own));
            for query in ["wan=1", "wan=1&segment=", "wan=1&segment=_all"] {
                let listed = t.api_get(&format!("/v1/agent/members?{query}")).list();
                let names: Vec<String> = listed.iter().map(name).collect();
                t.same(query, names, vec![both.clone()]);
            }
            t.api_get("/v1/agent/members?segment=_all").status_is(200);
            t.api_get("/v1/agent/members?wan=1&segment=x")
                .is(400, "Cannot provide a segment with wan=true");
            t.api_get("/v1/agent/members?segment=x").is(
                500,
                "Network segments are not supported in this version of Consul",
            );
        },
        ..Case::SHOULD
    },
];
