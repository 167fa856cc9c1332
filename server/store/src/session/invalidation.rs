//! The end of sessions. All its changes have one index, whatever the cause (session.md 3).

use std::sync::Arc;

use crate::Change;
use crate::command::effects::{Cause, SessionEnd, Touched};
use crate::kv::Content;
use crate::kv::key::Key;
use crate::session::id::SessionId;
use crate::session::{Behavior, SessionRow};

impl Change<'_> {
    /// Ends a session if it exists: releases or deletes its keys and starts their lock-delays.
    pub(crate) fn invalidate(&mut self, session: SessionId, cause: Cause) {
        let Some(row) = self.store.sessions.rows.remove(&session) else {
            return;
        };
        self.unbind(&row);
        self.store.sessions.newest = self.index;
        self.effects.touched.push(Touched::Session {
            id: session,
            node: row.session.node.to_lowercase(),
        });
        let mut end = SessionEnd {
            session,
            cause,
            released: Vec::new(),
            deleted: Vec::new(),
        };
        for key in self.store.keys_held_by(session) {
            let delays = &mut self.store.lock_delays;
            delays.start(self.now, &key, row.session.lock_delay_ns);
            match row.session.behavior {
                Behavior::Release => {
                    self.release_held(&key);
                    end.released.push(key);
                }
                Behavior::Delete => {
                    self.kv_delete(&key);
                    end.deleted.push(key);
                }
            }
        }
        self.remove_queries_of(session);
        self.effects.ended.push(end);
        self.session_checks_follow(&row, false);
    }

    fn unbind(&mut self, row: &Arc<SessionRow>) {
        let session = &row.session;
        let node = session.node.to_lowercase();
        let sessions = &mut self.store.sessions;
        sessions.stop_ttl(row);
        for check in session.bound_checks() {
            let binding = (node.clone(), check.to_lowercase(), session.id);
            sessions.by_check.remove(&binding);
        }
        sessions.by_node.remove(&(node, session.id));
    }

    /// Removes the holder of a key. Value, flags and lock index stay (session.md trap 20).
    fn release_held(&mut self, key: &Key) {
        let row = self.store.kv.get(key.as_bytes()).map(Arc::clone);
        let row = row.expect("a key in the index of held keys is in the table of keys");
        let content = Content {
            value: row.value.clone(),
            flags: row.flags(),
        };
        self.put(key, content, row.lock_index(), |_| None);
    }

    /// Ends all sessions of a node (lower case).
    pub(crate) fn invalidate_node(&mut self, node: &str) {
        for session in self.store.sessions_of(node) {
            self.invalidate(session, Cause::NodeDeleted);
        }
    }

    /// Ends all sessions bound to a check (node and check in lower case).
    pub(crate) fn invalidate_check(&mut self, node: &str, check: &str, cause: &Cause) {
        for session in self.store.sessions_bound_to(node, check) {
            self.invalidate(session, cause.clone());
        }
    }
}
