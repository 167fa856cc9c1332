//! What of an answer a client gets: as much as it takes, or as Consul gives to clients that may take little.

use super::Transport;
use super::encode::Answer;
use super::message::{Data, Question, Record, flag};
use crate::Context;
use proconsul_version::Behaviour;

/// The longest datagram to clients that do not say what they take.
const SMALL: usize = 512;

/// What the earlier server keeps for what a client said of itself, and is sent back; it is less than that takes.
const KEPT: usize = 7;

/// Returns the message, with as many records as fit (cluster.md 6.30 to 6.35).
pub(super) fn fitted(
    context: &Context,
    transport: Transport,
    question: &Question,
    whole: &Answer,
) -> Option<Vec<u8>> {
    let config = &context.config.dns;
    let compresses = !config.disable_compression;
    if transport == Transport::Tcp || !whole.may_be_cut || whole.records.len() == 1 {
        return whole.encode(question, compresses);
    }
    let taken = question
        .edns
        .as_ref()
        .map_or(0, |edns| usize::from(edns.size));
    let is_small = taken <= SMALL;
    let longest = taken.max(SMALL);
    let most = match config.udp_answer_limit {
        limit if is_small && limit > 0 => limit,
        _ => usize::MAX,
    };
    let is_new = context.has(Behaviour::DnsServer);
    let fits = |answer: &Answer| -> Option<bool> {
        let sized = Answer {
            edns: answer.edns.clone().filter(|_| is_new),
            ..answer.clone()
        };
        let kept = if is_new { 0 } else { KEPT };
        Some(sized.encode(question, compresses)?.len() + kept <= longest)
    };
    if whole.records.len() <= most && fits(whole)? {
        return whole.encode(question, compresses);
    }
    // One record is always sent.
    let (mut fitting, mut too_many) = (1, whole.records.len().min(most) + 1);
    while too_many - fitting > 1 {
        let middle = fitting.midpoint(too_many);
        if fits(&whole.cut(middle))? {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    let mut cut = whole.cut(fitting);
    if config.enable_truncate && fitting < whole.records.len() {
        cut.flags |= flag::TRUNCATED;
    }
    if is_new {
        cut.edns = None;
    }
    cut.encode(question, compresses)
}

impl Answer {
    /// Returns the first records, with one additional record for each host that they name.
    fn cut(&self, records: usize) -> Self {
        let records = self.records[..records].to_vec();
        let mut additional: Vec<Record> = Vec::new();
        for record in &records {
            let Data::Srv(_, target) = &record.data else {
                continue;
            };
            if additional.iter().all(|record| record.owner != *target) {
                let found = self
                    .additional
                    .iter()
                    .find(|record| record.owner == *target);
                additional.extend(found.cloned());
            }
        }
        Self {
            records,
            additional,
            ..self.clone()
        }
    }
}
