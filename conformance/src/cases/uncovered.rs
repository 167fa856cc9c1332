//! The rows of the contract that no case shows, each with the reason.
//!
//! A row leaves this list when a case names it as its source; [`Coverage`](crate::report::rows::Coverage) holds one against the other.

/// Rows without a case.
#[derive(Debug, Clone, Copy)]
pub struct Uncovered {
    /// Which rows, in the words of a case's source: `session.md 3.1.r7`, `acl.md 12` for what is left of a section, `cluster.md` for a page.
    pub source: &'static str,
    /// Why no case shows them.
    pub why: &'static str,
}

/// Every such row, in the order of the contract.
pub const UNCOVERED: &[Uncovered] = &[
    Uncovered {
        source: "kv.md 5.2.r4",
        why: "Nothing on the wire shows what a server does for a client that has gone, and no error arises while a read of KV waits",
    },
    Uncovered {
        source: "kv.md 6.4.r1 to 6.4.r3",
        why: "The suite asks one server, once it has a leader",
    },
    Uncovered {
        source: "kv.md 6.4.r6",
        why: "Such limits do not bear on requests that come in over a server's own HTTP, which is all that the suite speaks",
    },
    Uncovered {
        source: "kv.md#not-verified",
        why: "It says what nobody has asked",
    },
    Uncovered {
        source: "session.md 0.12",
        why: "It is a rule for suites: other entries come between, so cases compare indexes and expect no step of one",
    },
    Uncovered {
        source: "session.md 0.14",
        why: "These words differ with the Go that built Consul; cases look at the part that does not",
    },
    Uncovered {
        source: "session.md 3.1.r3",
        why: "No session can be bound to a check that is critical",
    },
    Uncovered {
        source: "session.md 3.3.r6",
        why: "A race of milliseconds that comes once in some twenty ends; proconsul has it as a fault, which server/tests/control holds",
    },
    Uncovered {
        source: "session.md 3.4.r5",
        why: "The suite asks one server, whose leader does not change",
    },
    Uncovered {
        source: "session.md 4.4.r29",
        why: "It needs a machine without Docker, and proconsul runs no Docker checks",
    },
    Uncovered {
        source: "session.md 4.5b.r22, 4.5b.r23",
        why: "They say what may happen, and the rule behind the other rows",
    },
    Uncovered {
        source: "session.md 4.5b.r26, 4.5b.r27",
        why: "The random sequences of the laboratory show them, on both servers, with blocked reads of all kinds",
    },
    Uncovered {
        source: "session.md 4.5c.r3",
        why: "proconsul asks for rights at each read, on purpose",
    },
    Uncovered {
        source: "session.md 4.5c.r9",
        why: "It takes three days; a test of server/tests/http/reads moves the clock",
    },
    Uncovered {
        source: "session.md 6.1, 6.2, 6.3",
        why: "`acl.md` says the same later and row by row, with cases",
    },
    Uncovered {
        source: "1.22.md A6.r5",
        why: "It is about 1.12 alone, which the cases named *-in-1-12 are about",
    },
    Uncovered {
        source: "1.22.md A6.r10",
        why: "The suite asks one server, once it has a leader",
    },
    Uncovered {
        source: "1.22.md A6.r14",
        why: "What exactly is allowed with this setting was never asked",
    },
    Uncovered {
        source: "1.22.md B7",
        why: "They are about clients, not servers; conformance/interop and tests/programs.rs run clients on both servers",
    },
    Uncovered {
        source: "1.22.md part D",
        why: "An overview of what rows elsewhere say, where the cases are",
    },
    Uncovered {
        source: "1.22.md part G",
        why: "The answers stand in rows elsewhere, where the cases are",
    },
    Uncovered {
        source: "1.22.md part H",
        why: "It says what proconsul does otherwise; tests/replay.rs holds it against the lists of differences",
    },
    Uncovered {
        source: "2.1.md",
        why: "No server of these releases was asked",
    },
    Uncovered {
        source: "acl.md 1.1, 1.4 to 1.7",
        why: "They are about files and command lines, and agents that do not start; server/cli/tests/cli holds them",
    },
    Uncovered {
        source: "acl.md 1.11",
        why: "How long it lasts is up to the machine; every case with ACLs waits for it to end",
    },
    Uncovered {
        source: "acl.md 1.12",
        why: "No case yet",
    },
    Uncovered {
        source: "acl.md 3.1.r4",
        why: "It takes a file in the server's data directory, which no client can write",
    },
    Uncovered {
        source: "acl.md 5.30.r4 to 5.30.r6; acl.md trap 10",
        why: "acl/expiry/late-clones and acl/expiry/end hold them, but need a clock that can be moved, so no real Consul is asked",
    },
    Uncovered {
        source: "acl.md 8.4.r5",
        why: "An overview of the rows behind it",
    },
    Uncovered {
        source: "acl.md 9.12",
        why: "proconsul keeps rights apart from what was asked before, on purpose",
    },
    Uncovered {
        source: "acl.md 11.4, 11.5, 13.r21",
        why: "The moment is not fixed on 1.8.7, and late 2025 differs; server/tests/control/acl holds what proconsul does",
    },
    Uncovered {
        source: "acl.md 12",
        why: "They are output of the command line, which no request shows; server/cli/tests/cli/verbs and the guides of conformance/guides hold them",
    },
    Uncovered {
        source: "acl.md 13.r11",
        why: "The row of a table of releases; 8.3 has the cases",
    },
    Uncovered {
        source: "acl.md trap 15",
        why: "It is about a command line; conformance/guides/leader-election-acl-cli.sh shows it on both servers",
    },
    Uncovered {
        source: "operator.md 1.r9, 1.r9b",
        why: "A server that is not healthy has no leader, and before autopilot has run there is no moment to ask",
    },
    Uncovered {
        source: "operator.md 3.r10",
        why: "proconsul issues no certificates for services",
    },
    Uncovered {
        source: "operator.md 4.2.r13b",
        why: "No case yet",
    },
    Uncovered {
        source: "operator.md 4.3.r13",
        why: "The conditions hold a time of the server and come some moments later",
    },
    Uncovered {
        source: "operator.md 4.3.r14 to 4.3.r16",
        why: "They were seen in a client, and no server was asked for all of these fields",
    },
    Uncovered {
        source: "operator.md 4.4.r2",
        why: "The agent does not start",
    },
    Uncovered {
        source: "operator.md 4.6, 4.7",
        why: "They are output of the command line, which no request shows; server/cli/tests/cli/verbs/mesh.rs holds them",
    },
    Uncovered {
        source: "operator.md 6.r12",
        why: "It would take a server of each release; one of them ends",
    },
    Uncovered {
        source: "operator.md 6.r14",
        why: "Such archives have to be made by hand; the tests of the crate archive hold them",
    },
    Uncovered {
        source: "operator.md 6.r15",
        why: "It is output of the command line; server/cli/tests/cli/verbs/snapshots.rs holds it",
    },
    Uncovered {
        source: "operator.md 9",
        why: "The suite speaks no TLS; server/tests/https and server/cli/tests/cli/https.rs hold it",
    },
    Uncovered {
        source: "operator.md 10",
        why: "It says what nobody has asked",
    },
    Uncovered {
        source: "cluster.md 1.9, 5.3",
        why: "They are durations of answers; a benchmark is no case",
    },
    Uncovered {
        source: "cluster.md 2.6",
        why: "What a return disturbs is random, and the emulator's agents return at once (docs/src/agents.md)",
    },
    Uncovered {
        source: "cluster.md 2.8",
        why: "Seen on late 2025 alone; the clusters of the tests are of 1.8.7. server/tests/control holds it on ours",
    },
    Uncovered {
        source: "cluster.md 3.9, 4.11, 4.12, 5.17",
        why: "Seen on late 2025 alone; the clusters of the tests are of 1.8.7. 3.9 is held on ours by server/tests/control",
    },
    Uncovered {
        source: "cluster.md 3.15, 4.9",
        why: "A race while a server reads its log again. proconsul has it as a scenario, whose page (docs/src/empty-follower.md) is run by the book's test",
    },
    Uncovered {
        source: "cluster.md 4.7",
        why: "The emulator notices each failure after the same time, whoever else is silent",
    },
    Uncovered {
        source: "cluster.md 3.12",
        why: "A race of some 0.3 s: what the old leader answers differs from run to run",
    },
    Uncovered {
        source: "cluster.md 6.36",
        why: "It says what nobody has asked",
    },
];
