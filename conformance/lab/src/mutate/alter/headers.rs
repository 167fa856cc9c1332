//! Headers: missing, misspelt, wrong, or where they do not belong.

use std::time::Duration;

use super::reply::{drop_header, set_header, spell_header, with_reply};
use crate::mutate::{Alter, Mutant};

const HEADERS: &[&str] = &["http/headers", "endpoint/header", "kv/get"];

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "header/known-leader-missing",
        what: "X-Consul-Knownleader is missing",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| drop_header(reply, "X-Consul-Knownleader")),
    },
    Mutant {
        name: "header/known-leader-false",
        what: "X-Consul-Knownleader is false",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| {
            if reply.header("X-Consul-Knownleader").is_some() {
                set_header(reply, "X-Consul-Knownleader", "false");
            }
        }),
    },
    Mutant {
        name: "header/known-leader-misspelt",
        what: "X-Consul-Knownleader is spelled X-Consul-KnownLeader",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| spell_header(reply, "X-Consul-KnownLeader")),
    },
    Mutant {
        name: "header/last-contact-missing",
        what: "X-Consul-Lastcontact is missing",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| drop_header(reply, "X-Consul-Lastcontact")),
    },
    Mutant {
        name: "header/index-misspelt",
        what: "X-Consul-Index is spelled x-consul-index",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| spell_header(reply, "x-consul-index")),
    },
    Mutant {
        name: "header/json-with-charset",
        what: "JSON has a Content-Type with a charset",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| {
            if reply.header("Content-Type") == Some("application/json") {
                set_header(reply, "Content-Type", "application/json; charset=utf-8");
            }
        }),
    },
    Mutant {
        name: "header/type-of-an-empty-404",
        what: "The empty 404 of a missing key has a Content-Type",
        topics: HEADERS,
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() && reply.status == 404 {
                set_header(reply, "Content-Type", "text/plain; charset=utf-8");
            }
        }),
    },
    Mutant {
        name: "header/vary-missing",
        what: "Vary is missing",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| drop_header(reply, "Vary")),
    },
    Mutant {
        name: "header/date-missing",
        what: "Date is missing",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| drop_header(reply, "Date")),
    },
    Mutant {
        name: "header/date-constant",
        what: "Date is always the same",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| {
            if reply.header("Date").is_some() {
                set_header(reply, "Date", "Fri, 20 Nov 2026 10:28:52 GMT");
            }
        }),
    },
    Mutant {
        name: "header/date-runs-ahead",
        what: "Date moves on by an hour with every answer",
        topics: HEADERS,
        alter: Alter::Exchange(|scene, asked| {
            let hours: u64 = scene.recall_or("hours", "0").parse().unwrap_or_default();
            scene.remember("hours", &(hours + 1).to_string());
            with_reply(scene.forward(asked), |reply| {
                let date = reply.header("Date").map(httpdate::parse_http_date);
                if let Some(Ok(date)) = date {
                    let ahead = date + Duration::from_secs(hours * 3600);
                    set_header(reply, "Date", &httpdate::fmt_http_date(ahead));
                }
            })
        }),
    },
    Mutant {
        name: "header/allow-with-blank",
        what: "The methods in Allow are separated by a comma and a blank",
        topics: &["endpoint/method", "http/methods"],
        alter: Alter::Reply(|_, reply| {
            if let Some(allow) = reply.header("Allow").map(|allow| allow.replace(',', ", ")) {
                set_header(reply, "Allow", &allow);
            }
        }),
    },
    Mutant {
        name: "header/consistency-on-keys",
        what: "KV reads say which consistency was in effect",
        topics: &["http/", "session/read"],
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() && reply.header("X-Consul-Index").is_some() {
                set_header(reply, "X-Consul-Effective-Consistency", "leader");
            }
        }),
    },
    Mutant {
        name: "header/consistency-missing",
        what: "Catalog reads do not say which consistency was in effect",
        topics: &["endpoint/header"],
        alter: Alter::Reply(|_, reply| drop_header(reply, "X-Consul-Effective-Consistency")),
    },
    Mutant {
        name: "header/raw-is-json",
        what: "A raw value is called JSON",
        topics: &["kv/raw", "http/headers"],
        alter: Alter::Reply(|asked, reply| {
            if asked.has("raw") && reply.status == 200 {
                set_header(reply, "Content-Type", "application/json");
            }
        }),
    },
    Mutant {
        name: "header/order",
        what: "X-Consul-Index stands before the Content-Type",
        topics: HEADERS,
        alter: Alter::Reply(|_, reply| {
            reply
                .headers
                .sort_by_key(|(name, _)| !name.eq_ignore_ascii_case("X-Consul-Index"));
        }),
    },
];
