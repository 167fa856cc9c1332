//! What all guards have in common: they are lost once, and undo themselves.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Lost;
use crate::error::Error;

type Undoing = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
type UndoFn = Box<dyn FnOnce() -> Undoing + Send + Sync>;

/// Says once that something is lost, to all who ask.
#[derive(Clone, Debug)]
pub(super) struct LostSender(watch::Sender<Option<Lost>>);

impl LostSender {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// The first reason stays.
    pub(super) fn send(&self, why: Lost) {
        self.0.send_if_modified(|lost| {
            let first = lost.is_none();
            if first {
                *lost = Some(why);
            }
            first
        });
    }

    pub(super) fn receiver(&self) -> LostReceiver {
        LostReceiver(self.0.subscribe())
    }
}

#[derive(Clone, Debug)]
pub(super) struct LostReceiver(watch::Receiver<Option<Lost>>);

impl LostReceiver {
    pub(super) fn get(&self) -> Option<Lost> {
        *self.0.borrow()
    }

    pub(super) async fn wait(&self) -> Lost {
        let mut receiver = self.0.clone();
        // A sender that is gone without a word went with its keeper, which ends the session.
        match receiver.wait_for(Option::is_some).await {
            Ok(lost) => lost.unwrap_or(Lost::Session),
            Err(_) => Lost::Session,
        }
    }
}

/// Something that must be undone: by [`Undo::now`], or in the background when it is dropped.
pub(super) struct Undo(Option<UndoFn>);

impl Undo {
    pub(super) fn new<F>(undo: impl FnOnce() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        Self(Some(Box::new(move || Box::pin(undo()))))
    }

    /// Nothing has to be undone.
    pub(super) fn forget(mut self) {
        self.0 = None;
    }

    /// Goes on in the background when it is not awaited to the end.
    pub(super) async fn now(mut self) -> Result<(), Error> {
        let Some(undo) = self.0.take() else {
            return Ok(());
        };
        tokio::spawn(undo())
            .await
            .expect("the task neither panics nor is aborted")
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Some(undo) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(undo());
        }
    }
}

impl fmt::Debug for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Undo(armed: {})", self.0.is_some())
    }
}

/// A task that ends with its owner.
#[derive(Debug)]
pub(super) struct OwnTask(JoinHandle<()>);

impl OwnTask {
    pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }
}

impl Drop for OwnTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Something held: it is watched, can be lost, and is given back.
#[derive(Debug)]
pub(super) struct Guard {
    // Before `undo`: what is given back on purpose is not to be reported as taken.
    _monitor: OwnTask,
    sender: LostSender,
    undo: Undo,
}

impl Guard {
    /// `monitor` ends with the reason when what is held is lost.
    pub(super) fn new(undo: Undo, monitor: impl Future<Output = Lost> + Send + 'static) -> Self {
        let sender = LostSender::new();
        let to = sender.clone();
        let monitor = OwnTask::spawn(async move { to.send(monitor.await) });
        Self {
            _monitor: monitor,
            sender,
            undo,
        }
    }

    pub(super) fn get(&self) -> Option<Lost> {
        self.sender.receiver().get()
    }

    pub(super) fn lost(&self) -> impl Future<Output = Lost> + Send + use<> {
        let receiver = self.sender.receiver();
        async move { receiver.wait().await }
    }

    pub(super) async fn release(self) -> Result<(), Error> {
        self.sender.send(Lost::Released);
        self.undo.now().await
    }
}

/// Says that something was given up when it is dropped.
#[derive(Debug)]
pub(super) struct OwnLost(pub(super) LostSender);

impl Drop for OwnLost {
    fn drop(&mut self) {
        self.0.send(Lost::Released);
    }
}
