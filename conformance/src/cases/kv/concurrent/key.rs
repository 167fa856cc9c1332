//! Several clients at one key at the same time: some order of their calls must explain all answers.

use std::sync::Barrier;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::cases::support::txn::{self, get, op, txn};
use crate::history::chance::{Chance, new_seed};
use crate::history::register::{Op, Register, Ret, Shown};
use crate::history::{History, Recording};
use crate::runner::verdict::fail;
use crate::wire::answer::Answer;
use crate::wire::entry::Entry;

/// Each round has a key and sessions of its own: many short histories find more than a long one, and sooner.
const ROUNDS: usize = 20;
/// The orders to try grow with the factorial of the clients.
const CLIENTS: usize = 3;
const CALLS: usize = 6;
const SESSIONS: usize = 3;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "concurrent/key/writes-are-linearizable",
        claim: "Reads, writes, check-and-sets and deletes of one key at the same time are answered as if they came one after the other",
        source: "kv.md 2.3, 2.4, 3; 1.22.md D2, D3",
        run: |t| {
            let choices = |chance: &mut Chance, last: u64| match chance.below(8) {
                0..3 => Op::Read,
                3 => Op::Put(value(chance)),
                4 | 5 => Op::Cas(last, value(chance)),
                6 => Op::DeleteCas(last),
                _ => Op::Delete,
            };
            rounds(t, &choices, &|_| Route::Plain);
        },
        ..Case::MUST
    },
    Case {
        id: "concurrent/key/locks-are-linearizable",
        claim: "Acquires, releases, destroyed sessions, writes and reads at the same time are answered as if they came one after the other",
        source: "kv.md 2.5, 8; 1.22.md D2, D3",
        run: |t| rounds(t, &locks, &|_| Route::Plain),
        ..Case::MUST
    },
    Case {
        id: "concurrent/key/blocking-reads-are-linearizable",
        claim: "What a read shows that blocked is what a read of that moment would have shown",
        source: "kv.md 5.2; 1.22.md D2, D3",
        run: |t| {
            rounds(t, &locks, &|chance| {
                if chance.once_in(4) {
                    Route::Plain
                } else {
                    Route::Blocking
                }
            });
        },
        ..Case::MUST
    },
    Case {
        id: "concurrent/key/transactions-are-linearizable",
        claim: "Transactions and single requests at the same time are answered as if they came one after the other",
        source: "kv.md 7.4; 1.22.md D2, D11",
        run: |t| {
            let choices = |chance: &mut Chance, last: u64| match chance.below(4) {
                0 => Op::Cas(last, value(chance)),
                1 => Op::DeleteCas(last),
                _ => locks(chance, last),
            };
            rounds(t, &choices, &|chance| {
                if chance.once_in(3) {
                    Route::Plain
                } else {
                    Route::Txn
                }
            });
        },
        ..Case::MUST
    },
];

/// How a call reaches the server.
#[derive(Debug, Clone, Copy)]
enum Route {
    /// By its own request.
    Plain,
    /// In a transaction, where there is a verb for it.
    Txn,
    /// A read waits for something newer than what the client saw last, but not for long.
    Blocking,
}

fn value(chance: &mut Chance) -> u8 {
    u8::try_from(chance.below(4)).expect("a small number")
}

/// Mostly what concerns the lock.
fn locks(chance: &mut Chance, last: u64) -> Op {
    let session = chance.below(SESSIONS);
    match chance.below(12) {
        0..3 => Op::Read,
        3..7 => Op::Acquire(session, value(chance)),
        7..9 => Op::Release(session, value(chance)),
        9 => Op::Put(value(chance)),
        10 => Op::Cas(last, value(chance)),
        _ => Op::Destroy(session),
    }
}

type Choice<'a> = &'a (dyn Fn(&mut Chance, u64) -> Op + Sync);
type Routing<'a> = &'a (dyn Fn(&mut Chance) -> Route + Sync);

#[track_caller]
fn rounds(t: &Trial, choice: Choice<'_>, route: Routing<'_>) {
    let seed = new_seed();
    for round in 0..ROUNDS {
        let history = record(t, seed, round, choice, route);
        if !history.is_linearizable(Register::default()) {
            fail(format!(
                "no order of these calls explains the answers (seed {seed}, round {round}):\n{history}"
            ));
        }
    }
}

/// One round: all clients ask at the same time, each one call after the other.
#[track_caller]
fn record(
    t: &Trial,
    seed: u64,
    round: usize,
    choice: Choice<'_>,
    route: Routing<'_>,
) -> History<Op, Ret> {
    let key = t.key(&format!("round-{round}"));
    let sessions: Vec<String> = (0..SESSIONS).map(|_| t.session_without_delay()).collect();
    let recording = Recording::start();
    let start = Barrier::new(CLIENTS);
    t.together(CLIENTS, |client| {
        let stream = u64::try_from(round * CLIENTS + client).expect("a small number");
        let mut chance = Chance::new(seed, stream);
        let mut last = 0;
        start.wait();
        for _ in 0..CALLS {
            let (operation, route) = (choice(&mut chance, last), route(&mut chance));
            let told = recording.call(client, operation, || {
                ask(t, &key, &sessions, operation, route, last)
            });
            if let Ret::Shown(shown) = told {
                last = shown.map_or(0, |shown| shown.modify_index);
            }
        }
    });
    recording.end()
}

#[track_caller]
fn ask(t: &Trial, key: &str, sessions: &[String], operation: Op, route: Route, last: u64) -> Ret {
    if matches!(route, Route::Txn)
        && let Some(told) = ask_in_txn(t, key, sessions, operation)
    {
        return told;
    }
    let put = |query: &str, value: u8| done(t.put(key, query, value.to_string()));
    match operation {
        Op::Read => {
            let query = match route {
                Route::Blocking => format!("index={last}&wait=30ms"),
                Route::Plain | Route::Txn => String::new(),
            };
            let answer = t.get(key, &query).status_is_one_of(&[200, 404]);
            Ret::Shown((answer.status() == 200).then(|| shown(&answer.entry(), sessions)))
        }
        Op::Put(value) => put("", value),
        Op::Cas(index, value) => put(&format!("cas={index}"), value),
        Op::Delete => done(t.delete(key, "")),
        Op::DeleteCas(index) => done(t.delete(key, &format!("cas={index}"))),
        Op::Acquire(session, value) => put(&format!("acquire={}", sessions[session]), value),
        Op::Release(session, value) => put(&format!("release={}", sessions[session]), value),
        Op::Destroy(session) => {
            done(t.api_put(&format!("/v1/session/destroy/{}", sessions[session]), ""))
        }
    }
}

/// `None` for what transactions cannot do.
#[track_caller]
fn ask_in_txn(t: &Trial, key: &str, sessions: &[String], operation: Op) -> Option<Ret> {
    let operation = match operation {
        Op::Read => {
            let answer = txn(t, [get(key)]).status_is_one_of(&[200, 409]);
            let found = (answer.status() == 200).then(|| shown(&txn::result(answer), sessions));
            return Some(Ret::Shown(found));
        }
        Op::Put(value) => txn::set(key, &value.to_string()),
        Op::Cas(index, value) => op("cas", key).index(index).value(&value.to_string()),
        Op::Delete => op("delete", key),
        Op::DeleteCas(index) => op("delete-cas", key).index(index),
        Op::Acquire(session, value) => op("lock", key)
            .session(&sessions[session])
            .value(&value.to_string()),
        Op::Release(session, value) => op("unlock", key)
            .session(&sessions[session])
            .value(&value.to_string()),
        Op::Destroy(_) => return None,
    };
    let answer = txn(t, [operation]).status_is_one_of(&[200, 409]);
    let no_session = answer.text().contains("invalid session");
    Some(if no_session {
        Ret::NoSession
    } else {
        Ret::Done(answer.status() == 200)
    })
}

/// `true`, `false`, or that the session is not there.
#[track_caller]
fn done(answer: Answer) -> Ret {
    if answer.status() == 500 {
        answer.says(500, "invalid session");
        return Ret::NoSession;
    }
    match answer.status_is(200).json().as_bool() {
        Some(done) => Ret::Done(done),
        None => fail("a write that is answered neither true nor false"),
    }
}

#[track_caller]
fn shown(entry: &Entry, sessions: &[String]) -> Shown {
    let value = String::from_utf8_lossy(entry.value.as_deref().unwrap_or_default()).parse();
    let session = entry
        .session
        .as_ref()
        .map(|id| sessions.iter().position(|session| session == id));
    match (value, session) {
        (Ok(value), None | Some(Some(_))) => Shown {
            value,
            session: session.flatten(),
            lock_index: entry.lock_index,
            modify_index: entry.modify_index,
        },
        _ => fail(format!("a value or a holder that nobody wrote: {entry:?}")),
    }
}
