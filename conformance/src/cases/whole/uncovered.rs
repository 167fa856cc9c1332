//! What the contract says and no case shows, each with the reason.
//!
//! A statement leaves this list when a case shows it; a test below holds the traps of `session.md` against both.

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
        source: "kv.md 0",
        statement: "Deprecated tokens in the query, GETs with a body and every request leave a line in the agent's log",
        why: "The cases see what goes over the wire, not the log",
    },
    Uncovered {
        source: "kv.md 1.5",
        statement: "An unpatched 1.8.7, and 1.9.0 to 1.9.4, sniff the type of a raw value",
        why: "A version alone does not tell a patched server from an unpatched one",
    },
    Uncovered {
        source: "kv.md 1.6",
        statement: "A client that follows a redirect of a PUT turns it into a GET and ends with 404",
        why: "That is the client's doing; the redirect itself has its cases",
    },
    Uncovered {
        source: "kv.md 2.2",
        statement: "How many raft indexes a value of a given size takes",
        why: "Others write at the same time; that it takes more than one has its case",
    },
    Uncovered {
        source: "kv.md 4.1",
        statement: "An idle server writes into its log by itself, and the first KV write of a fresh dev agent is at 13",
        why: "It differs from build to build and from minute to minute; cases compare steps of the log with each other",
    },
    Uncovered {
        source: "kv.md 4.1",
        statement: "The forgetting of deletions takes a place in the log",
        why: "It happens 15 minutes after a delete, among the server's own entries",
    },
    Uncovered {
        source: "kv.md 4.3",
        statement: "A new leader forgets deletions once, 15 minutes after its start",
        why: "The suite has one server, which goes on; the contract says so, nobody has seen it",
    },
    Uncovered {
        source: "kv.md 5.1",
        statement: "The jitter of a wait is random",
        why: "Clients cannot rely on it; that it stays below a sixteenth has its cases",
    },
    Uncovered {
        source: "kv.md 5.2",
        statement: "An error ends a blocking read, and a client that goes away does not",
        why: "No error arises while a KV read waits, and nothing shows on the wire what a server does for a client that has gone",
    },
    Uncovered {
        source: "kv.md 5.4",
        statement: "Which writes elsewhere answer the read of a missing key or an empty prefix early: the rule of the radix tree",
        why: "trap 16: a suite must neither require nor forbid it; that such an answer has a greater index, and what may not cause one, have their cases",
    },
    Uncovered {
        source: "kv.md 6.4",
        statement: "A server without a leader answers 500 `No cluster leader` after 7 to 13 s, and holds requests until one is found",
        why: "The suite has one server, which it uses once it serves",
    },
    Uncovered {
        source: "kv.md 6.4",
        statement: "A client agent without servers answers 500 `No known Consul servers` at once",
        why: "The suite has servers only",
    },
    Uncovered {
        source: "kv.md 6.4",
        statement: "limits.request_limits answers 429 and 503 in words of its own",
        why: "Read in the source of later versions only; it is off unless configured",
    },
    Uncovered {
        source: "kv.md 6.5",
        statement: "How many bytes a compressed answer has",
        why: "It is an affair of the library; that nothing is lost has its cases",
    },
    Uncovered {
        source: "kv.md 6.7",
        statement: "The Content-Type of empty 200s of other endpoints",
        why: "KV has no such answer but OPTIONS and the raw form of an empty value, which have their cases",
    },
    Uncovered {
        source: "kv.md 8",
        statement: "Lock-delays are kept by the leader in memory and lost when it stops",
        why: "The suite has one server, which goes on; the contract says so, nobody has seen it",
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
        source: "session.md 3.1",
        statement: "A node that leaves or fails ends its sessions",
        why: "It would take a second agent; that reloading the agent ends nothing has its case",
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
        source: "session.md trap 27",
        statement: "Anti-entropy takes checks that the agent does not know off its own node within 1 to 2 minutes",
        why: "A run would take that long; no case puts checks there through the catalog",
    },
    Uncovered {
        source: "1.22.md A1.6",
        statement: "GODEBUG=httpmuxgo121=1 brings the old cleaning of paths back",
        why: "Inferred only, and the suite does not choose the agent's environment",
    },
    Uncovered {
        source: "1.22.md A6.6",
        statement: "http_config.max_header_bytes changes the size of heads",
        why: "What exactly is allowed with it was never seen",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::citation;
    use crate::cases;

    /// Every trap of `session.md` has a case that names it, or a reason why not.
    #[test]
    fn every_session_trap_is_accounted_for() {
        let cases = cases::all();
        for trap in 1..=30 {
            let place = format!("{} trap {trap}", "session.md");
            let named = cases.iter().any(|case| case.rests_on(&place))
                || UNCOVERED.iter().any(|entry| entry.source == place);
            assert!(named, "no case names {place}");
        }
    }

    #[test]
    fn entries_say_why() {
        for entry in UNCOVERED {
            assert!(citation::place(entry.source).is_some(), "{}", entry.source);
            assert!(
                entry.why.len() > 15 && entry.statement.len() > 15,
                "{entry:?}"
            );
        }
    }
}
