//! `?filter=`: what expressions let through, and what is said of those that are none (session.md 4.5).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "session.md 4.5";

/// A path with a filter behind it, which may hold any text.
pub(in crate::cases) fn filtered(path: &str, filter: &str) -> String {
    let mut target = format!("{path}?filter=");
    for byte in filter.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            target.push(char::from(byte));
        } else {
            target += &format!("%{byte:02X}");
        }
    }
    target
}

/// A node with an instance of a service of its own name, and a check of each; gives that name.
fn full_node(t: &Trial) -> String {
    let node = t.node("full");
    let fields = json!({
        "NodeMeta": {"env": "prod", "b-c": "2", "x.y": "3"},
        "TaggedAddresses": {"lan": "10.0.0.1"},
        "Service": {
            "ID": "full-1", "Service": node, "Tags": ["v1", "prod"], "Port": 80, "Meta": {"m": "1"},
            "TaggedAddresses": {"lan": {"Address": "10.9.9.9", "Port": 99}},
            "Weights": {"Passing": 10, "Warning": 2}, "EnableTagOverride": true,
        },
        "Checks": [
            {"CheckID": "ok", "Name": "all is well", "Status": "passing", "Output": "one\ntwo"},
            {"CheckID": "so-so", "Name": "so so", "Status": "warning", "ServiceID": "full-1"},
        ],
    });
    register(t, &node, &fields);
    node
}

/// Whether each filter lets the one row at this path through.
#[track_caller]
fn lets_through(t: &Trial, path: &str, filters: &[(&str, bool)]) {
    for (filter, expected) in filters {
        let rows = t.api_get(&filtered(path, filter)).list();
        t.same(filter, !rows.is_empty(), *expected);
    }
}

/// The filter is refused with this text behind what is always said.
#[track_caller]
fn is_refused(t: &Trial, path: &str, filter: &str, text: &str) {
    let text = format!("Failed to create boolean expression evaluator: {text}");
    t.api_get(&filtered(path, filter)).is(500, &text);
}

/// A text that is no expression, and what is said of it.
#[track_caller]
fn are_no_expressions(t: &Trial, texts: &[(&str, &str)]) {
    for (filter, text) in texts {
        is_refused(t, "/v1/catalog/nodes", filter, text);
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "filter/operators/of-text",
        claim: "A text is compared with == and !=, searched with in and contains, and matched with matches",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let name = full_node(t);
            let service = format!("/v1/catalog/service/{name}");
            let is_there = |filter: &str| (filter.replace("NAME", &name), true);
            let is_not = |filter: &str| (filter.replace("NAME", &name), false);
            for (filter, expected) in [
                is_there("Node == \"NAME\""),
                is_not("Node != \"NAME\""),
                is_there("Node==`NAME`"),
                is_there(" \t Node\n==\r\n\"NAME\" "),
            ] {
                lets_through(t, &service, &[(&filter, expected)]);
            }
            let filters = [
                ("ServiceID == full", false),
                ("full in ServiceID", true),
                ("ServiceID contains \"ll-\"", true),
                ("ServiceID not contains full", false),
                ("\"-2\" not in ServiceID", true),
                ("\"\" in ServiceID", true),
                ("ServiceID matches `^f[a-z]+-[0-9]$`", true),
                ("ServiceID matches ul", true),
                ("ServiceID not matches \"l{2}\"", false),
                ("ServiceKind == \"\"", true),
            ];
            lets_through(t, &service, &filters);
        },
        ..Case::MUST
    },
    Case {
        id: "filter/operators/of-numbers-and-flags",
        claim: "A number and a flag are compared with what their texts mean, in any base and spelling of Go",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let service = format!("/v1/catalog/service/{}", full_node(t));
            let filters = [
                ("ServicePort == 80", true),
                ("ServicePort == \"0x50\"", true),
                ("ServicePort == `0120`", true),
                ("ServicePort != 80", false),
                ("ServicePort == -80", false),
                ("ServiceWeights.Passing == 10", true),
                ("ServiceEnableTagOverride == true", true),
                ("ServiceEnableTagOverride == T", true),
                ("ServiceEnableTagOverride != 0", true),
            ];
            lets_through(t, &service, &filters);
        },
        ..Case::MUST
    },
    Case {
        id: "filter/operators/of-lists-and-maps",
        claim: "A list is asked for members, a map for names, and both whether they are empty",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let service = format!("/v1/catalog/service/{}", full_node(t));
            let filters = [
                ("v1 in ServiceTags", true),
                ("ServiceTags contains prod", true),
                ("v not in ServiceTags", true),
                ("ServiceTags is empty", false),
                ("ServiceTags is not empty", true),
                ("env in NodeMeta", true),
                ("NodeMeta not contains env", false),
                ("NodeMeta is empty", false),
                ("NodeMeta.env == prod", true),
                ("NodeMeta[\"env\"] == prod", true),
                ("NodeMeta[ `b-c` ] == 2", true),
                ("NodeMeta[\"x.y\"] == 3", true),
                ("lan in ServiceTaggedAddresses", true),
                ("ServiceTaggedAddresses.lan.Address == \"10.9.9.9\"", true),
                ("ServiceTaggedAddresses.lan.Port != 99", false),
            ];
            lets_through(t, &service, &filters);
        },
        ..Case::MUST
    },
    Case {
        id: "filter/operators/of-what-is-absent",
        claim: "Of a name that a map does not have everything holds but equality and containment, even that it matches",
        source: "session.md 4.5",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let service = format!("/v1/catalog/service/{}", full_node(t));
            let filters = [
                ("NodeMeta.none == \"\"", false),
                ("NodeMeta.none contains \"\"", false),
                ("NodeMeta.none != \"\"", true),
                ("NodeMeta.none not contains \"\"", true),
                ("NodeMeta.none matches x", true),
                ("NodeMeta.none not matches x", true),
                ("ServiceTaggedAddresses.wan.Port == 0", false),
                ("ServiceTaggedAddresses.wan.Port != 0", true),
            ];
            lets_through(t, &service, &filters);
        },
        ..Case::REAL
    },
    Case {
        id: "filter/logic/precedence",
        claim: "not binds closest, then and, then or; parentheses bind closer",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let service = format!("/v1/catalog/service/{}", full_node(t));
            let filters = [
                (
                    "ServicePort == 80 or ServicePort == 1 and ServicePort == 2",
                    true,
                ),
                (
                    "(ServicePort == 80 or ServicePort == 1) and ServicePort == 2",
                    false,
                ),
                ("not ServicePort == 1 and ServicePort == 2", false),
                ("not (ServicePort == 1 and ServicePort == 2)", true),
                ("not not ServicePort == 80", true),
                ("((ServicePort == 80))", true),
                ("( ServicePort == 80 ) and (v1 in ServiceTags)", true),
            ];
            lets_through(t, &service, &filters);
        },
        ..Case::MUST
    },
    Case {
        id: "filter/values/bare-and-quoted",
        claim: "A value may be a word, a number or a string; words of the language and dotted names are values, too",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let meta = json!({"w": "and", "d": "a.b", "n": "-1.5", "q": "a\"b", "e": "A\té"});
            register(t, &node, &json!({"NodeMeta": meta}));
            let this = |filter: &str| format!("Node == \"{node}\" and {filter}");
            for filter in [
                "Meta.w == and",
                "Meta.d == a.b",
                "Meta.d == a[\"b\"]",
                "Meta.n == -1.5",
                "Meta.q == `a\"b`",
                "Meta.q == \"a\\x22b\"",
                "Meta.e == \"\\x41\\t\\u00e9\"",
                "not in Node or and in Node or w in Meta",
            ] {
                lets_through(t, "/v1/catalog/nodes", &[(&this(filter), true)]);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "filter/fields/of-health",
        claim: "health/service filters by Node., Service. and Checks.; of the checks one has to fit",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let service = format!("/v1/health/service/{}", full_node(t));
            let filters = [
                ("Node.Meta.env == prod", true),
                ("Node.Address == \"127.0.0.1\"", true),
                ("Service.Port == 80", true),
                ("Service.TaggedAddresses.lan.Port == 99", true),
                ("v2 in Service.Tags", false),
                ("Checks.Status == warning", true),
                ("Checks.Status != warning", true),
                ("not Checks.Status == warning", false),
                ("Checks.Status == critical", false),
                ("Checks is empty", false),
                ("v1 in Checks.ServiceTags", true),
                ("Service.Proxy.Upstreams is empty", true),
                ("Service.Connect.Native == false", true),
            ];
            lets_through(t, &service, &filters);
        },
        ..Case::MUST
    },
    Case {
        id: "filter/fields/of-checks",
        claim: "The reads of checks filter by the fields of checks, except indexes and definitions",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let name = full_node(t);
            let ids = |path: &str, filter: &str| -> Vec<String> {
                let checks = t.api_get(&filtered(path, filter)).list();
                let id = checks.iter().filter_map(|check| check["CheckID"].as_str());
                id.map(str::to_owned).collect()
            };
            let of_node = format!("/v1/health/node/{name}");
            t.same(
                "Status",
                ids(&of_node, "Status == passing"),
                vec!["ok".to_owned()],
            );
            t.same(
                "Output",
                ids(&of_node, "Output matches `(?m)one$`"),
                vec!["ok".to_owned()],
            );
            t.same("no line", ids(&of_node, "Output matches `one$`"), vec![]);
            let so_so = vec!["so-so".to_owned()];
            t.same(
                "ServiceID",
                ids(&of_node, "ServiceID == \"full-1\""),
                so_so.clone(),
            );
            let of_service = format!("/v1/health/checks/{name}");
            t.same(
                "tags",
                ids(&of_service, "prod in ServiceTags"),
                so_so.clone(),
            );
            let of_all = "/v1/health/state/any";
            let own = format!("Node == \"{name}\" and Name == \"so so\"");
            t.same("any state", ids(of_all, &own), so_so);
            for field in ["ModifyIndex", "Definition"] {
                let text = format!("Selector \"{field}\" is not valid");
                is_refused(t, &of_node, &format!("{field} == 1"), &text);
                is_refused(t, &of_node, &format!("{field}.TCP == 1"), &text);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "filter/fields/of-a-nodes-services",
        claim: "catalog/node and catalog/node-services filter the services of the node, which is shown in any case",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let name = full_node(t);
            let path = format!("/v1/catalog/node/{name}");
            t.api_get(&filtered(&path, "Port == 80"))
                .field_is("/Services/full-1/Service", name.as_str());
            t.api_get(&filtered(&path, "Port == 81"))
                .field_is("/Node/Node", name.as_str())
                .field_is("/Services", json!({}));
            let path = format!("/v1/catalog/node-services/{name}");
            t.api_get(&filtered(&path, "v1 in Tags"))
                .field_is("/Services/0/Service", name.as_str());
            t.api_get(&filtered(&path, "v2 in Tags"))
                .field_is("/Node/Node", name.as_str())
                .field_is("/Services", json!([]));
        },
        ..Case::MUST
    },
    Case {
        id: "filter/errors/what-is-expected",
        claim: "A text that is no expression is 500 with the farthest place that was reached and what would have gone on there",
        source: "session.md 4.5 (texts seen on 1.8.7)",
        until: Some(Version::V1_10),
        run: |t| {
            let value = "\"-\", \"0\", \"\\\"\", \"`\", [ \\t\\r\\n], [1-9] or [a-zA-Z]";
            let name = "\"!=\", \".\", \"==\", \"[\", [ \\t\\r\\n] or [a-zA-Z0-9_]";
            let end = "\"and\", \"or\", [ \\t\\r\\n] or EOF";
            let expected =
                |place: &str, what: &str| format!("{place}: no match found, expected: {what}");
            for (filter, place, what) in [
                ("Node ==", "1:8 (7)", value),
                ("Node", "1:5 (4)", name),
                ("Node == n1 n2", "1:12 (11)", end),
                ("Node == n1 and", "1:15 (14)", "[ \\t\\r\\n]"),
                ("Node is not", "1:12 (11)", "[ \\t\\r\\n]"),
                ("Meta.1 == 1", "1:6 (5)", "[a-zA-Z]"),
                ("Node == -\n", "2:0 (9)", "\"0\" or [1-9]"),
                ("Node==`\u{fffd}` x", "1:11 (12)", end),
                (
                    "\"n\" == Node",
                    "1:5 (4)",
                    "\"in\", \"not\" or [ \\t\\r\\n]",
                ),
            ] {
                is_refused(t, "/v1/catalog/nodes", filter, &expected(place, what));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "filter/errors/what-is-wrong",
        claim: "Parentheses, strings, numbers and indexes that are not closed or not sound are named, all of them",
        source: "session.md 4.5 (texts seen on 1.8.7)",
        until: Some(Version::V1_10),
        run: |t| {
            are_no_expressions(
                t,
                &[
                    (
                        "(Node == n1",
                        "1:12 (11): rule \"grouping\": Unmatched parentheses",
                    ),
                    (
                        "Node == 01",
                        "1:10 (9): rule \"number\": Invalid number literal",
                    ),
                    (
                        "Node == 10.0.0.1",
                        "1:13 (12): rule \"number\": Invalid number literal",
                    ),
                    (
                        "Node == \"a",
                        "1:11 (10): rule \"string\": Unterminated string literal",
                    ),
                    (
                        "Node == \"\\q\"",
                        "1:9 (8): rule \"string\": invalid syntax",
                    ),
                    ("Meta[a] == 1", "1:6 (5): rule \"index\": Invalid index"),
                    (
                        "Meta[\"a\" == 1",
                        "1:10 (9): rule \"index\": Unclosed index expression",
                    ),
                    ("a in 5", "1:6 (5): rule \"match\": Invalid selector"),
                    (
                        "(Node == \"\\q\"",
                        "1:10 (9): rule \"string\": invalid syntax\n1:14 (13): rule \"grouping\": Unmatched parentheses",
                    ),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "filter/errors/claims",
        claim: "A field that is not there, an operator that it does not have and a value that it cannot have are 500, from left to right",
        source: "session.md 4.5 (texts seen on 1.8.7)",
        until: Some(Version::V1_10),
        run: |t| {
            let path = "/v1/catalog/service/nobody";
            for (filter, text) in [
                ("Nope == 1", "Selector \"Nope\" is not valid"),
                ("node == 1", "Selector \"node\" is not valid"),
                (
                    "NodeMeta.a.b == 1",
                    "Selector \"NodeMeta.a.b\" is not valid",
                ),
                (
                    "Node is empty",
                    "Invalid match operator \"Is Empty\" for selector \"Node\"",
                ),
                (
                    "NodeMeta == 1",
                    "Invalid match operator \"Equal\" for selector \"NodeMeta\"",
                ),
                (
                    "ServiceTags matches a",
                    "Invalid match operator \"Matches\" for selector \"ServiceTags\"",
                ),
                (
                    "8 not in ServicePort",
                    "Invalid match operator \"Not In\" for selector \"ServicePort\"",
                ),
                (
                    "ServicePort == x and Nope == 1",
                    "Failed to coerce value \"x\" for selector \"ServicePort\": strconv.ParseInt: parsing \"x\": invalid syntax",
                ),
                (
                    "ServiceEnableTagOverride == yes",
                    "Failed to coerce value \"yes\" for selector \"ServiceEnableTagOverride\": strconv.ParseBool: parsing \"yes\": invalid syntax",
                ),
            ] {
                is_refused(t, path, filter, text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "filter/errors/regular-expressions",
        claim: "A regular expression that Go does not take is 500 with Go's words",
        source: "session.md 4.5 (texts seen on 1.8.7)",
        run: |t| {
            for (pattern, text) in [
                ("[", "missing closing ]: `[`"),
                ("(", "missing closing ): `(`"),
                ("a)", "unexpected ): `a)`"),
                ("a**", "invalid nested repetition operator: `**`"),
                ("a|*", "missing argument to repetition operator: `*`"),
                ("a{2,1}", "invalid repeat count: `{2,1}`"),
                ("[b-a]", "invalid character class range: `b-a`"),
                ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
                ("\\8", "invalid escape sequence: `\\8`"),
            ] {
                let text = format!(
                    "Failed to compile regular expression {pattern:?}: error parsing regexp: {text}"
                );
                let filter = format!("Node matches `{pattern}`");
                t.api_get(&filtered("/v1/catalog/nodes", &filter))
                    .says(500, &text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "filter/errors/place-among-others",
        claim: "Parameters of reads and the datacenter are looked at before the filter, whose error is told as one of a read",
        source: "session.md 4.5",
        run: |t| {
            let path = "/v1/catalog/service/nobody?filter=Nope==1";
            t.api_get(&format!("{path}&stale&consistent"))
                .status_is(400);
            t.api_get(&format!("{path}&dc=elsewhere"))
                .says(500, "No path to datacenter");
            t.api_get(&format!("{path}&index=1&wait=60s"))
                .says(500, "Selector \"Nope\" is not valid")
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Knownleader", "false");
            t.api_get("/v1/catalog/service/nobody?filter=&filter=Nope==1")
                .status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "filter/errors/endpoints",
        claim: "Every read of nodes, services and checks by name looks at the filter, those of names and sessions do not",
        source: "session.md 4.5",
        until: Some(Version::V1_10),
        run: |t| {
            for path in [
                "/v1/catalog/nodes",
                "/v1/catalog/node/nobody",
                "/v1/catalog/node-services/nobody",
                "/v1/catalog/service/nobody",
                "/v1/catalog/connect/nobody",
                "/v1/health/node/nobody",
                "/v1/health/checks/nobody",
                "/v1/health/service/nobody",
                "/v1/health/connect/nobody",
                "/v1/health/ingress/nobody",
                "/v1/health/state/any",
            ] {
                is_refused(t, path, "Nope == 1", "Selector \"Nope\" is not valid");
            }
            for path in [
                "/v1/catalog/services",
                "/v1/catalog/datacenters",
                "/v1/catalog/gateway-services/nobody",
                "/v1/session/list",
            ] {
                t.api_get(&filtered(path, "Nope == 1")).status_is(200);
            }
        },
        ..Case::SHOULD
    },
];
