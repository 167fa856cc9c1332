//! Keys: parameters that are not looked at, or too closely.

use super::reply::say_instead;
use crate::mutate::{Alter, Mutant};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "key/cas-ignored",
        what: "A check-and-set writes without checking",
        topics: &["kv/cas"],
        alter: Alter::Request(|asked| {
            if asked.is_put() && asked.number("cas").is_some_and(|index| index > 0) {
                asked.drop_parameter("cas");
            }
        }),
    },
    Mutant {
        name: "key/cas-zero-is-none",
        what: "cas=0 writes without checking",
        topics: &["kv/cas"],
        alter: Alter::Request(|asked| {
            if asked.parameter("cas") == Some("0") && asked.is_put() {
                asked.drop_parameter("cas");
            }
        }),
    },
    Mutant {
        name: "key/cas-on-delete-ignored",
        what: "A check-and-delete deletes without checking",
        topics: &["kv/delete"],
        alter: Alter::Request(|asked| {
            if asked.method == "DELETE" && asked.number("cas").is_some() && !asked.has("recurse") {
                asked.drop_parameter("cas");
            }
        }),
    },
    Mutant {
        name: "key/flags-ignored",
        what: "Flags are not stored",
        topics: &["kv/put", "kv/value"],
        alter: Alter::Request(|asked| {
            if asked.key().is_some() && asked.number("flags").is_some() {
                asked.drop_parameter("flags");
            }
        }),
    },
    Mutant {
        name: "key/recurse-ignored-on-delete",
        what: "A recursive delete deletes the one key of that name",
        topics: &["kv/delete"],
        alter: Alter::Request(|asked| {
            if asked.method == "DELETE" && !asked.has("cas") {
                asked.drop_parameter("recurse");
            }
        }),
    },
    Mutant {
        name: "key/delete-always-recurses",
        what: "A delete takes what begins with the key with it",
        topics: &["kv/delete"],
        alter: Alter::Request(|asked| {
            if asked.method == "DELETE" && !asked.target.contains('?') {
                asked.add_parameter("recurse");
            }
        }),
    },
    Mutant {
        name: "key/separator-ignored",
        what: "?keys lists all keys, whatever the separator",
        topics: &["kv/keys"],
        alter: Alter::Request(|asked| {
            if asked.key().is_some() {
                asked.drop_parameter("separator");
            }
        }),
    },
    Mutant {
        name: "key/prefix-is-a-folder",
        what: "A recursive read shows only what stands below the prefix and a slash",
        topics: &["kv/get", "kv/keys", "session/lock/"],
        alter: Alter::Request(|asked| {
            if asked.is_get() && asked.has("recurse") && !asked.path().ends_with('/') {
                asked.target = asked.target.replacen('?', "/?", 1);
            }
        }),
    },
    Mutant {
        name: "key/recurse-is-ignored",
        what: "A recursive read shows the one key of that name",
        topics: &["kv/get"],
        alter: Alter::Request(|asked| {
            if asked.is_get() {
                asked.drop_parameter("recurse");
            }
        }),
    },
    Mutant {
        name: "key/plus-is-a-blank",
        what: "A plus in a key is read as a blank",
        topics: &["kv/path", "kv/names"],
        alter: Alter::Request(|asked| {
            if let Some(key) = asked.key() {
                let key = key.replace('+', "%20");
                let query = asked
                    .target
                    .split_once('?')
                    .map(|(_, query)| format!("?{query}"));
                asked.target = format!("/v1/kv/{key}{}", query.unwrap_or_default());
            }
        }),
    },
    Mutant {
        name: "key/case-is-folded",
        what: "Keys are the same in upper and lower case",
        topics: &["kv/path", "kv/names", "kv/get"],
        alter: Alter::Request(|asked| {
            if let Some(key) = asked.key() {
                let key = key.to_lowercase();
                let query = asked
                    .target
                    .split_once('?')
                    .map(|(_, query)| format!("?{query}"));
                asked.target = format!("/v1/kv/{key}{}", query.unwrap_or_default());
            }
        }),
    },
    Mutant {
        name: "key/raw-ends-with-a-newline",
        what: "A raw value has a newline behind it",
        topics: &["kv/raw", "kv/get"],
        alter: Alter::Reply(|asked, reply| {
            if asked.has("raw") && reply.status == 200 && reply.header("Content-Encoding").is_none()
            {
                reply.body.push(b'\n');
            }
        }),
    },
    Mutant {
        name: "key/values-are-trimmed",
        what: "White space at the end of a value is lost",
        topics: &["kv/value", "kv/put"],
        alter: Alter::Request(|asked| {
            if asked.is_put()
                && asked.key().is_some()
                && let Some(body) = asked.body_text().map(|body| body.trim_end().to_owned())
            {
                asked.set_body(&body);
            }
        }),
    },
    Mutant {
        name: "key/true-is-a-number",
        what: "Writes are answered 1 instead of true",
        topics: &["kv/put"],
        alter: Alter::Reply(|asked, reply| {
            if asked.is_put() && asked.key().is_some() {
                say_instead(reply, "true", "1");
            }
        }),
    },
];
