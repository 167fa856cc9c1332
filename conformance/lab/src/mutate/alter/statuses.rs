//! Status codes and the bodies that go with them.

use super::reply::{become_reply, says, set_status, text};
use crate::mutate::{Alter, Mutant};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "status/missing-key-is-empty-list",
        what: "A missing key is 200 with an empty list",
        topics: &["kv/get", "kv/delete"],
        alter: Alter::Reply(|asked, reply| {
            if asked.reads_entries() && reply.status == 404 {
                become_reply(reply, 200, "OK", "[]");
            }
        }),
    },
    Mutant {
        name: "status/no-keys-is-empty-list",
        what: "?keys below a prefix without keys is 200 with an empty list",
        topics: &["kv/keys"],
        alter: Alter::Reply(|asked, reply| {
            if asked.has("keys") && reply.status == 404 {
                become_reply(reply, 200, "OK", "[]");
            }
        }),
    },
    Mutant {
        name: "status/missing-key-has-a-body",
        what: "The 404 of a missing key has a text",
        topics: &["kv/get"],
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() && reply.status == 404 {
                become_reply(reply, 404, "Not Found", "Not Found");
            }
        }),
    },
    Mutant {
        name: "status/unknown-session-is-404",
        what: "session/info of an unknown session is 404",
        topics: &["session/read"],
        alter: Alter::Reply(|asked, reply| {
            if asked.session("info").is_some() && says(reply, "[]") {
                become_reply(reply, 404, "Not Found", "");
            }
        }),
    },
    Mutant {
        name: "status/renewal-of-nothing-is-200",
        what: "Renewing an unknown session is 200 with an empty list",
        topics: &["session/renew"],
        alter: Alter::Reply(|asked, reply| {
            if asked.session("renew").is_some() && reply.status == 404 {
                become_reply(reply, 200, "OK", "[]");
            }
        }),
    },
    Mutant {
        name: "status/renewal-is-an-object",
        what: "A renewal is answered with the session itself, not with a list of it",
        topics: &["session/renew"],
        alter: Alter::Reply(|asked, reply| {
            if asked.session("renew").is_some()
                && let Some(session) = text(reply).and_then(|text| {
                    text.trim()
                        .strip_prefix('[')?
                        .strip_suffix(']')
                        .map(str::to_owned)
                })
            {
                become_reply(reply, 200, "OK", session.trim());
            }
        }),
    },
    Mutant {
        name: "status/destroying-nothing-is-404",
        what: "Destroying an unknown session is 404",
        topics: &["session/destroy"],
        alter: Alter::Exchange(|scene, asked| {
            let unknown = asked.session("destroy").is_some_and(|id| {
                let info =
                    proconsul_conformance::wire::Request::get(&format!("/v1/session/info/{id}"));
                scene.ask(&info).is_some_and(|reply| says(&reply, "[]"))
            });
            super::reply::with_reply(scene.forward(asked), |reply| {
                if unknown {
                    become_reply(reply, 404, "Not Found", "");
                }
            })
        }),
    },
    Mutant {
        name: "status/wrong-ttl-is-400",
        what: "A TTL out of bounds is 400",
        topics: &["session/ttl-input"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == "/v1/session/create" && reply.status == 500 {
                set_status(reply, 400, "Bad Request");
            }
        }),
    },
    Mutant {
        name: "status/wrong-lock-delay-is-500",
        what: "A lock-delay that cannot be read is 500",
        topics: &["session/lock-delay"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == "/v1/session/create" && reply.status == 400 {
                set_status(reply, 500, "Internal Server Error");
            }
        }),
    },
    Mutant {
        name: "status/ttl-bounds-with-two-dots",
        what: "The text about a TTL out of bounds has .. instead of =",
        topics: &["session/ttl-input"],
        alter: Alter::Reply(|_, reply| {
            if let Some(words) = text(reply).filter(|text| text.contains("must be between [")) {
                let words = words.replace('=', "..");
                reply.body = words.into_bytes();
            }
        }),
    },
    Mutant {
        name: "status/wrong-method-is-404",
        what: "A method that an endpoint does not have is 404",
        topics: &["endpoint/method", "http/methods"],
        alter: Alter::Reply(|_, reply| {
            if reply.status == 405 {
                become_reply(reply, 404, "Not Found", "");
            }
        }),
    },
    Mutant {
        name: "status/redirects-are-temporary",
        what: "Redirects to clean paths are 307",
        topics: &["kv/redirect", "endpoint/path"],
        alter: Alter::Reply(|_, reply| {
            if reply.status == 301 {
                set_status(reply, 307, "Temporary Redirect");
            }
        }),
    },
    Mutant {
        name: "status/refused-cas-is-409",
        what: "A check-and-set that is refused is 409",
        topics: &["kv/cas"],
        alter: Alter::Reply(|asked, reply| {
            if asked.has("cas") && says(reply, "false") {
                set_status(reply, 409, "Conflict");
            }
        }),
    },
    Mutant {
        name: "status/wrong-number-is-400",
        what: "A cas or flags that is no number is 400",
        topics: &["kv/cas", "kv/put"],
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() && reply.status == 500 {
                set_status(reply, 400, "Bad Request");
            }
        }),
    },
    Mutant {
        name: "status/wrong-index-is-500",
        what: "A wrong index or wait is 500",
        topics: &["endpoint/parameter", "blocking/"],
        alter: Alter::Reply(|asked, reply| {
            if asked.is_get() && reply.status == 400 {
                set_status(reply, 500, "Internal Server Error");
            }
        }),
    },
    Mutant {
        name: "status/deleting-nothing-is-false",
        what: "Deleting a missing key is false",
        topics: &["kv/delete"],
        alter: Alter::Exchange(|scene, asked| {
            let missing = asked.method == "DELETE" && !asked.has("recurse") && {
                let get = proconsul_conformance::wire::Request::get(asked.path());
                scene.ask(&get).is_some_and(|reply| reply.status == 404)
            };
            super::reply::with_reply(scene.forward(asked), |reply| {
                if missing {
                    super::reply::say_instead(reply, "true", "false");
                }
            })
        }),
    },
    Mutant {
        name: "status/too-large-is-400",
        what: "A value that is too large is 400",
        topics: &["kv/put", "txn/limit", "kv/value"],
        alter: Alter::Reply(|_, reply| {
            if reply.status == 413 {
                set_status(reply, 400, "Bad Request");
            }
        }),
    },
    Mutant {
        name: "status/created-is-201",
        what: "session/create is answered 201",
        topics: &["session/create"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == "/v1/session/create" && reply.status == 200 {
                set_status(reply, 201, "Created");
            }
        }),
    },
];
