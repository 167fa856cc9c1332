//! What happens by itself: sessions that lapse, and lock-delays that end.

use std::sync::Arc;
use std::time::Duration;

use super::reply::{drop_header, say_instead, says, text, with_reply};
use super::sessions::{created, id_in};
use crate::mutate::alter::json::text::values;
use crate::mutate::shared::Scene;
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::case::feature::go_duration;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Outcome, Reply, Request};

const TTL: &[&str] = &["session/ttl/", "lock-delay/begins"];
const DELAY: &[&str] = &["lock-delay/", "session/lock-delay"];

fn renew(session: &str) -> Request {
    Request::put(&format!("/v1/session/renew/{session}"), "")
}

/// The TTL that a creation asks for, if it asks for one.
fn ttl_of(asked: &Asked) -> Option<Duration> {
    if asked.path() != "/v1/session/create" {
        return None;
    }
    let body = asked.body_text()?;
    let place = values(body, "TTL").into_iter().next()?;
    go_duration(body[place].trim_matches('"')).filter(|ttl| !ttl.is_zero())
}

/// Forwards a request; when it creates a session with a TTL, `act` is called with it.
fn after_creation(
    scene: &Arc<Scene>,
    asked: &Asked,
    act: impl FnOnce(&Arc<Scene>, String, Duration),
) -> Outcome {
    let outcome = scene.forward(asked);
    if let (Some(session), Some(ttl)) = (created(asked, &outcome), ttl_of(asked)) {
        act(scene, session, ttl);
    }
    outcome
}

/// Renews a session again and again.
fn keep_alive(scene: &Arc<Scene>, session: String, ttl: Duration) {
    scene.later(ttl, move |scene| {
        if scene
            .ask(&renew(&session))
            .is_some_and(|reply| reply.status == 200)
        {
            keep_alive(scene, session, ttl);
        }
    });
}

/// Whether nobody holds the key.
fn is_free(scene: &Scene, path: &str) -> bool {
    let entry = scene.ask(&Request::get(path));
    entry.is_some_and(|reply: Reply| {
        let holder = text(&reply).is_some_and(|text| !values(text, "Session").is_empty());
        !holder
    })
}

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "ttl/lapses-at-once-its-time",
        what: "A session lapses after its TTL, not after twice that time",
        topics: TTL,
        alter: Alter::Exchange(|scene, asked| {
            if let Some(session) = asked.session("renew") {
                scene.remember(session, "renewed");
            }
            after_creation(scene, asked, |scene, session, ttl| {
                scene.later(ttl, move |scene| {
                    if scene.recall(&session).is_none() {
                        scene.ask(&Request::put(&format!("/v1/session/destroy/{session}"), ""));
                    }
                });
            })
        }),
    },
    Mutant {
        name: "ttl/never-lapses",
        what: "A session does not lapse",
        topics: TTL,
        alter: Alter::Exchange(|scene, asked| after_creation(scene, asked, keep_alive)),
    },
    Mutant {
        name: "ttl/lapses-late",
        what: "A session lapses after three times its TTL",
        topics: TTL,
        alter: Alter::Exchange(|scene, asked| {
            after_creation(scene, asked, |scene, session, ttl| {
                scene.later(ttl, move |scene| drop(scene.ask(&renew(&session))));
            })
        }),
    },
    Mutant {
        name: "ttl/acquire-renews",
        what: "An acquire renews its session",
        topics: TTL,
        alter: Alter::Exchange(|scene, asked| {
            if let Some(session) = asked.parameter("acquire") {
                scene.ask(&renew(session));
            }
            scene.forward(asked)
        }),
    },
    Mutant {
        name: "ttl/reading-renews",
        what: "Reading a session renews it",
        topics: TTL,
        alter: Alter::Exchange(|scene, asked| {
            if let Some(session) = asked.session("info") {
                scene.ask(&renew(session));
            }
            scene.forward(asked)
        }),
    },
    Mutant {
        name: "ttl/renewal-is-lost",
        what: "A renewal is answered and does nothing",
        topics: TTL,
        alter: Alter::Exchange(|scene, asked| {
            let Some(session) = asked.session("renew") else {
                return scene.forward(asked);
            };
            let mut read = asked.clone();
            read.method = "GET".to_owned();
            let query = asked
                .target
                .split_once('?')
                .map(|(_, query)| format!("?{query}"));
            read.target = format!("/v1/session/info/{session}{}", query.unwrap_or_default());
            // A renewal looks at the parameters of reads and never blocks.
            if read.blocks() {
                read.drop_parameter("index");
            }
            let outcome = scene.forward(&read);
            if matches!(&outcome, Outcome::Reply(reply) if says(reply, "[]") || reply.status != 200)
            {
                return scene.forward(asked);
            }
            with_reply(outcome, |reply| {
                for name in ["Index", "Knownleader", "Lastcontact"] {
                    drop_header(reply, &format!("X-Consul-{name}"));
                }
            })
        }),
    },
    Mutant {
        name: "lock-delay/ignored",
        what: "An acquire during a lock-delay is answered true",
        topics: DELAY,
        alter: Alter::Exchange(|scene, asked| {
            with_reply(scene.forward(asked), |reply| {
                if asked.has("acquire") && says(reply, "false") && is_free(scene, asked.path()) {
                    say_instead(reply, "false", "true");
                }
            })
        }),
    },
    Mutant {
        name: "lock-delay/after-release",
        what: "A key that was released cannot be acquired for a while",
        topics: DELAY,
        alter: Alter::Exchange(|scene, asked| {
            if asked.has("acquire") && scene.recall(asked.path()).is_some() {
                let mut refused = asked.clone();
                refused.drop_parameter("acquire");
                refused.add_parameter("cas=1");
                return scene.forward(&refused);
            }
            with_reply(scene.forward(asked), |reply| {
                if asked.has("release") && says(reply, "true") {
                    scene.remember(asked.path(), "released");
                }
            })
        }),
    },
    Mutant {
        name: "lock-delay/of-every-session",
        what: "A session that asks for no lock-delay leaves one of 15 seconds",
        topics: DELAY,
        alter: Alter::Exchange(|scene, asked| {
            let mut sent = asked.clone();
            let none = r#""LockDelay":"0s""#;
            if let Some(body) = asked.body_text().filter(|body| body.contains(none)) {
                sent.set_body(&body.replace(none, r#""LockDelay":"15s""#));
            }
            with_reply(scene.forward(&sent), |reply| {
                if sent != *asked
                    && let Some(id) = text(reply).and_then(id_in)
                {
                    scene.remember(&id, "none");
                }
                if asked
                    .session("info")
                    .is_some_and(|id| scene.recall(id).is_some())
                {
                    super::reply::change_text(reply, |text| text.replace("15000000000", "0"));
                }
            })
        }),
    },
    Mutant {
        name: "lock-delay/ends-early",
        what: "A lock-delay ends after a third of its time",
        topics: DELAY,
        alter: Alter::Request(|asked| {
            if asked.path() == "/v1/session/create"
                && let Some(body) = asked.body_text()
            {
                let body = body
                    .replace("\"3s\"", "\"1s\"")
                    .replace("\"LockDelay\":3}", "\"LockDelay\":1}");
                asked.set_body(&body);
            }
        }),
    },
];
