//! JSON: nulls, absent fields, order, escapes, numbers, white space.

pub(super) mod text;

use super::reply::{change_text, text};
use crate::mutate::alter::json::text::{
    elements, list, mapped, replaced, values, with_before, without,
};
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::wire::json::squeezed;

const ENTRIES: &[&str] = &["kv/json", "kv/value", "kv/get", "kv/put"];
const FLAGS: &[&str] = &["kv/put/flags", "session/lock/as-the-semaphore-does"];
const SESSIONS: &[&str] = &["session/create", "session/read", "session/checks"];

/// The value, if it is `from`, becomes `to`.
fn instead(value: &str, from: &str, to: &str) -> Option<String> {
    (value == from).then(|| to.to_owned())
}

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "json/empty-value-is-text",
        what: "The Value of an empty key is \"\" instead of null",
        topics: ENTRIES,
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_text(reply, |text| {
                    replaced(text, "Value", |value| instead(value, "null", "\"\""))
                });
            }
        }),
    },
    Mutant {
        name: "json/empty-value-is-absent",
        what: "The Value of an empty key is left out",
        topics: ENTRIES,
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_text(reply, |text| {
                    without(text, "Value", |value| value == "null")
                });
            }
        }),
    },
    Mutant {
        name: "json/zero-is-absent",
        what: "A LockIndex or Flags of 0 is left out",
        topics: ENTRIES,
        alter: Alter::Reply(|asked, reply| {
            if asked.key().is_some() {
                change_text(reply, |text| {
                    let text = without(text, "LockIndex", |value| value == "0");
                    without(&text, "Flags", |value| value == "0")
                });
            }
        }),
    },
    Mutant {
        name: "json/flags-lose-digits",
        what: "Flags go through a floating-point number",
        topics: FLAGS,
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                replaced(text, "Flags", |value| {
                    let number: u64 = value.parse().ok()?;
                    Some((number as f64 as u64).to_string())
                })
            });
        }),
    },
    Mutant {
        name: "json/flags-are-signed",
        what: "Flags beyond the greatest signed number come out as that number",
        topics: FLAGS,
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                replaced(text, "Flags", |value| {
                    let number: u64 = value.parse().ok()?;
                    Some(i64::try_from(number).unwrap_or(i64::MAX).to_string())
                })
            });
        }),
    },
    Mutant {
        name: "json/value-is-url-safe",
        what: "Values are in the URL-safe alphabet of base64",
        topics: ENTRIES,
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                replaced(text, "Value", |value| {
                    Some(value.replace('+', "-").replace('/', "_"))
                })
            });
        }),
    },
    Mutant {
        name: "json/html-is-not-escaped",
        what: "<, > and & are printed as they are",
        topics: &["kv/json", "session/name", "kv/keys"],
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                let text = text.replace("\\u003c", "<").replace("\\u003e", ">");
                text.replace("\\u0026", "&")
            });
        }),
    },
    Mutant {
        name: "json/order-of-fields",
        what: "An entry begins with its Key",
        topics: ENTRIES,
        alter: Alter::Reply(|asked, reply| {
            if asked.reads_entries() {
                change_text(reply, |text| {
                    mapped(text, |entry| {
                        match values(entry, "LockIndex").into_iter().next() {
                            Some(place) => {
                                let lock = format!(r#""LockIndex":{},"#, &entry[place]);
                                let rest = without(entry, "LockIndex", |_| true);
                                with_before(&rest, "Flags", &lock)
                            }
                            None => entry.to_owned(),
                        }
                    })
                });
            }
        }),
    },
    Mutant {
        name: "json/squeezed",
        what: "A dev agent prints JSON without white space",
        topics: &["kv/json", "kv/get"],
        alter: Alter::Reply(|_, reply| {
            if reply.header("Content-Type") == Some("application/json") && text(reply).is_some() {
                reply.body = squeezed(&reply.body);
            }
        }),
    },
    Mutant {
        name: "json/newline-missing",
        what: "JSON of a dev agent does not end with a newline",
        topics: &["kv/json", "kv/get"],
        alter: Alter::Reply(|_, reply| change_text(reply, |text| text.trim_end().to_owned())),
    },
    Mutant {
        name: "json/service-checks-are-empty",
        what: "ServiceChecks of a session are [] instead of null",
        topics: SESSIONS,
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                replaced(text, "ServiceChecks", |value| instead(value, "null", "[]"))
            });
        }),
    },
    Mutant {
        name: "json/node-checks-null-is-empty",
        what: "NodeChecks of null are shown as []",
        topics: SESSIONS,
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                replaced(text, "NodeChecks", |value| instead(value, "null", "[]"))
            });
        }),
    },
    Mutant {
        name: "json/checks-always-shown",
        what: "A session shows Checks of null when it has none",
        topics: SESSIONS,
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/session/") {
                change_text(reply, |text| {
                    mapped(text, |session| match values(session, "Checks").is_empty() {
                        true => with_before(session, "CreateIndex", r#""Checks":null,"#),
                        false => session.to_owned(),
                    })
                });
            }
        }),
    },
    Mutant {
        name: "json/no-sessions-is-null",
        what: "An empty list of sessions is null",
        topics: SESSIONS,
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/session/") {
                change_text(reply, |text| match text.trim() {
                    "[]" => "null".to_owned(),
                    _ => text.to_owned(),
                });
            }
        }),
    },
    Mutant {
        name: "json/no-node-is-empty",
        what: "catalog/node of an unknown node is {} instead of null",
        topics: &["catalog/node"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/catalog/node/") {
                change_text(reply, |text| match text.trim() {
                    "null" => "{}".to_owned(),
                    _ => text.to_owned(),
                });
            }
        }),
    },
    Mutant {
        name: "json/tags-are-null",
        what: "The tags of a service or check without tags are null instead of []",
        topics: &["catalog/", "health/"],
        alter: Alter::Reply(|_, reply| {
            change_text(reply, |text| {
                let text = replaced(text, "Tags", |value| instead(value, "[]", "null"));
                replaced(&text, "ServiceTags", |value| instead(value, "[]", "null"))
            });
        }),
    },
    Mutant {
        name: "json/list-backwards",
        what: "Entries and keys are listed in falling order",
        topics: &["kv/get", "kv/keys"],
        alter: Alter::Reply(|asked, reply| {
            if asked.is_get() && asked.key().is_some() && !asked.has("raw") {
                change_text(reply, reversed);
            }
        }),
    },
    Mutant {
        name: "json/sessions-backwards",
        what: "Sessions are listed in falling order of their ids",
        topics: &["session/read"],
        alter: Alter::Reply(|asked, reply| {
            if asked.path().starts_with("/v1/session/") {
                change_text(reply, reversed);
            }
        }),
    },
];

/// The list from its end; a list of one stays as it is, to the byte.
fn reversed(text: &str) -> String {
    let parts = elements(text);
    if parts.len() < 2 {
        return text.to_owned();
    }
    let backwards: Vec<&str> = parts.into_iter().rev().map(|part| &text[part]).collect();
    list(&backwards)
}
