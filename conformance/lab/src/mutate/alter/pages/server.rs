//! Snapshots, metrics and the agent's cache.

use crate::mutate::alter::json::text::replaced;
use crate::mutate::alter::reply::{become_reply, change_text, drop_header, set_header, with_reply};
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::wire::asked::Asked;

const CACHED: &[&str] = &["catalog/cached", "config/chain/cached"];

const METRICS: &[&str] = &["agent/metrics"];

const SNAPSHOTS: &[&str] = &["snapshot/"];

/// How an archive begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

fn restores(asked: &Asked) -> bool {
    asked.is_put() && asked.path() == "/v1/snapshot"
}

pub(in crate::mutate::alter) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "snapshot/restores-nothing",
        what: "An archive is taken and not restored",
        topics: SNAPSHOTS,
        alter: Alter::Exchange(|scene, asked| {
            if !restores(asked) || !asked.content().starts_with(&GZIP) {
                return scene.forward(asked);
            }
            let known = scene.forward(&asked.look_at("/v1/status/leader"));
            with_reply(known, |reply| become_reply(reply, 200, "OK", ""))
        }),
    },
    Mutant {
        name: "snapshot/takes-anything",
        what: "What is no archive is taken, too",
        topics: SNAPSHOTS,
        alter: Alter::Reply(|asked, reply| {
            if restores(asked) && reply.status == 500 {
                become_reply(reply, 200, "OK", "");
            }
        }),
    },
    Mutant {
        name: "snapshot/is-a-file",
        what: "An archive has the type of any file",
        topics: SNAPSHOTS,
        alter: Alter::Reply(|asked, reply| {
            if asked.is_get() && asked.path() == "/v1/snapshot" {
                set_header(reply, "Content-Type", "application/octet-stream");
            }
        }),
    },
    Mutant {
        name: "metrics/count-nothing",
        what: "Every metric was counted once",
        topics: METRICS,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == "/v1/agent/metrics" {
                change_text(reply, |text| {
                    replaced(text, "Count", |_| Some("1".to_owned()))
                });
            }
        }),
    },
    Mutant {
        name: "metrics/prometheus-is-an-empty-page",
        what: "Metrics for Prometheus that are not kept are 200 without a body",
        topics: METRICS,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == "/v1/agent/metrics" && reply.status == 415 {
                become_reply(reply, 200, "OK", "");
            }
        }),
    },
    Mutant {
        name: "cache/never-hits",
        what: "The cache has nothing, and says so each time",
        topics: CACHED,
        alter: Alter::Reply(|_, reply| {
            if reply.header("X-Cache").is_some() {
                set_header(reply, "X-Cache", "MISS");
                drop_header(reply, "Age");
            }
        }),
    },
    Mutant {
        name: "cache/hits-have-no-age",
        what: "What comes from the cache does not say how old it is",
        topics: CACHED,
        alter: Alter::Reply(|_, reply| drop_header(reply, "Age")),
    },
    Mutant {
        name: "cache/tells-no-datacenters-apart",
        what: "A chain for another datacenter is one for the own in the cache",
        topics: &["config/chain/cached"],
        alter: Alter::Reply(|asked, reply| {
            if asked.has("cached") && asked.has("compile-dc") {
                set_header(reply, "X-Cache", "HIT");
            }
        }),
    },
];
