//! What a question in `rows.txt` cannot say: bytes that are no question, answers that do not come, and settings that are refused.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use proconsul_conformance::wire::{self, Outcome, Request};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_tcp, ask_over_udp};
use serde_json::{Value, json};

use crate::{Consul, Served};

type Held = (&'static str, fn(&Consul, &Served));

/// The claims that are held here, by the last part of their ids.
pub(crate) const HELD: &[Held] = &[
    ("what-is-no-question", what_is_no_question),
    ("an-opt-may-be-odd", an_opt_may_be_odd),
    ("instances-are-shuffled", instances_are_shuffled),
    ("long-texts-are-not-answered", long_texts_are_not_answered),
    ("settings-that-are-refused", settings_that_are_refused),
    ("the-agent-tells-its-settings", the_agent_tells_its_settings),
    (
        "who-has-no-token-finds-nothing",
        who_has_no_token_finds_nothing,
    ),
];

const PATIENCE: Duration = Duration::from_secs(10);

/// Whether nothing answers a message: what answers the question that is sent behind it comes first.
fn is_ignored(served: &Served, message: &[u8], over_tcp: bool) -> bool {
    let mut last = DnsQuestion::new("n0.node.consul", "A").bytes();
    let id = *b"zz";
    last[..2].copy_from_slice(&id);
    let first = if over_tcp {
        let mut both = Vec::new();
        for message in [message, &last] {
            let length = u16::try_from(message.len()).expect("it is short");
            both.extend(length.to_be_bytes());
            both.extend(message);
        }
        let mut connection = TcpStream::connect(served.dns).expect("it listens");
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("it is no zero");
        connection.write_all(&both).expect("it is sent");
        let mut first = [0; 4];
        connection
            .read_exact(&mut first)
            .expect("the last is answered");
        [first[2], first[3]]
    } else {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("there is a free port");
        socket
            .set_read_timeout(Some(PATIENCE))
            .expect("it is no zero");
        for message in [message, &last] {
            socket.send_to(message, served.dns).expect("it is sent");
        }
        let mut first = [0; 1500];
        socket.recv(&mut first).expect("the last is answered");
        [first[0], first[1]]
    };
    first == id
}

/// A question whose head counts so many records in ANSWER, AUTHORITY and ADDITIONAL, without these and its last bytes.
fn cut(counts: [u8; 3], bytes: usize) -> Vec<u8> {
    let mut message = DnsQuestion::new("w1.node.consul", "A").bytes();
    for (place, count) in counts.into_iter().enumerate() {
        message[7 + 2 * place] = count;
    }
    message.truncate(message.len() - bytes);
    message
}

fn what_is_no_question(_: &Consul, served: &Served) {
    let question = cut([0; 3], 0);
    assert!(is_ignored(served, &question[..11], false));
    let named = |name: &[u8]| [&question[..12], name, &question[question.len() - 4..]].concat();
    let long_name = [&[63; 64][..]; 4].concat();
    let name = "w1.node.consul.";
    let rows = [
        (question[..12].to_vec(), "REFUSED qr rd".to_owned()),
        (cut([1, 1, 2], 0), format!("NOERROR qr aa rd, {name} A")),
        (cut([2, 0, 0], 0), "FORMERR qr rd".to_owned()),
        (cut([0, 2, 0], 0), "FORMERR qr rd".to_owned()),
        (cut([0, 0, 3], 0), "FORMERR qr rd".to_owned()),
        (named(&[64]), "FORMERR qr rd".to_owned()),
        (
            named(&[&long_name[..], b"\0"].concat()),
            "FORMERR qr rd".to_owned(),
        ),
        (named(b"\xc0\x0c"), "FORMERR qr rd".to_owned()),
        (cut([0; 3], 3), "FORMERR qr rd".to_owned()),
        (cut([0; 3], 4), format!("NOERROR qr aa rd, {name} 0")),
        (cut([0; 3], 2), format!("NOERROR qr aa rd, {name} A")),
        (
            [&cut([0, 0, 1], 0), &b"\0\0"[..]].concat(),
            format!("FORMERR qr rd, {name} A"),
        ),
    ];
    for (message, expected) in rows {
        let answer = ask_over_udp(served.dns, &message).expect("it is answered");
        assert_eq!(DnsAnswer::read(&answer).head, expected, "{message:?}");
    }
}

/// With a name, and twice.
fn an_opt_may_be_odd(_: &Consul, served: &Served) {
    let opt = b"\0\x29\x04\xd0\0\0\0\0\0\0";
    let name = b"\x02w1\x04node\x06consul\0";
    let rows = [
        [&cut([0, 0, 1], 0), &name[..], opt].concat(),
        [&cut([0, 0, 2], 0), &b"\0"[..], opt, b"\0", opt].concat(),
    ];
    for message in rows {
        let answer = ask_over_udp(served.dns, &message).expect("it is answered");
        let answer = DnsAnswer::read(&answer);
        assert!(answer.head.starts_with("NOERROR "), "{answer:?}");
        let opts = answer
            .records
            .iter()
            .filter(|record| record.contains(" OPT 1232 "));
        assert_eq!(opts.count(), 1, "{answer:?}");
    }
}

/// Each of three comes first in some of 60 answers, over UDP and TCP.
fn instances_are_shuffled(_: &Consul, served: &Served) {
    let question = DnsQuestion::new("three.service.consul", "A").bytes();
    for ask in [ask_over_udp, ask_over_tcp] {
        let mut first = BTreeMap::new();
        for _ in 0..60 {
            let answer = ask(served.dns, &question).expect("it is answered");
            let records = DnsAnswer::read(&answer).records;
            assert_eq!(records.len(), 3);
            *first.entry(records[0].clone()).or_insert(0) += 1;
        }
        assert!(
            first.len() == 3 && first.values().all(|count| *count > 4),
            "{first:?}"
        );
    }
}

/// Not even by an error.
fn long_texts_are_not_answered(_: &Consul, served: &Served) {
    for (name, kind) in [
        ("long.node.consul", "TXT"),
        ("long.node.consul", "A"),
        ("long.service.consul", "SRV"),
    ] {
        let question = DnsQuestion::new(name, kind).bytes();
        for over_tcp in [false, true] {
            assert!(is_ignored(served, &question, over_tcp), "{name} {kind}");
        }
    }
    let address = ask_over_udp(
        served.dns,
        &DnsQuestion::new("long.service.consul", "A").bytes(),
    );
    let head = DnsAnswer::read(&address.expect("it is answered")).head;
    assert!(head.starts_with("NOERROR "), "{head}");
}

fn settings_that_are_refused(consul: &Consul, _: &Served) {
    let duration = r#"invalid duration: "y": time: invalid duration "y""#;
    let rows = [
        (
            "dns_config { udp_answer_limit = -1 }",
            "dns_config.udp_answer_limit cannot be -1. Must be greater than or equal to zero"
                .to_owned(),
        ),
        (
            "dns_config { a_record_limit = -1 }",
            "dns_config.a_record_limit cannot be -1. Must be greater than or equal to zero"
                .to_owned(),
        ),
        (
            r#"dns_config { service_ttl { web = "y" } }"#,
            format!(r#"dns_config.service_ttl["web"]: {duration}"#),
        ),
        (
            r#"addresses { dns = "unix:///x" }"#,
            "DNS address cannot be a unix socket".to_owned(),
        ),
    ];
    for (settings, expected) in rows {
        let refusal = consul.started(settings).err();
        let refusal = refusal.unwrap_or_else(|| panic!("{settings} is refused"));
        assert!(refusal.contains(&expected), "{settings}: {refusal}");
    }
}

fn the_agent_tells_its_settings(_: &Consul, served: &Served) {
    let Outcome::Reply(reply) = wire::exchange(&served.http, &Request::get("/v1/agent/self"))
    else {
        panic!("it answers");
    };
    let own: Value = serde_json::from_slice(&reply.body).expect("it is JSON");
    let port = served.dns.port();
    let expected = json!({
        "DNSAddrs": [format!("tcp://127.0.0.1:{port}"), format!("udp://127.0.0.1:{port}")], "DNSPort": port,
        "DNSDomain": "consul.", "DNSAltDomain": "", "DNSARecordLimit": 0, "DNSUDPAnswerLimit": 3,
        "DNSNodeTTL": "0s", "DNSServiceTTL": {}, "DNSNodeMetaTXT": true,
        "DNSSOA": {"Expire": 86400, "Minttl": 0, "Refresh": 3600, "Retry": 600},
        "DNSAllowStale": true, "DNSDisableCompression": false, "DNSEnableTruncate": false, "DNSOnlyPassing": false,
        "DNSUseCache": false,
    });
    for (name, value) in expected.as_object().expect("it is one") {
        assert_eq!(own["DebugConfig"][name], *value, "{name}");
    }
}

/// The agent has a token until it has registered itself.
fn who_has_no_token_finds_nothing(consul: &Consul, _: &Served) {
    let served = consul.start(
        r#"acl { enabled = true default_policy = "deny" tokens { master = "root" default = "root" } }"#,
    );
    let none = Request::put("/v1/agent/token/default", r#"{"Token": ""}"#);
    let none = wire::exchange(&served.http, &none.header("X-Consul-Token", "root"));
    assert!(matches!(none, Outcome::Reply(reply) if reply.status == 200));
    let rows = [
        ("w1.node.consul", "A", "NXDOMAIN qr aa rd"),
        ("web.service.consul", "SRV", "NXDOMAIN qr aa rd"),
        ("q1.query.consul", "A", "NXDOMAIN qr aa rd"),
        ("5.0.12.10.in-addr.arpa", "PTR", "SERVFAIL qr rd ra"),
        ("consul", "NS", "NOERROR qr aa rd"),
        ("consul", "SOA", "NOERROR qr aa rd"),
    ];
    for (name, kind, expected) in rows {
        let answer = ask_over_udp(served.dns, &DnsQuestion::new(name, kind).bytes());
        let answer = DnsAnswer::read(&answer.expect("it is answered"));
        assert_eq!(answer.head, format!("{expected}, {name}. {kind}"));
        assert!(
            !answer.records.iter().any(|record| record.contains(" NS ")),
            "{answer:?}"
        );
    }
}
