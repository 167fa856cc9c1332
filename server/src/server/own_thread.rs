//! The thread of a server that is embedded in a test.

use std::future::Future;
use std::io;
use std::thread::{Builder, JoinHandle};

use tokio::runtime::Runtime;

/// Runs `serving` on a thread of its own, which ends with it.
///
/// Does not wait for the runtime's blocking threads: a look-up of a check's host may take half a minute and cannot be
/// interrupted. They hold no socket, so the port is free all the same.
pub(super) fn run(
    runtime: Runtime,
    serving: impl Future<Output = ()> + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let thread = Builder::new().name("proconsul".into());
    thread.spawn(move || {
        runtime.block_on(serving);
        runtime.shutdown_background();
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::run;

    /// A look-up that never ends stands for `getaddrinfo` of a host whose name server does not answer.
    #[test]
    fn a_look_up_that_hangs_does_not_keep_a_server_from_stopping() {
        let (_answer, never) = mpsc::channel::<()>();
        let (ended, has_ended) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let serving = async move {
            let (began, has_begun) = tokio::sync::oneshot::channel();
            tokio::task::spawn_blocking(move || {
                began.send(()).expect("the server waits for it");
                never.recv()
            });
            has_begun.await.expect("the look-up begins");
        };
        let server = run(runtime.expect("a runtime"), serving).expect("a thread");
        std::thread::spawn(move || {
            server.join().expect("no panic");
            ended.send(()).expect("the test waits for it");
        });
        has_ended
            .recv_timeout(Duration::from_secs(20))
            .expect("the server ends while the look-up goes on");
    }
}
