//! Writes lines without waiting for their reader: a thread takes them from a queue.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// The capacity of the queue in bytes for [droppable](Importance::Droppable) lines.
const ROOM: usize = 1 << 20;

/// How long droppable lines are gathered. They are then written in one call, which costs as much as one line.
const GATHERED_FOR: Duration = Duration::from_millis(5);

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Importance {
    /// A reader may wait for it: it is written at once, and never dropped.
    Awaited,
    /// One of very many lines: it is written soon, and dropped if the queue is full.
    Droppable,
}

/// A queue of text, and the thread that writes it.
#[derive(Debug)]
pub(crate) struct Writer(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Notified when there is something to write.
    filled: Condvar,
    /// Notified when all is written.
    drained: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    text: Vec<u8>,
    /// The number of lines dropped since the last written one.
    dropped: u64,
    /// Whether `text` has an awaited line.
    is_awaited: bool,
    /// Whether the thread is writing.
    is_writing: bool,
    /// Whether the writer has been dropped.
    is_closed: bool,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.dropped == 0
    }
}

impl Writer {
    /// Starts the thread. `dropped` makes a line about a number of dropped lines.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub(crate) fn start(
        to: impl Write + Send + 'static,
        dropped: impl Fn(u64) -> String + Send + 'static,
    ) -> io::Result<Writer> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || own.write(to, dropped))?;
        Ok(Writer(shared))
    }

    /// Adds text to the queue.
    pub(crate) fn push(&self, text: &str, importance: Importance) {
        let mut queue = self.0.queue.lock();
        if importance == Importance::Droppable && queue.text.len() + text.len() > ROOM {
            queue.dropped += 1;
            return;
        }
        // A thread that is gathering lines wakes by itself.
        let is_told = queue.is_empty() || importance == Importance::Awaited;
        queue.is_awaited |= importance == Importance::Awaited;
        queue.text.extend_from_slice(text.as_bytes());
        drop(queue);
        if is_told {
            self.0.filled.notify_one();
        }
    }

    /// Waits until all is written, at most for `limit`.
    pub(crate) fn drain(&self, limit: Duration) {
        let mut queue = self.0.queue.lock();
        queue.is_awaited = true;
        self.0.filled.notify_one();
        let unwritten = |queue: &mut Queue| queue.is_writing || !queue.is_empty();
        self.0.drained.wait_while_for(&mut queue, unwritten, limit);
    }
}

impl Drop for Writer {
    /// Text in the queue is still written.
    fn drop(&mut self) {
        self.0.queue.lock().is_closed = true;
        self.0.filled.notify_one();
    }
}

impl Shared {
    fn write(&self, mut to: impl Write, dropped: impl Fn(u64) -> String) {
        // Two buffers: one is filled while the other is written.
        let mut text = Vec::new();
        loop {
            let missing = {
                let idles = |queue: &mut Queue| queue.is_empty() && !queue.is_closed;
                let mut queue = self.queue.lock();
                self.filled.wait_while(&mut queue, idles);
                if queue.is_empty() {
                    return;
                }
                let gathers = |queue: &mut Queue| !queue.is_awaited && !queue.is_closed;
                self.filled
                    .wait_while_for(&mut queue, gathers, GATHERED_FOR);
                text.clear();
                std::mem::swap(&mut queue.text, &mut text);
                queue.is_awaited = false;
                queue.is_writing = true;
                std::mem::take(&mut queue.dropped)
            };
            if missing > 0 {
                text.extend_from_slice(dropped(missing).as_bytes());
            }
            // A reader that has gone is ignored.
            let _ = to.write_all(&text).and_then(|()| to.flush());
            self.queue.lock().is_writing = false;
            self.drained.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// Longer than any step takes on the slowest machine.
    const BOUND: Duration = Duration::from_secs(30);

    /// A reader that takes one piece at a time, like a full pipe.
    struct Pipe(SyncSender<String>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.0.send(text).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn writer() -> (Writer, Receiver<String>) {
        let (sender, receiver) = sync_channel(0);
        let dropped = |number| format!("{number} dropped\n");
        let writer = Writer::start(Pipe(sender), dropped).expect("a thread");
        (writer, receiver)
    }

    #[test]
    fn lines_come_in_their_order() {
        let (writer, read) = writer();
        let mut expected = String::new();
        for number in 0..100 {
            let (text, importance) = if number % 10 == 9 {
                (format!("awaited {number}\n"), Importance::Awaited)
            } else {
                (format!("line {number}\n"), Importance::Droppable)
            };
            writer.push(&text, importance);
            expected += &text;
        }
        drop(writer);
        let found: String = read.iter().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn nobody_waits_for_a_reader_and_what_is_awaited_is_never_dropped() {
        let (writer, read) = writer();
        let long = "x".repeat(1023) + "\n";
        let pushed = 5 * ROOM / long.len();
        for _ in 0..pushed {
            writer.push(&long, Importance::Droppable);
        }
        writer.push("awaited\n", Importance::Awaited);
        writer.drain(Duration::from_millis(1));
        drop(writer);
        let found: String = read.iter().collect();
        assert!(found.contains("awaited\n"));
        let written = found.matches(&long).count();
        // The text that is being written has left the queue.
        assert!(written <= 2 * ROOM / long.len(), "{written} lines are kept");
        let said: usize = found
            .lines()
            .filter_map(|line| line.strip_suffix(" dropped"))
            .map(|number| number.parse::<usize>().expect("a number"))
            .sum();
        assert_eq!(written + said, pushed, "no line is lost without a word");
    }

    #[test]
    fn draining_waits_until_all_is_written() {
        let (writer, read) = writer();
        let reader = std::thread::spawn(move || read.recv_timeout(BOUND));
        writer.push("last words\n", Importance::Droppable);
        writer.drain(BOUND);
        assert!(writer.0.queue.lock().is_empty());
        let found = reader.join().expect("the reader does not panic");
        assert_eq!(found.as_deref(), Ok("last words\n"));
    }
}
