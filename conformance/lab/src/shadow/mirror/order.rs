//! In which order writes are done again that overlapped at the real server.
//!
//! Two requests of which neither was answered before the other was sent may have been done in either order, and their answers may have
//! come in another. So all that overlap are gathered first. Where the real server still shows when a key or a session was written, that
//! is the order; and a write that depends on its key is done when the key is as its answer says.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

use super::link::ask;
use super::{Done, Mirror, refuses};
use crate::shadow::capture::{Event, blocks};
use proconsul_conformance::time::Deadline;
use proconsul_conformance::wire::Outcome;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::entry::Entry;

/// How long writes that overlap are waited for, and how many at most.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST: usize = 32;
/// A missing key is shown with the last index of all keys (kv.md 4.2).
const NO_KEY: &str = "/v1/kv/proconsul-lab/shadow/no-such-key";

/// A write with the index at which it was done, if the real server shows it.
pub(super) type Timed = (Option<u64>, Done);

/// The write and all that overlapped with it; [`next`] takes them out in the order in which to do them.
pub(super) fn gathered(mirror: &mut Mirror, first: Done) -> VecDeque<Timed> {
    let is_write = |asked: &Asked| !asked.is_read();
    let flights = mirror.flights.iter();
    let open = flights.filter(|(_, flight)| is_write(&flight.asked));
    let mut open: HashSet<u64> = open.map(|(id, _)| *id).collect();
    let mut group = vec![first];
    let mut behind = VecDeque::new();
    let deadline = Deadline::after(PATIENCE);
    while !open.is_empty() && group.len() < MOST {
        let Some(left) = deadline.left() else {
            break;
        };
        match mirror.next(left) {
            None => break,
            Some(Event::Asked {
                id,
                connection,
                asked,
                place,
            }) if !blocks(&asked) || mirror.mapping.knows(&asked) => {
                if is_write(&asked) {
                    open.insert(id);
                }
                mirror.asked(id, connection, *asked, place);
            }
            Some(Event::Answered { id, outcome, .. }) if open.contains(&id) => {
                open.remove(&id);
                if mirror.was_made_by_rights(id, &outcome) {
                    continue;
                }
                let flight = mirror.flights.remove(&id);
                let answered = mirror.tick();
                group.extend(flight.map(|flight| Done {
                    id,
                    flight,
                    outcome,
                    answered,
                }));
            }
            Some(event) => {
                let is_over = matches!(event, Event::Over);
                if let Event::GivenUp { id } = &event {
                    open.remove(id);
                }
                behind.push_back(event);
                if is_over {
                    break;
                }
            }
        }
    }
    behind.append(&mut mirror.backlog);
    mirror.backlog = behind;
    let is_alone = group.len() == 1;
    let moment_of = |done: Done| match is_alone {
        true => (None, done),
        false => (moment(mirror, &done), done),
    };
    in_order(group.into_iter().map(moment_of).collect())
}

/// Puts writes that overlapped into the order in which the real server shows that they were done; those of which it shows nothing stay
/// in their places, but come before those that have left their key as it is.
fn in_order(mut group: Vec<Timed>) -> VecDeque<Timed> {
    let places: Vec<usize> = (0..group.len())
        .filter(|at| group[*at].0.is_some())
        .collect();
    let mut moved: Vec<Timed> = places.iter().rev().map(|at| group.remove(*at)).collect();
    moved.reverse();
    moved.sort_by_key(|(moment, _)| *moment);
    for (at, one) in places.into_iter().zip(moved) {
        let key = one.1.flight.asked.key();
        let same = group.iter().rposition(|(moment, done)| {
            moment.is_none() && key.is_some() && done.flight.asked.key() == key
        });
        group.insert(at.max(same.map_or(0, |at| at + 1)).min(group.len()), one);
    }
    group.into()
}

/// Takes the write that is to be done next: one that was refused as soon as the emulator would refuse it, for it changes nothing; then
/// the first that depends on nothing, or on a key or session that let it turn out as it did.
pub(super) fn next(mirror: &mut Mirror, group: &mut VecDeque<Timed>) -> Option<Done> {
    let mut chosen = None;
    if group.len() > 1 {
        let possible: Vec<(usize, bool)> = (0..group.len())
            .filter(|at| may_be_next(group, *at))
            .map(|at| (at, depends(&group[at].1.flight.asked)))
            .filter(|(at, depends)| !depends || fits(mirror, &group[*at].1))
            .collect();
        let key = |at: usize| group[at].1.flight.asked.key();
        let refused = possible
            .iter()
            .find(|(at, depends)| *depends && refuses(&group[*at].1.outcome));
        let first = refused.or(possible.first());
        // What depends on the key may not turn out so once somebody has written it.
        let before = first.and_then(|(first, _)| {
            let mut others = possible.iter().filter(|(_, depends)| *depends);
            others.find(|(at, _)| key(*first).is_some() && key(*at) == key(*first))
        });
        chosen = before.or(first).map(|(at, _)| *at);
    }
    Some(group.remove(chosen.unwrap_or(0))?.1)
}

/// Whether nothing is to be done before this one: no write that was answered before it was sent, and none that the real server shows to
/// be earlier.
fn may_be_next(group: &VecDeque<Timed>, at: usize) -> bool {
    let (moment, this) = &group[at];
    let is_before = |place: usize, (its, other): &Timed| {
        let same_key = this.flight.asked.key().is_some()
            && this.flight.asked.key() == other.flight.asked.key();
        let is_shown = moment.is_some() && place < at && (its.is_some() || same_key);
        let needs_the_session = this.flight.asked.session("destroy").is_some_and(|id| {
            depends(&other.flight.asked) && other.flight.asked.target.contains(id)
        });
        other.answered < this.flight.sent
            || (is_shown || needs_the_session) && !refuses(&other.outcome)
    };
    let mut others = group.iter().enumerate().filter(|(place, _)| *place != at);
    !others.any(|(place, other)| is_before(place, other))
}

/// Whether what a write does depends on what is there.
pub(super) fn depends(asked: &Asked) -> bool {
    let conditions = ["acquire", "release", "cas"];
    asked.session("renew").is_some()
        || asked.key().is_some() && conditions.iter().any(|name| asked.has(name))
}

/// The index at which a write was done, if the real server still shows it.
fn moment(mirror: &Mirror, done: &Done) -> Option<u64> {
    let Outcome::Reply(reply) = &done.outcome else {
        return None;
    };
    let asked = &done.flight.asked;
    let (target, field) = match asked.key() {
        Some(_) if asked.is_put() && reply.body.starts_with(b"true") => {
            (asked.path().to_owned(), "ModifyIndex")
        }
        // What is left of a key is the index at which it went (kv.md 4.2).
        Some(_) if asked.method == "DELETE" && asked.query().is_empty() => {
            let shown = ask(
                &mirror.servers.real,
                &asked.look_at(&format!("{}?keys", asked.path())),
            );
            return match shown {
                Outcome::Reply(reply) if reply.status == 404 => {
                    reply.header("X-Consul-Index")?.parse().ok()
                }
                _ => None,
            };
        }
        Some(_) => return None,
        None if asked.path() == "/v1/session/create" && reply.status == 200 => {
            let created: Value = serde_json::from_slice(&reply.body).ok()?;
            let id = created.get("ID")?.as_str()?;
            (format!("/v1/session/info/{id}"), "CreateIndex")
        }
        None => return None,
    };
    let shown = first_of(&ask(&mirror.servers.real, &asked.look_at(&target)))?;
    if asked.key().is_some() {
        // It may have been written again since.
        let entry = Entry::read(&shown).ok()?;
        let is_its_value = entry.value.unwrap_or_default() == asked.content();
        let acquire = asked.parameter("acquire");
        if !is_its_value || acquire.is_some_and(|id| entry.session.as_deref() != Some(id)) {
            return None;
        }
    }
    shown.get(field)?.as_u64()
}

/// The emulator's last index of any key or session.
pub(super) fn last_index(mirror: &mut Mirror, asked: &Asked) -> Option<u64> {
    let mut last = |target| match mirror.look(&asked.look_at(target)) {
        Outcome::Reply(reply) => reply.header("X-Consul-Index")?.parse::<u64>().ok(),
        _ => None,
    };
    last(NO_KEY)?.max(last("/v1/session/list")?).into()
}

/// The first object of a list that a server answered with.
fn first_of(outcome: &Outcome) -> Option<Value> {
    let Outcome::Reply(reply) = outcome else {
        return None;
    };
    let list: Vec<Value> = serde_json::from_slice(&reply.body).ok()?;
    list.into_iter().next()
}

/// A check-and-set that the real server did with an index that was never compared: it was the key's, and stands for what that is here.
pub(super) fn learn_cas(mirror: &mut Mirror, done: &Done) {
    let asked = &done.flight.asked;
    let did = matches!(&done.outcome, Outcome::Reply(reply) if reply.body.starts_with(b"true"));
    let Some(index) = asked.number("cas").filter(|_| did && asked.key().is_some()) else {
        return;
    };
    if mirror.mapping.is_unknown(index) {
        let shown = first_of(&mirror.look(&asked.look_at(asked.path())));
        if let Some(entry) = shown.and_then(|entry| Entry::read(&entry).ok()) {
            mirror.mapping.guess(index, entry.modify_index);
        }
    }
}

/// Whether the emulator would now answer a write that depends on a key or session as the real server has.
fn fits(mirror: &mut Mirror, done: &Done) -> bool {
    let asked = mirror.mapping.to_emulator(&done.flight.asked);
    let did = !refuses(&done.outcome);
    if let Some(id) = asked.session("renew") {
        return did == lives(mirror, done, id);
    }
    let parameter = |name: &str| asked.parameter(name).map(str::to_owned);
    let (acquire, release, cas) = (parameter("acquire"), parameter("release"), parameter("cas"));
    let look = done.flight.asked.look_at(asked.path());
    let entry = first_of(&mirror.look(&look));
    let entry = entry.and_then(|entry| Entry::read(&entry).ok());
    let holder = entry.as_ref().and_then(|entry| entry.session.clone());
    let may_acquire = acquire.is_none_or(|id| {
        (holder.is_none() || holder.as_ref() == Some(&id)) && lives(mirror, done, &id)
    });
    let may_release = release.is_none_or(|id| holder.as_ref() == Some(&id));
    let index = entry.map_or(0, |entry| entry.modify_index);
    let may_set = cas.is_none_or(|cas| cas == index.to_string());
    did == (may_acquire && may_release && may_set)
}

/// Whether the emulator has this session of its own.
fn lives(mirror: &mut Mirror, done: &Done, id: &str) -> bool {
    let look = format!("/v1/session/info/{id}");
    let shown = mirror.exchange(0, &done.flight.asked.look_at(&look));
    first_of(&shown).is_some()
}
