//! Random questions about the catalog.

use proconsul_testing::DnsQuestion;

use crate::catalog::MANY;

const NODES: [&str; 24] = [
    "w1", "w2", "w3", "w4", "w5", "h1", "t1", "t2", "t5", "cn", "cn2", "ch1", "ch2", "ch3", "lp1",
    "cx", "cdom", "nc", "n0", "nope", "web.dot", "under_n", "meta", "same",
];
const SERVICES: [&str; 29] = [
    "web",
    "hst",
    "hs",
    "tg",
    "tgs",
    "dotty",
    "a.b",
    "under_s",
    "metas",
    "web-proxy",
    "ncs",
    "wts",
    "cns",
    "cns2",
    "cns3",
    "cxs",
    "cdoms",
    "chs",
    "lps",
    "mix",
    "eqs",
    "only",
    "only2",
    "same",
    "three",
    "many",
    "big",
    "nope",
    "dup",
];
const TAGS: [&str; 9] = [
    "primary",
    "Tag",
    "x",
    "nope",
    "under_score",
    "tcp",
    "_tcp",
    "x.y",
    "y",
];
const QUERIES: [&str; 9] = [
    "q1", "q2", "q3", "q.dot", "tpl-web", "tpl-nope", "tpl-big", "nope", "x.q1",
];
const ADDRESSES: [&str; 8] = [
    "0a010101",
    "0A0101",
    "zz",
    "zz010101",
    "0a0101010",
    "fe800000000000000000000000000001",
    "0a01.0101",
    "",
];
const REVERSE: [&str; 15] = [
    "1.0.200.10",
    "13.0.1.10",
    "9.9.9.10",
    "1.0.0.127",
    "2.0.1.10",
    "9.9.9.99",
    "10",
    "x.1.2.3",
    "9.0.1.10",
    "20.0.1.10",
    "010.0.1.10",
    "256.1.1.1",
    "1.2.3.4.5",
    "7.0.2.10",
    "",
];
const OTHERS: [&str; 11] = [
    "",
    "node",
    "service",
    "foo",
    "dc1",
    "web",
    "a.b.c",
    "a.b.c.d.e.service",
    "_a._b._c.service",
    "_web._primary",
    "_web.service",
];
const KINDS: [&str; 15] = [
    "A", "A", "AAAA", "SRV", "SRV", "TXT", "ANY", "PTR", "NS", "SOA", "MX", "CNAME", "HTTPS",
    "IXFR", "AXFR",
];
const SIZES: [Option<u16>; 9] = [
    None,
    None,
    Some(0),
    Some(512),
    Some(513),
    Some(700),
    Some(1232),
    Some(4096),
    Some(65_535),
];
const FLAGS: [u16; 6] = [0x0100, 0x0100, 0x0000, 0x0110, 0x07b0, 0x2100];
/// A network of the client.
pub(crate) const SUBNET: &[u8] = b"\0\x08\0\x07\0\x01\x18\0\x01\x02\x03";
/// The network, and a cookie.
const OPTIONS: [&[u8]; 4] = [b"", b"", SUBNET, b"\0\x0a\0\x08abcdefgh"];

/// Random numbers from a seed (the generator of SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) % limit as u64).expect("it is below the limit")
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A question, and how it is asked.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: DnsQuestion,
    pub(crate) over_tcp: bool,
    /// Whether it is about a service of which a few instances come, and others each time.
    pub(crate) is_of_many: bool,
}

/// Draws a question.
pub(crate) fn draw(random: &mut Random) -> Asked {
    let name = name(random);
    let is_of_many = MANY
        .iter()
        .any(|(service, _)| name.to_lowercase().contains(service));
    let mut question = DnsQuestion::new(&name, random.one(&KINDS));
    question.size = random.one(&SIZES);
    question.flags = random.one(&FLAGS);
    question.options = random.one(&OPTIONS).to_vec();
    Asked {
        question,
        over_tcp: random.below(10) == 0,
        is_of_many,
    }
}

fn name(random: &mut Random) -> String {
    let service = random.one(&SERVICES);
    let tag = random.one(&TAGS);
    let before = match random.below(12) {
        0 | 1 => format!("{}.node", random.one(&NODES)),
        2..=4 => format!("{service}.service"),
        5 => format!("{tag}.{service}.service"),
        6 => format!(
            "_{service}._{tag}{}",
            random.one(&[".service", ".service", ""])
        ),
        7 => format!("{}.query", random.one(&QUERIES)),
        8 => format!(
            "{}{service}.{}",
            random.one(&["", "x."]),
            random.one(&["connect", "ingress", "virtual"])
        ),
        9 => format!("{}.addr", random.one(&ADDRESSES)),
        10 => {
            let address = random.one(&REVERSE);
            return mixed(random, &format!("{address}.in-addr.arpa"));
        }
        _ => random.one(&OTHERS).to_owned(),
    };
    let datacenter = random.one(&["", "", "", ".dc1", ".DC1", ".dc9", ".dc1.dc1", ".x"]);
    let domain = match random.below(30) {
        0 => random.one(&[".foo", "", ".consul.consul"]),
        _ => ".consul",
    };
    mixed(random, &format!("{before}{datacenter}{domain}"))
}

/// Writes some letters as capitals.
fn mixed(random: &mut Random, name: &str) -> String {
    let mut mixed = |letter: char| match random.below(12) {
        0 => letter.to_ascii_uppercase(),
        _ => letter,
    };
    name.chars().map(&mut mixed).collect()
}
