//! Runs the blocks for a shell.

use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use proconsul_conformance::report::left_out;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::blocks::{Block, all, file, root};

/// Longer than any block takes, also a search of schedules, which lasts as long as its runs do; reached only by one that hangs.
const BOUND: Duration = Duration::from_secs(180);

/// Begins the output of a command, and is followed by its number.
const MARK: &str = "@@@ command ";

/// What a block that starts no agent finds.
const AGENT: &str = "proconsul agent -dev --control &\nproconsul ready -timeout 10s >/dev/null\n";

/// A command of a `console` block, and the lines that it prints.
struct Call {
    command: String,
    expected: Vec<String>,
}

/// The calls of a block: `$ ` begins a command, `> ` goes on with it.
fn calls(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            calls.push(Call {
                command: command.to_owned(),
                expected: Vec::new(),
            });
            continue;
        }
        let call = calls.last_mut().expect("a block begins with a command");
        if let Some(more) = line.strip_prefix("> ") {
            write!(call.command, "\n{more}").expect("a text can be written to");
        } else {
            call.expected.push(line.to_owned());
        }
    }
    calls
}

/// Whether a line is as shown, where `…` stands for anything.
fn is_shown(line: &str, shown: &str) -> bool {
    let Some((begin, rest)) = shown.split_once('…') else {
        return line == shown;
    };
    let Some(line) = line.strip_prefix(begin) else {
        return false;
    };
    let mut ends = (0..=line.len()).filter(|end| line.is_char_boundary(*end));
    ends.any(|end| is_shown(&line[end..], rest))
}

/// The first line that is shown and does not come, in this order.
fn missing<'a>(output: &str, expected: &'a [String]) -> Option<&'a String> {
    let mut lines = output.lines().map(str::trim_end);
    let mut expected = expected.iter().filter(|line| !line.is_empty());
    expected.find(|shown| !lines.any(|line| is_shown(line, shown.trim_end())))
}

/// The ports of the pages: of the control plane alone, of HTTP, of HTTPS, of DNS, of the HTTP of the second and third agent.
const SHOWN: [&str; 6] = ["8400", "8500", "8501", "8600", "8510", "8520"];

/// A port for each of [`SHOWN`]. They are below those that a system gives by itself, so nobody else gets
/// them meanwhile by asking for any.
fn ports(number: usize) -> [u16; 6] {
    let process = std::process::id() as usize;
    let mut candidates =
        (0..4000).map(|step| 12_000 + (process * 97 + number * 31 + step) % 18_000);
    let mut next = || {
        let all_free = |port: &u16| [0, 10, 20].iter().all(|more| is_free(port + more));
        candidates
            .find_map(|port| u16::try_from(port).ok().filter(all_free))
            .expect("a port is free")
    };
    let [control, http, https, dns] = [(); 4].map(|()| next());
    [control, http, https, dns, http + 10, http + 20]
}

/// Whether nobody listens there, and no port of the pages is a part of it, which would be replaced, too.
fn is_free(port: u16) -> bool {
    let shown = port.to_string();
    !SHOWN.iter().any(|own| shown.contains(own)) && TcpListener::bind(("127.0.0.1", port)).is_ok()
}

/// The folder of a block: its home, with the binary where Cargo installs it.
fn home(number: usize) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book/{number}"));
    _ = fs::remove_dir_all(&home);
    let programs = home.join(".cargo/bin");
    fs::create_dir_all(&programs).expect("the folder can be made");
    // An agent's log goes elsewhere: its lines could come within those of a command.
    let binary = env!("CARGO_BIN_EXE_proconsul");
    let log = r#"[ "$1" != agent ] || exec >>"$HOME/agent.log" 2>&1"#;
    let program = programs.join("proconsul");
    fs::write(
        &program,
        format!("#!/bin/sh\n{log}\nexec '{binary}' \"$@\"\n"),
    )
    .and_then(|()| fs::set_permissions(&program, Permissions::from_mode(0o755)))
    .expect("the folder is new");
    home
}

/// Runs a script, and ends all that it has started.
fn run(home: &Path, script: &str, api: u16) -> Option<ExitStatus> {
    let output = |name| File::create(home.join(name)).expect("the folder is there");
    let path = std::env::var("PATH").unwrap_or_default();
    let settings = format!(r#"{{"ports": {{"http": {api}}}, "log_level": "err"}}"#);
    let mut shell = Command::new("sh");
    shell
        .args(["-e", "-c", script])
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", format!("{}/.cargo/bin:{path}", home.display()))
        .env("CONSUL_LOCAL_CONFIG", settings)
        .env("CONSUL_HTTP_ADDR", format!("127.0.0.1:{api}"))
        .stdin(Stdio::null())
        .stdout(output("output"))
        .stderr(output("errors"))
        .process_group(0);
    let mut shell = shell.spawn().expect("there is a shell");
    let group = Pid::from_child(&shell);
    let (ended, end) = channel();
    thread::scope(|scope| {
        scope.spawn(move || ended.send(shell.wait()));
        let status = end.recv_timeout(BOUND);
        _ = kill_process_group(group, Signal::KILL);
        status.ok().and_then(Result::ok)
    })
}

/// What is wrong with a block that shows all of another output. `WRITE_BOOK` mends it.
fn stale(block: &Block, command: &str, output: &str) -> Option<String> {
    if std::env::var_os("WRITE_BOOK").is_some() {
        let shown = file(&block.page);
        let renewed = format!("$ {command}\n{}", output.trim_end());
        let path = root().join(&block.page);
        // With the end of the block: the text may begin another one.
        let whole = |text: &str| format!("\n{}\n```", text.trim_end());
        let page = shown.replace(&whole(&block.text), &whole(&renewed));
        fs::write(path, page).expect("the page can be written");
        return None;
    }
    let renew = "WRITE_BOOK=1 cargo test -p proconsul-cli --test book";
    Some(format!("{block} is stale: {renew}"))
}

/// Runs a block, and says what is wrong.
fn complaint(number: usize, block: &Block) -> Option<String> {
    let home = home(number);
    // A response that is an error ends the block, but where it shows errors.
    let settings = "silent\nshow-error\n";
    let fails = if block.has("shows-errors") {
        ""
    } else {
        "fail-with-body\n"
    };
    fs::write(home.join(".curlrc"), format!("{settings}{fails}")).expect("the folder is there");
    let ports = ports(number);
    let mut text = block.text.clone();
    for (shown, port) in SHOWN.into_iter().zip(ports) {
        text = text.replace(shown, &port.to_string());
    }
    let is_console = block.language == "console";
    let calls = if is_console { calls(&text) } else { Vec::new() };
    if is_console {
        text.clear();
        for (number, call) in calls.iter().enumerate() {
            let command = &call.command;
            writeln!(text, "printf '\\n{MARK}{number}\\n'\n{command}").expect("it is a text");
        }
    }
    let starts_its_own = text.contains("proconsul agent") || text.contains("consul agent");
    let agent = if starts_its_own { "" } else { AGENT };
    let status = run(&home, &format!("{agent}{text}"), ports[1]);
    let read = |name| fs::read_to_string(home.join(name)).unwrap_or_default();
    let (output, errors, log) = (read("output"), read("errors"), read("agent.log"));
    let said = || format!("{block}: {status:?}\n{output}\n{errors}\n{log}");
    if !status.is_some_and(|status| status.success()) {
        return Some(said());
    }
    let mark = format!("\n{MARK}");
    let mut sections = output.split(&mark).skip(1);
    calls.iter().find_map(|call| {
        let section = sections.next().unwrap_or_default();
        let (_, section) = section.split_once('\n').unwrap_or_default();
        let is_same = section.trim_end().lines().eq(&call.expected);
        if block.has("exact") && !is_same {
            return stale(block, &call.command, section);
        }
        let missing = missing(section, &call.expected)?;
        Some(format!("does not come: {missing}\n{}", said()))
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "a test says what it has not run")]
fn shell_blocks_run() {
    if !left_out::has("curl", "--version") {
        return;
    }
    let mut complaints = Vec::new();
    let mut ran = 0;
    for (number, block) in all().iter().enumerate() {
        if !["sh", "console"].contains(&&*block.language) {
            continue;
        }
        if let Some(needs) = block.needs() {
            println!("not run: {block}, which needs {needs}");
            continue;
        }
        if block
            .program()
            .is_some_and(|program| !left_out::has(program, "-v"))
        {
            continue;
        }
        ran += 1;
        complaints.extend(complaint(number, block));
    }
    assert!(ran > 10, "the blocks are found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn a_line_that_is_shown_has_to_come() {
    let calls = calls("$ a\n> b\nid … x\nlast\n$ c");
    assert_eq!(calls[0].command, "a\nb");
    assert_eq!(calls.len(), 2);
    let expected = &calls[0].expected;
    assert_eq!(missing("id 1 x\nmore\nlast", expected), None);
    assert_eq!(missing("last\nid 1 x", expected), Some(&expected[1]));
    assert_eq!(missing("id 1 y\nlast", expected), Some(&expected[0]));
}
