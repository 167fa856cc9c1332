//! Script checks: the exit status of a program decides.
//!
//! The program with all that it has started is killed when it has ended, when it times out, and when its result is no
//! longer needed.

use std::future::Future;
use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::Outcome;
use proconsul_gocompat::duration;
use proconsul_gocompat::syscall::error_text;
use proconsul_os::process::ProcessGroup;

/// The program of a check.
pub(super) struct Script<'a> {
    pub(super) words: &'a [String],
    pub(super) timeout: std::time::Duration,
    /// The longest end of the output to keep, in bytes.
    pub(super) output_limit: usize,
}

/// Runs the check; `late` is the timeout.
pub(super) async fn run(script: &Script<'_>, late: impl Future<Output = ()>) -> Outcome {
    let mut group = match start(script.words) {
        Ok(group) => group,
        Err(why) => return Outcome::critical(why),
    };
    let mut kept = Tail::new(script.output_limit);
    let ended = tokio::select! {
        ended = group.ended(&mut kept) => Some(ended),
        () = late => None,
    };
    drop(group);
    match ended {
        Some(Ok(status)) => Outcome {
            status: status_of(status),
            output: kept.into_text(),
        },
        Some(Err(error)) => Outcome::critical(error.to_string()),
        None => Outcome::critical(timed_out(script, kept)),
    }
}

/// Judges an exit status: 0 passes, 1 is a warning, everything else is critical, signals too.
fn status_of(status: ExitStatus) -> &'static str {
    match status.code() {
        Some(0) => "passing",
        Some(1) => "warning",
        Some(_) | None => "critical",
    }
}

fn timed_out(script: &Script<'_>, kept: Tail) -> String {
    let timeout = i64::try_from(script.timeout.as_nanos()).unwrap_or(i64::MAX);
    let timeout = duration::format(timeout);
    let output = kept.into_text();
    let said = if output.is_empty() {
        String::new()
    } else {
        format!("\n\n{output}")
    };
    format!("Timed out ({timeout}) running check{said}")
}

/// A program and the processes that it started.
struct Group {
    child: Child,
    family: ProcessGroup,
}

impl Group {
    /// Waits for the end of the program and of its output.
    async fn ended(&mut self, kept: &mut Tail) -> io::Result<ExitStatus> {
        let mut output = self.child.stdout.take();
        let mut errors = self.child.stderr.take();
        let mut read = [0; 4096];
        let mut more = [0; 4096];
        while output.is_some() || errors.is_some() {
            tokio::select! {
                count = next(&mut output, &mut read) => kept.take(&read[..count?]),
                count = next(&mut errors, &mut more) => kept.take(&more[..count?]),
            }
        }
        self.child.wait().await
    }
}

/// Reads the next bytes of an output, and sets it to `None` at its end.
async fn next(output: &mut Option<impl AsyncRead + Unpin>, into: &mut [u8]) -> io::Result<usize> {
    let Some(open) = output else {
        return std::future::pending().await;
    };
    let count = open.read(into).await?;
    if count == 0 {
        *output = None;
    }
    Ok(count)
}

impl Drop for Group {
    fn drop(&mut self) {
        self.family.kill(&mut self.child);
    }
}

/// Starts a program, or returns Go's sentence for the failure.
fn start(words: &[String]) -> Result<Group, String> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // The runtime reaps dropped children, so none stays as a zombie.
        .kill_on_drop(true);
    let (child, family) =
        ProcessGroup::start(&mut command, true).map_err(|error| start_error(program, &error))?;
    Ok(Group { child, family })
}

fn start_error(program: &str, error: &io::Error) -> String {
    if !program.contains('/') && error.kind() == io::ErrorKind::NotFound {
        return format!("exec: \"{program}\": executable file not found in $PATH");
    }
    format!("fork/exec {program}: {}", error_text(error))
}

/// The end of an output, and its full length.
struct Tail {
    kept: Vec<u8>,
    limit: usize,
    total: usize,
}

impl Tail {
    fn new(limit: usize) -> Self {
        Self {
            kept: Vec::new(),
            limit,
            total: 0,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        self.kept.extend_from_slice(bytes);
        let surplus = self.kept.len().saturating_sub(self.limit);
        self.kept.drain(..surplus);
    }

    fn into_text(self) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        if self.total > self.limit {
            let (limit, total) = (self.limit, self.total);
            return format!("Captured {limit} of {total} bytes\n...\n{text}");
        }
        text.into_owned()
    }
}
