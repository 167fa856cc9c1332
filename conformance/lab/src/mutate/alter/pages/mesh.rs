//! Entries, intentions, chains and gateways, and Consul's page.

use crate::mutate::alter::json::text::{replaced, without};
use crate::mutate::alter::reply::{become_reply, change_text, set_status, with_reply};
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::wire::Reply;
use proconsul_conformance::wire::asked::Asked;

const ENTRIES: &[&str] = &["config/entry"];

const INTENTIONS: &[&str] = &["config/intention"];

const PAGE: &[&str] = &["page/services", "page/node"];

/// Whether a request is about entries.
fn is_of_entries(asked: &Asked) -> bool {
    asked.path().starts_with("/v1/config")
}

/// Replaces a value of a field in the answers below a path.
fn say(asked: &Asked, reply: &mut Reply, path: &str, field: &str, from: &str, to: &str) {
    if asked.path().starts_with(path) {
        change_text(reply, |text| {
            replaced(text, field, |value| (value == from).then(|| to.to_owned()))
        });
    }
}

pub(in crate::mutate::alter) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "entry/cas-is-ignored",
        what: "An entry is written whatever index it was to have",
        topics: ENTRIES,
        alter: Alter::Request(|asked| {
            if asked.is_put() && is_of_entries(asked) {
                asked.drop_parameter("cas");
            }
        }),
    },
    Mutant {
        name: "entry/missing-is-an-empty-list",
        what: "A missing entry is 200 with an empty list",
        topics: ENTRIES,
        alter: Alter::Reply(|asked, reply| {
            if asked.is_get() && is_of_entries(asked) && reply.status == 404 {
                become_reply(reply, 200, "OK", "[]");
            }
        }),
    },
    Mutant {
        name: "entry/deletions-do-nothing",
        what: "A deletion of an entry is answered and not done",
        topics: ENTRIES,
        alter: Alter::Exchange(|scene, asked| {
            let deletes = asked.method == "DELETE" && is_of_entries(asked);
            if !deletes {
                return scene.forward(asked);
            }
            let known = scene.forward(&asked.look_at(&asked.target));
            with_reply(known, |reply| become_reply(reply, 200, "OK", "{}"))
        }),
    },
    Mutant {
        name: "entry/refusals-are-400",
        what: "What an entry may not say is refused with 400",
        topics: &["config/refusal"],
        alter: Alter::Reply(|asked, reply| {
            if asked.is_put() && is_of_entries(asked) && reply.status == 500 {
                set_status(reply, 400, "Bad Request");
            }
        }),
    },
    Mutant {
        name: "entry/unset-is-left-out",
        what: "An entry is shown without its unset settings of gateways",
        topics: ENTRIES,
        alter: Alter::Reply(|asked, reply| {
            if is_of_entries(asked) {
                change_text(reply, |text| {
                    without(text, "MeshGateway", |value| value == "{}")
                });
            }
        }),
    },
    Mutant {
        name: "intention/all-are-exact",
        what: "An intention of all services has the precedence of an exact one",
        topics: INTENTIONS,
        alter: Alter::Reply(|asked, reply| {
            say(
                asked,
                reply,
                "/v1/connect/intentions",
                "Precedence",
                "8",
                "9",
            );
        }),
    },
    Mutant {
        name: "intention/everything-is-allowed",
        what: "check says that every service may call every other",
        topics: INTENTIONS,
        alter: Alter::Reply(|asked, reply| {
            say(
                asked,
                reply,
                "/v1/connect/intentions/check",
                "Allowed",
                "false",
                "true",
            );
        }),
    },
    Mutant {
        name: "intention/list-is-not-filtered",
        what: "The list of intentions does not look at filter",
        topics: INTENTIONS,
        alter: Alter::Request(|asked| {
            if asked.path() == "/v1/connect/intentions" {
                asked.drop_parameter("filter");
            }
        }),
    },
    Mutant {
        name: "chain/timeouts-are-longer",
        what: "A chain has timeouts of ten seconds where nothing is said",
        topics: &["config/chain"],
        alter: Alter::Reply(|asked, reply| {
            let (from, to) = ("\"5s\"", "\"10s\"");
            say(
                asked,
                reply,
                "/v1/discovery-chain/",
                "ConnectTimeout",
                from,
                to,
            );
        }),
    },
    Mutant {
        name: "chain/other-datacenters-are-ours",
        what: "A chain is compiled for the own datacenter alone",
        topics: &["config/chain"],
        alter: Alter::Request(|asked| asked.drop_parameter("compile-dc")),
    },
    Mutant {
        name: "gateway/all-are-named",
        what: "The services of a gateway for all services look as if it named them",
        topics: &["config/gateway"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/catalog/gateway-services/") {
                change_text(reply, |text| without(text, "FromWildcard", |_| true));
            }
        }),
    },
    Mutant {
        name: "page/no-tags-is-an-empty-list",
        what: "The page shows no tags as an empty list",
        topics: PAGE,
        alter: Alter::Reply(|asked, reply| {
            say(asked, reply, "/v1/internal/ui/", "Tags", "null", "[]");
        }),
    },
    Mutant {
        name: "page/failures-are-warnings",
        what: "The page counts no critical check",
        topics: PAGE,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == "/v1/internal/ui/services" {
                change_text(reply, |text| {
                    replaced(text, "ChecksCritical", |_| Some("0".to_owned()))
                });
            }
        }),
    },
    Mutant {
        name: "page/missing-node-is-null",
        what: "A node of the page that is missing is 200 with null",
        topics: PAGE,
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/internal/ui/node/") && reply.status == 404 {
                become_reply(reply, 200, "OK", "null");
            }
        }),
    },
];
