//! Network coordinates that clients write (operator.md 2).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;
use crate::wire::answer::Answer;

const UPDATE: &str = "/v1/coordinate/update";
/// Within this time a batch of updates is written.
const BATCH: Duration = Duration::from_secs(10);

/// Why some cases are not compared.
const OWN_APPEARS: &str = "the agent's own coordinate appears some seconds after the start";

/// A coordinate that begins with this number.
fn coordinate(first: f64) -> Value {
    json!({"Vec": [first, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, -8e-7], "Error": 0.5, "Adjustment": -0.001, "Height": 1e-5})
}

fn read(t: &Trial, node: &str) -> Answer {
    t.api_get(&format!("/v1/coordinate/node/{node}"))
}

/// Updates the coordinate of a node, and waits until it is there.
#[track_caller]
fn update(t: &Trial, node: &str, segment: &str, first: f64) {
    let body = json!({"Node": node, "Segment": segment, "Coord": coordinate(first)});
    t.api_put(UPDATE, body.to_string()).is(200, "");
    t.eventually("the update is written", BATCH, || {
        let answer = t.api_get(&format!("/v1/coordinate/node/{node}?segment={segment}"));
        (answer.status() == 200 && answer.json()[0]["Coord"]["Vec"][0] == first).then_some(())
    });
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "coordinate/update/is-shown",
        claim: "An update of a node's coordinate is shown as it was sent, under the name that is asked for",
        source: "operator.md 2.r16 to 2.r18",
        needs: &[Feature::Registration],
        run: |t| {
            t.not_compared(OWN_APPEARS);
            let node = t.register_node("n");
            read(t, &node).is(404, "").has_no_header("X-Consul-Index");
            update(t, &node, "", 1.0);
            let upper = node.to_uppercase();
            for name in [&node, &upper] {
                let expected = format!(
                    r#"[{{"Node":"{name}","Segment":"","Coord":{{"Vec":[1,2.5,3,4,5,6,7,-8e-7],"Error":0.5,"Adjustment":-0.001,"Height":0.00001}}}}]"#
                );
                read(t, name)
                    .is(200, &expected)
                    .has_header("X-Consul-Index")
                    .has_no_header("X-Consul-Effective-Consistency");
            }
            let nodes = t.api_get("/v1/coordinate/nodes").list();
            let own = nodes.iter().find(|entry| entry["Node"] == node.as_str());
            let expected = coordinate(1.0);
            t.same(
                "the entry",
                own.map(|own| own["Coord"]["Error"].clone()),
                Some(expected["Error"].clone()),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "coordinate/update/segments",
        claim: "Each segment has a coordinate of its own, and segment= asks for one of them",
        source: "operator.md 2.r17",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            update(t, &node, "alpha", 7.0);
            read(t, &format!("{node}?segment=")).is(404, "");
            update(t, &node, "", 1.0);
            for (query, first) in [("segment=", 1.0), ("segment=alpha", 7.0)] {
                read(t, &format!("{node}?{query}")).field_is("/0/Coord/Vec/0", json!(first as i64));
            }
            read(t, &format!("{node}?segment=x")).is(404, "");
            t.api_get("/v1/coordinate/nodes?segment=conformance")
                .is(200, "[]");
        },
        ..Case::SHOULD
    },
    Case {
        id: "coordinate/update/ends-with-its-node",
        claim: "The coordinate of a node goes with it, and moves the index",
        source: "operator.md 2.r16b",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            t.not_compared(OWN_APPEARS);
            let node = t.register_node("n");
            update(t, &node, "", 1.0);
            let before = t.api_get("/v1/coordinate/nodes").index();
            let body = json!({"Node": node}).to_string();
            t.api_put("/v1/catalog/deregister", body).is(200, "true");
            read(t, &node).is(404, "");
            t.grew(
                "the index",
                before,
                t.api_get("/v1/coordinate/nodes").index(),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "coordinate/update/refusals",
        claim: "A vector has eight numbers; the body is looked at before the datacenter, and that before the vector",
        source: "operator.md 2.r19, 2.r21, 2.r22",
        run: |t| {
            let refused = |body: &str, status: u16, text: &str| {
                t.api_put(UPDATE, body).is(status, text);
            };
            refused(
                r#"{"Node":"n","Coord":{"Vec":[1,2]}}"#,
                500,
                "incompatible coordinate",
            );
            refused(
                r#"{"Node":"n","Coord":{"Vec":null}}"#,
                500,
                "incompatible coordinate",
            );
            refused("", 400, "Request decode failed: EOF");
            refused(
                r#"{"Foo":1}"#,
                400,
                "Request decode failed: json: unknown field \"Foo\"",
            );
            t.api_put(&format!("{UPDATE}?dc=conformance-nowhere"), "{}")
                .is(500, "No path to datacenter");
            refused(
                r#"{"Datacenter":"conformance-nowhere"}"#,
                500,
                "No path to datacenter",
            );
            t.api_get(UPDATE)
                .is(405, "method GET not allowed")
                .header_is("Allow", "OPTIONS,PUT");
        },
        ..Case::SHOULD
    },
    Case {
        id: "coordinate/update/texts",
        claim: "A field of the wrong kind is refused in Go's words, without a prefix",
        source: "operator.md 2.r21",
        until: Some(Version::V1_9),
        run: |t| {
            let text = "Request decode failed: json: cannot unmarshal number into Go struct field CoordinateUpdateRequest.Node of type string";
            t.api_put(UPDATE, r#"{"Node":5}"#).is(400, text);
            let text = "Request decode failed: json: cannot unmarshal string into Go struct field Coordinate.Coord.Vec of type []float64";
            t.api_put(UPDATE, r#"{"Coord":{"Vec":"x"}}"#).is(400, text);
        },
        ..Case::REAL
    },
    Case {
        id: "coordinate/update/nothing-is-no-answer",
        claim: "An update without a coordinate ends the connection without an answer",
        source: "operator.md 2.r20",
        run: |t| {
            for body in [r#"{"Node":"n"}"#, r#"{"Node":"n","Coord":null}"#, "null"] {
                t.api_put(UPDATE, body).is_closed();
            }
        },
        ..Case::REAL
    },
    Case {
        id: "coordinate/blocking/wakes",
        claim: "The list of coordinates wakes at every update, a node's at its own and not at that of a node with quite another name",
        source: "operator.md 2.r18b",
        needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
        run: |t| {
            t.not_compared(OWN_APPEARS);
            let names = ["alpha", "beta"].map(|name| {
                t.register(&json!({"Node": name, "Address": "10.0.0.1"}));
                update(t, name, "", 1.0);
                name
            });
            let index = t.api_get("/v1/coordinate/nodes").index();
            let waiting = ["nodes", "node/alpha", "node/beta"].map(|path| {
                let target = format!("/v1/coordinate/{path}?index={index}&wait=60s");
                t.start(&Request::get(&target))
            });
            let [all, own, other] = waiting;
            t.still_blocked(&all);
            t.still_blocked(&own);
            update(t, names[0], "", 2.0);
            t.grew("the list", index, all.answer().index());
            t.grew("its own", index, own.answer().index());
            t.still_blocked(&other);
            update(t, names[1], "", 2.0);
            t.grew("the other", index + 1, other.answer().index());
        },
        ..Case::SHOULD
    },
];
