//! What a contender's request is about.

use std::borrow::Cow;

use bytes::Bytes;
use http::Request;
use proconsul_engine::faults::RequestKind;
use proconsul_gocompat::url::path_unescape;
use proconsul_gocompat::url::query::{Query, Semicolons};
use serde_json::Value;

/// A request, as far as its method, target and body say it.
#[derive(Debug)]
pub(super) struct About {
    /// The path, decoded.
    pub(super) path: String,
    pub(super) kind: RequestKind,
    pub(super) is_stale: bool,
    /// The session that it creates, renews, destroys, acquires or releases with.
    session: Option<String>,
    /// The keys that it names, and whether it means all that begin so.
    keys: Vec<(String, bool)>,
}

impl About {
    pub(super) fn new(request: &Request<Bytes>) -> Self {
        let (method, uri) = (request.method().as_str(), request.uri());
        let path = path_unescape(uri.path().as_bytes()).unwrap_or(Cow::Borrowed(b""));
        let path = String::from_utf8_lossy(&path).into_owned();
        let query = uri.query().unwrap_or_default();
        let query = Query::parse(query.as_bytes(), Semicolons::Separate).unwrap_or_default();
        let kind = RequestKind::of(method, path.as_bytes(), |name| query.has(name));
        let of_session = path.strip_prefix("/v1/session/").unwrap_or_default();
        let of_path = ["renew/", "destroy/"].map(|verb| of_session.strip_prefix(verb));
        let of_query = query.first("acquire").or(query.first("release"));
        let of_query = of_query.map(|session| String::from_utf8_lossy(session).into_owned());
        let session = of_path.into_iter().flatten().next().map(str::to_owned);
        let key = path.strip_prefix("/v1/kv/");
        let keys = match key {
            Some(key) => vec![(key.to_owned(), query.has("recurse"))],
            None if kind == RequestKind::Txn => keys_of(request.body()),
            None => Vec::new(),
        };
        Self {
            kind,
            is_stale: query.has("stale") && matches!(method, "GET" | "HEAD"),
            session: session.or(of_query),
            keys,
            path,
        }
    }

    pub(super) fn keys(&self) -> &[(String, bool)] {
        &self.keys
    }

    /// Returns whether it names this key.
    pub(super) fn names(&self, key: &str) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|(named, is_prefix)| named == key || *is_prefix && key.starts_with(named))
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the session that it destroys.
    pub(super) fn destroyed(&self) -> Option<&str> {
        self.session().filter(|_| self.kind == RequestKind::Destroy)
    }

    /// Returns the session that it renews.
    pub(super) fn renewed(&self) -> Option<&str> {
        self.session().filter(|_| self.kind == RequestKind::Renew)
    }

    /// Returns the key that it acquires, and for which session.
    pub(super) fn acquired(&self) -> Option<(&str, &str)> {
        let (key, _) = self.keys.first()?;
        let session = self.session()?;
        (self.kind == RequestKind::Acquire).then_some((key, session))
    }
}

/// Returns the keys that the operations of a transaction name.
fn keys_of(body: &Bytes) -> Vec<(String, bool)> {
    let operations: Value = serde_json::from_slice(body).unwrap_or_default();
    let operations = operations.as_array().into_iter().flatten();
    let key = |operation: &Value| {
        let operation = &operation["KV"];
        let key = operation["Key"].as_str()?.to_owned();
        Some((key, operation["Verb"] == "delete-tree"))
    };
    operations.filter_map(key).collect()
}
