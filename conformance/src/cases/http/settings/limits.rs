//! Limits of the agent on requests and connections.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Outcome;
use crate::wire::answer::Answer;

const SINCE_WRITE_TIMEOUT: Version = Version::new(1, 22, 4);

/// The cases.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "settings/rpc-rate/is-429",
        claim: "Above limits.rpc_rate requests are 429 with an empty body and without Content-Type",
        source: "kv.md 6.4",
        until: Some(Version::V1_15),
        settings: RATE,
        run: |t| {
            limited(t)
                .is(429, "")
                .has_no_header("Content-Type")
                .has_no_header("X-Consul-Index");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/rpc-rate/is-429-with-a-text-since-1-15",
        claim: "Above limits.rpc_rate requests are 429 and say why",
        source: "1.22.md A6.4 [H]",
        since: Version::V1_15,
        settings: RATE,
        run: |t| {
            limited(t).is(429, "RPC rate limit exceeded");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/write-timeout/loses-late-responses",
        claim: "A response that comes later than http_config.write_timeout after its request is lost with its connection, others are not",
        source: "2.1.md 1.r4 [C], 7.r1",
        since: SINCE_WRITE_TIMEOUT,
        needs: &[Feature::Blocking],
        settings: r#"{"http_config": {"write_timeout": "2s"}}"#,
        run: |t| {
            t.put("k", "", "v").is(200, "true");
            let index = t.get("k", "").index();
            let [early, late] =
                ["1s", "3s"].map(|wait| t.start_get("k", &format!("index={index}&wait={wait}")));
            t.pass(Duration::from_millis(1500));
            early.answer().status_is(200);
            t.pass(Duration::from_secs(2));
            late.answer().is_closed();
            t.get("k", "").status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "settings/write-timeout/ends-blocking-queries-of-1-22-4",
        claim: "What a blocking query of more than 30 s answers, at its wake or its end, is lost with the connection",
        source: "2.1.md 1.r4 [C]",
        since: SINCE_WRITE_TIMEOUT,
        until: Some(Version::new(1, 22, 5)),
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let (key, ended) = (t.key("k"), t.key("other"));
            let wait = |key: &str, wait: &str| {
                t.put(key, "", "v").is(200, "true");
                let index = t.get(key, "").index();
                t.start_get(key, &format!("index={index}&wait={wait}"))
            };
            let (woken, ended) = (wait(&key, "5m"), wait(&ended, "40s"));
            t.pass(Duration::from_secs(35));
            t.put(&key, "", "changed").is(200, "true");
            woken.answer().is_closed();
            t.pass(Duration::from_secs(10));
            ended.answer().is_closed();
            t.get(&key, "").entry().value_is("changed");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/connection-limit/closes-without-a-word",
        claim: "A connection above limits.http_max_conns_per_client is closed without a byte, the others are served",
        source: "kv.md 6.4",
        until: Some(Version::V1_9),
        settings: FEW_CONNECTIONS,
        run: |t| {
            beyond_the_limit(t, |answer| answer.is_closed());
        },
        ..Case::REAL
    },
    Case {
        id: "settings/connection-limit/is-429-since-1-9",
        claim: "A connection above limits.http_max_conns_per_client is told 429 and closed, the others are served",
        source: "1.22.md A6.4 [D]; 1.22.md A6.r9",
        since: Version::V1_9,
        settings: FEW_CONNECTIONS,
        run: |t| {
            beyond_the_limit(t, |answer| {
                answer
                    .is(
                        429,
                        "Your IP is issuing too many concurrent connections, please rate limit your calls\n",
                    )
                    .header_names_are(&["Content-Type", "Content-Length", "Connection"])
                    .header_is("Content-Type", "text/plain")
            });
        },
        ..Case::REAL
    },
];

/// An agent can start with it, although the suite keeps asking whether it has started. [`TOO_MANY`] requests at once exceed it.
const RATE: &str = r#"{"limits": {"rpc_rate": 30, "rpc_max_burst": 30}}"#;
const TOO_MANY: usize = 100;
const FEW_CONNECTIONS: &str = r#"{"limits": {"http_max_conns_per_client": 5}}"#;

/// The first answer that is not that of a missing key.
fn limited(t: &Trial) -> Answer {
    let answers = t.together(TOO_MANY, |_| t.get("k", ""));
    let mut others = answers.into_iter().filter(|answer| answer.status() != 404);
    let other = others.next();
    t.check(other.is_some(), "100 requests at once were all served");
    other.unwrap_or_else(|| t.get("k", ""))
}

/// Holds five connections that have been served and looks at the sixth.
fn beyond_the_limit(t: &Trial, look: impl Fn(Answer) -> Answer) {
    let request = format!("GET /v1/kv/k HTTP/1.1\r\nHost: {}\r\n\r\n", t.host());
    // What went before may still be closing on the other side: that many more are tried, and only what was served is held.
    let mut held: Vec<_> = (0..5)
        .map(|_| {
            t.eventually("a connection is served", Duration::from_secs(5), || {
                let mut connection = t.connect();
                connection.send(request.as_bytes());
                let answer = connection.answer();
                let is_served =
                    matches!(answer.outcome(), Outcome::Reply(reply) if reply.status == 404);
                is_served.then_some(connection)
            })
        })
        .collect();
    let mut sixth = t.connect();
    sixth.send(request.as_bytes());
    look(sixth.answer());
    for connection in &mut held {
        connection.send(request.as_bytes());
        connection.answer().is(404, "");
    }
}
