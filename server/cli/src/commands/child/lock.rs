//! The verb `lock`: runs a program while it holds a lock or a slot of a semaphore.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use proconsul_client::recipes::{Held, Keeper, Lock, Lost, Semaphore, Slot};
use proconsul_client::{Client, Error, NewSession};

use crate::commands::child::Program;
use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, child, go_text};
use crate::output;
use proconsul_os::process::{Caught, Signals};

commands! {
    "lock" "PREFIX PROGRAM..." lock "Runs a program while a lock is held" {
        Switch "child-exit-code" "Exits with 2 when the program fails";
        Number "monitor-retry" "Accepted: trouble is waited out as long as the session lives";
        Number "n" "How many may run at once (default: 1)";
        Text "name" "The session's name, for people";
        Switch "pass-stdin" "The program reads standard input";
        Switch "shell" "The program is a line for a shell (default: true)";
        Time "timeout" "As -try";
        Time "try" "Gives up when the lock is not there in this time";
        Switch "verbose" "Says what happens";
    }
}

/// Consul's TTL for the session of a lock.
const TTL: Duration = Duration::from_secs(15);
/// How long a terminated program may take to exit, as in Consul's `lock`.
const GRACE: Duration = Duration::from_secs(5);

/// A lock or a slot of a semaphore.
enum Guard {
    Lock(Held),
    Slot(Slot),
}

impl Guard {
    async fn lost(&self) -> Lost {
        match self {
            Self::Lock(held) => held.lost().await,
            Self::Slot(slot) => slot.lost().await,
        }
    }

    async fn release(self) -> Result<(), Error> {
        match self {
            Self::Lock(held) => held.release().await,
            Self::Slot(slot) => slot.release().await,
        }
    }
}

async fn lock(given: Given) -> Outcome {
    let (prefix, words) = match given.rest() {
        [] | [_] => return Err("Key prefix and child command must be specified".into()),
        [prefix, words @ ..] => (prefix.trim_start_matches('/').to_owned(), words),
    };
    let limit = given.number("n").unwrap_or(1);
    let Some(limit) = u32::try_from(limit).ok().filter(|limit| *limit > 0) else {
        return Err("Lock holder limit must be positive".into());
    };
    let line = words.join(" ");
    let name = given.text("name").map_or_else(
        || format!("Consul lock for '{line}' at '{prefix}'"),
        str::to_owned,
    );
    let client = given.agents_client().await?;
    let say = |text: &str| {
        if given.is_set("verbose") {
            output::out(&format!("{text}\n"));
        }
    };
    let mut signals = Signals::listen().map_err(|error| error.to_string())?;
    let session = NewSession::new().name(name).ttl(TTL);
    let session = Keeper::start(&client, session)
        .await
        .map_err(because("Lock setup failed"))?;
    let key = if limit == 1 {
        format!("{prefix}/.lock")
    } else {
        prefix.clone()
    };
    say(&format!("Setting up lock at path: {key}"));
    say("Attempting lock acquisition");
    let guard = tokio::select! {
        guard = acquire(&client, &session, &prefix, limit, patience(&given)) => guard,
        _ = signals.next() => {
            output::err("Shutdown triggered during lock acquisition\n");
            session.close().await.map_err(because("Lock release failed"))?;
            say("Cleanup succeeded");
            return Ok(String::new());
        }
    };
    // The session is destroyed below in any case, because the process exits before a background task could do it.
    let outcome = match guard {
        Ok(Some(guard)) => {
            let outcome = run(&given, words, guard, &mut signals, &say).await;
            clean_up(&client, &session, &prefix, limit).await;
            say("Cleanup succeeded");
            outcome
        }
        // A lock that was never acquired is not cleaned up.
        Ok(None) => Err("Shutdown triggered or timeout during lock acquisition".into()),
        Err(failure) => Err(failure),
    };
    // After a release there is no lock-delay.
    let _ = session.close().await;
    outcome
}

/// Returns how long to wait for the lock; `None` waits forever.
fn patience(given: &Given) -> Option<Duration> {
    let patience = given.time("try").or_else(|| given.time("timeout"));
    patience.filter(|patience| !patience.is_zero())
}

/// Acquires the lock or slot; `None` if it is not available in time.
async fn acquire(
    client: &Client,
    session: &Keeper,
    prefix: &str,
    limit: u32,
    patience: Option<Duration>,
) -> Result<Option<Guard>, Failure> {
    let acquired = async {
        if limit == 1 {
            let lock = Lock::new(client, format!("{prefix}/.lock"));
            lock.acquire(session).await.map(Guard::Lock)
        } else {
            let semaphore = Semaphore::new(client, prefix, limit);
            semaphore.acquire(session).await.map(Guard::Slot)
        }
    };
    let end = async {
        match patience {
            Some(patience) => proconsul_os::time::delay(patience).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        guard = acquired => guard.map(Some).map_err(because("Lock acquisition failed")),
        () = end => Ok(None),
    }
}

/// Runs the program until it exits or the lock is lost.
async fn run(
    given: &Given,
    words: &[String],
    guard: Guard,
    signals: &mut Signals,
    say: &impl Fn(&str),
) -> Outcome {
    say("Starting handler");
    let mut program = match start(given, words) {
        Ok(program) => program,
        Err(error) => {
            let _ = guard.release().await;
            return Err(format!("Error running handler: {error}").into());
        }
    };
    let end = tokio::select! {
        status = program.wait() => End::OfItself(status),
        _ = guard.lost() => End::Lost,
        caught = signals.next() => End::Signalled(caught),
    };
    let (of_itself, status) = match end {
        End::OfItself(status) => {
            say("Child terminated, releasing lock");
            (true, status)
        }
        End::Lost => {
            say("Lock lost, killing child");
            (false, terminate(&mut program, say).await)
        }
        End::Signalled(caught) => {
            say("Shutdown triggered, killing child");
            program.pass(caught);
            (false, terminate(&mut program, say).await)
        }
    };
    if let Err(error) = guard.release().await {
        return Err(format!("Lock release failed: {}", go_text(&error)).into());
    }
    let failed = match status {
        Ok(status) => child::failure(status),
        Err(error) => Some(error.to_string()),
    };
    let Some(why) = failed else {
        return Ok(String::new());
    };
    let text = format!("Error running handler: {why}");
    // The exit code of a terminated program is not a failure.
    if of_itself && given.is_set("child-exit-code") {
        return Err(Failure { text, code: 2 });
    }
    output::err(&format!("{text}\n"));
    Ok(String::new())
}

/// Why a program has ended or must end.
enum End {
    OfItself(std::io::Result<ExitStatus>),
    Lost,
    Signalled(Caught),
}

fn start(given: &Given, words: &[String]) -> Result<Program, String> {
    let shell = given.text("shell").is_none() || given.is_set("shell");
    let mut command = child::command(words, shell);
    command.env("CONSUL_LOCK_HELD", "true");
    // Consul's `lock` signals only the shell, whose children go on without the lock. Here the program is a process
    // group of its own, unless it must be in the foreground to read from the terminal.
    let reads = given.is_set("pass-stdin");
    let input = if reads {
        Stdio::inherit()
    } else {
        Stdio::null()
    };
    Program::start(command, input, !reads)
}

/// Terminates the program with all its children, and kills them after [`GRACE`].
async fn terminate(program: &mut Program, say: &impl Fn(&str)) -> std::io::Result<ExitStatus> {
    say(&format!("Terminating child pid {}", program.id()));
    program.pass(Caught::Terminate);
    tokio::select! {
        status = program.wait_for_all() => {
            say("Child terminated");
            return status;
        }
        () = proconsul_os::time::delay(GRACE) => {}
    }
    say("Child did not exit after grace period of 5s");
    say(&format!("Killing child pid {}", program.id()));
    program.kill();
    tokio::select! {
        status = program.wait_for_all() => status,
        // In a container without an init process, orphans stay zombies forever.
        () = proconsul_os::time::delay(GRACE) => program.wait().await,
    }
}

/// Deletes the lock's key if no other process holds or awaits it.
async fn clean_up(client: &Client, session: &Keeper, prefix: &str, limit: u32) {
    let key = format!("{prefix}/.lock");
    let Ok(answer) = client.kv().get(&key).await else {
        return;
    };
    let Some(pair) = answer.value else { return };
    let free = if limit == 1 {
        pair.session.is_none()
    } else {
        // Without other contenders only the table of holders is left.
        let others = client.kv().keys(&format!("{prefix}/"), None).await;
        let own = format!("{prefix}/{}", session.id());
        others.is_ok_and(|keys| {
            keys.value
                .iter()
                .all(|other| *other == key || *other == own)
        })
    };
    if free {
        let _ = client.kv().delete_cas(&key, pair.modify_index).await;
    }
}
