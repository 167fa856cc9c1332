//! HTTP checks of the agent, against servers that break HTTP (session.md 4.4).

use std::io::{BufRead, BufReader, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;

/// How long a run of a check may take to show.
const RUN: Duration = Duration::from_secs(10);

/// A server that is started for the case reaches a listener of this machine.
const NEEDS: &[Feature] = &[Feature::AgentRegistration, Feature::OwnServer];

/// What the server says, and what is wrong with it.
const BROKEN: &[(&str, &str)] = &[
    ("hello\r\n\r\n", r#"malformed HTTP response "hello""#),
    (
        "HTTP/1.1 20 OK\r\n\r\n",
        r#"malformed HTTP status code "20""#,
    ),
    (
        "HTTP/1.x 200 OK\r\n\r\n",
        r#"malformed HTTP version "HTTP/1.x""#,
    ),
    (
        "HTTP/1.1 200 OK\r\nnone\r\n\r\n",
        r#"malformed MIME header: missing colon: "none""#,
    ),
    (
        "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
        "malformed MIME header initial line:  A: b",
    ),
    ("HTTP/1.1 200 OK\r\nA: b", "unexpected EOF"),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabcde",
        r#"bad Content-Length "-5""#,
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        r#"http: message cannot contain multiple Content-Length headers; got ["5" "6"]"#,
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        r#"unsupported transfer encoding: "gzip, chunked""#,
    ),
];

/// A server that answers `/3` with the fourth of these, which listens until the process ends.
fn broken_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A check that has heard enough is gone.
            let _ = serve(stream);
        }
    });
    address.expect("a bound socket has an address")
}

fn serve(mut stream: TcpStream) -> Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let number: usize = path.trim_start_matches('/').parse().unwrap_or_default();
    stream.write_all(BROKEN[number].0.as_bytes())
}

/// Registers an HTTP check that is to turn critical, and looks at what it says when it has.
#[track_caller]
fn turns_critical(t: &Trial, url: &str, why: &str) {
    let id = t.agent_check("c");
    let body = json!({"Name": id, "HTTP": url, "Interval": "1s", "Status": "passing"});
    t.api_put("/v1/agent/check/register", body.to_string())
        .is(200, "");
    t.pass(Duration::from_secs(1));
    let found = t.eventually("the check has run", RUN, || {
        let check = t.api_get("/v1/agent/checks").json()[&id].clone();
        (check["Status"] == "critical").then_some(check)
    });
    // In rare runs 1.8.7 leaves this part out.
    let broken = "net/http: HTTP/1.x transport connection broken: ";
    let output = found["Output"].as_str().unwrap_or_default();
    let expected = format!("Get \"{url}\": {why}");
    t.same("output", output.replacen(broken, "", 1), expected);
    t.api_put(&format!("/v1/agent/check/deregister/{id}"), "")
        .is(200, "");
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[Case {
    id: "agent/check/http-broken",
    claim: "An HTTP check of a server that breaks HTTP is critical, and says how in the words of Go's library",
    source: "session.md 4.4",
    needs: NEEDS,
    run: |t| {
        t.not_compared("the system chooses the port of the server");
        let address = broken_server();
        for (number, (_, why)) in BROKEN.iter().enumerate() {
            turns_critical(t, &format!("http://{address}/{number}"), why);
        }
    },
    ..Case::SHOULD
}];
