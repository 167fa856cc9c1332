//! Which requests a rule hits, and which rules are refused.

use std::time::Duration;

use proconsul::Server;
use proconsul::faults::{ConsulError, DnsFailure, Effect, ReportedIndex, Rule, RuleError};
use proconsul_store::timestamp::Timestamp;
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_udp};

use crate::support::{SECOND, ask, ask_at, exchange, frozen, get, parse, put, request};

fn denied() -> Rule {
    Rule::new(Effect::Error(ConsulError::AclNotFound))
}

/// Which of these requests a rule hits.
fn hit(server: &Server, rule: Rule, requests: &[(&str, &str)]) -> Vec<bool> {
    let _guard = server.fault(rule).expect("it can match");
    let is_hit = |(method, target): &(&str, &str)| ask(server, method, target, "").status == 403;
    requests.iter().map(is_hit).collect()
}

#[test]
fn a_rule_hits_what_meets_all_of_its_conditions() {
    let server = frozen();
    let id = "adf4238a-882b-9ddc-4a9d-5b6758e4159e";
    let requests = [
        ("GET", "/v1/kv/a/b"),
        (
            "PUT",
            "/v1/kv/a%2Fc?acquire=adf4238a-882b-9ddc-4a9d-5b6758e4159e",
        ),
        ("GET", "/v1/kv/b"),
        (
            "PUT",
            "/v1/session/renew/adf4238a-882b-9ddc-4a9d-5b6758e4159e",
        ),
    ];
    let table = [
        (denied(), [true, true, true, true]),
        (denied().method("GET"), [true, false, true, false]),
        (denied().key_prefix("a/"), [true, true, false, false]),
        (
            denied().key_prefix("a/").method("PUT"),
            [false, true, false, false],
        ),
        (denied().path("/v1/session/"), [false, false, false, true]),
        (denied().session(id), [false, true, false, true]),
        (
            denied().client([127, 0, 0, 1].into()),
            [true, true, true, true],
        ),
        (
            denied().client([127, 0, 0, 2].into()),
            [false, false, false, false],
        ),
        (denied().nth(2), [false, true, false, false]),
        (denied().method("GET").nth(2), [false, false, true, false]),
        (denied().times(3), [true, true, true, false]),
    ];
    for (rule, expected) in table {
        let text = format!("{rule:?}");
        assert_eq!(hit(&server, rule, &requests), expected, "{text}");
    }
}

#[test]
fn a_header_tells_clients_apart() {
    let server = frozen();
    let rule = denied().header("X-Client", "one");
    let _guard = server.fault(rule).expect("it can match");
    let ask = |headers: &[&str]| {
        let bytes = exchange(server.addr(), &request("GET", "/v1/kv/k", headers, ""));
        parse(&bytes.expect("an answer comes")).status
    };
    assert_eq!(ask(&["x-client: one"]), 403);
    assert_eq!(ask(&["X-Client: two"]), 404);
    assert_eq!(ask(&[]), 404);
}

/// A client with several addresses goes to another.
#[test]
fn an_agent_fails_alone() {
    let server = Server::builder().frozen().dns().agents(2).start();
    let server = server.expect("free ports");
    let status = |agent| ask_at(server.agent(agent).addr(), "GET", "/v1/kv/k", "").status;
    let _guard = server.fault(denied().agent(1)).expect("it can match");
    assert_eq!([status(0), status(1)], [404, 403]);
    let _other = server.fault(denied().agent(0)).expect("it is not hidden");
    assert_eq!([status(0), status(1)], [403, 403]);
    let fails = Rule::new(Effect::Dns(DnsFailure::ServFail)).agent(1);
    let _guard = server.fault(fails).expect("it can match");
    let question = DnsQuestion::new("n1.node.consul", "A").bytes();
    let resolve = |agent| {
        let answer = ask_over_udp(server.agent(agent).dns_addr(), &question);
        DnsAnswer::read(&answer.expect("it answers")).head
    };
    assert!(!resolve(0).starts_with("SERVFAIL"), "{}", resolve(0));
    assert!(resolve(1).starts_with("SERVFAIL"), "{}", resolve(1));
}

#[test]
fn a_window_is_on_the_servers_clock() {
    let server = frozen();
    let at = |seconds| Timestamp::ZERO.plus(Duration::from_secs(seconds));
    let rule = denied().between(at(10), at(20));
    let _guard = server.fault(rule).expect("it can match");
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(get(&server, "/v1/kv/k").status);
        server.advance(10 * SECOND);
    }
    assert_eq!(statuses, [404, 403, 404]);
}

#[test]
fn the_same_seed_hits_the_same_requests() {
    let pattern = |seed| {
        let server = frozen();
        hit(
            &server,
            denied().chance(0.5, seed),
            &[("GET", "/v1/kv/k"); 32],
        )
    };
    let one = pattern(1);
    assert_eq!(one, pattern(1));
    assert_ne!(one, pattern(2));
    let hits = one.iter().filter(|hit| **hit).count();
    assert!((4..28).contains(&hits), "{hits} of 32");
}

#[test]
fn the_first_rule_wins_and_a_dropped_guard_takes_its_rule_away() {
    let server = frozen();
    let first = server.fault(denied().times(1)).expect("it can match");
    let second = Rule::new(Effect::Error(ConsulError::LeaderRateLimited));
    let second = server.fault(second).expect("it can match");
    assert_eq!(get(&server, "/v1/kv/k").status, 403);
    assert_eq!(get(&server, "/v1/kv/k").status, 503);
    assert_eq!((first.hits(), second.hits()), (1, 1));
    let hits: Vec<u64> = server
        .faults()
        .iter()
        .map(|installed| installed.hits)
        .collect();
    assert_eq!(hits, [1, 1]);
    let kept = second.keep();
    drop(first);
    assert_eq!(server.faults().len(), 1);
    assert_eq!(put(&server, "/v1/kv/k", "").status, 503);
    assert!(server.remove_fault(kept));
    assert!(!server.remove_fault(kept));
    assert_eq!(put(&server, "/v1/kv/k", "").status, 200);
    server.fault(denied()).expect("it can match").keep();
    server.clear_faults();
    assert_eq!(get(&server, "/v1/kv/k").status, 200);
}

/// Every one of these rules is refused with its text, and nothing is installed.
fn assert_refused(server: &Server, table: impl IntoIterator<Item = (Rule, String)>) {
    for (rule, text) in table {
        let refused = server.fault(rule).expect_err(&text);
        assert_eq!(refused.to_string(), text);
    }
    assert!(server.faults().is_empty());
}

/// How most of them begin.
const NEVER: &str = "this rule can never match: ";

#[test]
fn a_rule_whose_request_cannot_exist_says_so() {
    let server = frozen();
    let table = [
        (
            denied().method("get"),
            format!(
                "{NEVER}no request has the method \"get\"; expected GET, HEAD, PUT, POST, DELETE or OPTIONS"
            ),
        ),
        (
            denied().path("v1/kv"),
            format!("{NEVER}paths begin with /v1/, and \"v1/kv\" does not"),
        ),
        (
            denied().path("/v1/txn").key_prefix("a"),
            format!("{NEVER}a key is named below /v1/kv/ only, and the path is \"/v1/txn\""),
        ),
        (
            denied().method("POST").key_prefix("a"),
            format!(
                "{NEVER}keys are asked for by GET, HEAD, PUT, DELETE or OPTIONS, and the method is \"POST\""
            ),
        ),
        (
            denied().session(""),
            format!("{NEVER}the session is empty; expected its id"),
        ),
        (
            denied().header("a b", ""),
            format!("{NEVER}\"a b\" cannot be the name of a header"),
        ),
    ];
    assert_refused(&server, table);
}

#[test]
fn a_rule_whose_turn_never_comes_says_so() {
    let server = frozen();
    server.advance(10 * SECOND);
    let at = |seconds| Timestamp::ZERO.plus(Duration::from_secs(seconds));
    let index = Effect::ReportIndex(ReportedIndex::Exactly(0));
    let table = [
        (
            denied().nth(0),
            format!("{NEVER}requests are counted from 1, and nth is 0"),
        ),
        (
            denied().chance(0.0, 1),
            "a probability is more than 0 and at most 1, not 0".to_owned(),
        ),
        (
            denied().times(0),
            format!("{NEVER}times is 0; expected at least 1"),
        ),
        (
            denied().nth(1).times(2),
            "nth matches a single request, so times can only be 1; leave one of them out"
                .to_owned(),
        ),
        (
            denied().between(at(20), at(20)),
            format!("{NEVER}its window ends when it begins, or before"),
        ),
        (
            denied().between(at(1), at(10)),
            format!("{NEVER}its window is over already"),
        ),
        (
            Rule::new(index).method("PUT"),
            format!(
                "{NEVER}only a GET has an index, can be stale or blocks, and the method is \"PUT\""
            ),
        ),
        (
            Rule::new(Effect::ReadFrom {
                checkpoint: "no".to_owned(),
                last_contact: SECOND,
            }),
            "there is no checkpoint \"no\"".to_owned(),
        ),
        (
            denied().agent(1),
            "there is no agent 1, only 0 to 0".to_owned(),
        ),
    ];
    assert_refused(&server, table);
}

#[test]
fn a_rule_that_an_earlier_one_hides_is_refused() {
    let server = frozen();
    let first = server
        .fault(denied().key_prefix("a/"))
        .expect("it can match");
    let hidden = server.fault(denied().key_prefix("a/b").times(1));
    assert_eq!(
        hidden.expect_err("it is hidden"),
        RuleError::Hidden(first.id())
    );
    // Wider, or behind a rule that ends: these have requests left.
    let wider = server
        .fault(denied().key_prefix("a"))
        .expect("it can match");
    drop((first, wider));
    let _once = server.fault(denied().times(1)).expect("it can match");
    let _behind = server.fault(denied()).expect("the first ends");
}
