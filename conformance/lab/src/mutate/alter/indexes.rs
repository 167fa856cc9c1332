//! Indexes: `X-Consul-Index` and the indexes of entries.

use super::reply::{change_index, change_text, drop_header, index, set_header, text, with_reply};
use crate::mutate::alter::json::text::{mapped, replaced, values};
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::wire::Request;

const READS: &[&str] = &["index/", "kv/get", "blocking/"];

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "index/one-more",
        what: "X-Consul-Index of a KV read is one too high",
        topics: READS,
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_index(reply, |index| index + 1);
            }
        }),
    },
    Mutant {
        name: "index/one-less",
        what: "X-Consul-Index of a KV read is one too low",
        topics: READS,
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_index(reply, |index| index.saturating_sub(1));
            }
        }),
    },
    Mutant {
        name: "index/of-sessions-one-more",
        what: "X-Consul-Index of a session read is one too high",
        topics: &["session/read", "invalidation/effect", "session/blocking"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/session/") && reply.status == 200 {
                change_index(reply, |index| index + 1);
            }
        }),
    },
    Mutant {
        name: "index/frozen",
        what: "X-Consul-Index of a path stays what it was at first",
        topics: READS,
        alter: Alter::Exchange(|scene, asked| {
            with_reply(scene.forward(asked), |reply| {
                if let Some(index) = index(reply) {
                    let frozen = scene.recall_or(asked.path(), &index.to_string());
                    set_header(reply, "X-Consul-Index", &frozen);
                }
            })
        }),
    },
    Mutant {
        name: "index/missing-on-404",
        what: "The 404 of a missing key has no X-Consul-Index",
        topics: READS,
        alter: Alter::Reply(|_, reply| {
            if reply.status == 404 {
                drop_header(reply, "X-Consul-Index");
            }
        }),
    },
    Mutant {
        name: "index/zero-on-404",
        what: "The 404 of a missing key has an X-Consul-Index of 0",
        topics: READS,
        alter: Alter::Reply(|_, reply| {
            if reply.status == 404 {
                change_index(reply, |_| 0);
            }
        }),
    },
    Mutant {
        name: "index/missing-on-lists",
        what: "A recursive read has no X-Consul-Index",
        topics: READS,
        alter: Alter::Reply(|asked, reply| {
            if asked.has("recurse") {
                drop_header(reply, "X-Consul-Index");
            }
        }),
    },
    Mutant {
        name: "index/on-writes",
        what: "Writes of keys carry an X-Consul-Index",
        topics: &["kv/put", "http/headers"],
        alter: Alter::Reply(|asked, reply| {
            if asked.is_put() && asked.key().is_some() {
                set_header(reply, "X-Consul-Index", "7");
            }
        }),
    },
    Mutant {
        name: "index/list-forgets-deletions",
        what: "The index of a prefix is that of its newest entry, though another was deleted later",
        topics: &["index/", "kv/delete", "blocking/list"],
        alter: Alter::Reply(|asked, reply| {
            if asked.has("recurse")
                && let Some(newest) = newest_entry(text(reply).unwrap_or_default())
            {
                change_index(reply, |_| newest);
            }
        }),
    },
    Mutant {
        name: "index/session-shows-its-own",
        what: "session/info shows the session's own index instead of that of all sessions",
        topics: &["session/read", "session/blocking"],
        alter: Alter::Reply(|asked, reply| {
            if asked.session("info").is_some()
                && let Some(own) = newest_entry(text(reply).unwrap_or_default())
            {
                change_index(reply, |_| own);
            }
        }),
    },
    Mutant {
        name: "index/modify-index-frozen",
        what: "ModifyIndex stays the CreateIndex",
        topics: &["kv/put", "kv/cas", "index/"],
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_text(reply, |text| {
                    mapped(text, |entry| copied(entry, "CreateIndex", "ModifyIndex"))
                });
            }
        }),
    },
    Mutant {
        name: "index/create-index-moves",
        what: "CreateIndex follows the ModifyIndex",
        topics: &["kv/put", "kv/cas", "index/"],
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_text(reply, |text| {
                    mapped(text, |entry| copied(entry, "ModifyIndex", "CreateIndex"))
                });
            }
        }),
    },
    Mutant {
        name: "index/identical-write-moves-it",
        what: "Writing what is there already makes a new ModifyIndex",
        topics: &["kv/put", "index/still"],
        alter: Alter::Exchange(|scene, asked| {
            if asked.is_put() && asked.key().is_some() && !asked.target.contains('?') {
                let there = scene.ask(&Request::get(&format!("{}?raw", asked.target)));
                if there.is_some_and(|reply| reply.status == 200 && reply.body == asked.body()) {
                    scene.ask(&Request::put(&asked.target, "something else for a moment"));
                }
            }
            scene.forward(asked)
        }),
    },
];

/// The greatest ModifyIndex in a text.
fn newest_entry(text: &str) -> Option<u64> {
    let places = values(text, "ModifyIndex").into_iter();
    places.filter_map(|place| text[place].parse().ok()).max()
}

/// An entry in which one field has the value of another.
fn copied(entry: &str, from: &str, to: &str) -> String {
    match values(entry, from).into_iter().next() {
        Some(place) => replaced(entry, to, |_| Some(entry[place.clone()].to_owned())),
        None => entry.to_owned(),
    }
}
