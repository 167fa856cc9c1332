//! Questions and answers of DNS, read independently of the server's own code.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// How long an answer over a loopback address may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The types that tests ask for.
const KINDS: [(&str, u16); 14] = [
    ("A", 1),
    ("NS", 2),
    ("CNAME", 5),
    ("SOA", 6),
    ("PTR", 12),
    ("MX", 15),
    ("TXT", 16),
    ("AAAA", 28),
    ("SRV", 33),
    ("OPT", 41),
    ("HTTPS", 65),
    ("IXFR", 251),
    ("AXFR", 252),
    ("ANY", 255),
];

/// A question.
#[derive(Clone, Debug)]
pub struct DnsQuestion {
    /// The name, with dots between its labels.
    pub name: String,
    /// The type, as `SRV`.
    pub kind: &'static str,
    /// The bits of the head; `0x0100` for what a resolver asks.
    pub flags: u16,
    /// The longest answer over UDP, with EDNS.
    pub size: Option<u16>,
    /// The options of EDNS, as they are sent.
    pub options: Vec<u8>,
}

impl DnsQuestion {
    /// Returns the question that a resolver without EDNS asks.
    pub fn new(name: &str, kind: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            flags: 0x0100,
            size: None,
            options: Vec::new(),
        }
    }

    /// Returns the question of a client that takes answers of this size.
    #[must_use]
    pub fn with_size(self, size: u16) -> Self {
        Self {
            size: Some(size),
            ..self
        }
    }

    /// Returns the message.
    ///
    /// # Panics
    /// If the type is none that tests ask for, or a label is too long.
    pub fn bytes(&self) -> Vec<u8> {
        let kind = KINDS.iter().find(|(name, _)| *name == self.kind);
        let (_, kind) = kind.expect("tests ask for types that have a number");
        let head = [7, self.flags, 1, 0, 0, u16::from(self.size.is_some())];
        let mut bytes: Vec<u8> = head.iter().flat_map(|field| field.to_be_bytes()).collect();
        for label in self.name.split('.').filter(|label| !label.is_empty()) {
            bytes.push(u8::try_from(label.len()).expect("labels are short"));
            bytes.extend(label.as_bytes());
        }
        bytes.push(0);
        bytes.extend(kind.to_be_bytes());
        bytes.extend([0, 1]);
        if let Some(size) = self.size {
            bytes.extend([0, 0, 41]);
            bytes.extend(size.to_be_bytes());
            bytes.extend([0; 4]);
            let length = u16::try_from(self.options.len()).expect("options are short");
            bytes.extend(length.to_be_bytes());
            bytes.extend(&self.options);
        }
        bytes
    }
}

/// Asks over UDP.
///
/// # Errors
/// Those of the socket; no answer in ten seconds is one.
pub fn ask_over_udp(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(question, server)?;
    let mut answer = vec![0; 65_535];
    let length = socket.recv(&mut answer)?;
    answer.truncate(length);
    Ok(answer)
}

/// Asks on a connection of its own.
///
/// # Errors
/// Those of the connection.
pub fn ask_over_tcp(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut connection = TcpStream::connect(server)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    connection.write_all(&[&length.to_be_bytes(), question].concat())?;
    let mut length = [0; 2];
    connection.read_exact(&mut length)?;
    let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
    connection.read_exact(&mut answer)?;
    Ok(answer)
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DnsAnswer {
    /// The length of the message.
    pub size: usize,
    /// The outcome and the bits of the head, and the question: `NOERROR qr aa rd, web.service.consul. SRV`.
    pub head: String,
    /// One line for each record: its section, owner, TTL, type and data, as in
    /// `answer web.service.consul. 0 A 10.0.0.1`. The serial number of SOA is left out: it is the time.
    pub records: Vec<String>,
}

impl DnsAnswer {
    /// Reads a message.
    ///
    /// # Panics
    /// If the message is no answer that follows the rules.
    pub fn read(bytes: &[u8]) -> Self {
        let mut reader = Reader { bytes, at: 0 };
        let [_, flags, questions, answers, authority, additional] = [(); 6].map(|()| reader.u16());
        let codes = [
            "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED",
        ];
        let mut head = codes[usize::from(flags & 0xf)].to_owned();
        for (bit, name) in [
            (0x8000, "qr"),
            (0x0400, "aa"),
            (0x0200, "tc"),
            (0x0100, "rd"),
            (0x0080, "ra"),
            (0x0020, "ad"),
            (0x0010, "cd"),
        ] {
            if flags & bit != 0 {
                head = format!("{head} {name}");
            }
        }
        for _ in 0..questions {
            head = format!("{head}, {} {}", reader.name(), kind(reader.u16()));
            reader.u16();
        }
        let mut records = Vec::new();
        let sections = [
            ("answer", answers),
            ("authority", authority),
            ("additional", additional),
        ];
        for (section, count) in sections {
            records.extend((0..count).map(|_| format!("{section} {}", reader.record())));
        }
        assert_eq!(reader.at, bytes.len(), "nothing is behind the records");
        Self {
            size: bytes.len(),
            head,
            records,
        }
    }
}

fn kind(number: u16) -> String {
    let known = KINDS.iter().find(|(_, own)| *own == number);
    known.map_or_else(|| number.to_string(), |(name, _)| (*name).to_owned())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> &[u8] {
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        taken
    }

    fn u16(&mut self) -> u16 {
        let bytes = self.take(2);
        u16::from_be_bytes([bytes[0], bytes[1]])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    fn name(&mut self) -> String {
        let (mut name, mut behind) = (String::new(), None);
        loop {
            let length = usize::from(self.take(1)[0]);
            match length {
                0 => break,
                0xc0.. => {
                    let low = usize::from(self.take(1)[0]);
                    behind.get_or_insert(self.at);
                    self.at = (length & 0x3f) << 8 | low;
                }
                _ => {
                    name += &String::from_utf8_lossy(self.take(length));
                    name.push('.');
                }
            }
        }
        self.at = behind.unwrap_or(self.at);
        if name.is_empty() {
            ".".to_owned()
        } else {
            name
        }
    }

    fn record(&mut self) -> String {
        let owner = self.name();
        let (number, class, ttl) = (self.u16(), self.u16(), self.u32());
        let length = usize::from(self.u16());
        let end = self.at + length;
        let data = match number {
            1 => Ipv4Addr::from(<[u8; 4]>::try_from(self.take(4)).expect("four bytes")).to_string(),
            28 => {
                Ipv6Addr::from(<[u8; 16]>::try_from(self.take(16)).expect("16 bytes")).to_string()
            }
            2 | 5 | 12 => self.name(),
            6 => {
                let (server, person, _) = (self.name(), self.name(), self.u32());
                let numbers = [(); 4].map(|()| self.u32());
                format!("{server} {person} {numbers:?}")
            }
            16 => String::from_utf8_lossy(&self.take(length)[1..]).into_owned(),
            33 => {
                let [priority, weight, port] = [(); 3].map(|()| self.u16());
                format!("{priority} {weight} {port} {}", self.name())
            }
            41 => format!("{class} {:?}", self.take(length)),
            _ => format!("{:?}", self.take(length)),
        };
        assert_eq!(
            self.at, end,
            "a record of the type {number} has the length that it names"
        );
        format!("{owner} {ttl} {} {data}", kind(number))
    }
}
