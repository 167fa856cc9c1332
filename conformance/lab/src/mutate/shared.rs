//! What mutants share with the proxy: the target behind it, a memory, a switch, and what they do later.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::agenda::Agenda;
use proconsul_conformance::target::site::Site;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Connection, Outcome, Reply, Request, exchange};

/// How long the target may hold a request: longer than any wait that a case asks for and sits out.
const PATIENCE: Duration = Duration::from_secs(700);

/// Whether a mutant is at work, and who waits for its end.
#[derive(Default)]
pub(super) struct Switch {
    armed: Mutex<bool>,
    disarmed: Condvar,
}

impl Switch {
    fn armed(&self) -> MutexGuard<'_, bool> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the mutant alters what goes through.
    pub(super) fn arm(&self) {
        *self.armed() = true;
    }

    /// From now on nothing is altered, and what the mutant holds back goes on.
    pub(super) fn disarm(&self) {
        *self.armed() = false;
        self.disarmed.notify_all();
    }

    pub(super) fn is_armed(&self) -> bool {
        *self.armed()
    }

    /// Returns after `delay`, or earlier when the mutant is disarmed.
    fn hold(&self, delay: Duration) {
        let armed = self.armed();
        let held = self
            .disarmed
            .wait_timeout_while(armed, delay, |armed| *armed);
        drop(held.unwrap_or_else(PoisonError::into_inner));
    }
}

/// What a mutant can do besides changing what passes: remember, ask the target, hold back, come later.
pub(super) struct Scene {
    /// Lives as long as anybody is at work here, so that nothing is ever asked of a later server on the same port.
    pub(super) site: Site,
    pub(super) switch: Arc<Switch>,
    pub(super) agenda: Agenda<Self>,
    memory: Mutex<BTreeMap<String, String>>,
}

impl Scene {
    /// The scene before the server of a site.
    pub(super) fn new(site: &Site, switch: &Arc<Switch>) -> Self {
        Self {
            site: site.clone(),
            switch: Arc::clone(switch),
            agenda: Agenda::default(),
            memory: Mutex::default(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remember(&self, what: &str, value: &str) {
        self.memory().insert(what.to_owned(), value.to_owned());
    }

    pub(super) fn forget(&self, what: &str) {
        self.memory().remove(what);
    }

    pub(super) fn recall(&self, what: &str) -> Option<String> {
        self.memory().get(what).cloned()
    }

    /// What was remembered first under this name, now if nothing was.
    pub(super) fn recall_or(&self, what: &str, value: &str) -> String {
        let mut memory = self.memory();
        let known = memory
            .entry(what.to_owned())
            .or_insert_with(|| value.to_owned());
        known.clone()
    }

    /// What the target answers to the request.
    pub(super) fn forward(&self, asked: &Asked) -> Outcome {
        let mut connection = match Connection::open(self.site.address()) {
            Ok(connection) => connection,
            Err(why) => return Outcome::Unreachable(why),
        };
        connection.send(&asked.to_bytes());
        connection.read(asked.method == "HEAD", PATIENCE)
    }

    /// What the target answers to a request of the mutant's own.
    pub(super) fn ask(&self, request: &Request) -> Option<Reply> {
        match exchange(self.site.address(), request) {
            Outcome::Reply(reply) => Some(reply),
            Outcome::Closed
            | Outcome::Broken { .. }
            | Outcome::Silent { .. }
            | Outcome::Unreachable(_) => None,
        }
    }

    /// Holds a request back until the mutant is disarmed.
    pub(super) fn hold(&self) {
        self.switch.hold(PATIENCE);
    }

    /// Holds a request back for so long, at most until the mutant is disarmed.
    pub(super) fn hold_for(&self, delay: Duration) {
        self.switch.hold(delay);
    }

    /// Does something after a while of the target's time, unless the mutant is disarmed by then.
    pub(super) fn later(
        self: &Arc<Self>,
        delay: Duration,
        act: impl FnOnce(&Arc<Self>) + Send + 'static,
    ) {
        if self.site.clock().is_virtual() {
            let act = |scene: &Arc<Self>| {
                if scene.switch.is_armed() {
                    act(scene);
                }
            };
            return self.agenda.put_off(delay, Box::new(act));
        }
        let scene = Arc::clone(self);
        std::thread::spawn(move || {
            scene.switch.hold(delay);
            if scene.switch.is_armed() {
                act(&scene);
            }
        });
    }
}
