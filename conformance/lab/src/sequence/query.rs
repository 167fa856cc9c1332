//! The steps of sequences that are about prepared queries, each of which falls with a session.
//!
//! Queries are read one by one: the order of a list is that of ids of chance, and so is that of what one finds.

use serde_json::{Value, json};

use super::operation::{NewQuery, QUERIES};
use super::play::Player;
use proconsul_conformance::wire::Request;

/// A query that nobody has created.
const UNKNOWN_QUERY: &str = "00000000-0000-0000-0000-00000000dcba";

impl Player {
    pub(super) fn create_query(&mut self, query: &NewQuery) {
        if self.queries.len() == QUERIES {
            return;
        }
        let body = self.query_body(query).to_string();
        let created = self.json(&Request::new("POST", "/v1/query").body(body));
        if let Some(id) = created.pointer("/ID").and_then(Value::as_str) {
            self.queries.push(id.to_owned());
        }
    }

    pub(super) fn update_query(&mut self, slot: usize, query: &NewQuery) {
        let body = self.query_body(query).to_string();
        let target = self.query_path(slot);
        self.request(&Request::put(&target, body));
    }

    /// A request without a body about one query.
    pub(super) fn on_query(&mut self, method: &str, slot: usize) {
        let target = self.query_path(slot);
        self.request(&Request::new(method, &target));
    }

    pub(super) fn query_path(&self, slot: usize) -> String {
        let id = self.queries.get(slot).map_or(UNKNOWN_QUERY, String::as_str);
        format!("/v1/query/{id}")
    }

    fn query_body(&self, query: &NewQuery) -> Value {
        let name = query.name.map(|name| self.service(name));
        json!({
            "Name": name.unwrap_or_default(), "Session": self.session_id(query.session),
            "Service": {"Service": self.service(query.service)},
        })
    }

    /// Makes the last change of the queries older than that of the keys, as is done for everything else.
    pub(super) fn level_queries(&mut self) {
        let before = NewQuery {
            name: Some("before"),
            session: 0,
            service: "before",
        };
        self.create_query(&before);
        self.delete_queries();
    }

    /// Takes away the queries that are left.
    pub(super) fn delete_queries(&mut self) {
        for slot in 0..self.queries.len() {
            self.on_query("DELETE", slot);
        }
        self.queries.clear();
    }
}
