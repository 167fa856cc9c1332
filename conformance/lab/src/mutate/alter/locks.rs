//! Locks: acquire, release, LockIndex and the Session of an entry.

use super::reply::{become_reply, change_text, say_instead, says, text, with_reply};
use crate::mutate::alter::json::text::{mapped, replaced, values, with_before, without};
use crate::mutate::{Alter, Mutant};

const LOCKS: &[&str] = &["kv/acquire", "kv/release", "session/lock/", "lock-delay/"];

/// Whether a session may have that id: it is none of those that cases use for sessions that do not exist.
pub(super) fn may_live(id: &str) -> bool {
    id.len() == 36 && !id.starts_with("deadbeef")
}

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "lock/given-twice",
        what: "An acquire of a key that another holds is answered true",
        topics: LOCKS,
        alter: Alter::Reply(|asked, reply| {
            if asked.has("acquire") {
                say_instead(reply, "false", "true");
            }
        }),
    },
    Mutant {
        name: "lock/refused-when-free",
        what: "An acquire is answered false though the key is held from then on",
        topics: LOCKS,
        alter: Alter::Reply(|asked, reply| {
            if asked.has("acquire") {
                say_instead(reply, "true", "false");
            }
        }),
    },
    Mutant {
        name: "lock/acquire-only-writes",
        what: "An acquire writes the key and takes no lock",
        topics: LOCKS,
        alter: Alter::Request(|asked| {
            if asked.parameter("acquire").is_some_and(may_live) {
                asked.drop_parameter("acquire");
            }
        }),
    },
    Mutant {
        name: "lock/release-by-anybody",
        what: "A release by a session that does not hold the key is answered true",
        topics: LOCKS,
        alter: Alter::Reply(|asked, reply| {
            if asked.has("release") {
                say_instead(reply, "false", "true");
            }
        }),
    },
    Mutant {
        name: "lock/release-keeps-the-holder",
        what: "A released key goes on showing its Session",
        topics: LOCKS,
        alter: Alter::Exchange(|scene, asked| {
            let held = format!("released {}", asked.path());
            let outcome = scene.forward(asked);
            with_reply(outcome, |reply| {
                match (asked.parameter("release"), says(reply, "true")) {
                    (Some(session), true) => scene.remember(&held, session),
                    _ if asked.is_put() => scene.forget(&held),
                    _ => {}
                }
                if let Some(session) = scene.recall(&held)
                    && asked.reads_entries()
                {
                    let field = format!(r#""Session":"{session}","#);
                    change_text(reply, |text| match values(text, "Session").is_empty() {
                        true => with_before(text, "CreateIndex", &field),
                        false => text.to_owned(),
                    });
                }
            })
        }),
    },
    Mutant {
        name: "lock/index-does-not-count",
        what: "LockIndex never exceeds 1",
        topics: LOCKS,
        alter: Alter::Reply(|_, reply| {
            let once = |value: &str| (value != "0").then(|| "1".to_owned());
            change_text(reply, |text| replaced(text, "LockIndex", once));
        }),
    },
    Mutant {
        name: "lock/index-always-zero",
        what: "LockIndex is always 0",
        topics: LOCKS,
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                replaced(text, "LockIndex", |_| Some("0".to_owned()))
            });
        }),
    },
    Mutant {
        name: "lock/index-survives-plain-writes",
        what: "A plain write of a held key leaves its LockIndex",
        topics: LOCKS,
        alter: Alter::Exchange(|scene, asked| {
            let name = format!("lock index {}", asked.path());
            if asked.has("acquire") {
                scene.remember(&name, "1");
            } else if asked.method == "DELETE" {
                scene.forget(&name);
            }
            with_reply(scene.forward(asked), |reply| {
                if asked.reads_entries() && scene.recall(&name).is_some() {
                    let held = text(reply).is_some_and(|text| !values(text, "Session").is_empty());
                    let kept = |value: &str| (value == "0" && held).then(|| "1".to_owned());
                    change_text(reply, |text| replaced(text, "LockIndex", kept));
                }
            })
        }),
    },
    Mutant {
        name: "lock/empty-session-when-free",
        what: "A key that nobody holds shows a Session of \"\"",
        topics: LOCKS,
        alter: Alter::Reply(|asked, reply| {
            if asked.reads_entries() {
                change_text(reply, |text| {
                    mapped(text, |entry| match values(entry, "Session").is_empty() {
                        true => with_before(entry, "CreateIndex", r#""Session":"","#),
                        false => entry.to_owned(),
                    })
                });
            }
        }),
    },
    Mutant {
        name: "lock/holder-hidden",
        what: "A held key does not show its Session",
        topics: LOCKS,
        alter: Alter::Reply(|asked, reply| {
            if asked.reads_entries() {
                change_text(reply, |text| without(text, "Session", |_| true));
            }
        }),
    },
    Mutant {
        name: "lock/for-unknown-sessions",
        what: "An acquire with a session that does not exist is answered true",
        topics: LOCKS,
        alter: Alter::Reply(|asked, reply| {
            if asked.has("acquire") && reply.status == 500 {
                become_reply(reply, 200, "OK", "true");
            }
        }),
    },
    Mutant {
        name: "lock/stops-plain-writes",
        what: "A plain write of a held key is refused",
        topics: LOCKS,
        alter: Alter::Exchange(|scene, asked| {
            let plain = asked.is_put() && asked.key().is_some() && !asked.target.contains('?');
            if plain {
                let entry = scene.ask(&proconsul_conformance::wire::Request::get(&asked.target));
                let entry = entry.and_then(|reply| text(&reply).map(str::to_owned));
                if entry.is_some_and(|entry| !values(&entry, "Session").is_empty()) {
                    let mut refused = asked.clone();
                    refused.add_parameter("cas=1");
                    return scene.forward(&refused);
                }
            }
            scene.forward(asked)
        }),
    },
    Mutant {
        name: "lock/holder-refused",
        what: "An acquire by the holder is answered false",
        topics: LOCKS,
        alter: Alter::Exchange(|scene, asked| {
            let Some(session) = asked.parameter("acquire") else {
                return scene.forward(asked);
            };
            let path = asked.path();
            let entry = scene.ask(&proconsul_conformance::wire::Request::get(path));
            let entry = entry.and_then(|reply| text(&reply).map(str::to_owned));
            let holder = format!("\"{session}\"");
            let held = entry.is_some_and(|entry| {
                values(&entry, "Session")
                    .into_iter()
                    .any(|place| entry[place] == holder)
            });
            with_reply(scene.forward(asked), |reply| {
                if held {
                    say_instead(reply, "true", "false");
                }
            })
        }),
    },
];
