//! Answers of DNS, as a real Consul gave them (cluster.md 6). What of them is in a random order is sorted.

use std::time::Duration;

use proconsul_config::{Config, DnsConfig, Soa};
use proconsul_core::dns::Transport;
use proconsul_core::{Input, Machine, Output};
use proconsul_testing::{DnsAnswer, DnsQuestion};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A machine with a catalog.
struct Asked(Machine);

impl Asked {
    fn new(version: &str, dns: DnsConfig) -> Self {
        let config = Config {
            version: version.parse().expect("a release"),
            node_name: "n0".to_owned(),
            dns,
            ..Config::default()
        };
        let wall = Duration::from_secs(1_767_225_600);
        let mut asked = Self(Machine::new(&config, 7, wall));
        for registration in catalog() {
            asked.put("PUT", "/v1/catalog/register", &registration);
        }
        let ttl = json!({"Name": "q1", "Service": {"Service": "web"}, "DNS": {"TTL": "17s"}});
        asked.put("POST", "/v1/query", &ttl);
        let template = json!({"Name": "tpl-", "Template": {"Type": "name_prefix_match"},
            "Service": {"Service": "${name.suffix}"}});
        asked.put("POST", "/v1/query", &template);
        asked
    }

    fn put(&mut self, method: &str, path: &str, body: &Value) {
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut outputs = self
            .0
            .input(Duration::ZERO, Input::Request(1, None, request.as_bytes()));
        match outputs.next() {
            Some(Output::Response(1, Some(response))) if response.status() == 200 => {}
            other => panic!("{method} {path} {body}: {other:?}"),
        }
    }

    fn bytes(&mut self, transport: Transport, question: &[u8]) -> Option<Vec<u8>> {
        let input = Input::Question(1, None, transport, question);
        match self.0.input(Duration::ZERO, input).next() {
            Some(Output::Answer(1, answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, transport: Transport, question: &DnsQuestion) -> DnsAnswer {
        let bytes = self.bytes(transport, &question.bytes());
        let mut answer = DnsAnswer::read(&bytes.expect("a question is answered"));
        answer.records.sort();
        answer
    }

    /// Asks as a resolver without EDNS does. Returns the outcome and the records, in the order of the alphabet.
    fn plain(&mut self, name: &str, kind: &'static str) -> String {
        let answer = self.ask(Transport::Udp, &DnsQuestion::new(name, kind));
        let code = answer.head.split(' ').next().unwrap_or_default();
        [&[code.to_owned()], &answer.records[..]]
            .concat()
            .join("\n")
    }
}

fn catalog() -> Vec<Value> {
    let mut rows = vec![
        json!({"Node": "w1", "Address": "10.1.0.1", "Service": {"Service": "web", "Port": 80, "Tags": ["primary", "Tag"],
            "Weights": {"Passing": 5, "Warning": 2}}}),
        json!({"Node": "w2", "Address": "10.1.0.2", "NodeMeta": {"b": "2", "rfc1035-x": "raw"},
            "Service": {"Service": "web", "Port": 81, "Address": "10.9.9.9", "Tags": ["x"]},
            "Check": {"Name": "c", "Status": "warning", "ServiceID": "web"}}),
        json!({"Node": "w3", "Address": "10.1.0.3", "Service": {"Service": "web", "Port": 82, "Address": "svc.example.com"}}),
        json!({"Node": "w5", "Address": "10.1.0.5", "Service": {"Service": "web", "Port": 84},
            "Check": {"Name": "c", "Status": "critical", "ServiceID": "web"}}),
        json!({"Node": "h1", "Address": "host.example.com", "Service": {"Service": "hst"}}),
        json!({"Node": "t1", "Address": "10.1.0.7", "TaggedAddresses": {"lan_ipv4": "10.2.0.7", "lan_ipv6": "fe80::7"},
            "Service": {"Service": "tg", "Port": 85}}),
        json!({"Node": "dt", "Address": "10.12.0.5", "Service": {"Service": "dotty", "Port": 1, "Tags": ["x.y"]}}),
        json!({"Node": "cn", "Address": "w2.node.consul", "Service": {"Service": "cns", "Port": 3}}),
        json!({"Node": "px", "Address": "10.1.0.9", "Service": {"Service": "web-proxy", "Kind": "connect-proxy",
            "Port": 2100, "Proxy": {"DestinationServiceName": "web"}}}),
    ];
    rows.extend((0..120).map(|i| {
        json!({"Node": format!("b{i:03}"), "Address": format!("10.9.0.{i}"),
            "Service": {"Service": "big", "Port": 4000 + i}})
    }));
    rows
}

const SOA: &str = "authority consul. 0 SOA ns.consul. hostmaster.consul. [3600, 600, 86400, 0]";

fn held(version: &str, rows: &[(&str, &'static str, &str)]) {
    let mut asked = Asked::new(version, DnsConfig::default());
    for (name, kind, expected) in rows {
        let expected = expected.replace("SOA!", SOA);
        assert_eq!(
            asked.plain(name, kind),
            expected,
            "{version}: {name} {kind}"
        );
    }
}

/// 6.5 to 6.22, 6.26, 6.43: the name, the type, the outcome and the records.
const IN_BOTH: &[(&str, &str, &str)] = &[
    (
        "w1.node.consul",
        "A",
        "NOERROR\nanswer w1.node.consul. 0 A 10.1.0.1",
    ),
    (
        "W1.Node.DC1.Consul",
        "A",
        "NOERROR\nanswer W1.Node.DC1.Consul. 0 A 10.1.0.1",
    ),
    ("w1.node.consul", "AAAA", "NOERROR"),
    ("w1.node.consul", "SRV", "NOERROR"),
    (
        "w2.node.consul",
        "TXT",
        "NOERROR\nanswer w2.node.consul. 0 TXT b=2\nanswer w2.node.consul. 0 TXT raw",
    ),
    (
        "t1.node.consul",
        "AAAA",
        "NOERROR\nanswer t1.node.consul. 0 AAAA fe80::7",
    ),
    (
        "t1.node.consul",
        "A",
        "NOERROR\nanswer t1.node.consul. 0 A 10.2.0.7",
    ),
    (
        "h1.node.consul",
        "A",
        "NOERROR\nanswer h1.node.consul. 0 CNAME host.example.com.",
    ),
    ("nope.node.consul", "A", "NXDOMAIN\nSOA!"),
    ("node.consul", "A", "NXDOMAIN\nSOA!"),
    ("w1.node.dc9.consul", "A", "NXDOMAIN\nSOA!"),
    ("web.consul", "A", "NXDOMAIN\nSOA!"),
    ("consul", "ANY", "NXDOMAIN\nSOA!"),
    ("web.service.consul.consul", "A", "NXDOMAIN\nSOA!"),
    ("www.example.com", "A", "REFUSED"),
    (
        "web.service.consul",
        "A",
        "NOERROR\nanswer web.service.consul. 0 A 10.1.0.1\nanswer web.service.consul. 0 A 10.9.9.9",
    ),
    (
        "web.service.consul",
        "AAAA",
        "NOERROR\nanswer web.service.consul. 0 CNAME svc.example.com.",
    ),
    ("big.service.consul", "AAAA", "NOERROR\nSOA!"),
    (
        "hst.service.consul",
        "ANY",
        "NOERROR\nanswer hst.service.consul. 0 CNAME host.example.com.",
    ),
    (
        "primary.web.service.consul",
        "SRV",
        "NOERROR\nadditional w1.node.dc1.consul. 0 A 10.1.0.1\n\
             answer primary.web.service.consul. 0 SRV 1 5 80 w1.node.dc1.consul.",
    ),
    (
        "_web._x.service.consul",
        "SRV",
        "NOERROR\nadditional 0a090909.addr.dc1.consul. 0 A 10.9.9.9\n\
             additional w2.node.dc1.consul. 0 TXT b=2\nadditional w2.node.dc1.consul. 0 TXT raw\n\
             answer _web._x.service.consul. 0 SRV 1 1 81 0a090909.addr.dc1.consul.",
    ),
    ("_web._TCP.consul", "A", "NXDOMAIN\nSOA!"),
    (
        "_hst._tcp.consul",
        "SRV",
        "NOERROR\nanswer _hst._tcp.consul. 0 SRV 1 1 0 host.example.com.",
    ),
    (
        "tg.service.consul",
        "SRV",
        "NOERROR\nadditional fe800000000000000000000000000007.addr.dc1.consul. 0 AAAA fe80::7\n\
             answer tg.service.consul. 0 SRV 1 1 85 fe800000000000000000000000000007.addr.dc1.consul.",
    ),
    (
        "x.y.dotty.service.consul",
        "A",
        "NOERROR\nanswer x.y.dotty.service.consul. 0 A 10.12.0.5",
    ),
    (
        "web.connect.consul",
        "SRV",
        "NOERROR\nadditional px.node.dc1.consul. 0 A 10.1.0.9\n\
             answer web.connect.consul. 0 SRV 1 1 2100 px.node.dc1.consul.",
    ),
    ("web.ingress.consul", "A", "NXDOMAIN\nSOA!"),
    (
        "q1.query.consul",
        "A",
        "NOERROR\nanswer q1.query.consul. 17 A 10.1.0.1\nanswer q1.query.consul. 17 A 10.9.9.9",
    ),
    (
        "tpl-tg.query.consul",
        "A",
        "NOERROR\nanswer tpl-tg.query.consul. 0 A 10.2.0.7",
    ),
    ("q1.query.dc9.consul", "A", "NXDOMAIN\nSOA!"),
    (
        "0A010101.addr.dc9.consul",
        "A",
        "NOERROR\nanswer 0a010101.addr.dc9.consul. 0 A 10.1.1.1",
    ),
    ("zz010101.addr.consul", "A", "NXDOMAIN\nSOA!"),
    (
        "5.0.12.10.in-addr.arpa",
        "PTR",
        "NOERROR\nanswer 5.0.12.10.in-addr.arpa. 0 PTR dt.node.dc1.consul.",
    ),
    (
        "9.9.9.10.in-addr.arpa",
        "A",
        "NOERROR\nanswer 9.9.9.10.in-addr.arpa. 0 PTR web.service.dc1.consul.",
    ),
    (
        "cn.node.consul",
        "AAAA",
        "NOERROR\nanswer cn.node.consul. 0 CNAME w2.node.consul.\nanswer w2.node.consul. 0 A 10.1.0.2\n\
             answer w2.node.consul. 0 TXT b=2\nanswer w2.node.consul. 0 TXT raw",
    ),
    (
        "cns.service.consul",
        "A",
        "NOERROR\nanswer cns.service.consul. 0 CNAME w2.node.consul.\nanswer w2.node.consul. 0 A 10.1.0.2",
    ),
    (
        "consul",
        "NS",
        "NOERROR\nadditional n0.node.dc1.consul. 0 A 127.0.0.1\nanswer consul. 0 NS n0.node.dc1.consul.",
    ),
];

#[test]
fn names_have_the_records_that_both_servers_give() {
    held("1.8.7", IN_BOTH);
    held("1.22.0", IN_BOTH);
}

/// 6.23, 6.25, 6.27, 6.28.
#[test]
fn the_server_of_later_releases_differs() {
    held(
        "1.8.7",
        &[
            ("web.virtual.consul", "A", "NXDOMAIN\nSOA!"),
            ("9.9.9.99.in-addr.arpa", "PTR", "SERVFAIL"),
            (
                "0a010101.addr.consul",
                "AAAA",
                "NOERROR\nanswer 0a010101.addr.consul. 0 A 10.1.1.1",
            ),
            ("0a0101.addr.consul", "A", "NOERROR"),
        ],
    );
    held(
        "1.22.0",
        &[
            (
                "web.virtual.consul",
                "A",
                "NOERROR\nanswer web.virtual.consul. 0 A 240.0.0.1",
            ),
            ("nope.virtual.consul", "A", "NOERROR"),
            ("9.9.9.99.in-addr.arpa", "PTR", "NXDOMAIN\nSOA!"),
            (
                "0a010101.addr.consul",
                "AAAA",
                "NOERROR\nadditional 0a010101.addr.consul. 0 A 10.1.1.1",
            ),
            ("0a0101.addr.consul", "A", "NXDOMAIN\nSOA!"),
        ],
    );
}

/// 6.30 to 6.35: transport, size, and how many records of which length come in 1.8.7 and in 1.22.
#[test]
fn an_answer_over_udp_has_as_many_records_as_fit() {
    let rows = [
        ("A", None, (84, 3), (84, 3)),
        ("ANY", None, (84, 3), (84, 3)),
        ("A", Some(512), (95, 3), (84, 3)),
        ("A", Some(513), (511, 29), (500, 29)),
        ("A", Some(700), (703, 41), (676, 40)),
        ("A", Some(1232), (1231, 74), (1220, 74)),
        ("A", Some(4096), (1967, 120), (1967, 120)),
        ("SRV", None, (204, 6), (204, 6)),
        ("SRV", Some(513), (495, 16), (484, 16)),
        ("SRV", Some(1232), (1223, 42), (1212, 42)),
        ("SRV", Some(4096), (4079, 144), (4068, 144)),
        ("SRV", Some(65_535), (6767, 240), (6767, 240)),
    ];
    for (version, is_late) in [("1.8.7", false), ("1.22.0", true)] {
        let mut asked = Asked::new(version, DnsConfig::default());
        for (kind, size, early, late) in rows {
            let question = DnsQuestion {
                size,
                ..DnsQuestion::new("big.service.consul", kind)
            };
            let answer = asked.ask(Transport::Udp, &question);
            let records = answer
                .records
                .iter()
                .filter(|record| !record.contains(" OPT "));
            let expected = if is_late { late } else { early };
            assert_eq!(
                (answer.size, records.count()),
                expected,
                "{version}: {question:?}"
            );
            assert!(!answer.head.contains(" tc"), "{}", answer.head);
        }
        let answer = asked.ask(
            Transport::Tcp,
            &DnsQuestion::new("big.service.consul", "SRV"),
        );
        assert_eq!(
            (answer.size, answer.records.len()),
            (6756, 240),
            "{version}"
        );
    }
}

fn settings() -> DnsConfig {
    let seconds = Duration::from_secs;
    DnsConfig {
        domain: "corp".to_owned(),
        alt_domain: "alt".to_owned(),
        node_ttl: seconds(5),
        service_ttl: [("big", 7), ("b*", 8), ("*", 9)]
            .map(|(name, ttl)| (name.to_owned(), seconds(ttl)))
            .into(),
        soa: Soa {
            min_ttl: 30,
            expire: 31,
            refresh: 32,
            retry: 33,
        },
        only_passing: true,
        udp_answer_limit: 2,
        a_record_limit: 1,
        enable_truncate: true,
        node_meta_txt: false,
        ..DnsConfig::default()
    }
}

/// 6.37, 6.38.
#[test]
fn settings_change_answers() {
    for (version, domain) in [("1.8.7", "corp"), ("1.22.0", "alt")] {
        let mut asked = Asked::new(version, settings());
        let rows = [
            (
                "w2.node.corp",
                "A",
                "NOERROR\nanswer w2.node.corp. 5 A 10.1.0.2".to_owned(),
            ),
            (
                "x.web.service.corp",
                "A",
                "NXDOMAIN\nauthority corp. 30 SOA ns.corp. hostmaster.corp. [32, 33, 31, 30]"
                    .to_owned(),
            ),
            (
                "web.service.corp",
                "A",
                "NOERROR\nanswer web.service.corp. 9 A 10.1.0.1".to_owned(),
            ),
            ("web.service.consul", "A", "REFUSED".to_owned()),
            (
                "primary.web.service.alt",
                "SRV",
                format!(
                    "NOERROR\nadditional w1.node.dc1.{domain}. 9 A 10.1.0.1\n\
                 answer primary.web.service.alt. 9 SRV 1 5 80 w1.node.dc1.{domain}."
                ),
            ),
            (
                "5.0.12.10.in-addr.arpa",
                "PTR",
                "NOERROR\nanswer 5.0.12.10.in-addr.arpa. 0 PTR dt.node.dc1.corp.".to_owned(),
            ),
        ];
        for (name, kind, expected) in rows {
            assert_eq!(
                asked.plain(name, kind),
                expected,
                "{version}: {name} {kind}"
            );
        }
        let cut = asked.ask(Transport::Udp, &DnsQuestion::new("big.service.corp", "SRV"));
        assert_eq!(cut.head, "NOERROR qr aa tc rd, big.service.corp. SRV");
        assert!(
            cut.records.iter().all(|record| record.contains(". 7 ")),
            "{cut:?}"
        );
    }
}

/// 6.1 to 6.3, 6.39 to 6.42: what of the head and of EDNS comes back.
#[test]
fn heads_and_options_are_consuls() {
    let mut asked = Asked::new("1.8.7", DnsConfig::default());
    // The third is a notification, and the last an update.
    let rows = [
        (0x0100, "NOERROR qr aa rd, w1.node.consul. A"),
        (0x07b5, "NOERROR qr aa rd cd, w1.node.consul. A"),
        (0x2110, "NOERROR qr aa, w1.node.consul. A"),
        (0x2fff, "NOTIMP qr tc rd ra ad cd"),
    ];
    for (flags, expected) in rows {
        let question = DnsQuestion {
            flags,
            ..DnsQuestion::new("w1.node.consul", "A")
        };
        assert_eq!(asked.ask(Transport::Udp, &question).head, expected);
    }
    let transfer = asked.ask(Transport::Udp, &DnsQuestion::new("consul", "AXFR"));
    assert_eq!(transfer.head, "NOTIMP qr aa rd, consul. AXFR");
    let mut subnet = |name: &str, options: &[u8]| {
        let question = DnsQuestion {
            options: options.to_vec(),
            ..DnsQuestion::new(name, "A").with_size(1232)
        };
        let answer = asked.ask(Transport::Udp, &question);
        let sent_back = answer
            .records
            .iter()
            .find(|record| record.contains(" OPT "));
        sent_back.map_or(answer.head.clone(), Clone::clone)
    };
    let network = b"\0\x08\0\x07\0\x01\x18\0\x01\x02\x03";
    assert_eq!(
        subnet("w1.node.consul", network),
        "additional . 0 OPT 1232 [0, 8, 0, 7, 0, 1, 24, 0, 1, 2, 3]"
    );
    assert_eq!(
        subnet("q1.query.consul", network),
        "additional . 0 OPT 1232 [0, 8, 0, 7, 0, 1, 24, 24, 1, 2, 3]"
    );
    assert_eq!(
        subnet("w1.node.consul", b"\0\x0a\0\x02ab"),
        "additional . 0 OPT 1232 []"
    );
    let wrong = b"\0\x08\0\x05\0\0\x08\0\x01";
    assert_eq!(
        subnet("w1.node.consul", wrong),
        "FORMERR qr rd, w1.node.consul. A"
    );
}

#[test]
fn who_has_no_token_for_it_finds_nothing() {
    let mut config = Config {
        version: "1.8.7".parse().expect("a release"),
        ..Config::default()
    };
    config.acl.enabled = true;
    "deny".clone_into(&mut config.acl.default_policy);
    for (token, expected) in [("", "NXDOMAIN qr aa rd"), ("root", "NOERROR qr aa rd")] {
        "root".clone_into(&mut config.acl.tokens.initial_management);
        token.clone_into(&mut config.acl.tokens.default);
        let mut asked = Asked(Machine::new(&config, 7, Duration::ZERO));
        let question = DnsQuestion::new("proconsul.node.consul", "A");
        let head = asked.ask(Transport::Udp, &question).head;
        assert_eq!(head, format!("{expected}, proconsul.node.consul. A"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// `DNS_PACKETS` sets how many packets come (default 2,000).
    #[test]
    fn whatever_comes_is_answered_by_a_message_or_not_at_all(
        name in "[a-z0-9_.]{0,20}\\.(node|service|query|addr|connect)\\.consul|[0-9.]{0,12}\\.in-addr\\.arpa",
        kind in prop::sample::select(vec!["A", "SRV", "ANY", "TXT", "NS"]),
        size in prop::option::of(any::<u16>()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        kept in prop::option::of(any::<prop::sample::Index>()),
        more in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        thread_local! {
            static ASKED: std::cell::RefCell<Asked> = Asked::new("1.22.0", DnsConfig::default()).into();
        }
        let question = DnsQuestion { size, ..DnsQuestion::new(&name, kind) };
        prop_assume!(name.split('.').all(|label| label.len() < 64));
        let mut bytes = question.bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(kept) = kept {
            bytes.truncate(kept.index(bytes.len()));
        }
        bytes.extend(more);
        ASKED.with_borrow_mut(|asked| {
            if let Some(answer) = asked.bytes(Transport::Udp, &bytes) {
                assert_eq!(answer[..2], bytes[..2], "the id is that of the question");
                let read = DnsAnswer::read(&answer);
                assert_eq!(read.size, answer.len());
            }
        });
    }
}

fn cases() -> u32 {
    std::env::var("DNS_PACKETS")
        .map_or(2_000, |text| text.parse().expect("DNS_PACKETS is a number"))
}
