//! Faults of DNS.

use std::net::UdpSocket;
use std::time::Duration;

use proconsul::Server;
use proconsul::faults::{ConsulError, Cut, DnsFailure, Effect, Link, Rule};
use proconsul::history::{Filter, Happened, Kind};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_tcp, ask_over_udp};

use crate::support::{PATIENCE, SECOND, ask, get};

const NAME: &str = "proconsul.node.consul";

fn server() -> Server {
    let server = Server::builder().frozen().dns().start();
    server.expect("free ports")
}

fn question(name: &str) -> Vec<u8> {
    DnsQuestion::new(name, "A").bytes()
}

/// The outcome over UDP and over TCP.
fn outcomes(server: &Server) -> [String; 2] {
    let (address, question) = (server.dns_addr(), question(NAME));
    [ask_over_udp, ask_over_tcp].map(|ask| {
        let answer = ask(address, &question).expect("it answers");
        DnsAnswer::read(&answer).head
    })
}

const WHOLE: &str = "NOERROR qr aa rd, proconsul.node.consul. A";

#[test]
fn answers_fail_while_a_rule_says_so() {
    let server = server();
    let failed = "SERVFAIL qr rd, proconsul.node.consul. A";
    for name in [".", "consul", "Node.Consul.", NAME] {
        let rule = Rule::new(Effect::Dns(DnsFailure::ServFail)).question(name);
        let _guard = server.fault(rule).expect("it can match");
        assert_eq!(outcomes(&server), [failed, failed], "{name}");
    }
    for other in ["web.service.consul", "a.proconsul.node.consul"] {
        let rule = Rule::new(Effect::Dns(DnsFailure::ServFail)).question(other);
        let guard = server.fault(rule).expect("it can match");
        assert_eq!(outcomes(&server), [WHOLE, WHOLE], "{other}");
        assert_eq!(guard.hits(), 0);
    }
}

#[test]
fn a_truncated_answer_sends_its_client_to_tcp() {
    let server = server();
    let rule = Rule::new(Effect::Dns(DnsFailure::Truncated));
    let guard = server.fault(rule).expect("it can match");
    let truncated = "NOERROR qr aa tc rd, proconsul.node.consul. A";
    assert_eq!(outcomes(&server), [truncated, WHOLE]);
    assert_eq!(guard.hits(), 1);
}

#[test]
fn a_question_without_an_answer_holds_up_no_other() {
    let server = server();
    let rule = Rule::new(Effect::Hang).question(".").times(1);
    let guard = server.fault(rule).expect("it can match");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let patience = socket.set_read_timeout(Some(PATIENCE));
    patience.expect("a socket has a timeout");
    let ask = |id: u8| {
        let mut question = question(NAME);
        question[1] = id;
        let sent = socket.send_to(&question, server.dns_addr());
        sent.expect("the server listens");
    };
    ask(8);
    ask(9);
    let mut answer = [0; 512];
    socket.recv(&mut answer).expect("the second is answered");
    assert_eq!(answer[..2], [0, 9]);
    assert_eq!(guard.hits(), 1);
}

#[test]
fn a_slow_answer_comes_when_the_clock_has_moved() {
    for delay in [
        Effect::DelayBefore(5 * SECOND),
        Effect::DelayAfter(5 * SECOND),
    ] {
        let server = server();
        let is_before = delay == Effect::DelayBefore(5 * SECOND);
        let rule = Rule::new(delay).question("slow.node.consul");
        let _guard = server.fault(rule).expect("it can match");
        let address = server.dns_addr();
        let slow = std::thread::spawn(move || ask_over_udp(address, &question("slow.node.consul")));
        let filter = Filter::of(Kind::Held);
        let held = server.wait_for(&filter, PATIENCE);
        held.expect("the question is held");
        // Others are answered meanwhile.
        assert_eq!(outcomes(&server), [WHOLE, WHOLE]);
        let node = r#"{"Node": "slow", "Address": "10.0.0.9"}"#;
        assert_eq!(
            ask(&server, "PUT", "/v1/catalog/register", node).status,
            200
        );
        server.advance(5 * SECOND);
        let answer = slow.join().expect("a thread").expect("it answers");
        let found = DnsAnswer::read(&answer).records;
        let expected = ["answer slow.node.consul. 0 A 10.0.0.9"];
        assert_eq!(found == expected, is_before, "{found:?}");
    }
}

#[test]
fn the_history_has_questions_with_their_codes() {
    let server = server();
    let rule = Rule::new(Effect::Dns(DnsFailure::ServFail)).question("b.node.consul");
    let _guard = server.fault(rule).expect("it can match");
    for name in [NAME, "a.node.consul", "b.node.consul"] {
        ask_over_udp(server.dns_addr(), &question(name)).expect("it answers");
    }
    let mut found = Vec::new();
    for record in server.history(&Filter::all()) {
        match record.what {
            Happened::Request {
                method,
                target,
                client,
                ..
            } => {
                found.push(format!("{method} {target} {client:?}"));
            }
            Happened::Answer { status, fault, .. } => found.push(format!("{status:?} {fault:?}")),
            _ => {}
        }
    }
    let expected = [
        "DNS proconsul.node.consul. A Some(127.0.0.1)",
        "Some(0) None",
        "DNS a.node.consul. A Some(127.0.0.1)",
        "Some(3) None",
        "DNS b.node.consul. A Some(127.0.0.1)",
        "Some(2) Some(\"rule 1: SERVFAIL\")",
    ];
    assert_eq!(found, expected);
}

#[test]
fn rules_hit_either_requests_or_questions() {
    let server = server();
    let fails = Rule::new(Effect::Dns(DnsFailure::ServFail));
    let of_questions = server.fault(fails).expect("it can match");
    let error = Rule::new(Effect::ErrorAfter(ConsulError::AclNotFound, Duration::ZERO));
    // The first rule hides no rule of requests.
    let of_requests = server.fault(error).expect("it can match");
    assert_eq!(get(&server, "/v1/kv/k").status, 403);
    assert!(outcomes(&server)[0].starts_with("SERVFAIL"));
    assert_eq!((of_requests.hits(), of_questions.hits()), (1, 2));
    let listed: Vec<_> = server
        .faults()
        .iter()
        .map(|one| one.rule.requests_in_words())
        .collect();
    assert_eq!(listed, ["questions of DNS", "all requests"]);
}

#[test]
fn rules_about_questions_that_never_match_are_refused() {
    let server = server();
    let servfail = || Rule::new(Effect::Dns(DnsFailure::ServFail));
    let never = "this rule can never match:";
    let condition =
        |name| format!("{never} a question of DNS has no {name}; leave it out, or the question");
    let effect = format!(
        "{never} a question of DNS is delayed, not answered, or its answer fails, and the effect is another"
    );
    for (rule, expected) in [
        (servfail().method("GET"), condition("method")),
        (servfail().path("/v1/"), condition("path")),
        (servfail().key_prefix("a"), condition("key")),
        (servfail().session("a"), condition("session")),
        (servfail().header("a", "b"), condition("header")),
        (Rule::new(Effect::Cut(Cut::Reset)).question("."), effect),
    ] {
        let refused = server.fault(rule).expect_err("it can never match");
        assert_eq!(refused.to_string(), expected);
    }
    let _all = server
        .fault(servfail().question("consul"))
        .expect("it can match");
    let hidden = server.fault(servfail().question(NAME));
    assert!(hidden.is_err(), "{hidden:?}");
    let wider = server.fault(servfail());
    assert!(wider.is_ok(), "{wider:?}");
}

#[test]
fn an_agent_without_its_clients_answers_no_questions() {
    let builder = Server::builder().frozen().dns();
    let server = builder.agents(2).start().expect("free ports");
    let agent = server.agent(1);
    let ask = |id: u8| {
        let mut question = question(NAME);
        question[1] = id;
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let patience = socket.set_read_timeout(Some(PATIENCE));
        patience.expect("a socket has a timeout");
        let sent = socket.send_to(&question, agent.dns_addr());
        sent.expect("it has a socket");
        socket
    };
    agent.set_link(Link::Silent);
    let lost = ask(8);
    let unanswered = |record: &proconsul::history::Record| {
        matches!(record.what, Happened::Answer { status: None, .. })
    };
    let filter = Filter::of(Kind::Answer);
    let over = server.wait_for(&filter, PATIENCE);
    assert!(unanswered(&over.expect("it is over")));
    let (address, last) = (agent.dns_addr(), server.last_record());
    let waits = std::thread::spawn(move || ask_over_tcp(address, &question(NAME)));
    let arrived = Filter::of(Kind::Request).after(last);
    let arrived = server.wait_for(&arrived, PATIENCE);
    arrived.expect("it reaches the connection");
    server.wait_idle(PATIENCE).expect("it waits for the link");
    assert_eq!(server.open_requests(), 1);
    agent.set_link(Link::Up);
    waits.join().expect("a thread").expect("it is answered now");
    ask(9).recv(&mut [0; 512]).expect("it answers again");
    lost.set_nonblocking(true).expect("a socket can be asked");
    lost.recv(&mut [0; 512]).expect_err("the first was lost");
}
