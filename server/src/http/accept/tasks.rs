//! The tasks of one server, whose runtime may run those of other servers, too.

use std::future::Future;

use parking_lot::Mutex;
use tokio::task::JoinSet;

/// The tasks of a server: its listeners and connections.
#[derive(Debug)]
pub(crate) struct Tasks(Mutex<Option<JoinSet<()>>>);

impl Tasks {
    /// Returns the tasks of a server that has none yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }

    /// Runs a task on the runtime of the caller; not if the server has ended meanwhile.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = self.0.lock().as_mut() {
            // Forgets those that are done.
            while tasks.try_join_next().is_some() {}
            tasks.spawn(task);
        }
    }

    /// Aborts all tasks. What they hold, such as sockets, has been dropped when this returns.
    pub(crate) async fn end(&self) {
        let tasks = self.0.lock().take();
        if let Some(mut tasks) = tasks {
            tasks.shutdown().await;
        }
    }
}
