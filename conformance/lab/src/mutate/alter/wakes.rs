//! Blocking reads: answered early, late, never, or with something else than a plain read shows.

use std::time::Duration;

use super::reply::{become_reply, change_index, index, with_reply};
use crate::mutate::shared::Scene;
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Outcome, Reply};

const BLOCKING: &[&str] = &["blocking/", "session/blocking"];

const CATALOG: &[&str] = &["catalog/blocking"];

const TABLE: &[&str] = &["catalog/wakes"];

/// Long enough to be noticed in a program, and short enough to be taken for a busy machine.
const LATE: Duration = Duration::from_millis(700);

/// What takes longer than this did block.
const AT_ONCE: Duration = Duration::from_millis(30);

/// The `wait` of a request in whole seconds, where it is written that way.
fn wait_of(asked: &Asked) -> Option<u64> {
    let seconds = asked.parameter("wait")?.strip_suffix('s')?;
    let digits = seconds.bytes().all(|byte| byte.is_ascii_digit());
    seconds.parse().ok().filter(|_| digits)
}

/// Forwards a request; when it blocked until something changed, `delay` is called before the answer goes on.
fn delayed(scene: &Scene, asked: &Asked, delay: impl FnOnce(&Reply)) -> Outcome {
    let watch = Stopwatch::start();
    let outcome = scene.forward(asked);
    if let Outcome::Reply(reply) = &outcome
        && asked.blocks()
        && index(reply) > asked.index()
        && watch.elapsed() > AT_ONCE
    {
        delay(reply);
    }
    outcome
}

/// Forwards a request; when it blocked below a path until something changed there, its answer is late.
fn late_below(scene: &Scene, asked: &Asked, path: &str) -> Outcome {
    delayed(scene, asked, |_| {
        if asked.path().starts_with(path) {
            scene.hold_for(LATE);
        }
    })
}

/// Answers a read that blocks when another read with its index would be answered.
fn woken_as(scene: &Scene, asked: &Asked, path: &str) -> Outcome {
    let mut other = asked.clone();
    other.target = asked.target.replacen(asked.path(), path, 1);
    drop(scene.forward(&other));
    let mut plain = asked.clone();
    plain.drop_parameter("index");
    scene.forward(&plain)
}

/// Answers a read below `below` that blocks when the read of `path` would be answered.
fn woken_below(scene: &Scene, asked: &Asked, below: &str, path: &str) -> Outcome {
    if asked.path().starts_with(below) && asked.blocks() {
        return woken_as(scene, asked, path);
    }
    scene.forward(asked)
}

/// Forwards a request; when its wait ran out, `change` is made.
fn run_out(scene: &Scene, asked: &Asked, change: impl FnOnce(&mut Reply, u64)) -> Outcome {
    with_reply(scene.forward(asked), |reply| {
        if asked.blocks()
            && let (Some(came), Some(wanted)) = (index(reply), asked.index())
            && came <= wanted
        {
            change(reply, wanted);
        }
    })
}

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "wake/never-blocks",
        what: "A read with an index is answered at once",
        topics: BLOCKING,
        alter: Alter::Request(|asked| {
            if asked.is_get() {
                asked.drop_parameter("index");
            }
        }),
    },
    Mutant {
        name: "wake/never-comes",
        what: "A read that blocks is not answered when something changes",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| delayed(scene, asked, |_| scene.hold())),
    },
    Mutant {
        name: "wake/not-by-deletion",
        what: "A read that blocks on a key is not answered when the key is deleted",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| {
            delayed(scene, asked, |reply| {
                if reply.status == 404 {
                    scene.hold();
                }
            })
        }),
    },
    Mutant {
        name: "wake/by-every-write",
        what: "A read of a single key is answered by a change of any key",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| {
            // A read of all keys wakes with each of them; the one that was asked for is read again then.
            if !asked.blocks() || asked.key().is_none_or(str::is_empty) {
                return scene.forward(asked);
            }
            let mut all = asked.clone();
            all.target = asked
                .target
                .replacen(asked.path(), "/v1/kv/conformance/", 1);
            all.drop_parameter("recurse");
            all.drop_parameter("keys");
            let here = all.target.clone();
            all.target = format!("{here}&keys");
            let woken = scene.forward(&all);
            if !matches!(&woken, Outcome::Reply(reply) if index(reply).is_some()) {
                return woken;
            }
            let mut plain = asked.clone();
            plain.drop_parameter("index");
            scene.forward(&plain)
        }),
    },
    Mutant {
        name: "wake/wait-is-halved",
        what: "A wait runs out after half its time",
        topics: BLOCKING,
        alter: Alter::Request(|asked| {
            if let Some(wait) = wait_of(asked) {
                asked.drop_parameter("wait");
                asked.add_parameter(&format!("wait={}ms", wait * 500));
            }
        }),
    },
    Mutant {
        name: "wake/wait-is-ignored",
        what: "A wait does not run out",
        topics: BLOCKING,
        alter: Alter::Request(|asked| {
            if asked.blocks() && wait_of(asked).is_some() {
                asked.drop_parameter("wait");
            }
        }),
    },
    Mutant {
        name: "wake/runs-out-with-304",
        what: "A wait that runs out is answered 304",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| {
            run_out(scene, asked, |reply, _| {
                become_reply(reply, 304, "Not Modified", "");
            })
        }),
    },
    Mutant {
        name: "wake/runs-out-with-a-newer-index",
        what: "A wait that runs out is answered with an index beyond the one asked for",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| {
            run_out(scene, asked, |reply, wanted| {
                change_index(reply, |_| wanted.saturating_add(1));
            })
        }),
    },
    Mutant {
        name: "wake/comes-late",
        what: "A read that blocks is answered half a minute after something has changed",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| {
            delayed(scene, asked, |_| scene.hold_for(Duration::from_secs(30)))
        }),
    },
    Mutant {
        name: "wake/sessions-never-block",
        what: "Session reads with an index are answered at once",
        topics: &["session/blocking"],
        alter: Alter::Request(|asked| {
            if asked.path().starts_with("/v1/session/") {
                asked.drop_parameter("index");
            }
        }),
    },
    Mutant {
        name: "wake/info-by-every-session",
        what: "session/info is answered by the creation or destruction of any session",
        topics: &["session/blocking"],
        alter: Alter::Exchange(|scene, asked| {
            if asked.session("info").is_none() || !asked.blocks() {
                return scene.forward(asked);
            }
            woken_as(scene, asked, "/v1/session/list")
        }),
    },
    Mutant {
        name: "wake/late",
        what: "A read that blocks is answered 0.7 seconds after something has changed",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| delayed(scene, asked, |_| scene.hold_for(LATE))),
    },
    Mutant {
        name: "wake/late-in-sessions",
        what: "A read of sessions that blocks is answered 0.7 seconds after they have changed",
        topics: &["session/blocking"],
        alter: Alter::Exchange(|scene, asked| late_below(scene, asked, "/v1/session/")),
    },
    Mutant {
        name: "wake/late-in-the-catalog",
        what: "A read of the catalog that blocks is answered 0.7 seconds after it has changed",
        topics: CATALOG,
        alter: Alter::Exchange(|scene, asked| late_below(scene, asked, "/v1/catalog/")),
    },
    Mutant {
        name: "wake/late-in-health",
        what: "A read of health that blocks is answered 0.7 seconds after it has changed",
        topics: CATALOG,
        alter: Alter::Exchange(|scene, asked| late_below(scene, asked, "/v1/health/")),
    },
    Mutant {
        name: "wake/without-a-change",
        what: "A read that blocks is answered soon though nothing has changed",
        topics: BLOCKING,
        alter: Alter::Request(|asked| {
            if asked.blocks() {
                asked.drop_parameter("wait");
                asked.add_parameter("wait=10ms");
            }
        }),
    },
    Mutant {
        name: "wake/keys-by-a-session",
        what: "A read of keys is answered by the creation of any session",
        topics: BLOCKING,
        alter: Alter::Exchange(|scene, asked| {
            if asked.key().is_none() || !asked.blocks() {
                return scene.forward(asked);
            }
            woken_as(scene, asked, "/v1/session/list")
        }),
    },
    Mutant {
        name: "wake/service-by-every-service",
        what: "catalog/service is answered by a change of any service",
        topics: CATALOG,
        alter: Alter::Exchange(|scene, asked| {
            woken_below(scene, asked, "/v1/catalog/service/", "/v1/catalog/services")
        }),
    },
    Mutant {
        name: "wake/health-by-every-check",
        what: "health/service is answered by a change of any check",
        topics: CATALOG,
        alter: Alter::Exchange(|scene, asked| {
            woken_below(scene, asked, "/v1/health/service/", "/v1/health/state/any")
        }),
    },
    Mutant {
        name: "wake/services-by-every-node",
        what: "catalog/services is answered by a change of any node",
        topics: CATALOG,
        alter: Alter::Exchange(|scene, asked| {
            if asked.path() != "/v1/catalog/services" || !asked.blocks() {
                return scene.forward(asked);
            }
            woken_as(scene, asked, "/v1/catalog/nodes")
        }),
    },
    Mutant {
        name: "wake/service-by-its-index",
        what: "catalog/service is answered by every change that raises its index, those of its checks included",
        topics: TABLE,
        alter: Alter::Exchange(|scene, asked| {
            let Some(name) = asked.path().strip_prefix("/v1/catalog/service/") else {
                return scene.forward(asked);
            };
            let path = format!("/v1/health/service/{name}");
            woken_below(scene, asked, "/v1/catalog/service/", &path)
        }),
    },
    Mutant {
        name: "wake/checks-by-their-index",
        what: "health/checks is answered by every change that raises its index, those of all checks",
        topics: TABLE,
        alter: Alter::Exchange(|scene, asked| {
            woken_below(scene, asked, "/v1/health/checks/", "/v1/health/state/any")
        }),
    },
    Mutant {
        name: "wake/node-health-by-its-index",
        what: "health/node is answered by every change that raises its index, those of all checks",
        topics: TABLE,
        alter: Alter::Exchange(|scene, asked| {
            woken_below(scene, asked, "/v1/health/node/", "/v1/health/state/any")
        }),
    },
    Mutant {
        name: "wake/state-by-its-index",
        what: "health/state/critical is answered by every change that raises its index, those of all checks",
        topics: TABLE,
        alter: Alter::Exchange(|scene, asked| {
            woken_below(
                scene,
                asked,
                "/v1/health/state/critical",
                "/v1/health/state/any",
            )
        }),
    },
];
