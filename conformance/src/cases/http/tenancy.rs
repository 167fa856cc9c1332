//! Datacenters, namespaces, partitions, and parameters that say nothing on KV (kv.md 6.2).

use serde_json::json;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// The texts about namespaces and partitions, without what stands before them in some versions.
const NAMESPACE: &str =
    "Invalid query parameter: \"ns\" - Namespaces are a Consul Enterprise feature";
const NAMESPACE_HEADER: &str =
    "Invalid header: \"X-Consul-Namespace\" - Namespaces are a Consul Enterprise feature";
const PARTITION: &str =
    "Invalid query parameter: \"partition\" - Partitions are a Consul Enterprise feature";
const PARTITION_HEADER: &str =
    "Invalid header: \"X-Consul-Partition\" - Partitions are a Consul Enterprise feature";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/tenancy/own-datacenter",
        claim: "dc with the server's own datacenter, or empty, says nothing",
        source: "kv.md 6.2",
        run: |t| {
            let key = t.key("k");
            let own = format!("dc={}", t.facts().datacenter);
            t.put(&key, &own, "v").is(200, "true");
            t.get(&key, &own).entry().value_is("v");
            t.get(&key, "dc=").entry().value_is("v");
            t.delete(&key, &own).is(200, "true");
        },
        ..Case::MUST
    },
    Case {
        id: "http/tenancy/unknown-datacenter-is-500",
        claim: "dc with a datacenter that does not exist is 500 `No path to datacenter`, for reads, writes and transactions",
        source: "kv.md 6.2",
        run: |t| {
            let (key, query) = (t.key("k"), "dc=conformance-nowhere");
            let text = "No path to datacenter";
            t.put(&key, "", "v").is(200, "true");
            for read in ["", "raw&", "recurse&", "keys&"] {
                t.get(&key, &format!("{read}{query}")).is(500, text);
            }
            t.put(&key, query, "w").is(500, text);
            t.delete(&key, query).is(500, text);
            t.delete(&key, &format!("recurse&{query}")).is(500, text);
            let target = format!("/v1/txn?{query}");
            t.api_put(&target, "[]").is(500, text);
            let set = json!([{"KV": {"Verb": "set", "Key": key, "Value": "dw=="}}]);
            t.api_put(&target, set.to_string()).is(500, text);
            t.get(&key, "raw").is(200, "v");
        },
        ..Case::MUST
    },
    Case {
        id: "http/tenancy/first-datacenter-counts",
        claim: "Of two dc the first counts",
        source: "kv.md 2.1, 6.2",
        run: |t| {
            let (key, own) = (t.key("k"), &t.facts().datacenter);
            t.get(&key, &format!("dc=conformance-nowhere&dc={own}"))
                .is(500, "No path to datacenter");
            t.get(&key, &format!("dc={own}&dc=conformance-nowhere"))
                .is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/datacenter-says-nothing",
        claim: "The parameter `datacenter` says nothing",
        source: "kv.md 6.2",
        until: Some(Version::V1_16),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "datacenter=conformance-nowhere", "v")
                .is(200, "true");
            t.get(&key, "datacenter=conformance-nowhere")
                .entry()
                .value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/datacenter-is-dc-since-1-16",
        claim: "The parameter `datacenter` means `dc`, and counts more",
        source: "1.22.md A6.2 [D]",
        since: Version::V1_16,
        run: |t| {
            let (key, own) = (t.key("k"), &t.facts().datacenter);
            let text = "No path to datacenter";
            t.put(&key, "datacenter=conformance-nowhere", "v")
                .is(500, text);
            t.get(&key, &format!("dc={own}&datacenter=conformance-nowhere"))
                .is(500, text);
            t.get(&key, &format!("dc=conformance-nowhere&datacenter={own}"))
                .is(404, "");
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/tenancy/namespace-is-400",
        claim: "A namespace, in the query or in a header, is 400 for every KV request, and nothing is written",
        source: "kv.md 6.2",
        run: |t| {
            let key = t.key("k");
            for name in ["foo", "default", "*"] {
                namespace_is_refused(t, name);
            }
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "http/tenancy/namespace-words",
        claim: "The whole text about a namespace begins with `Bad request: `",
        source: "kv.md 6.2",
        until: Some(Version::V1_13),
        run: |t| namespace_words(t, "Bad request: "),
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/namespace-words-since-1-13",
        claim: "The whole text about a namespace begins with `Invalid`",
        source: "1.22.md A6.2 [H]",
        since: Version::V1_13,
        run: |t| namespace_words(t, ""),
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/empty-namespace-says-nothing",
        claim: "An empty namespace, in the query or in a header, says nothing",
        source: "kv.md 6.2",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "ns=", "v").is(200, "true");
            let request = Request::get(&format!("/v1/kv/{key}?ns"));
            let answer = t.send(&request.header("X-Consul-Namespace", ""));
            answer.entry().value_is("v");
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/tenancy/transactions-have-no-namespace",
        claim: "A transaction takes no notice of a namespace, be it a parameter, a header or a field",
        source: "kv.md 6.2",
        until: Some(Version::V1_11),
        run: |t| {
            let key = t.key("k");
            let set =
                json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg==", "Namespace": "x"}}]);
            let request = Request::put("/v1/txn?ns=x", set.to_string());
            t.send(&request.header("X-Consul-Namespace", "foo"))
                .status_is(200);
            t.get(&key, "raw").is(200, "v");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/partition-says-nothing",
        claim: "A partition, in the query or in a header, says nothing",
        source: "kv.md 6.2",
        until: Some(Version::V1_11),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "partition=x", "v").is(200, "true");
            let request = Request::get(&format!("/v1/kv/{key}?partition=default"));
            let answer = t.send(&request.header("X-Consul-Partition", "foo"));
            answer.entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/partition-is-400-since-1-11",
        claim: "A partition, in the query or in a header, is 400, after a namespace",
        source: "1.22.md A6.2 [H]; 1.22.md A6.r3",
        since: Version::V1_11,
        run: |t| {
            let target = format!("/v1/kv/{}", t.key("k"));
            let request =
                |method: &str, query: &str| Request::new(method, &format!("{target}{query}"));
            for method in ["GET", "PUT", "DELETE"] {
                t.send(&request(method, "?partition=x"))
                    .says(400, PARTITION);
                t.send(&request(method, "").header("X-Consul-Partition", "x"))
                    .says(400, PARTITION_HEADER);
                t.send(&request(method, "?partition=x&ns=x"))
                    .says(400, NAMESPACE);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/other-names-say-nothing",
        claim: "Only `ns` is a namespace: `namespace` and `ap` say nothing",
        source: "1.22.md A6.2 [S]; 1.22.md A6.r4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "namespace=x&ap=y", "v").is(200, "true");
            t.get(&key, "namespace=x&ap=y").entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/unknown-parameters-say-nothing",
        claim: "filter, near, node-meta and unknown parameters say nothing on KV, even when they are nonsense",
        source: "kv.md 6.2",
        run: |t| {
            let key = t.key("k");
            let query = "filter=bad(&near=_agent&node-meta=a:b&bogus=1&wait=";
            t.put(&key, query, "v").is(200, "true");
            t.get(&key, query).entry().value_is("v");
            let keys = t.get(&key, &format!("keys&{query}")).strings();
            t.same("keys", keys, vec![key.clone()]);
            t.delete(&key, query).is(200, "true");
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/tenancy/semicolon-separates",
        claim: "; separates parameters like &",
        source: "kv.md 6.2",
        until: Some(Version::V1_11),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=5;cas=0", "v").is(200, "true");
            t.get(&key, "a=b;c").entry().flags_is(5);
            t.put(&key, "flags=6;cas=0", "v").is(200, "false");
            t.get(&key, "stale;raw").is(200, "v");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tenancy/semicolon-is-500-since-1-11",
        claim: "A query with ; in it is 500 with an empty body",
        source: "1.22.md A0.5 [G] [D]",
        since: Version::V1_11,
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=5;cas=0", "v").is(500, "");
            t.get(&key, "a=b;c").is(500, "");
            t.get(&key, "a=b%3Bc").is(404, "");
        },
        ..Case::REAL
    },
];

/// Every method, every form.
fn namespace_is_refused(t: &Trial, name: &str) {
    let target = format!("/v1/kv/{}", t.key("k"));
    for method in ["GET", "PUT", "DELETE"] {
        for query in ["", "recurse&"] {
            let target = format!("{target}?{query}ns={name}");
            t.send(&Request::new(method, &target)).says(400, NAMESPACE);
        }
        let request = Request::new(method, &target).header("x-consul-namespace", name);
        t.send(&request).says(400, NAMESPACE_HEADER);
    }
}

fn namespace_words(t: &Trial, before: &str) {
    let target = format!("/v1/kv/{}", t.key("k"));
    t.api_get(&format!("{target}?ns=x"))
        .is(400, &format!("{before}{NAMESPACE}"));
    let header = format!("{before}{NAMESPACE_HEADER}");
    let request = Request::get(&format!("{target}?ns=x")).header("X-Consul-Namespace", "y");
    t.send(&request).is(400, &header);
}
