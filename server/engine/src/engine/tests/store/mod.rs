//! Tests of the store, written as scripts: one line per command, with its outcome behind an arrow.
//!
//! ```text
//! session create s1 ttl=10s lock_delay=15s   -> s1, index 11
//! put job=a acquire=s1                       -> true, index 12
//! tick 20s                                   -> lapsed s1, released job, index 13
//! get job                                    -> job=a lock=1 created=12 modified=13, index 13
//! ```
//!
//! The outcome is compared with all effects of the command as text, so an effect missing in a line fails the
//! test. A script starts at time zero, with the agent's node `n1` and its check `serfHealth` registered at
//! index 10. It runs on every profile of `Version::PROFILES`, unless it says `with version`.
//!
//! * `s1` is a session id, `S1` the same id in upper case; anything else in place of an id is literal.
//! * `put k=v`, `delete`, `delete-tree`, `session create|destroy|renew`, `register`, `deregister` are commands;
//!   their options are spelled as in Consul's API. A value `x*9` is nine times `x`.
//! * `txn` is followed by its operations, one per line behind `|`, and by the line of its outcome.
//! * `get`, `list`, `keys`, `info`, `sessions [of n]`, `nodes`, `node`, `services`, `instances s`,
//!   `checks of n|for s|in state`, `queries`, `query-info`, `query-for`, `events [named n]` read.
//! * `query create|update|delete s7` writes a prepared query, whose id is spelled as those of sessions are;
//!   `fire` fires an event.
//! * `wait w <read> index=N` starts a blocking query named `w`. It is answered where a later line says `w:
//!   ...`, or times out at `stop w`.
//! * `tick 10s` lets time pass; `lower by=5` lowers all indexes.

#[expect(dead_code, reason = "the random tests of the store use the rest")]
#[path = "../../../../../store/src/tests/any.rs"]
mod any;
mod script;

mod catalog;
mod events;
mod indexes;
mod invalidation;
mod kv;
mod locks;
mod prepared_queries;
mod sessions;
mod txn;
mod waits;

use proconsul_store as store;

use crate::rules::rules_of;

/// Runs a script and compares the outcome of each of its lines.
///
/// # Panics
/// The outcome of a line differs; the message has both.
#[track_caller]
fn check(text: &str) {
    let script = script::read(text);
    for version in &script.versions {
        if let Err(failure) = script::run::Run::new(rules_of(*version)).steps(&script.steps) {
            panic!("on Consul {version}, {failure}");
        }
    }
}

#[test]
#[should_panic(
    expected = "line 2: put a=2\n  expected: true, index 13\n  got:      true, index 12"
)]
fn a_wrong_line_is_shown_with_what_it_expected_and_what_it_got() {
    check(
        "
        put a=1     -> true, index 11
        put a=2     -> true, index 13
    ",
    );
}

#[test]
#[should_panic(expected = "line 1: put a=1 falgs=3: no option \"falgs\" here")]
fn an_option_that_does_not_exist_is_an_error() {
    check("put a=1 falgs=3 -> true, index 11");
}

#[test]
#[should_panic(expected = "on Consul 1.16.4, line 3: get a")]
fn a_script_runs_on_the_versions_that_it_names() {
    check(
        "with version 1.16.4
        put a=1     -> true, index 11
        get a       -> missing, index 11
    ",
    );
}
