//! Sessions: what is stored, shown and ended.

use super::locks::may_live;
use super::reply::{change_text, text, with_reply};
use crate::mutate::alter::json::text::{replaced, values};
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Outcome, Request};

const CREATE: &str = "/v1/session/create";

fn is_session(path: &str) -> bool {
    path.starts_with("/v1/session/")
}

/// Gives `body` the field in the place of the one that it has under that name.
fn set_field(body: &str, field: &str, value: &str) -> String {
    if values(body, field).is_empty() {
        return body.to_owned();
    }
    replaced(body, field, |_| Some(value.to_owned()))
}

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "session/id-in-upper-case",
        what: "Ids of sessions are in upper case",
        topics: &["session/create"],
        alter: Alter::Reply(|asked, reply| {
            if is_session(asked.path()) {
                change_text(reply, |text| {
                    replaced(text, "ID", |id| Some(id.to_uppercase()))
                });
            }
        }),
    },
    Mutant {
        name: "session/id-is-version-4",
        what: "Ids look like version 4 UUIDs",
        topics: &["session/create"],
        alter: Alter::Exchange(|scene, asked| {
            let mut outcome = scene.forward(asked);
            // One id in sixteen looks like one by chance: the others are thrown away.
            for _ in 0..200 {
                match created(asked, &outcome) {
                    Some(id) if id.as_bytes().get(14) != Some(&b'4') => {
                        scene.ask(&Request::put(&format!("/v1/session/destroy/{id}"), ""));
                        outcome = scene.forward(asked);
                    }
                    _ => break,
                }
            }
            outcome
        }),
    },
    Mutant {
        name: "session/create-shows-all",
        what: "session/create answers with more than the ID",
        topics: &["session/create"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == CREATE {
                change_text(reply, |text| text.replacen('}', r#","Name":""}"#, 1));
            }
        }),
    },
    Mutant {
        name: "session/ttl-shown-in-go-words",
        what: "A TTL of 90000ms is shown as 1m30s",
        topics: &["session/ttl-input"],
        alter: Alter::Reply(|asked, reply| {
            if is_session(asked.path()) {
                change_text(reply, |text| text.replace("\"90000ms\"", "\"1m30s\""));
            }
        }),
    },
    Mutant {
        name: "session/lock-delay-shown-as-seconds",
        what: "LockDelay is shown in seconds",
        topics: &["session/lock-delay"],
        alter: Alter::Reply(|asked, reply| {
            if is_session(asked.path()) {
                change_text(reply, |text| {
                    replaced(text, "LockDelay", |value| {
                        let nanoseconds: i64 = value.parse().ok()?;
                        Some((nanoseconds / 1_000_000_000).to_string())
                    })
                });
            }
        }),
    },
    Mutant {
        name: "session/lock-delay-capped-when-shown",
        what: "A LockDelay of more than 60s is shown as 60s",
        topics: &["session/lock-delay"],
        alter: Alter::Reply(|asked, reply| {
            if is_session(asked.path()) {
                change_text(reply, |text| {
                    replaced(text, "LockDelay", |value| {
                        let nanoseconds: i64 = value.parse().ok()?;
                        Some(nanoseconds.min(60_000_000_000).to_string())
                    })
                });
            }
        }),
    },
    Mutant {
        name: "session/small-numbers-are-nanoseconds",
        what: "A LockDelay of a small number is taken for nanoseconds",
        topics: &["session/lock-delay"],
        alter: Alter::Request(|asked| {
            if asked.path() == CREATE
                && let Some(body) = asked.body_text()
            {
                let small = |value: &str| value.parse().is_ok_and(|number: u32| number < 1000);
                let changed = replaced(body, "LockDelay", |value| {
                    small(value).then(|| "0".to_owned())
                });
                asked.set_body(&changed);
            }
        }),
    },
    Mutant {
        name: "session/chunked-body-is-read",
        what: "A chunked body of session/create is not ignored",
        topics: &["session/create"],
        alter: Alter::Request(|asked| {
            if asked.path() == CREATE && asked.body_text().is_none() {
                asked.set_body(r#"{"Name":"chunked"}"#);
            }
        }),
    },
    Mutant {
        name: "session/unknown-fields-are-errors",
        what: "session/create refuses fields that it does not know",
        topics: &["session/create"],
        alter: Alter::Exchange(|scene, asked| {
            let unknown = asked
                .body_text()
                .is_some_and(|body| body.contains("\"Color\""));
            let mut asked = asked.clone();
            if unknown && asked.path() == CREATE {
                asked.set_body("{ refused");
            }
            scene.forward(&asked)
        }),
    },
    Mutant {
        name: "session/behavior-delete-releases",
        what: "Behavior delete is shown and does what release does",
        topics: &["invalidation/effect", "session/ttl", "lock-delay/"],
        alter: Alter::Exchange(|scene, asked| {
            let mut sent = asked.clone();
            let deletes = asked.path() == CREATE
                && asked
                    .body_text()
                    .is_some_and(|body| body.contains("\"delete\""));
            if deletes && let Some(body) = asked.body_text() {
                sent.set_body(&set_field(body, "Behavior", "\"release\""));
            }
            with_reply(scene.forward(&sent), |reply| {
                if deletes && let Some(id) = text(reply).and_then(id_in) {
                    scene.remember(&id, "delete");
                }
                let shown = asked
                    .session("info")
                    .is_some_and(|id| scene.recall(id).is_some());
                if shown {
                    change_text(reply, |text| text.replace("\"release\"", "\"delete\""));
                }
            })
        }),
    },
    Mutant {
        name: "session/destroy-does-nothing",
        what: "A destroyed session lives on",
        topics: &["session/destroy", "invalidation/effect"],
        alter: Alter::Request(|asked| {
            if asked.session("destroy").is_some_and(may_live) {
                asked.target =
                    "/v1/session/destroy/deadbeef-0000-4000-8000-0123456789ab".to_owned();
            }
        }),
    },
    Mutant {
        name: "session/node-shows-all",
        what: "session/node lists the sessions of all nodes",
        topics: &["session/read"],
        alter: Alter::Request(|asked| {
            if asked.session("node").is_some() {
                asked.target = asked.target.replacen(asked.path(), "/v1/session/list", 1);
            }
        }),
    },
    Mutant {
        name: "session/renew-moves-its-index",
        what: "A renewal shows a new ModifyIndex",
        topics: &["session/renew"],
        alter: Alter::Reply(|asked, reply| {
            if asked.session("renew").is_some() {
                change_text(reply, |text| {
                    replaced(text, "ModifyIndex", |index| {
                        index.parse().ok().map(|index: u64| (index + 1).to_string())
                    })
                });
            }
        }),
    },
];

/// The id of the session that came of a request, if one did.
pub(super) fn created(asked: &Asked, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Reply(reply) if asked.path() == CREATE && reply.status == 200 => {
            text(reply).and_then(id_in)
        }
        _ => None,
    }
}

/// The id that `session/create` answers.
pub(super) fn id_in(text: &str) -> Option<String> {
    let place = values(text, "ID").into_iter().next()?;
    Some(text[place].trim_matches('"').to_owned())
}
