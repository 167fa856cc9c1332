//! Who reads the log of the process over HTTP while it is written (operator.md 7).
//!
//! A listener that does not read loses lines; it neither holds up who writes them nor grows.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use proconsul_engine::sync::Signal;

/// The most lines that wait for a listener, which is Consul's number.
const LINES: usize = 512;
/// The most bytes that wait for a listener.
const BYTES: usize = 1 << 20;

/// All listeners of the process, which has one log.
static LISTENERS: RwLock<Vec<Arc<Queue>>> = RwLock::new(Vec::new());

/// The form of the lines that a listener wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Texts for people.
    Text,
    /// JSON objects.
    Json,
}

/// The lines for a listener.
#[derive(Debug)]
struct Queue {
    level: Level,
    form: Lines,
    waiting: Mutex<Waiting>,
    filled: Signal,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    bytes: usize,
}

/// A listener. It ends when it is dropped.
#[derive(Debug)]
pub struct Listener(Arc<Queue>);

impl Listener {
    /// Begins to listen to lines of this level and more important ones.
    pub fn new(level: Level, form: Lines) -> Self {
        let queue = Arc::new(Queue {
            level,
            form,
            waiting: Mutex::default(),
            filled: Signal::default(),
        });
        LISTENERS.write().push(Arc::clone(&queue));
        tracing::callsite::rebuild_interest_cache();
        Self(queue)
    }

    /// Returns the next line.
    pub fn next(&self) -> Option<String> {
        let mut waiting = self.0.waiting.lock();
        let line = waiting.lines.pop_front()?;
        waiting.bytes -= line.len();
        Some(line)
    }

    /// Whether no line is there.
    pub fn is_empty(&self) -> bool {
        self.0.waiting.lock().lines.is_empty()
    }

    /// Waits until a line may be there.
    pub async fn filled(&self) {
        self.0.filled.wait().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        LISTENERS
            .write()
            .retain(|queue| !Arc::ptr_eq(queue, &self.0));
        tracing::callsite::rebuild_interest_cache();
    }
}

impl Queue {
    fn push(&self, line: String) {
        let mut waiting = self.waiting.lock();
        if waiting.lines.len() < LINES && waiting.bytes + line.len() <= BYTES {
            waiting.bytes += line.len();
            waiting.lines.push_back(line);
            self.filled.set();
        }
    }
}

/// Returns the least important level that a listener wants.
pub fn level() -> LevelFilter {
    let listeners = LISTENERS.read();
    let levels = listeners.iter().map(|queue| queue.level);
    levels
        .max()
        .map_or(LevelFilter::OFF, LevelFilter::from_level)
}

/// Passes an event of this level on to all who listen to it. `line` makes a line of it.
pub fn publish(level: Level, mut line: impl FnMut(Lines) -> String) {
    for queue in LISTENERS.read().iter() {
        if level <= queue.level {
            queue.push(line(queue.form));
        }
    }
}
