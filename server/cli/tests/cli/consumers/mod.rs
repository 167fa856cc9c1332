//! Each harness that is known to start a Consul: its own arguments, configuration and environment, what it waits for
//! in the log and in answers, what it then needs, and how it stops the process.
//!
//! The port is a free one, which a variable asks for: everything else is the harness's. A harness polls until it is
//! satisfied; here each of its questions is asked once, because after the line with the address all of them hold.

mod details;
mod libraries;
mod programs;

use std::process::Command;

use crate::agent::{Agent, Run};

/// How one harness starts its Consul, what it expects of it, and how it ends it.
struct Consumer {
    /// What is run under the name `consul`.
    arguments: &'static [&'static str],
    /// Files and their texts.
    files: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
    /// Lines of the log that it waits for.
    lines: &'static [&'static str],
    /// What it does then, in order.
    steps: &'static [Step],
}

impl Consumer {
    /// `consul agent -dev` in a container, as its image starts it.
    const IMAGE: Consumer = Consumer {
        arguments: &["agent", "-dev", "-client", "0.0.0.0"],
        files: &[],
        variables: &[],
        lines: &[],
        steps: &[],
    };

    /// Its Consul, not yet started, at a free port.
    fn run(&self, name: &str) -> Run {
        let mut run = Run::as_consul(name, self.arguments).at_a_free_port();
        for (file, text) in self.files {
            run = run.file(file, text);
        }
        for (variable, value) in self.variables {
            run = run.variable(variable, value);
        }
        run
    }
}

/// One thing that a harness does.
enum Step {
    /// A `GET` that is answered with 200 and all of these texts; white space does not count.
    Get(&'static str, &'static [&'static str]),
    /// The same, and the texts are not in the answer.
    Lacks(&'static str, &'static [&'static str]),
    /// Any request, its body, the status of the answer, and a text in its head.
    Ask(&'static str, &'static str, &'static str, u16, &'static str),
    /// A `GET` whose answer has at least this index.
    Index(&'static str, u64),
    /// A `PUT` of this body that is answered with 200, the text somewhere in the answer.
    Put(&'static str, &'static str, &'static str),
    /// A line of shell, with `consul` on the path and pointed at the agent, that ends with 0 and prints this.
    Shell(&'static str, &'static str),
    /// A session that is made with this body; `{session}` in later steps is its id.
    Session(&'static str),
    /// The process stands still: it answers nothing. Then it goes on, and the question is answered.
    Outage(&'static str),
    /// A signal, after which the process ends with this code; none when the signal kills it.
    Stop(&'static str, Option<i32>),
}

/// What most of them wait for: a leader.
const LEADER: Step = Step::Get("/v1/status/leader", &[":8300"]);

/// Does all that one harness does.
fn replay(name: &str, consumer: &Consumer) {
    let mut agent = consumer.run(&format!("consumer-{name}")).start();
    agent.address();
    for line in consumer.lines {
        agent.wait_for(line);
    }
    let mut session = String::new();
    for step in consumer.steps {
        if let Step::Stop(signal, code) = step {
            agent.signal(signal);
            assert_eq!(agent.end().0, *code, "{name} after SIG{signal}");
            return;
        }
        take(&mut agent, step, &mut session);
    }
}

/// One step; the id of the last session is remembered.
fn take(agent: &mut Agent, step: &Step, session: &mut String) {
    let fill = |text: &str| text.replace("{session}", session);
    match step {
        Step::Get(path, texts) => {
            let texts: Vec<String> = texts.iter().map(|text| fill(text)).collect();
            contains(&agent.get(&fill(path)), &texts, path);
        }
        Step::Lacks(path, texts) => {
            let answer = squeezed(&agent.get(&fill(path)));
            for text in *texts {
                assert!(!answer.contains(&squeezed(text)), "{path}: {answer}");
            }
        }
        Step::Ask(method, path, body, status, head) => {
            let (came, answer) = agent.exchange(method, &fill(path), &fill(body));
            let first = came.lines().next().unwrap_or_default();
            let as_expected = first.contains(&format!(" {status} "));
            assert!(as_expected, "{path}: {first}: {answer}");
            assert!(came.contains(head), "{path}: {came}");
        }
        Step::Index(path, least) => {
            let (head, _) = agent.exchange("GET", path, "");
            let mut lines = head.lines();
            let index = lines.find_map(|line| line.strip_prefix("X-Consul-Index: "));
            let index: u64 = index.and_then(|text| text.parse().ok()).unwrap_or(0);
            assert!(index >= *least, "{path}: {head}");
        }
        Step::Put(path, body, text) => {
            contains(&agent.put(&fill(path), &fill(body)), &[fill(text)], path);
        }
        Step::Shell(line, text) => contains(&shell(agent, line), &[(*text).to_owned()], line),
        Step::Session(body) => *session = id_in(&agent.put("/v1/session/create", body)),
        Step::Outage(path) => outage(agent, path),
        Step::Stop(..) => unreachable!("nothing comes after the end"),
    }
}

/// The text without its white space: agents in development mode indent their answers.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn contains(answer: &str, texts: &[String], asked: &str) {
    for text in texts {
        let there = squeezed(answer).contains(&squeezed(text));
        assert!(there, "{asked}: no {text:?} in {answer}");
    }
}

/// The id in the answer to the creation of a session.
fn id_in(answer: &str) -> String {
    let parts: Vec<&str> = answer.split('"').collect();
    assert_eq!(parts.len(), 5, "an object of an ID: {answer}");
    parts[3].to_owned()
}

/// Runs a line of shell as somebody does in the container, and returns what it prints.
fn shell(agent: &mut Agent, line: &str) -> String {
    // Where the link named `consul` lies, then where systems keep their programs.
    let mut path = agent.folder().as_os_str().to_owned();
    path.push("-link:/usr/local/bin:/usr/bin:/bin");
    let output = Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .env("PATH", path)
        .env("CONSUL_HTTP_ADDR", agent.address().to_string())
        .output()
        .expect("there is a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The process is stopped, does not answer, goes on, and has not lost the question.
fn outage(agent: &mut Agent, path: &str) {
    let address = agent.address();
    agent.stand_still();
    let mut connection = std::net::TcpStream::connect(address).expect("the kernel still accepts");
    let unanswered = std::time::Duration::from_millis(200);
    connection
        .set_read_timeout(Some(unanswered))
        .expect("a timeout can be set");
    let question = format!("GET {path} HTTP/1.0\r\nHost: a\r\n\r\n");
    std::io::Write::write_all(&mut connection, question.as_bytes())
        .expect("the kernel takes the request");
    let mut answer = [0; 512];
    assert!(
        std::io::Read::read(&mut connection, &mut answer).is_err(),
        "a stopped process answers nothing"
    );
    agent.signal("CONT");
    connection
        .set_read_timeout(None)
        .expect("a timeout can be taken away");
    let length = std::io::Read::read(&mut connection, &mut answer).expect("it answers now");
    assert!(
        answer[..length].starts_with(b"HTTP/1.0 200 OK\r\n"),
        "the request was not lost"
    );
}
