//! What a registration holds, shown by every read of the catalog and of health, field by field (session.md 4.2, 4.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "session.md 4.2, 4.5 (until 1.10.0 [H])";
const SOURCE_NOW: &str = "1.22.md B4.5 (1.22.0 [S])";

/// What a version adds to the fields of 1.8.
struct Form {
    /// Behind the type of a check.
    check: &'static str,
    /// Behind the overriding of tags of a service of a node, up to its indexes.
    service: &'static str,
    /// Behind the port of a row of `catalog/service`.
    row_middle: &'static str,
    /// Behind the overriding of tags of such a row, up to its indexes.
    row_end: &'static str,
}

const BEFORE_1_10: Form = Form {
    check: "",
    service: r#""Proxy":{"MeshGateway":{},"Expose":{}},"Connect":{},"#,
    row_middle: "",
    row_end: r#""ServiceProxy":{"MeshGateway":{},"Expose":{}},"ServiceConnect":{},"#,
};

const SINCE_1_22: Form = Form {
    check: r#""Interval":"","Timeout":"","ExposedPort":0,"#,
    service: r#""Proxy":{"Mode":"","MeshGateway":{},"Expose":{}},"Connect":{},"PeerName":"","#,
    row_middle: r#""ServicePorts":null,"ServiceSocketPath":"","#,
    row_end: r#""ServiceProxy":{"Mode":"","MeshGateway":{},"Expose":{}},"ServiceConnect":{},"ServiceLocality":null,"#,
};

/// A node with everything that a registration may say, all under one index.
struct Full {
    node: String,
    id: String,
    service: String,
    datacenter: String,
    /// What every object ends with.
    indexes: String,
}

impl Full {
    #[track_caller]
    fn register(t: &Trial) -> Self {
        let (node, service) = (t.node("full"), t.node("service"));
        // A session's id is as good as a node's, and new.
        let id = t.session_without_delay();
        let datacenter = t.facts().datacenter.clone();
        let fields = json!({
            "ID": id, "Address": "10.0.0.1", "Datacenter": datacenter, "TaggedAddresses": {"lan": "10.0.0.2"},
            "NodeMeta": {"k": "v"},
            "Service": {
                "ID": "s1", "Service": service, "Tags": ["a", "b"], "Address": "10.0.0.3", "Meta": {"m": "1"}, "Port": 80,
                "Weights": {"Passing": 3, "Warning": 2}, "EnableTagOverride": true,
            },
            "Check": {
                "Node": node, "CheckID": "a", "Name": "of the service", "Status": "passing", "Notes": "n", "Output": "o",
                "ServiceID": "s1",
            },
            "Checks": [{"CheckID": "z", "Name": "of the node", "Status": "warning"}],
        });
        register(t, &node, &fields);
        let shown = t.api_get(&format!("/v1/catalog/node/{node}")).json();
        let index = &shown["Node"]["ModifyIndex"];
        Self {
            node,
            id,
            service,
            datacenter,
            indexes: format!(r#""CreateIndex":{index},"ModifyIndex":{index}"#),
        }
    }

    fn node(&self) -> String {
        let Self {
            node,
            id,
            datacenter,
            indexes,
            ..
        } = self;
        format!(
            r#"{{"ID":"{id}","Node":"{node}","Address":"10.0.0.1","Datacenter":"{datacenter}","TaggedAddresses":{{"lan":"10.0.0.2"}},"Meta":{{"k":"v"}},{indexes}}}"#
        )
    }

    fn service(&self, form: &Form) -> String {
        let Self {
            service, indexes, ..
        } = self;
        let added = form.service;
        format!(
            r#"{{"ID":"s1","Service":"{service}","Tags":["a","b"],"Address":"10.0.0.3","Meta":{{"m":"1"}},"Port":80,"Weights":{{"Passing":3,"Warning":2}},"EnableTagOverride":true,{added}{indexes}}}"#
        )
    }

    fn row(&self, form: &Form) -> String {
        let Self {
            node,
            id,
            service,
            datacenter,
            indexes,
        } = self;
        let (middle, end) = (form.row_middle, form.row_end);
        format!(
            r#"[{{"ID":"{id}","Node":"{node}","Address":"10.0.0.1","Datacenter":"{datacenter}","TaggedAddresses":{{"lan":"10.0.0.2"}},"NodeMeta":{{"k":"v"}},"ServiceKind":"","ServiceID":"s1","ServiceName":"{service}","ServiceTags":["a","b"],"ServiceAddress":"10.0.0.3","ServiceWeights":{{"Passing":3,"Warning":2}},"ServiceMeta":{{"m":"1"}},"ServicePort":80,{middle}"ServiceEnableTagOverride":true,{end}{indexes}}}]"#
        )
    }

    fn check_of_the_service(&self, form: &Form) -> String {
        let Self {
            node,
            service,
            indexes,
            ..
        } = self;
        let added = form.check;
        format!(
            r#"{{"Node":"{node}","CheckID":"a","Name":"of the service","Status":"passing","Notes":"n","Output":"o","ServiceID":"s1","ServiceName":"{service}","ServiceTags":["a","b"],"Type":"",{added}"Definition":{{}},{indexes}}}"#
        )
    }

    fn check_of_the_node(&self, form: &Form) -> String {
        let Self { node, indexes, .. } = self;
        let added = form.check;
        format!(
            r#"{{"Node":"{node}","CheckID":"z","Name":"of the node","Status":"warning","Notes":"","Output":"","ServiceID":"","ServiceName":"","ServiceTags":[],"Type":"",{added}"Definition":{{}},{indexes}}}"#
        )
    }
}

/// Every read of the node prints exactly this.
#[track_caller]
fn is_printed(t: &Trial, form: &Form) {
    let full = Full::register(t);
    let Full { node, service, .. } = &full;
    let (own, of_service) = (full.node(), full.service(form));
    let (of_node, check) = (
        full.check_of_the_node(form),
        full.check_of_the_service(form),
    );
    for (path, expected) in [
        (
            format!("/v1/catalog/node/{node}"),
            format!(r#"{{"Node":{own},"Services":{{"s1":{of_service}}}}}"#),
        ),
        (format!("/v1/catalog/service/{service}"), full.row(form)),
        (
            format!("/v1/health/node/{node}"),
            format!("[{check},{of_node}]"),
        ),
        (format!("/v1/health/checks/{service}"), format!("[{check}]")),
        (
            format!("/v1/health/service/{service}"),
            format!(r#"[{{"Node":{own},"Service":{of_service},"Checks":[{of_node},{check}]}}]"#),
        ),
    ] {
        t.api_get(&path).is(200, &expected);
    }
    let filtered = format!("/v1/catalog/nodes?filter=Node==%22{node}%22");
    t.api_get(&filtered).is(200, &format!("[{own}]"));
    let listed = t.api_get("/v1/catalog/services").json();
    let mut tags: Vec<&str> = listed[service]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // They come in an order of chance.
    tags.sort_unstable();
    t.same("the tags", tags, vec!["a", "b"]);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/fresh/dev-agent",
        claim: "A new agent in development mode has its own node at 127.0.0.1, the service consul, the check serfHealth and nothing else",
        source: "session.md 4.1; 1.22.md B4.1",
        needs: &[Feature::OwnServer, Feature::DevMode],
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let nodes = t.api_get("/v1/catalog/nodes");
            t.same("the number of nodes", nodes.list().len(), 1);
            nodes
                .field_is("/0/Node", t.facts().node.as_str())
                .field_is("/0/Address", "127.0.0.1");
            t.api_get("/v1/catalog/services")
                .is(200, r#"{"consul":[]}"#);
            let checks = t.api_get("/v1/health/state/any");
            t.same("the number of checks", checks.list().len(), 1);
            checks
                .field_is("/0/CheckID", "serfHealth")
                .field_is("/0/Output", "Agent alive and reachable");
            for path in ["/v1/agent/checks", "/v1/agent/services"] {
                t.api_get(path).is(200, "{}");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/fresh/indexes",
        claim: "Where there never was a key or a query their reads have the index 1, and those of the catalog a greater one",
        source: "session.md 4.1",
        needs: &[Feature::OwnServer, Feature::PreparedQueries],
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            for path in ["/v1/kv/?recurse", "/v1/query"] {
                t.same(path, t.api_get(path).index(), 1);
            }
            for path in [
                "/v1/catalog/nodes",
                "/v1/catalog/services",
                "/v1/health/state/any",
            ] {
                t.grew(path, 1, t.api_get(path).index());
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/shape/before-1-10",
        claim: "All that a registration says is printed by the reads of nodes, services and checks, with these fields in this order",
        source: SOURCE,
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| is_printed(t, &BEFORE_1_10),
        ..Case::MUST
    },
    Case {
        id: "catalog/shape/since-1-22",
        claim: "All that a registration says is printed by the reads of nodes, services and checks, with the fields of later versions between",
        source: SOURCE_NOW,
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| is_printed(t, &SINCE_1_22),
        ..Case::MUST
    },
    Case {
        id: "catalog/shape/of-a-bare-service",
        claim: "A service that says nothing has no tags, an empty list and never null, null for meta data, port 0 and weights of 1",
        source: "session.md 4.5",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            register(t, &node, &json!({"Service": {"Service": "bare"}}));
            let answer = t.api_get(&format!("/v1/catalog/node/{node}"));
            let index = answer.json()["Services"]["bare"]["ModifyIndex"].clone();
            t.same(
                "the service",
                answer.json()["Services"]["bare"].clone(),
                json!({
                    "ID": "bare", "Service": "bare", "Tags": [], "Address": "", "Meta": null, "Port": 0,
                    "Weights": {"Passing": 1, "Warning": 1}, "EnableTagOverride": false,
                    "Proxy": {"MeshGateway": {}, "Expose": {}}, "Connect": {}, "CreateIndex": index, "ModifyIndex": index,
                }),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/shape/definition-and-type",
        claim: "The TTL in a definition stays a number, and what a check asks is its type: ttl, http or tcp, and none without a definition",
        source: "session.md 4.2",
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            for (id, definition) in [
                ("none", json!({})),
                ("ttl", json!({"TTL": 5_000_000_000_u64})),
                (
                    "http",
                    json!({"HTTP": "http://127.0.0.1:1/", "Interval": "5s"}),
                ),
                ("tcp", json!({"TCP": "127.0.0.1:1", "Interval": "5s"})),
            ] {
                let check = json!({"CheckID": id, "Name": id, "Status": "passing", "Definition": definition});
                register(t, &node, &json!({"Check": check}));
            }
            let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
            let shown = |id: &str, field: &str| {
                let check = checks.iter().find(|check| check["CheckID"] == id);
                check.map(|check| check[field].clone()).unwrap_or_default()
            };
            t.same("Type", shown("none", "Type"), json!(""));
            for id in ["ttl", "http", "tcp"] {
                t.same("Type", shown(id, "Type"), json!(id));
            }
            t.same(
                "Definition",
                shown("ttl", "Definition"),
                json!({"TTL": 5_000_000_000_u64}),
            );
            let tcp = json!({"Interval": "5s", "TCP": "127.0.0.1:1"});
            t.same("Definition", shown("tcp", "Definition"), tcp);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/shape/empty-reads",
        claim: "Reads of what nobody has are empty lists, and of services an empty object",
        source: "session.md 4.5",
        run: |t| {
            t.not_compared("the indexes are those of the rows of others");
            for path in [
                "/v1/catalog/nodes?node-meta=nobody:has-this",
                "/v1/catalog/service/nobody",
                "/v1/health/node/nobody",
                "/v1/health/checks/nobody",
                "/v1/health/state/nobody",
                "/v1/health/service/nobody",
            ] {
                t.api_get(path).is(200, "[]").has_header("X-Consul-Index");
            }
            t.api_get("/v1/catalog/services?node-meta=nobody:has-this")
                .is(200, "{}");
        },
        ..Case::MUST
    },
];
