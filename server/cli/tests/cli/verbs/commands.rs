//! The verbs that are clients print and exit as those of a real Consul 1.8.7: both are run on servers of their own with
//! the same command lines.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proconsul::Server;
use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::report::left_out;

/// A command line and its standard input.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) arguments: Vec<String>,
    pub(crate) input: &'static str,
    /// Variables of its environment.
    pub(crate) variables: Vec<(String, String)>,
}

pub(crate) fn line(text: &str) -> Line {
    with_input(text, "")
}

/// Arguments are split at spaces; `_` is a space, `%` an empty argument.
pub(crate) fn with_input(text: &str, input: &'static str) -> Line {
    let arguments = text.split(' ').filter(|word| !word.is_empty());
    let arguments = arguments.map(|word| word.replace('_', " ").replace('%', ""));
    Line {
        arguments: arguments.collect(),
        input,
        variables: Vec::new(),
    }
}

pub(crate) fn run(binary: &Path, server: &Server, line: &Line) -> Output {
    let mut child = Command::new(binary)
        .args(&line.arguments)
        .env_remove("CONSUL_HTTP_TOKEN")
        .env_remove("CONSUL_HTTP_TOKEN_FILE")
        .env("CONSUL_HTTP_ADDR", server.addr().to_string())
        .envs(line.variables.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
    let mut input = child.stdin.take().expect("it is piped");
    // A program that does not read its input may be gone.
    let _ = input.write_all(line.input.as_bytes());
    drop(input);
    child.wait_with_output().expect("it ends")
}

pub(crate) fn own() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_proconsul"))
}

/// What a person or a script sees, without ids of chance. Of an error, the first line: lists of flags are each
/// program's own.
pub(crate) fn seen(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let out = text(&output.stdout);
    let out = match out.strip_prefix("Event ID: ") {
        Some(id) => format!("Event ID: of {} characters", id.trim_end().len()),
        None => out,
    };
    let errors = text(&output.stderr);
    let first = errors.lines().next().unwrap_or_default();
    let first = first.replace("Usage: proconsul ", "Usage: consul ");
    (out, first, output.status.code())
}

/// Both programs see the same, line by line.
pub(crate) fn compare(lines: &[Line]) {
    compare_on(lines, &Config::default());
}

/// Both programs see the same on servers with this configuration.
pub(crate) fn compare_on(lines: &[Line], config: &Config) {
    let Some(consul) = left_out::consul() else {
        return;
    };
    let start = || {
        let server = Server::builder().config(config.clone());
        let server = server.version(Version::V1_8_7).seed(7).frozen();
        server.start().expect("a free port")
    };
    let (theirs, ours) = (start(), start());
    // Both servers make the same ids.
    let mut id = String::new();
    for line in lines {
        let mut line = line.clone();
        // The other program is that release.
        let release = ("PROCONSUL_AS_VERSION".to_owned(), "1.8.7".to_owned());
        line.variables.push(release);
        for argument in &mut line.arguments {
            *argument = argument.replace("$ID", &id);
        }
        let expected = seen(&run(&consul, &theirs, &line));
        let got = seen(&run(&own(), &ours, &line));
        let timeless = |(out, errors, code): &(String, String, Option<i32>)| {
            (without_times(out), errors.clone(), *code)
        };
        assert_eq!(timeless(&got), timeless(&expected), "{:?}", line.arguments);
        id = first_id(&got.0).unwrap_or(id);
    }
}

/// Takes out dates and times, which two servers do not have in common.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let word = word.trim_matches(['"', ',']);
        let digits = word.chars().filter(char::is_ascii_digit).count();
        (word.contains(':') || word.len() == 10)
            && digits >= 6
            && word
                .chars()
                .all(|c| c.is_ascii_digit() || "-:.TZ".contains(c))
    };
    let word = |word: &str| if is_time(word) { "TIME" } else { word }.to_owned();
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The id behind the first label `ID`, for `$ID` in later lines.
fn first_id(output: &str) -> Option<String> {
    let mut lines = output.lines();
    let id = lines.find_map(|line| line.strip_prefix("ID:"))?;
    Some(id.trim().to_owned())
}

#[test]
fn operators() {
    compare(&[
        line("operator raft list-peers"),
        line("operator raft list-peers -stale x"),
        line("operator raft remove-peer"),
        line("operator raft remove-peer -id x"),
        line("operator raft remove-peer -id x -address y"),
        line("operator raft remove-peer -address 127.0.0.1:1"),
        line("connect ca get-config"),
        line("connect ca get-config x"),
        line("rtt"),
        line("rtt a"),
        line("rtt a b"),
        line("rtt a b c"),
        line("rtt -wan a"),
        line("rtt -wan a.dc1 b.dc1"),
        line("keygen -nope"),
        line("validate"),
        line("validate /no/such/file"),
        line("validate -nope"),
    ]);
}

#[test]
fn a_key_for_gossip_has_32_bytes() {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    let made = || {
        let made = Command::new(own()).arg("keygen").output();
        let made = made.expect("the binary can be run").stdout;
        BASE64_STANDARD
            .decode(made.trim_ascii())
            .expect("it is base64")
    };
    let key = made();
    assert_eq!(key.len(), 32);
    assert_ne!(key, made());
}

/// Files are validated as by a real Consul 1.8.7.
#[test]
fn files_are_validated() {
    let folder = std::env::temp_dir().join(format!("proconsul-validate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let folder_name = folder.display().to_string();
    let mut lines = vec![line(&format!("validate {folder_name}"))];
    for (name, text) in [
        ("bare.json", r#"{"node_name": "a"}"#),
        ("good.json", r#"{"data_dir": "/tmp/z"}"#),
        ("key.json", r#"{"data_dir": "/tmp/z", "zork": 1}"#),
        (
            "port.json",
            r#"{"data_dir": "/tmp/z", "ports": {"http": 70000}}"#,
        ),
        (
            "service.hcl",
            "data_dir = \"/tmp/z\" service { name = \"\" }",
        ),
        (
            "warned.hcl",
            "data_dir = \"/tmp/z\" server = true bootstrap = true",
        ),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the folder can be written");
        let path = path.display().to_string().replace('_', "-");
        lines.push(line(&format!("validate {path}")));
        lines.push(line(&format!("validate -quiet {path}")));
        lines.push(line(&format!("validate -config-format=hcl {path}")));
    }
    compare(&lines);
    std::fs::remove_dir_all(&folder).expect("it was made here");
}

/// The column was seen on 1.22.
#[test]
fn late_members_have_a_partition() {
    let server = Server::builder().start().expect("a free port");
    let mut members = line("members");
    members.variables = vec![("PROCONSUL_AS_VERSION".to_owned(), "1.22.0".to_owned())];
    let printed = String::from_utf8(run(&own(), &server, &members).stdout).expect("it is text");
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut lines = printed.lines().map(words);
    let heads = lines.next().expect("there are heads");
    assert_eq!(heads[6..], ["DC", "Partition", "Segment"]);
    let own = lines.next().expect("the server is a member");
    assert_eq!(own[6..], ["dc1", "default", "<all>"]);
}

#[test]
fn kv() {
    compare(&[
        line("kv put"),
        line("kv put a 1"),
        line("kv put -flags=7 a/b x_y"),
        line("kv put -flags=x a 1"),
        line("kv put -cas a 2"),
        line("kv put -cas -modify-index=1 a 2"),
        line("kv put a"),
        line("kv put -base64 c aGk="),
        line("kv put % x"),
        line("kv put a 1 2"),
        line("kv put /lead x"),
        with_input("kv put stdin -", "from standard input"),
        line("kv put f @/no/such/file"),
        line("kv put -acquire -session=abc a 1"),
        line("kv put -acquire a 1"),
        line("kv put -release -session=abc a 1"),
        line("kv get a"),
        line("kv get none"),
        line("kv get"),
        line("kv get a b"),
        line("kv get /a"),
        line("kv get -detailed a/b"),
        line("kv get -detailed none"),
        line("kv get -recurse a"),
        line("kv get -recurse"),
        line("kv get -recurse -detailed"),
        line("kv get -recurse none"),
        line("kv get -keys"),
        line("kv get -keys a/"),
        line("kv get -keys -separator= a"),
        line("kv get -base64 a/b"),
        line("kv get -nope"),
        line("kv get -recurse=maybe"),
        line("kv export"),
        line("kv export a/"),
        line("kv delete"),
        line("kv delete none"),
        line("kv delete -cas a"),
        line("kv delete -cas -modify-index=1 a"),
        line("kv delete -recurse -cas -modify-index=1 a"),
        line("kv delete a"),
        line("kv delete -recurse a/"),
        line("kv import"),
        with_input("kv import -", r#"[{"key":"i","flags":3,"value":"aGk="}]"#),
        line("kv get -detailed i"),
        line("kv"),
        line("kv nope"),
    ]);
}

#[test]
fn the_cluster() {
    compare(&[
        line("members"),
        line("members -detailed"),
        line("members -wan"),
        line("members -status=left"),
        line("members -status=("),
        line("catalog datacenters"),
        line("catalog nodes"),
        line("catalog nodes -detailed"),
        line("catalog nodes -service=consul"),
        line("catalog nodes -service=none"),
        line("catalog services"),
        line("catalog services -tags"),
        line("catalog services -node=nobody"),
        line("event -name=deploy payload"),
        line("event"),
        line("info"),
        line("join"),
        line("force-leave"),
        line("force-leave none"),
        line("reload"),
    ]);
}

#[test]
fn services_and_maintenance() {
    compare(&[
        line("services register -name=web -port=80 -tag=blue"),
        line("catalog services -tags"),
        line("services register"),
        line("services deregister"),
        line("services register /no/such/file.json"),
        line("maint"),
        // One at a time: Consul's tool lists them in an order of chance.
        line("maint -enable -reason=because"),
        line("maint"),
        line("maint -disable"),
        line("maint -service=web -enable -reason=r"),
        line("maint"),
        line("maint -service=web -disable"),
        line("maint -enable -disable"),
        line("maint -reason=x"),
        line("maint -service=web"),
        line("maint -service=none -enable"),
        line("services deregister -id=web"),
        line("services deregister -id=none"),
        line("catalog services"),
    ]);
}

#[test]
fn locks() {
    compare(&[
        line("lock"),
        line("lock l/1"),
        line("lock l/1 echo_held"),
        line("lock -n=2 l/2 echo_held"),
        line("lock -child-exit-code l/3 exit_3"),
        line("lock l/3 exit_3"),
        line("lock -n=0 l/4 true"),
        line("lock -verbose l/5 echo_hi"),
        line("lock -name=x -try=10s l/6 echo_$CONSUL_LOCK_HELD"),
        line("lock -shell=false l/7 echo a b"),
        with_input("lock -pass-stdin l/8 cat", "through"),
        line("kv get -recurse"),
    ]);
}

/// On servers of which no lock has moved the index: how often it does so depends on its luck.
#[test]
fn watches() {
    compare(&[
        line("kv put f hi"),
        line("watch"),
        line("watch -type=nope"),
        line("watch -type=key"),
        line("watch -type=key -key=f"),
        line("watch -type=keyprefix -prefix=f"),
        line("watch -type=nodes"),
        line("watch -type=services"),
        line("watch -type=service"),
    ]);
}

#[test]
fn watches_of_every_type() {
    compare(&[
        line("watch -type=service -service=%"),
        line("watch -type=service -service=consul"),
        line("watch -type=service -service=consul -passingonly=true"),
        line("watch -type=service -service=consul -passingonly=maybe"),
        line("watch -type=service -service=none"),
        line("watch -type=checks"),
        line("watch -type=checks -service=none"),
        line("watch -type=checks -state=passing"),
        line("watch -type=checks -state=passing -service=a"),
        line("watch -type=event"),
        line("watch -type=keyprefix"),
        line("watch -type=keyprefix -prefix="),
        line("watch -type=keyprefix -prefix=none"),
        line("kv put <k>& <v>"),
        line("watch -type=key -key=<k>&"),
        line("watch -type=key -key=none"),
        line("watch -type=nodes -key=f"),
        line("watch -type=key -key=f -passingonly=false"),
        line("watch -type=connect_leaf -service=web"),
        line("watch -type=agent_service"),
    ]);
}

/// A handler runs for the present state and for each change, with the state on its standard input.
#[test]
fn a_watch_runs_its_handler_at_every_change() {
    use std::io::{BufRead as _, BufReader};
    let server = Server::start();
    let put = |value: &str| {
        let done = run(&own(), &server, &line(&format!("kv put f {value}")));
        assert!(done.status.success());
    };
    put("1");
    let mut watch = Command::new(own())
        .args(["watch", "-type=key", "-key=f", "grep Value"])
        .env("CONSUL_HTTP_ADDR", server.addr().to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("it is piped")).lines();
    let mut next = || lines.next().expect("a line").expect("it is text");
    assert_eq!(next().trim(), r#""Value": "MQ==","#);
    put("2");
    assert_eq!(next().trim(), r#""Value": "Mg==","#);
    watch.kill().expect("it runs");
    watch.wait().expect("it was killed");
}

/// `session` is ours: Consul's command line has nothing like it.
#[test]
fn sessions() {
    let server = Server::builder().frozen().start().expect("a free port");
    let said = |text: &str| {
        let (out, errors, code) = seen(&run(&own(), &server, &line(text)));
        assert_eq!((errors.as_str(), code), ("", Some(0)), "{text}");
        out
    };
    let created = said("session create -ttl=15s -behavior=delete -name=me");
    let id = created.trim();
    assert!(said("session list").contains(&format!("{id}  ")));
    assert!(said(&format!("session info {id}")).contains("TTL              15s\n"));
    assert!(said(&format!("session renew {id}")).contains("Behavior         delete\n"));
    assert_eq!(
        said(&format!("session destroy {id}")),
        format!("Destroyed session: {id}\n")
    );
    let gone = run(&own(), &server, &line(&format!("session info {id}")));
    let expected = format!("No session exists with ID: {id}");
    assert_eq!(seen(&gone), (String::new(), expected, Some(1)));
}

/// A key that is no lock is refused and stays, and the session that was made for it is ended.
#[test]
fn a_lock_that_cannot_be_had_leaves_no_session_and_the_key_as_it_was() {
    let server = Server::builder().frozen().start().expect("a free port");
    assert!(
        run(&own(), &server, &line("kv put l/.lock data"))
            .status
            .success()
    );
    let refused = run(&own(), &server, &line("lock l true"));
    assert_eq!(refused.status.code(), Some(1));
    let listed = seen(&run(&own(), &server, &line("session list"))).0;
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert_eq!(
        seen(&run(&own(), &server, &line("kv get l/.lock"))).0,
        "data\n"
    );
}
