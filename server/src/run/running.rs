//! A server that runs: its sockets are served, its clock and its checks run.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::accept::tasks::{Task, Tasks};
use super::accept::{Protocol, accept};
#[cfg(not(feature = "probes"))]
use super::no_probes as probe;
#[cfg(feature = "probes")]
use super::probe;
use super::sockets::Sockets;
use crate::https::Tls;
use proconsul_config::Config;
use proconsul_core::control::Controls;
use proconsul_core::{Context, Reload};
use proconsul_engine::Engine;

/// A server that runs on the runtime in whose context it was started.
pub(super) struct Running {
    engine: Arc<Engine>,
    contexts: Vec<Arc<Context>>,
    tasks: Arc<Tasks>,
    checks: JoinHandle<()>,
    /// Dropping it ends the checks and the port of the control plane.
    ending: watch::Sender<()>,
}

impl Running {
    /// Serves the sockets of each agent.
    pub(super) fn start(
        config: &Arc<Config>,
        controls: Controls,
        mut sockets: Vec<Sockets>,
        tls: Option<&Tls>,
        reload: &Reload,
    ) -> Self {
        let engine = controls.shared_engine();
        let version = config.version;
        let control = config.control.then_some(controls);
        let tasks = Arc::new(Tasks::new());
        let (ending, ended) = watch::channel(());
        let of_control = sockets
            .first_mut()
            .map(|first| std::mem::take(&mut first.control));
        let of_control = of_control.unwrap_or_default();
        let has_own_port = !of_control.is_empty();
        #[cfg(feature = "control-http")]
        if let Some(control) = control.as_ref().filter(|_| has_own_port) {
            let router =
                proconsul_core::control::http::router(control.clone(), &config.allow_hosts);
            for (_, socket) in of_control {
                if let super::accept::Socket::Tcp(listener) = socket {
                    let end = dropped(ended.clone());
                    let serving = super::control_port::serve(listener, router.clone(), end);
                    tasks.spawn(Box::pin(serving));
                }
            }
        }
        let contexts = Context::of_agents(&engine, config, control.as_ref(), reload);
        let contexts = contexts.into_iter().map(|context| match has_own_port {
            true => context.without_control_plane(),
            false => context,
        });
        let contexts: Vec<_> = contexts.map(Arc::new).collect();
        for (context, sockets) in contexts.iter().zip(sockets) {
            serve(context, sockets, tls, &tasks);
        }
        let of_clock = Arc::clone(&engine);
        tasks.spawn(Box::pin(async move { of_clock.run().await }));
        let checks = probe::run_checks(Arc::clone(&engine), version, dropped(ended));
        let checks = tokio::spawn(Box::pin(checks) as Task);
        Self {
            engine,
            contexts,
            tasks,
            checks,
            ending,
        }
    }

    /// Returns the contexts of all agents.
    pub(super) fn contexts(&self) -> Vec<Arc<Context>> {
        self.contexts.clone()
    }

    pub(super) fn tasks(&self) -> Arc<Tasks> {
        Arc::clone(&self.tasks)
    }

    /// Runs until `stop` is ready or a client tells the server to leave. Connections are closed and scripts of checks are
    /// killed when this returns.
    pub(super) async fn until(self, stop: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = stop => {}
            () = self.contexts[0].left.wait() => {}
        }
        // Ends what still waits for the server, among it calls of the control plane.
        self.engine.close();
        drop(self.ending);
        let _ = self.checks.await;
        self.tasks.end().await;
    }
}

/// Serves the sockets of an agent.
fn serve(context: &Arc<Context>, sockets: Sockets, tls: Option<&Tls>, tasks: &Arc<Tasks>) {
    let with = |tls: Option<&Tls>| {
        let protocol = Protocol::Http(tls.cloned());
        move |(_, socket)| (socket, protocol.clone())
    };
    let mut served: Vec<_> = sockets.data.into_iter().map(with(None)).collect();
    served.extend(sockets.https.into_iter().map(with(tls)));
    #[cfg(feature = "dns")]
    for dns in sockets.dns {
        let datagrams = super::accept::dns::serve_datagrams(Arc::clone(context), dns.udp);
        tasks.spawn(Box::pin(datagrams));
        served.push((dns.tcp, Protocol::Dns));
    }
    for (socket, protocol) in served {
        let accepting = accept(Arc::clone(context), socket, protocol, Arc::clone(tasks));
        tasks.spawn(Box::pin(accepting));
    }
}

/// Waits until the other end is dropped.
async fn dropped(mut end: watch::Receiver<()>) {
    let _ = end.changed().await;
}
