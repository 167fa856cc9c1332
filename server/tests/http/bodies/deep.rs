//! Bodies that are nested as deep as Consul takes them, and deeper (seen on 1.8.7).

use crate::support::{Answer, Consul};

fn put(
    consul: &Consul,
    target: &str,
    [before, open, close, behind]: [&str; 4],
    depth: usize,
) -> Answer {
    let (open, close) = (open.repeat(depth), close.repeat(depth));
    consul.put(target, format!("{before}{open}{{}}{close}{behind}"))
}

const SIDECARS: [&str; 2] = ["{\"SidecarService\":{\"Connect\":", "}}"];

#[test]
fn the_settings_of_a_proxy_are_kept_at_any_depth() {
    for consul in Consul::both() {
        for depth in [1, 200, 9_996] {
            let before = "{\"Name\":\"p\",\"Kind\":\"connect-proxy\",\"Port\":1,\
                          \"Proxy\":{\"DestinationServiceName\":\"x\",\"Config\":{\"b\":1.50,\"a\":";
            let shape = [before, "{\"a\":", "}", "}}}"];
            put(&consul, "/v1/agent/service/register", shape, depth).is(200, "");
            let (open, close) = ("{\"a\":".repeat(depth), "}".repeat(depth));
            let shown = format!("\"Config\":{{\"a\":{open}{{}}{close},\"b\":1.5}}");
            for target in [
                "/v1/agent/service/p",
                "/v1/agent/services",
                "/v1/catalog/service/p",
            ] {
                let answer = consul.get(target);
                assert!(
                    answer.text().contains(&shown),
                    "{target}: {}",
                    answer.text()
                );
            }
            // As many bytes as the square of the depth, with Consul as well.
            if depth < 1_000 {
                let pretty = consul.get("/v1/agent/service/p?pretty");
                let innermost = format!("\n{}\"a\": {{}}\n", "    ".repeat(depth + 3));
                assert!(pretty.text().contains(&innermost), "{}", pretty.text());
            }
        }
    }
}

#[test]
fn a_sidecar_of_a_sidecar_is_refused_at_any_depth() {
    for (consul, head) in Consul::both().into_iter().zip(["", "Validation failed: "]) {
        let shape = [
            "{\"Name\":\"w\",\"Port\":1,\"Connect\":",
            SIDECARS[0],
            SIDECARS[1],
            "}",
        ];
        let put = |depth| put(&consul, "/v1/agent/service/register", shape, depth);
        for depth in [2, 3, 100, 1_000, 4_999] {
            put(depth).is(
                400,
                &format!("{head}1 error occurred:\n\t* A SidecarService cannot have a nested SidecarService\n\n"),
            );
        }
        for depth in [5_000, 100_000] {
            put(depth).is(
                400,
                "Request decode failed: invalid character '{' exceeded max depth",
            );
        }
    }
}

#[test]
fn a_transaction_minds_no_sidecars_at_any_depth() {
    for consul in Consul::both() {
        consul
            .put(
                "/v1/catalog/register",
                r#"{"Node":"n","Address":"127.0.0.1"}"#,
            )
            .is(200, "true");
        let before = "[{\"Service\":{\"Verb\":\"set\",\"Node\":\"n\",\"Service\":{\"Service\":\"t\",\"Connect\":";
        let shape = [before, SIDECARS[0], SIDECARS[1], "}}}]"];
        let put = |depth| put(&consul, "/v1/txn", shape, depth);
        for depth in [1, 50, 4_990] {
            assert_eq!(put(depth).code(), 200);
        }
        put(5_010).is(
            400,
            "Failed to parse body: invalid character '{' exceeded max depth",
        );
    }
}
