//! What the cases about the end of sessions share: nodes with checks, sessions that hang on them, and the indexes that their end moves.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::cases::support::catalog::{check, service_check};
use crate::cases::support::query::make;
use crate::cases::support::session::{LIST, info, is_gone, lives, of_node, try_session};
use crate::wire::Request;
use crate::wire::entry::Entry;
use crate::wire::waiting::Waiting;

/// How long the agent may take to tell the catalog.
pub(in crate::cases) const SYNC: Duration = Duration::from_secs(10);
/// What the triggers of the agent need.
pub(in crate::cases) const NEEDS_OF_AGENT: &[Feature] = &[
    Feature::OwnServer,
    Feature::AgentRegistration,
    Feature::PreparedQueries,
    Feature::Blocking,
];
/// Both behaviors.
pub(in crate::cases) const BOTH: &[&str] = &["release", "delete"];
/// A read that shows the index of all checks.
pub(in crate::cases) const CHECKS: &str = "/v1/health/state/any";
/// A read that shows the index of all services.
pub(in crate::cases) const SERVICES: &str = "/v1/catalog/services";
/// A read that shows the index of all nodes.
pub(in crate::cases) const NODES: &str = "/v1/catalog/nodes";
/// Longer than the slowest trigger takes in real time.
const PATIENCE: Duration = Duration::from_secs(150);
/// All prepared queries.
pub(in crate::cases) const QUERIES: &str = "/v1/query";

/// A session that holds a key.
pub(in crate::cases) struct Holder {
    pub(in crate::cases) session: String,
    pub(in crate::cases) key: String,
    held: Entry,
}

impl Holder {
    /// A session with these JSON fields acquires a key of that name.
    #[track_caller]
    pub(in crate::cases) fn new(t: &Trial, name: &str, fields: &Value) -> Self {
        let session = t.session(&fields.to_string());
        let key = t.key(name);
        t.put(&key, &format!("acquire={session}&flags=7"), "held")
            .is(200, "true");
        let held = t.get(&key, "").entry().session_is(&session);
        Self { session, key, held }
    }

    /// The session is gone and its key free, otherwise as it was; gives the entry.
    #[track_caller]
    pub(in crate::cases) fn was_released(&self, t: &Trial) -> Entry {
        is_gone(t, &self.session);
        let entry = t.get(&self.key, "").entry().is_modified_since(&self.held);
        let expected = Entry {
            session: None,
            modify_index: entry.modify_index,
            ..self.held.clone()
        };
        t.same("the released entry", entry.clone(), expected);
        entry
    }

    /// The session is gone, and its key with it.
    #[track_caller]
    pub(in crate::cases) fn was_deleted(&self, t: &Trial) {
        is_gone(t, &self.session);
        t.get(&self.key, "").is(404, "");
    }

    /// The session lives and holds its key, in which nothing has changed.
    #[track_caller]
    pub(in crate::cases) fn holds(&self, t: &Trial) {
        lives(t, &self.session);
        t.get(&self.key, "").entry().is_unchanged_since(&self.held);
    }

    /// Nobody can acquire the key.
    #[track_caller]
    pub(in crate::cases) fn is_guarded(&self, t: &Trial) {
        t.put(
            &self.key,
            &format!("acquire={}", t.session_without_delay()),
            "",
        )
        .is(200, "false");
    }
}

/// A node with passing checks: `ok` and `other` of its own, `svcok` of its service `svc`.
#[track_caller]
pub(in crate::cases) fn node_with_checks(t: &Trial) -> String {
    let node = t.register_node("n");
    check(t, &node, "ok", "passing");
    check(t, &node, "other", "passing");
    service_check(t, &node, "svc", "svcok", "passing");
    node
}

/// The fields of a session of that node that is bound to these checks.
pub(in crate::cases) fn bound(node: &str, checks: &[&str]) -> Value {
    json!({"Node": node, "NodeChecks": checks, "LockDelay": "60s"})
}

/// An answer of 200 with an empty body.
#[track_caller]
pub(in crate::cases) fn put(t: &Trial, path: &str, body: &Value) {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    t.api_put(path, body).is(200, "");
}

/// A session that is bound to this check of the agent's node, created once the catalog knows the check.
#[track_caller]
pub(in crate::cases) fn session_bound_to(t: &Trial, check: &str) -> String {
    let body = json!({"NodeChecks": [check], "LockDelay": "0s"}).to_string();
    t.eventually("the catalog knows the check", SYNC, || {
        try_session(t, &body)
    })
}

/// A session of this node, bound to these checks, with this TTL or none.
pub(in crate::cases) struct Bound {
    pub(in crate::cases) node: String,
    pub(in crate::cases) checks: Vec<String>,
    pub(in crate::cases) ttl: String,
}

/// The `ModifyIndex` of a check.
#[track_caller]
pub(in crate::cases) fn index_of_check(t: &Trial, node: &str, id: &str) -> u64 {
    let checks = t.api_get(&format!("/v1/health/node/{node}")).list();
    let found = checks.iter().find(|check| check["CheckID"] == id);
    found
        .and_then(|check| check["ModifyIndex"].as_u64())
        .unwrap_or_default()
}

/// The index of a read.
#[track_caller]
pub(in crate::cases) fn index_of(t: &Trial, path: &str) -> u64 {
    t.api_get(path).index()
}

/// A read that waits for anything to happen to what it shows.
#[track_caller]
fn waiting(t: &Trial, path: &str) -> Waiting {
    let index = index_of(t, path);
    let sign = if path.contains('?') { '&' } else { '?' };
    let target = format!("{path}{sign}index={index}&wait=300s");
    t.start(&Request::get(&target).patience(PATIENCE))
}

/// What one session has that its end touches, and who waits for it.
struct Scene {
    session: String,
    /// The key that it holds, and a tree with nothing else in it.
    key: String,
    tree: String,
    queries: [String; 2],
    /// Who waits for the key, the tree, and the three lists of sessions; all queries.
    waiting: [Waiting; 6],
}

impl Scene {
    #[track_caller]
    fn new(t: &Trial, behavior: &str, bound: &Bound) -> Self {
        let body = json!({
            "Node": bound.node, "NodeChecks": bound.checks, "TTL": bound.ttl, "Behavior": behavior,
            "LockDelay": "60s",
        });
        let session = t.session(&body.to_string());
        let (tree, key) = (t.key(behavior), t.key(&format!("{behavior}/held")));
        t.put(&key, &format!("acquire={session}&flags=7"), "held")
            .is(200, "true");
        let query = |name: &str| {
            let service = json!({"Service": "nobody"});
            make(
                t,
                &json!({"Name": name, "Session": session, "Service": service}),
            )
        };
        let queries = [query(""), query(&t.node(behavior))];
        let paths = [
            format!("/v1/kv/{key}"),
            format!("/v1/kv/{tree}?recurse"),
            info(&session),
            of_node(&bound.node),
            LIST.to_owned(),
            QUERIES.to_owned(),
        ];
        Self {
            waiting: paths.map(|path| waiting(t, &path)),
            session,
            key,
            tree,
            queries,
        }
    }

    /// All that ends with the session has ended, everybody was told, and all of it under one index: this. Not even `other` gets the key.
    #[track_caller]
    fn has_ended(&self, t: &Trial, behavior: &str, other: &str) -> u64 {
        let answers = self.waiting.each_ref().map(Waiting::answer);
        let index = answers[0].index();
        for answer in &answers {
            t.same("the index of an answer", answer.index(), index);
        }
        is_gone(t, &self.session);
        let [key, tree, info, ..] = answers;
        info.is(200, "[]");
        if behavior == "delete" {
            key.is(404, "");
            tree.is(404, "");
            t.get(&self.key, "").is(404, "");
        } else {
            let entry = t.get(&self.key, "").entry();
            entry.value_is("held").flags_is(7).lock_index_is(1);
            let entry = key.entry().is_unlocked();
            t.same("ModifyIndex", entry.modify_index, index);
        }
        for query in &self.queries {
            t.api_get(&format!("/v1/query/{query}")).status_is(404);
        }
        t.same("the sessions' index", index_of(t, LIST), index);
        t.same("the queries' index", index_of(t, QUERIES), index);
        let tree = t.get(&self.tree, "recurse").index();
        t.same("the index of the tree", tree, index);
        t.put(&self.key, &format!("acquire={other}"), "")
            .is(200, "false");
        index
    }
}

/// For each behavior: `prepare` makes what a session is bound to, `pull` ends that session, and `own` is the index that the trigger's
/// own write shows. Everything that hangs on the session ends under that index; another session with its key and its query stays.
#[track_caller]
pub(in crate::cases) fn ends_at_once(
    t: &Trial,
    behaviors: &[&str],
    prepare: impl Fn(&str) -> Bound,
    pull: impl Fn(&Bound, &str),
    own: impl Fn(&Bound) -> u64,
) {
    for behavior in behaviors {
        let bystander = t.session_without_delay();
        let beside = t.key("beside");
        t.put(&beside, &format!("acquire={bystander}"), "v")
            .is(200, "true");
        let untouched = t.get(&beside, "").entry();
        let bound = prepare(behavior);
        let scene = Scene::new(t, behavior, &bound);
        pull(&bound, &scene.session);
        let index = scene.has_ended(t, behavior, &bystander);
        t.same("the index of the trigger's own write", own(&bound), index);
        lives(t, &bystander);
        t.get(&beside, "").entry().is_unchanged_since(&untouched);
        t.destroy(&bystander);
    }
}
