//! gRPC checks of the agent, against a health service of the case's own (session.md 4.4).

use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;

/// How long a run of a check may take to show.
const RUN: Duration = Duration::from_secs(10);

/// A server that is started for the case reaches a listener of this machine.
const NEEDS: &[Feature] = &[Feature::AgentRegistration, Feature::OwnServer];

/// The types and flags of HTTP/2's frames.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A health service of gRPC, which listens until the process ends. It is HTTP/2 as far as one small call needs it.
fn health_service() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Each client closes its connection, and with it the thread ends.
            std::thread::spawn(move || serve(stream));
        }
    });
    address.expect("a bound socket has an address")
}

fn serve(mut stream: TcpStream) -> Result<()> {
    stream.read_exact(&mut [0; 24])?;
    write(&mut stream, SETTINGS, 0, 0, &[])?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [high, middle, low, kind, flags, a, b, c, d] = head;
        let length = u32::from_be_bytes([0, high, middle, low]);
        let id = u32::from_be_bytes([a, b, c, d]);
        let mut payload = vec![0; usize::try_from(length).expect("24 bits fit")];
        stream.read_exact(&mut payload)?;
        match kind {
            SETTINGS if flags & ACK == 0 => write(&mut stream, SETTINGS, ACK, 0, &[])?,
            PING if flags & ACK == 0 => write(&mut stream, PING, ACK, 0, &payload)?,
            // Behind a prefix of five bytes, and two of the field, is the name of the service.
            DATA if flags & END_STREAM != 0 => {
                answer(&mut stream, id, payload.get(7..).unwrap_or_default())?;
            }
            _ => {}
        }
    }
}

fn answer(stream: &mut TcpStream, id: u32, service: &[u8]) -> Result<()> {
    let head = [&[0x88], &field("content-type", "application/grpc")[..]].concat();
    let state = match service {
        b"" | b"web" => 1,
        b"down" => 2,
        _ => {
            let status = field("grpc-status", "5");
            let text = field("grpc-message", "unknown service %C3%A4");
            let head = [head, status, text].concat();
            return write(stream, HEADERS, END_HEADERS | END_STREAM, id, &head);
        }
    };
    write(stream, HEADERS, END_HEADERS, id, &head)?;
    write(stream, DATA, 0, id, &[0, 0, 0, 0, 2, 8, state])?;
    let trailers = field("grpc-status", "0");
    write(stream, HEADERS, END_HEADERS | END_STREAM, id, &trailers)
}

/// A field of a head that no table keeps.
fn field(name: &str, value: &str) -> Vec<u8> {
    let mut field = vec![0];
    for text in [name, value] {
        field.push(u8::try_from(text.len()).expect("a short text"));
        field.extend_from_slice(text.as_bytes());
    }
    field
}

fn write(stream: &mut TcpStream, kind: u8, flags: u8, id: u32, payload: &[u8]) -> Result<()> {
    let length = u32::try_from(payload.len()).expect("a short payload");
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(id.to_be_bytes());
    frame.extend(payload);
    stream.write_all(&frame)
}

/// Registers a gRPC check whose status is to turn, and looks at what it says when it has.
#[track_caller]
fn turns(t: &Trial, name: &str, target: &str, status: &str, output: &str) {
    let id = t.agent_check(name);
    let before = if status == "passing" {
        "critical"
    } else {
        "passing"
    };
    let body = json!({"Name": id, "GRPC": target, "Interval": "1s", "Status": before});
    t.api_put("/v1/agent/check/register", body.to_string())
        .is(200, "");
    t.pass(Duration::from_secs(1));
    let found = t.eventually("the check has run", RUN, || {
        let check = t.api_get("/v1/agent/checks").json()[&id].clone();
        (check["Status"] == status).then_some(check)
    });
    t.same("output", found["Output"].clone(), json!(output));
    t.same("type", found["Type"].clone(), json!("grpc"));
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/check/grpc-health",
        claim: "A gRPC check passes when the health service says that what stands behind the slash serves",
        source: "session.md 4.4",
        needs: NEEDS,
        run: |t| {
            t.not_compared("the system chooses the port of the health service");
            let address = health_service();
            for (name, service) in [("all", ""), ("slash", "/"), ("web", "/web")] {
                let target = format!("{address}{service}");
                let output = format!("gRPC check {target}: success");
                turns(t, name, &target, "passing", &output);
            }
            let target = format!("{address}/down");
            let output = if t.since(Version::V1_22) {
                format!("gRPC {target} serving status: NOT_SERVING")
            } else {
                "gRPC application didn't report service healthy".to_owned()
            };
            turns(t, "down", &target, "critical", &output);
            let target = format!("{address}/not/known");
            let output = "rpc error: code = NotFound desc = unknown service ä";
            turns(t, "unknown", &target, "critical", output);
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/check/grpc-without-a-port-before-1-22",
        claim: "A gRPC check that cannot connect is critical, and says so in the words of Go's library",
        source: "session.md 4.4",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let output = "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing dial tcp: address 127.0.0.1: missing port in address\"";
            turns(t, "c", "127.0.0.1/web", "critical", output);
        },
        ..Case::SHOULD
    },
];
