//! Questions as they arrive, and what answers are made of (RFC 1035, RFC 6891, RFC 7871).

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The types of records that Consul answers.
pub(super) mod kind {
    pub(crate) const A: u16 = 1;
    pub(crate) const NS: u16 = 2;
    pub(crate) const CNAME: u16 = 5;
    pub(crate) const SOA: u16 = 6;
    pub(crate) const PTR: u16 = 12;
    pub(crate) const TXT: u16 = 16;
    pub(crate) const AAAA: u16 = 28;
    pub(crate) const SRV: u16 = 33;
    pub(crate) const OPT: u16 = 41;
    pub(crate) const AXFR: u16 = 252;
    pub(crate) const ANY: u16 = 255;

    /// Returns the name of a type, as `dig` has it.
    pub(crate) fn in_words(kind: u16) -> String {
        let name = match kind {
            A => "A",
            NS => "NS",
            CNAME => "CNAME",
            SOA => "SOA",
            PTR => "PTR",
            TXT => "TXT",
            AAAA => "AAAA",
            SRV => "SRV",
            AXFR => "AXFR",
            ANY => "ANY",
            other => return format!("TYPE{other}"),
        };
        name.to_owned()
    }
}

/// The outcome in the head of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Code {
    #[default]
    NoError = 0,
    FormErr = 1,
    ServFail = 2,
    NxDomain = 3,
    NotImp = 4,
    Refused = 5,
}

/// The bits of the head.
pub(super) mod flag {
    pub(crate) const RESPONSE: u16 = 0x8000;
    pub(crate) const OPCODE: u16 = 0x7800;
    pub(crate) const AUTHORITATIVE: u16 = 0x0400;
    pub(crate) const TRUNCATED: u16 = 0x0200;
    pub(crate) const RECURSION_DESIRED: u16 = 0x0100;
    pub(crate) const RECURSION_AVAILABLE: u16 = 0x0080;
    pub(crate) const AUTHENTIC: u16 = 0x0020;
    pub(crate) const CHECKING_DISABLED: u16 = 0x0010;
}

/// The code of a question.
const OPCODE_QUERY: u16 = 0;
/// The code of a notification, which is answered as a question.
const OPCODE_NOTIFY: u16 = 4;

/// The longest label.
const LONGEST_LABEL: usize = 63;
/// The longest name, as it is sent.
const LONGEST_NAME: usize = 255;
/// The most pointers that one name may follow.
const MOST_POINTERS: usize = 126;
/// The option of the client's network.
const CLIENT_SUBNET: u16 = 8;

/// A name: its labels, without the empty one at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name(pub(super) Vec<Vec<u8>>);

impl Name {
    /// Returns the name that is written so, with dots between its labels and perhaps one at its end.
    pub(super) fn of(text: &str) -> Self {
        let labels = text.split('.').filter(|label| !label.is_empty());
        Self(labels.map(|label| label.as_bytes().to_vec()).collect())
    }

    /// Whether it can be sent.
    pub(super) fn fits(&self) -> bool {
        let length: usize = self.0.iter().map(|label| label.len() + 1).sum();
        length < LONGEST_NAME && self.0.iter().all(|label| label.len() <= LONGEST_LABEL)
    }

    /// Returns the labels before `end`, if the name ends with it, whatever the case.
    pub(super) fn before(&self, end: &Name) -> Option<&[Vec<u8>]> {
        let at = self.0.len().checked_sub(end.0.len())?;
        let (before, last) = self.0.split_at(at);
        let mut pairs = last.iter().zip(&end.0);
        let is_end = pairs.all(|(own, other)| own.eq_ignore_ascii_case(other));
        is_end.then_some(before)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for label in &self.0 {
            write!(formatter, "{}.", label.escape_ascii())?;
        }
        Ok(())
    }
}

/// A record of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) owner: Name,
    /// How long it may be kept, in seconds.
    pub(super) ttl: u32,
    pub(super) data: Data,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Data {
    A(Ipv4Addr),
    Aaaa(Ipv6Addr),
    Cname(Name),
    Ns(Name),
    Ptr(Name),
    /// The primary server and the person in charge, then serial, refresh, retry, expire and minimum.
    Soa(Name, Name, [u32; 5]),
    /// Priority, weight and port, and the target.
    Srv([u16; 3], Name),
    Txt(String),
}

impl Data {
    pub(super) fn kind(&self) -> u16 {
        match self {
            Data::A(_) => kind::A,
            Data::Aaaa(_) => kind::AAAA,
            Data::Cname(_) => kind::CNAME,
            Data::Ns(_) => kind::NS,
            Data::Ptr(_) => kind::PTR,
            Data::Soa(..) => kind::SOA,
            Data::Srv(..) => kind::SRV,
            Data::Txt(_) => kind::TXT,
        }
    }

    /// Whether it says where its owner is.
    pub(super) fn is_address(&self) -> bool {
        matches!(self, Data::A(_) | Data::Aaaa(_) | Data::Cname(_))
    }
}

/// What a client says of itself beyond its question (EDNS).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edns {
    /// The longest answer that it takes over UDP.
    pub(super) size: u16,
    /// The option with the network of its client, as it is sent back: without a scope.
    pub(super) subnet: Option<Vec<u8>>,
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) id: u16,
    pub(super) flags: u16,
    /// The name asked for; `None` in a message that ends behind its head.
    pub(super) name: Option<Name>,
    pub(super) kind: u16,
    pub(super) class: u16,
    pub(super) edns: Option<Edns>,
}

/// What arrived.
#[derive(Debug)]
pub(super) enum Arrived {
    /// Nothing that is answered.
    Noise,
    /// A question that is answered with this code alone, and with itself where it could be read.
    Flawed(Question, Code),
    Asked(Question),
}

/// Reads a message (cluster.md 6.1, 6.39 to 6.41). Bytes behind it are ignored.
pub(super) fn read(bytes: &[u8]) -> Arrived {
    let mut reader = Reader { bytes, at: 0 };
    let Some([id, flags, questions, answers, authorities, additional]) = reader.head() else {
        return Arrived::Noise;
    };
    if flags & flag::RESPONSE != 0 {
        return Arrived::Noise;
    }
    let mut question = Question {
        id,
        flags,
        ..Question::default()
    };
    let opcode = (flags & flag::OPCODE) >> 11;
    if opcode != OPCODE_QUERY && opcode != OPCODE_NOTIFY {
        return Arrived::Flawed(question, Code::NotImp);
    }
    if questions != 1 || answers > 1 || authorities > 1 || additional > 2 {
        return Arrived::Flawed(question, Code::FormErr);
    }
    if reader.at == bytes.len() {
        return Arrived::Asked(question);
    }
    let Some(name) = reader.name() else {
        return Arrived::Flawed(question, Code::FormErr);
    };
    if !reader.is_at_end() {
        let Some(kind) = reader.u16() else {
            return Arrived::Flawed(question, Code::FormErr);
        };
        question.kind = kind;
    }
    question.name = Some(name);
    question.class = reader.u16().unwrap_or_else(|| {
        reader.at = bytes.len();
        0
    });
    for _ in 0..answers + authorities {
        if !reader.is_at_end() && reader.record().is_none() {
            return Arrived::Flawed(question, Code::FormErr);
        }
    }
    for _ in 0..additional {
        if reader.is_at_end() {
            break;
        }
        let edns = match reader.record() {
            Some((kind::OPT, size, options)) => edns(size, options),
            Some(_) => continue,
            None => None,
        };
        let Some(edns) = edns else {
            return Arrived::Flawed(question, Code::FormErr);
        };
        question.edns = Some(edns);
    }
    Arrived::Asked(question)
}

/// Reads the options of a client; `None` if they are no options.
fn edns(size: u16, options: &[u8]) -> Option<Edns> {
    let mut subnet = None;
    let mut reader = Reader {
        bytes: options,
        at: 0,
    };
    while !reader.is_at_end() {
        let (code, length) = (reader.u16()?, reader.u16()?);
        let data = reader.take(usize::from(length))?;
        if code == CLIENT_SUBNET {
            let read = read_subnet(data)?;
            subnet.get_or_insert(read);
        }
    }
    Some(Edns { size, subnet })
}

/// Returns an option of the client's network as it is sent back (cluster.md 6.42).
fn read_subnet(data: &[u8]) -> Option<Vec<u8>> {
    let (head, address) = data.split_at_checked(4)?;
    let (family, bits) = (u16::from_be_bytes([head[0], head[1]]), usize::from(head[2]));
    let most = match family {
        0 => 0,
        1 => 32,
        2 => 128,
        _ => return None,
    };
    if bits > most {
        return None;
    }
    let mut network: Vec<u8> = address.iter().copied().take(bits.div_ceil(8)).collect();
    network.resize(bits.div_ceil(8), 0);
    if let (Some(last), rest @ 1..) = (network.last_mut(), bits % 8) {
        *last &= 0xff << (8 - rest);
    }
    Some([&[head[0], head[1], head[2], 0], &network[..]].concat())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn head(&mut self) -> Option<[u16; 6]> {
        let mut head = [0; 6];
        for field in &mut head {
            *field = self.u16()?;
        }
        Some(head)
    }

    /// Reads a name. Pointers lead back only, and not without end.
    fn name(&mut self) -> Option<Name> {
        let mut labels = Vec::new();
        let (mut at, mut behind, mut pointers) = (self.at, None, 0);
        loop {
            let length = usize::from(*self.bytes.get(at)?);
            match length {
                0 => break,
                1..=LONGEST_LABEL => {
                    labels.push(self.bytes.get(at + 1..at + 1 + length)?.to_vec());
                    at += 1 + length;
                }
                0xc0.. => {
                    let low = usize::from(*self.bytes.get(at + 1)?);
                    behind.get_or_insert(at + 2);
                    at = (length & 0x3f) << 8 | low;
                    pointers += 1;
                }
                _ => return None,
            }
            if pointers > MOST_POINTERS || labels.len() > LONGEST_NAME {
                return None;
            }
        }
        self.at = behind.unwrap_or(at + 1);
        let name = Name(labels);
        name.fits().then_some(name)
    }

    /// Reads a record: its type, its class, which is the size in that of EDNS, and its data.
    fn record(&mut self) -> Option<(u16, u16, &'a [u8])> {
        self.name()?;
        let (kind, class) = (self.u16()?, self.u16()?);
        self.take(4)?;
        let length = self.u16()?;
        Some((kind, class, self.take(usize::from(length))?))
    }
}
