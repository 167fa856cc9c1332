//! The tasks of one server, whose runtime may run those of other servers, too.

use std::future::Future;
use std::pin::Pin;

use parking_lot::Mutex;
use tokio::task::JoinSet;

/// A task of whatever kind. Tokio's handling of tasks is compiled for each type of them, so there is one.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks of a server: its listeners and connections.
#[derive(Debug)]
pub(crate) struct Tasks(Mutex<Option<JoinSet<()>>>);

impl Tasks {
    /// Returns the tasks of a server that has none yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }

    /// Runs a task on the runtime of the caller; not if the server has ended meanwhile.
    pub(crate) fn spawn(&self, task: Task) {
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::Tasks;
    use proconsul_testing::within;

    /// A look-up that never ends stands for `getaddrinfo` of a host whose name server does not answer.
    #[tokio::test]
    async fn a_look_up_that_hangs_does_not_keep_a_server_from_stopping() {
        let tasks = Tasks::new();
        let (answer, never) = mpsc::channel::<()>();
        let (began, has_begun) = tokio::sync::oneshot::channel();
        tasks.spawn(Box::pin(async {
            let look_up = tokio::task::spawn_blocking(move || {
                began.send(()).expect("the test waits for it");
                let _ = never.recv();
            });
            let _ = look_up.await;
        }));
        has_begun.await.expect("the look-up begins");
        let ended = within(Duration::from_secs(20), tasks.end()).await;
        assert!(ended.is_some(), "the task ends while the look-up goes on");
        drop(answer);
    }

    #[tokio::test]
    async fn a_server_that_has_ended_begins_no_tasks() {
        let tasks = Tasks::new();
        tasks.end().await;
        let (held, is_dropped) = tokio::sync::oneshot::channel::<()>();
        tasks.spawn(Box::pin(async move {
            let _held = held;
            std::future::pending::<()>().await;
        }));
        let dropped = within(Duration::from_secs(20), is_dropped).await;
        assert!(dropped.is_some_and(|sent| sent.is_err()));
    }
}
