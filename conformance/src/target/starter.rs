//! A program that starts servers for single cases: for doubles that start in a millisecond, in any language.
//!
//! It reads a line of JSON on standard input, and answers each with one on standard output:
//!
//! | line | answer |
//! |---|---|
//! | `{"start": SETTINGS}`, where settings are [`Case::settings`](crate::Case::settings), or nothing | `{"address": "127.0.0.1:8500"}` |
//! | `{"advance": ADDRESS, "nanoseconds": N}` | `{}`, once that time has passed on the server |
//! | `{"stop": ADDRESS}` | `{}` |
//!
//! Where it cannot, it answers `{"error": SENTENCE}`. At the end of its input it ends.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::target::Target;
use crate::target::site::{Site, ToolError};
use crate::time::Clock;
use crate::wire::{self, Address, Outcome, Request};

/// Returns a target whose servers this command starts, one for each case. Its words are separated by spaces.
///
/// # Errors
/// It cannot be run, or starts no Consul.
pub fn target(command: &str) -> Result<Target, ToolError> {
    let starter = Arc::new(Starter::run(command)?);
    let first = Arc::clone(&starter);
    let target = Target::fresh(command, move || Starter::start(&first, ""))?;
    Ok(target.with_own_servers(move |settings| Starter::start(&starter, settings)))
}

/// The program.
struct Starter {
    child: Child,
    pipes: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
}

/// A server that the program has started.
struct Started {
    starter: Arc<Starter>,
    address: Address,
}

impl Starter {
    fn run(command: &str) -> Result<Self, ToolError> {
        let mut words = command.split_whitespace();
        let cannot = |error| ToolError(format!("`{command}` cannot be run: {error}"));
        let mut child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let pipes = pipes.map(|(input, output)| (input, BufReader::new(output)));
        Ok(Self {
            child,
            pipes: Mutex::new(pipes),
        })
    }

    /// Sends a line, and returns the answer.
    fn ask(&self, line: &Value) -> Result<Value, String> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = pipes.as_mut().ok_or("it has no pipes")?;
        let mut answer = String::new();
        let asked = writeln!(input, "{line}").and_then(|()| output.read_line(&mut answer));
        asked.map_err(|error| format!("the starter has ended: {error}"))?;
        let answer: Value = serde_json::from_str(&answer)
            .map_err(|error| format!("the starter answered {answer:?}: {error}"))?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer),
        }
    }

    fn start(starter: &Arc<Self>, settings: &str) -> Result<Site, ToolError> {
        let answer = starter.ask(&json!({ "start": settings }));
        let answer = answer.map_err(ToolError)?;
        let address = Address::parse(answer["address"].as_str().unwrap_or_default());
        let address = address.map_err(ToolError)?;
        let started = Arc::new(Started {
            starter: Arc::clone(starter),
            address: address.clone(),
        });
        let clock = StartedClock(Arc::clone(&started));
        Ok(Site::new(address).with_clock(clock).keeping(started))
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        let pipes = self.pipes.get_mut().unwrap_or_else(PoisonError::into_inner);
        *pipes = None;
        // It ends at the end of its input.
        let _ = self.child.wait();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended has no servers.
        let line = json!({ "stop": self.address.to_string() });
        let _ = self.starter.ask(&line);
    }
}

/// The clock of a server: waiting costs nothing.
struct StartedClock(Arc<Started>);

impl fmt::Debug for StartedClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "StartedClock({})", self.0.address)
    }
}

impl Clock for StartedClock {
    fn pass(&self, duration: Duration) -> Result<(), String> {
        let Started { starter, address } = &*self.0;
        // When this one is answered, every read that was sent before it waits.
        match wire::exchange(address, &Request::get("/v1/status/leader")) {
            Outcome::Reply(_) => {}
            other => return Err(format!("the server does not answer: {other:?}")),
        }
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let line = json!({ "advance": address.to_string(), "nanoseconds": nanoseconds });
        starter.ask(&line).map(|_| ())
    }

    fn is_virtual(&self) -> bool {
        true
    }
}
