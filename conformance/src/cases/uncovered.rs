//! What the contract says and no case shows, each with the reason.
//!
//! A statement leaves this list when a case shows it.

/// A statement of the contract without a case.
#[derive(Debug, Clone, Copy)]
pub struct Uncovered {
    /// Where the contract says it, in the words that cases use: `session.md 4.1`, `session.md trap 27`.
    pub source: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// Why no case shows it.
    pub why: &'static str,
}

/// Every such statement, in the order of the contract.
pub const UNCOVERED: &[Uncovered] = &[
    Uncovered {
        source: "session.md 0.10",
        statement: "A blocking query without wait ends after 5 minutes, and one with a longer wait after 10",
        why: "A run on a real Consul would take that long",
    },
    Uncovered {
        source: "session.md 0.14",
        statement: "Messages of Go's own libraries differ with the Go that built Consul",
        why: "The cases look at the stable part of these texts only",
    },
    Uncovered {
        source: "session.md 1.2",
        statement: "LockDelay 1e30 and 9223372036854775807 overflow to 0",
        why: "It depends on the processor",
    },
    Uncovered {
        source: "session.md 1.3",
        statement: "session_ttl_min is 10s when unset or 0s, and a wrong one stops the agent",
        why: "The suite does not change the configuration of its target; the least TTL that the target states is what the cases use",
    },
    Uncovered {
        source: "session.md 2.1",
        statement: "The index of session reads is 1 as long as there never was a session",
        why: "Others use the server; the start of a fresh one is the matter of the emulator's own tests",
    },
    Uncovered {
        source: "session.md 3.1",
        statement: "Reloading the agent is no trigger, and a node that leaves or fails is one",
        why: "It would end what other cases have registered with the agent, or the agent itself",
    },
    Uncovered {
        source: "session.md 3.3",
        statement: "Lock-delays are lost on restart and leader change",
        why: "The suite has one server, which goes on",
    },
    Uncovered {
        source: "session.md 4.1",
        statement: "A booting agent holds requests until it has a leader",
        why: "Cases meet a server that serves already",
    },
    Uncovered {
        source: "session.md trap 17",
        statement: "The index of session reads is 1 before the first session, never 0",
        why: "Others use the server; the rest of the trap, one index for all reads, has its cases",
    },
    Uncovered {
        source: "session.md trap 27",
        statement: "Anti-entropy takes checks that the agent does not know off its own node within 1 to 2 minutes",
        why: "A run would take that long; no case puts checks there through the catalog",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_say_why() {
        for entry in UNCOVERED {
            assert!(entry.source.contains(".md "), "{}", entry.source);
            assert!(
                entry.why.len() > 15 && entry.statement.len() > 15,
                "{entry:?}"
            );
        }
    }
}
