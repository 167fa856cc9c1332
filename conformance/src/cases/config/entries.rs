//! Writing, reading and deleting entries (operator.md 4.1, 4.3).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{PATH, read, remove, set, shown, write};
use crate::wire::Request;

/// Writes an entry, and reads exactly this, indexes apart, up to 1.9.
#[track_caller]
fn kept(t: &Trial, entry: &Value, expected: &str) {
    set(t, entry);
    let name = entry["Name"].as_str().unwrap_or("global");
    let kind = entry["Kind"].as_str().unwrap_or_default();
    let answer = read(t, &format!("{kind}/{name}"));
    let end = answer.json();
    let (created, modified) = (&end["CreateIndex"], &end["ModifyIndex"]);
    let expected = expected.strip_suffix('}').unwrap_or(expected);
    answer.is(
        200,
        &format!("{expected},\"CreateIndex\":{created},\"ModifyIndex\":{modified}}}"),
    );
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/entry/write-read-delete",
        claim: "An entry is read by its name in any case, replaced as a whole, listed with its kind, and gone once deleted",
        source: "operator.md 4.1.r1, 4.1.r4 to 4.1.r6, 4.1.r10",
        needs: &[Feature::OwnServer],
        run: |t| {
            let kind = "service-defaults";
            set(
                t,
                &json!({"Kind": kind, "Name": "Web/a", "ExternalSNI": "x"}),
            );
            set(t, &json!({"Kind": kind, "Name": "api"}));
            let first = read(t, &format!("{kind}/api"));
            set(t, &json!({"Kind": kind, "Name": "api", "Protocol": "http"}));
            let second = read(t, &format!("{kind}/API"))
                .field_is("/Protocol", "http")
                .has_no_header("X-Consul-Effective-Consistency");
            t.same(
                "CreateIndex",
                &second.json()["CreateIndex"],
                &first.json()["CreateIndex"],
            );
            t.same(
                "the index",
                json!(second.index()),
                second.json()["ModifyIndex"].clone(),
            );
            let names: Vec<Value> = read(t, kind)
                .list()
                .iter()
                .map(|entry| entry["Name"].clone())
                .collect();
            t.same("the names", names, vec![json!("api"), json!("Web/a")]);
            remove(t, &format!("{kind}/WEB/A")).is(200, "{}");
            let index = read(t, kind).index();
            read(t, &format!("{kind}/Web/a"))
                .is(
                    404,
                    "Config entry not found for \"service-defaults\" / \"Web/a\"",
                )
                .header_is("X-Consul-Index", &index.to_string());
            t.same("the entries", read(t, kind).list().len(), 1);
        },
        ..Case::MUST
    },
    Case {
        id: "config/entry/cas",
        claim: "cas=0 writes a missing entry, another index the entry that has it; the answer says whether",
        source: "operator.md 4.1.r3, 4.1.r11",
        needs: &[Feature::OwnServer],
        run: |t| {
            let with = |cas: &str, protocol: &str| {
                let entry = json!({"Kind": "service-defaults", "Name": "a", "Protocol": protocol});
                t.api_put(&format!("{PATH}?cas={cas}"), entry.to_string())
            };
            with("0", "http").is(200, "true");
            with("0", "grpc").is(200, "false");
            let answer = read(t, "service-defaults/a").field_is("/Protocol", "http");
            let index = answer.index();
            with("100000000000", "grpc").is(200, "false");
            with(&index.to_string(), "grpc").is(200, "true");
            read(t, "service-defaults/a").field_is("/Protocol", "grpc");
            with("abc", "tcp").says(500, "strconv.ParseUint: parsing \"abc\": invalid syntax");
        },
        ..Case::MUST
    },
    Case {
        id: "config/entry/delete-ignores-cas",
        claim: "A deletion ignores cas",
        source: "operator.md 4.1.r12",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-defaults", "Name": "a"}));
            remove(t, "service-defaults/a?cas=1").is(200, "{}");
            read(t, "service-defaults/a").status_is(404);
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/delete-cas",
        claim: "A deletion with cas deletes the entry that has this index, and says whether; a missing one is deleted",
        source: "operator.md 4.1.r12",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-defaults", "Name": "a"}));
            let index = read(t, "service-defaults/a").index();
            let remove = |cas: u64| remove(t, &format!("service-defaults/a?cas={cas}"));
            remove(index - 1).is(200, "false");
            remove(index).is(200, "true");
            remove(index).is(200, "true");
        },
        ..Case::MUST
    },
    Case {
        id: "config/entry/identical-is-written",
        claim: "Writing an entry once more moves its index",
        source: "operator.md 4.1.r2",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            let entry = json!({"Kind": "service-defaults", "Name": "a"});
            set(t, &entry);
            let before = read(t, "service-defaults/a").index();
            set(t, &entry);
            t.grew("the index", before, read(t, "service-defaults/a").index());
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/identical-is-not-written",
        claim: "Writing an entry once more changes nothing",
        source: "operator.md 4.1.r2",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let entry = json!({"Kind": "service-defaults", "Name": "a"});
            set(t, &entry);
            let before = read(t, "service-defaults/a").index();
            set(t, &entry);
            t.same("the index", read(t, "service-defaults/a").index(), before);
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/paths",
        claim: "Without a kind the list is empty; a slash asks for the name after it; the methods are those of the paths",
        source: "operator.md 4.1.r5, 4.1.r7 to 4.1.r9, 4.1.r13 to 4.1.r15",
        needs: &[Feature::OwnServer],
        run: |t| {
            read(t, "").is(200, "[]");
            read(t, "service-defaults/")
                .is(
                    404,
                    "Config entry not found for \"service-defaults\" / \"\"",
                )
                .has_header("X-Consul-Index");
            read(t, "bogus").is(500, "invalid config entry kind: bogus");
            read(t, "service-defaults?dc=nope")
                .is(500, "No path to datacenter")
                .has_no_header("X-Consul-Index");
            t.api_get(PATH)
                .status_is(405)
                .header_is("Allow", "OPTIONS,PUT");
            t.send(&Request::new("POST", "/v1/config/service-defaults/a"))
                .status_is(405)
                .header_is("Allow", "OPTIONS,GET,DELETE");
            for path in ["", "service-defaults", "bogus"] {
                remove(t, path).is(404, "Must provide both a kind and name to delete");
            }
            remove(t, "bogus/a").is(400, "invalid config entry kind: bogus");
            remove(t, "service-defaults/a?dc=nope").is(200, "{}");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/entry/of-all-kinds",
        claim: "Without a kind all entries are listed, by kind and then by name, and any change wakes who waits for them",
        source: "operator.md 4.1.r7",
        needs: &[Feature::OwnServer],
        run: |t| {
            for (kind, name) in [
                ("service-resolver", "b"),
                ("service-defaults", "Z"),
                ("service-resolver", "A"),
                ("service-defaults", "c"),
            ] {
                set(t, &json!({"Kind": kind, "Name": name}));
            }
            let all = read(t, "");
            let names: Vec<_> = all
                .list()
                .iter()
                .map(|entry| entry["Name"].clone())
                .collect();
            t.same(
                "the names",
                names,
                vec![json!("c"), json!("Z"), json!("A"), json!("b")],
            );
            let waits = t.start(&Request::get(&format!(
                "{PATH}/?index={}&wait=60s",
                all.index()
            )));
            t.still_blocked(&waits);
            set(t, &json!({"Kind": "ingress-gateway", "Name": "g"}));
            t.same("how many", waits.answer().list().len(), 5);
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/deletion-looks-at-its-path-first",
        claim: "A deletion needs a kind and a slash, then a known kind, and then no namespace; a write is decoded before",
        source: "operator.md 4.1.r13, 4.1.r13b, 4.1.r14",
        run: |t| {
            const NAMESPACE: &str = "Invalid query parameter: \"ns\"";
            remove(t, "service-defaults/").is(200, "{}");
            remove(t, "service-defaults/?ns=a").says(400, NAMESPACE);
            remove(t, "bogus/?ns=a").is(400, "invalid config entry kind: bogus");
            remove(t, "bogus?ns=a").is(404, "Must provide both a kind and name to delete");
            t.api_put(&format!("{PATH}?ns=a"), r#"{"Kind":"bogus"}"#)
                .says(400, "invalid config entry kind: bogus");
            t.api_put(
                &format!("{PATH}?ns=a&cas=x"),
                r#"{"Kind":"service-defaults"}"#,
            )
            .says(400, NAMESPACE);
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/shown-as-1-8",
        claim: "Each kind has its fields in their order, and those without a value as 1.8 shows them",
        source: "operator.md 4.3.r1 to 4.3.r8",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            kept(
                t,
                &json!({"Kind": "service-defaults", "Name": "a", "Meta": {"b": 1, "a": "x"}, "ExternalSNI": "e", "Expose": {"Checks": true, "Paths": [{"Path": "/"}]}}),
                r#"{"Kind":"service-defaults","Name":"a","Protocol":"","MeshGateway":{},"Expose":{"Checks":true,"Paths":[{"Path":"/","ParsedFromCheck":false}]},"ExternalSNI":"e","Meta":{"a":"x","b":"1"}}"#,
            );
            kept(
                t,
                &json!({"Kind": "proxy-defaults"}),
                r#"{"Kind":"proxy-defaults","Name":"global","Config":null,"MeshGateway":{},"Expose":{}}"#,
            );
            kept(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "HTTP", "b": 1.0, "a": [2], "c": [1, 2]}, "MeshGateway": {"Mode": "local"}}),
                r#"{"Kind":"proxy-defaults","Name":"global","Config":{"a":2,"b":1,"c":[1,2],"protocol":"HTTP"},"MeshGateway":{"Mode":"local"},"Expose":{}}"#,
            );
            kept(
                t,
                &json!({"Kind": "service-resolver", "Name": "r", "connect_timeout": "12s", "default_subset": "v1", "subsets": {"v1": {"filter": "a == b", "only_passing": "true"}}, "failover": {"*": {"datacenters": "dc2"}}}),
                r#"{"ConnectTimeout":"12s","Kind":"service-resolver","Name":"r","DefaultSubset":"v1","Subsets":{"v1":{"Filter":"a == b","OnlyPassing":true}},"Failover":{"*":{"Datacenters":["dc2"]}}}"#,
            );
            kept(
                t,
                &json!({"Kind": "service-splitter", "Name": "s", "Splits": [{"Weight": 90.123}, {"Weight": "9.877", "Service": "b"}]}),
                r#"{"Kind":"service-splitter","Name":"s","Splits":[{"Weight":90.12},{"Weight":9.88,"Service":"b"}]}"#,
            );
            kept(
                t,
                &json!({"Kind": "service-router", "Name": "s"}),
                r#"{"Kind":"service-router","Name":"s","Routes":null}"#,
            );
            kept(
                t,
                &json!({"Kind": "service-router", "Name": "s", "Routes": [{"Match": {"HTTP": {"PathExact": "/e", "Header": [{"Name": "x", "Present": true, "Invert": true}], "QueryParam": [{"Name": "q", "Exact": "v"}], "Methods": ["get"]}}, "Destination": {"Service": "d", "PrefixRewrite": "/z", "RequestTimeout": "5s", "NumRetries": 5, "RetryOnConnectFailure": true, "RetryOnStatusCodes": [500]}}, {}]}),
                r#"{"Kind":"service-router","Name":"s","Routes":[{"Match":{"HTTP":{"PathExact":"/e","Header":[{"Name":"x","Present":true,"Invert":true}],"QueryParam":[{"Name":"q","Exact":"v"}],"Methods":["GET"]}},"Destination":{"RequestTimeout":"5s","Service":"d","Namespace":"default","PrefixRewrite":"/z","NumRetries":5,"RetryOnConnectFailure":true,"RetryOnStatusCodes":[500]}},{}]}"#,
            );
            kept(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "i", "Listeners": [{"Port": 1, "Protocol": "HTTP", "Services": [{"Name": "g"}, {"Name": "h", "Hosts": ["*.x"]}]}]}),
                r#"{"Kind":"ingress-gateway","Name":"i","TLS":{"Enabled":false},"Listeners":[{"Port":1,"Protocol":"http","Services":[{"Name":"g","Hosts":null},{"Name":"h","Hosts":["*.x"]}]}]}"#,
            );
            kept(
                t,
                &json!({"Kind": "terminating-gateway", "Name": "t", "Services": [{"Name": "*", "CAFile": "c", "CertFile": "x", "KeyFile": "y", "SNI": "s"}]}),
                r#"{"Kind":"terminating-gateway","Name":"t","Services":[{"Name":"*","CAFile":"c","CertFile":"x","KeyFile":"y","SNI":"s"}]}"#,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/cas-identical-since-1-22",
        claim: "A write that says what is there already succeeds, whatever index it asks for",
        source: "operator.md 4.1.r2",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let entry = json!({"Kind": "service-defaults", "Name": "a", "Protocol": "http"});
            set(t, &entry);
            let index = read(t, "service-defaults/a").index();
            let path = format!("{PATH}?cas=1");
            t.api_put(&path, entry.to_string()).is(200, "true");
            t.same("the index", read(t, "service-defaults/a").index(), index);
            let other = json!({"Kind": "service-defaults", "Name": "a", "Protocol": "grpc"});
            t.api_put(&path, other.to_string()).is(200, "false");
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/lists-of-one",
        claim: "A list of one structure in a route is shown as a list",
        source: "operator.md 4.3.r13b",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            t.not_compared("Consul writes the time into the status of routes");
            set(
                t,
                &json!({"Kind": "http-route", "Name": "r", "Rules": [{"Services": [{"Name": "web"}]}]}),
            );
            let entry = read(t, "http-route/r").json();
            let first = &entry["Rules"][0]["Services"][0]["Name"];
            t.same("the service", first.clone(), json!("web"));
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/shown-since-1-22",
        claim: "Kinds have the fields of late 2025 and a hash; intentions are sorted, with type and precedence",
        source: "operator.md 4.3.r1, 4.3.r3, 4.3.r9 to 4.3.r11",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "a", "Protocol": "http"}),
            );
            let answer = read(t, "service-defaults/a");
            t.check(answer.json()["Hash"].is_u64(), "the entry has a hash");
            t.same(
                "the entry",
                shown(&answer),
                json!({"Kind": "service-defaults", "Name": "a", "Protocol": "http", "TransparentProxy": {}, "MeshGateway": {}, "Expose": {}}),
            );
            set(t, &json!({"Kind": "proxy-defaults", "Name": "global"}));
            t.same(
                "the entry of all proxies",
                shown(&read(t, "proxy-defaults/global")),
                json!({"Kind": "proxy-defaults", "Name": "global", "Config": null, "TransparentProxy": {}, "MeshGateway": {}, "Expose": {}, "AccessLogs": {}}),
            );
            set(
                t,
                &json!({"Kind": "mesh", "TransparentProxy": {"MeshDestinationsOnly": true}}),
            );
            t.same(
                "the entry of the mesh",
                shown(&read(t, "mesh/mesh")),
                json!({"Kind": "mesh", "TransparentProxy": {"MeshDestinationsOnly": true}}),
            );
            set(
                t,
                &json!({"Kind": "exported-services", "Name": "default", "Services": [{"Name": "web", "Consumers": [{"Peer": "p"}]}]}),
            );
            t.same(
                "the exported services",
                shown(&read(t, "exported-services/default")),
                json!({"Kind": "exported-services", "Name": "default", "Services": [{"Name": "web", "Consumers": [{"Peer": "p"}]}]}),
            );
            set(
                t,
                &json!({"Kind": "service-intentions", "Name": "web", "Sources": [{"Name": "*", "Action": "deny"}, {"Name": "api", "Action": "allow", "Description": "d"}]}),
            );
            t.same(
                "the intentions",
                shown(&read(t, "service-intentions/web")),
                json!({"Kind": "service-intentions", "Name": "web", "Sources": [
                    {"Name": "api", "Action": "allow", "Precedence": 9, "Type": "consul", "Description": "d"},
                    {"Name": "*", "Action": "deny", "Precedence": 8, "Type": "consul"},
                ]}),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/only-one-of-all-proxies",
        claim: "The entry of all proxies is global, whatever name it is sent with",
        source: "operator.md 4.2.r9",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            write(t, &json!({"Kind": "proxy-defaults", "Name": "x"})).is(200, "true");
            read(t, "proxy-defaults/x").status_is(404);
            read(t, "proxy-defaults/global").field_is("/Name", "global");
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/no-filter-in-1-8",
        claim: "The list of a kind does not look at filter",
        source: "operator.md 4.1.r6",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-defaults", "Name": "api"}));
            read(t, "service-defaults?filter=zork").field_is("/0/Name", "api");
            read(t, "service-defaults?filter=Name==x").field_is("/0/Name", "api");
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/filter-since-1-22",
        claim: "A filter of the list of a kind names the fields of its entries",
        source: "operator.md 4.1.r6",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-defaults", "Name": "api"}));
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "web", "Protocol": "http"}),
            );
            let names = |filter: &str| {
                let rows = read(t, &format!("service-defaults?filter={filter}")).list();
                let names = rows.iter().map(|row| row["Name"].clone());
                names.collect::<Vec<_>>()
            };
            t.same("the entry", names("Name==api"), vec![json!("api")]);
            t.same("the entry", names("Protocol==http"), vec![json!("web")]);
            read(t, "service-defaults?filter=zork")
                .says(500, "Failed to create boolean expression evaluator");
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/namespaces-behind-the-options-of-a-read",
        claim: "A read of entries is refused for its options first, then for a namespace",
        source: "operator.md 4.1.r7b",
        run: |t| {
            for place in ["service-defaults/none", "service-defaults", ""] {
                let read = |query: &str| read(t, &format!("{place}?ns=x&{query}"));
                read("index=x").is(400, "Invalid index");
                read("wait=x").is(400, "Invalid wait time");
                read("stale&consistent").is(
                    400,
                    "Cannot specify ?stale with ?consistent, conflicting semantics.",
                );
                read("dc=nope").says(
                    400,
                    "Invalid query parameter: \"ns\" - Namespaces are a Consul Enterprise feature",
                );
            }
        },
        ..Case::REAL
    },
];
