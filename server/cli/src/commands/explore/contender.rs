//! One contender of a run as a process.

use std::process::Stdio;
use std::sync::Arc;

use parking_lot::Mutex;
use proconsul_explore::Contender;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::task::AbortHandle;

use proconsul::control::Controls;
use proconsul_gocompat::syscall::error_text;
use proconsul_os::process::ProcessGroup;

use crate::commands::child;

/// How a contender is started, and how its lines are read.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The program and its arguments. `{addr}`, `{url}` and `{name}` are replaced.
    pub(super) words: Vec<String>,
    /// What a line contains that says that the contender holds the lock.
    pub(super) held: String,
    /// What a line contains that says that it has lost it.
    pub(super) lost: String,
}

/// A process that runs, and what reads its output.
struct Running {
    child: Child,
    group: ProcessGroup,
    readers: Vec<AbortHandle>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.group.kill(&mut self.child);
        self.readers.iter().for_each(AbortHandle::abort);
    }
}

/// A contender: the address at which it reaches Consul, and its process.
pub(super) struct Process {
    name: Contender,
    address: String,
    program: Program,
    controls: Controls,
    running: Mutex<Option<Running>>,
    /// The last line that it has written to standard error.
    complaint: Arc<Mutex<String>>,
}

impl Process {
    pub(super) fn new(
        name: Contender,
        address: String,
        program: &Program,
        controls: &Controls,
    ) -> Self {
        Self {
            name,
            address,
            program: program.clone(),
            controls: controls.clone(),
            running: Mutex::default(),
            complaint: Arc::default(),
        }
    }

    /// Starts the process.
    ///
    /// # Errors
    /// The operating system's error.
    pub(super) fn start(&self) -> Result<(), String> {
        let of_run = |word: &String| {
            let word = word.replace("{addr}", &self.address);
            let word = word.replace("{url}", &format!("http://{}", self.address));
            word.replace("{name}", &self.name.to_string())
        };
        let words: Vec<String> = self.program.words.iter().map(of_run).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.env("CONSUL_HTTP_ADDR", &self.address);
        command.env("PROCONSUL_CONTENDER", self.name.to_string());
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        let started = ProcessGroup::start(&mut command, true);
        let (mut child, group) = started
            .map_err(|error| format!("cannot start {:?}: {}", words[0], error_text(&error)))?;
        let mut readers = Vec::new();
        if let Some(output) = child.stdout.take() {
            let (controls, name) = (self.controls.clone(), self.name.to_string());
            let Program { held, lost, .. } = self.program.clone();
            readers.push(each_line(output, move |line| {
                if line.contains(&lost) {
                    controls.note_belief(&name, false, None);
                } else if let Some((_, rest)) = line.split_once(&held) {
                    let token = rest.split_whitespace().next();
                    controls.note_belief(&name, true, token);
                }
            }));
        }
        if let Some(errors) = child.stderr.take() {
            let complaint = Arc::clone(&self.complaint);
            readers.push(each_line(errors, move |line| {
                if !line.trim().is_empty() {
                    complaint.lock().clone_from(&line);
                }
            }));
        }
        *self.running.lock() = Some(Running {
            child,
            group,
            readers,
        });
        Ok(())
    }

    /// Returns whether the process runs. When it has ended without a schedule, this records it in the history, once.
    pub(super) fn look(&self) -> bool {
        let mut running = self.running.lock();
        let Some(process) = running.as_mut() else {
            return false;
        };
        let Ok(Some(status)) = process.child.try_wait() else {
            return true;
        };
        let how = child::failure(status).unwrap_or_else(|| "exit status 0".to_owned());
        let complaint = self.complaint.lock();
        let text = format!("{} ended by itself: {how}: {complaint}", self.name);
        self.controls.note(text.trim_end_matches([':', ' ']));
        *running = None;
        false
    }

    /// Records in the history what the driver does.
    pub(super) fn note(&self, text: &str) {
        self.controls.note(text);
    }

    pub(super) fn pause(&self, paused: bool) {
        if let Some(process) = self.running.lock().as_mut() {
            process.group.pause(&mut process.child, paused);
        }
    }

    pub(super) fn kill(&self) {
        drop(self.running.lock().take());
    }
}

/// Hands each line of an output to `take`, until it ends.
fn each_line(
    output: impl AsyncRead + Unpin + Send + 'static,
    take: impl Fn(String) + Send + 'static,
) -> AbortHandle {
    let reading = async move {
        let mut lines = BufReader::new(output).lines();
        // A line that is no text ends it, as the end of the output does.
        while let Ok(Some(line)) = lines.next_line().await {
            take(line);
        }
    };
    tokio::spawn(reading).abort_handle()
}
