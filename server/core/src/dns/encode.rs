//! Answers as they are sent. Their sizes are Consul's, byte for byte: which names are shortened decides how many records fit.

use std::collections::BTreeMap;

use super::message::{Code, Data, Edns, Name, Question, Record, flag, kind};

/// The class of the Internet, which all records have.
const IN: u16 = 1;
/// The end of what a pointer reaches.
const POINTERS_REACH: usize = 0x4000;
/// The longest text of a record.
const LONGEST_TEXT: usize = 255;

/// An answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) code: Code,
    /// The bits of the head beside those that every answer has.
    pub(super) flags: u16,
    pub(super) records: Vec<Record>,
    pub(super) authority: Vec<Record>,
    pub(super) additional: Vec<Record>,
    pub(super) edns: Option<Edns>,
    /// Whether a prepared query found it. It is said to be for the client's network alone.
    pub(super) is_of_query: bool,
    /// Whether records may be left out so that it fits.
    pub(super) may_be_cut: bool,
}

impl Answer {
    /// Returns the message; `None` if it cannot be sent: a name or a text is too long, or all of it.
    pub(super) fn encode(&self, question: &Question, compresses: bool) -> Option<Vec<u8>> {
        let mut writer = Writer {
            bytes: Vec::with_capacity(512),
            names: compresses.then(BTreeMap::new),
        };
        let count = |records: &[Record]| u16::try_from(records.len()).ok();
        let additional = count(&self.additional)?.checked_add(self.edns.is_some().into())?;
        for field in [
            question.id,
            flag::RESPONSE | self.flags | self.code as u16,
            question.name.is_some().into(),
            count(&self.records)?,
            count(&self.authority)?,
            additional,
        ] {
            writer.u16(field);
        }
        if let Some(name) = &question.name {
            writer.name(name, true)?;
            writer.u16(question.kind);
            writer.u16(question.class);
        }
        let records = self.records.iter().chain(&self.authority);
        for record in records.chain(&self.additional) {
            writer.record(record)?;
        }
        if let Some(edns) = &self.edns {
            writer.edns(edns);
        }
        (writer.bytes.len() <= usize::from(u16::MAX)).then_some(writer.bytes)
    }
}

/// Returns an answer that has its code alone, and the question where that could be read. It keeps the bits of the question
/// (cluster.md 6.40).
pub(super) fn flawed(question: &Question, code: Code) -> Option<Vec<u8>> {
    let kept = flag::OPCODE
        | flag::TRUNCATED
        | flag::RECURSION_DESIRED
        | flag::RECURSION_AVAILABLE
        | flag::AUTHENTIC
        | flag::CHECKING_DISABLED;
    let answer = Answer {
        code,
        flags: question.flags & kept,
        ..Answer::default()
    };
    answer.encode(question, true)
}

struct Writer {
    bytes: Vec<u8>,
    /// Where the ends of names are that have been written; `None` if all names are written whole.
    names: Option<BTreeMap<Vec<Vec<u8>>, u16>>,
}

impl Writer {
    fn u16(&mut self, number: u16) {
        self.bytes.extend(number.to_be_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_be_bytes());
    }

    /// Writes a name, shortened by a pointer if it may be. Later names may point to it either way.
    fn name(&mut self, name: &Name, may_point: bool) -> Option<()> {
        if !name.fits() {
            return None;
        }
        for (index, label) in name.0.iter().enumerate() {
            let rest = &name.0[index..];
            if let Some(names) = &mut self.names {
                match names.get(rest) {
                    Some(at) if may_point => {
                        let pointer = 0xc000 | *at;
                        self.u16(pointer);
                        return Some(());
                    }
                    Some(_) => {}
                    None if self.bytes.len() < POINTERS_REACH => {
                        names.insert(rest.to_vec(), u16::try_from(self.bytes.len()).ok()?);
                    }
                    None => {}
                }
            }
            self.bytes.push(u8::try_from(label.len()).ok()?);
            self.bytes.extend(label);
        }
        self.bytes.push(0);
        Some(())
    }

    fn record(&mut self, record: &Record) -> Option<()> {
        self.name(&record.owner, true)?;
        self.u16(record.data.kind());
        self.u16(IN);
        self.u32(record.ttl);
        let length = self.bytes.len();
        self.u16(0);
        self.data(&record.data)?;
        let written = u16::try_from(self.bytes.len() - length - 2).ok()?;
        self.bytes[length..length + 2].copy_from_slice(&written.to_be_bytes());
        Some(())
    }

    fn data(&mut self, data: &Data) -> Option<()> {
        match data {
            Data::A(address) => self.bytes.extend(address.octets()),
            Data::Aaaa(address) => self.bytes.extend(address.octets()),
            Data::Cname(name) | Data::Ns(name) | Data::Ptr(name) => self.name(name, true)?,
            Data::Soa(server, person, numbers) => {
                self.name(server, true)?;
                self.name(person, true)?;
                numbers.iter().for_each(|number| self.u32(*number));
            }
            Data::Srv(numbers, target) => {
                numbers.iter().for_each(|number| self.u16(*number));
                self.name(target, false)?;
            }
            Data::Txt(text) if text.len() > LONGEST_TEXT => return None,
            Data::Txt(text) => {
                self.bytes.push(u8::try_from(text.len()).ok()?);
                self.bytes.extend(text.as_bytes());
            }
        }
        Some(())
    }

    fn edns(&mut self, edns: &Edns) {
        self.bytes.push(0);
        self.u16(kind::OPT);
        self.u16(edns.size);
        self.u32(0);
        let subnet = edns.subnet.as_deref().unwrap_or_default();
        let option = u16::try_from(subnet.len()).unwrap_or(0);
        self.u16(if option > 0 { option + 4 } else { 0 });
        if option > 0 {
            self.u16(8);
            self.u16(option);
            self.bytes.extend(subnet);
        }
    }
}
