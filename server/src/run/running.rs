//! A server that runs: its sockets are served, its clock and its checks run.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::accept::tasks::{Task, Tasks};
use super::accept::{Protocol, accept};
use super::datacenter::Datacenter;
#[cfg(not(feature = "probes"))]
use super::no_probes as probe;
#[cfg(feature = "probes")]
use super::probe;
#[cfg(feature = "control-http")]
use super::sockets::Bound;
use super::sockets::Sockets;
use crate::https::Tls;
use proconsul_core::{Context, join};
use proconsul_engine::Engine;

/// A server that runs on the runtime in whose context it was started.
pub(super) struct Running {
    engine: Arc<Engine>,
    contexts: Vec<Arc<Context>>,
    tasks: Arc<Tasks>,
    checks: Vec<JoinHandle<()>>,
    /// Dropping it ends the checks and the port of the control plane.
    ending: watch::Sender<()>,
}

impl Running {
    /// Serves the sockets of each agent of each datacenter.
    pub(super) fn start(datacenters: Vec<Datacenter>, tls: Option<&Tls>) -> Self {
        let tasks = Arc::new(Tasks::new());
        let (ending, ended) = watch::channel(());
        let mut of_datacenters = Vec::new();
        let mut all_sockets = Vec::new();
        for mut datacenter in datacenters {
            let plane = datacenter.sockets.first_mut();
            let plane = plane.map(|first| std::mem::take(&mut first.control));
            let plane = plane.unwrap_or_default();
            let has_own_port = !plane.is_empty();
            #[cfg(feature = "control-http")]
            serve_plane(&datacenter, plane, &ended, &tasks);
            let contexts = datacenter.contexts().into_iter();
            let contexts = contexts.map(|context| match has_own_port {
                true => context.without_control_plane(),
                false => context,
            });
            of_datacenters.push(contexts.map(Arc::new).collect::<Vec<_>>());
            all_sockets.extend(datacenter.sockets);
        }
        if of_datacenters.len() > 1 {
            join(&of_datacenters);
        }
        let firsts = of_datacenters.iter().filter_map(|agents| agents.first());
        let checks = firsts.map(|first| {
            let engine = Arc::clone(&first.engine);
            let checks = probe::run_checks(engine, first.config.version, dropped(ended.clone()));
            tokio::spawn(Box::pin(checks) as Task)
        });
        let checks = checks.collect();
        let contexts: Vec<_> = of_datacenters.into_iter().flatten().collect();
        for (context, sockets) in contexts.iter().zip(all_sockets) {
            serve(context, sockets, tls, &tasks);
        }
        let engine = Arc::clone(&contexts[0].engine);
        let of_clock = Arc::clone(&engine);
        tasks.spawn(Box::pin(async move { of_clock.run().await }));
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

    /// Runs until `stop` is ready or a client tells one of the agents to leave. Connections are closed and scripts of checks are
    /// killed when this returns.
    pub(super) async fn until(self, stop: impl Future<Output = ()>) {
        let contexts = self.contexts.iter();
        let mut leaving: Vec<_> = contexts.map(|agent| Box::pin(agent.left.wait())).collect();
        let left = poll_fn(|task| {
            let mut each = leaving.iter_mut();
            match each.any(|left| left.as_mut().poll(task).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        tokio::select! {
            biased;
            () = stop => {}
            () = left => {}
        }
        drop(leaving);
        // Ends what still waits for the server, among it calls of the control plane.
        self.engine.close();
        drop(self.ending);
        for checks in self.checks {
            let _ = checks.await;
        }
        self.tasks.end().await;
    }
}

/// Serves the control plane at sockets that serve nothing else.
#[cfg(feature = "control-http")]
fn serve_plane(
    datacenter: &Datacenter,
    sockets: Vec<Bound>,
    ended: &watch::Receiver<()>,
    tasks: &Arc<Tasks>,
) {
    let Some(control) = datacenter.control().filter(|_| !sockets.is_empty()) else {
        return;
    };
    let hosts = &datacenter.config.allow_hosts;
    let router = proconsul_core::control::http::router(control, hosts);
    for (_, socket) in sockets {
        if let super::accept::Socket::Tcp(listener) = socket {
            let end = dropped(ended.clone());
            let serving = super::control_port::serve(listener, router.clone(), end);
            tasks.spawn(Box::pin(serving));
        }
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
        let datagrams =
            super::accept::dns::serve_datagrams(Arc::clone(context), dns.udp, Arc::clone(tasks));
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
