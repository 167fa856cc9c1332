//! How mutants change a reply.

use proconsul_conformance::wire::{Outcome, Reply};

/// The body as text, where it is text and not compressed.
pub(super) fn text(reply: &Reply) -> Option<&str> {
    let plain = reply.header("Content-Encoding").is_none();
    std::str::from_utf8(&reply.body).ok().filter(|_| plain)
}

/// Changes the body of a `200` reply.
pub(super) fn change_text(reply: &mut Reply, change: impl FnOnce(&str) -> String) {
    if reply.status == 200
        && let Some(changed) = text(reply).map(change)
    {
        reply.body = changed.into_bytes();
    }
}

/// Whether the body is this JSON value, pretty or not.
pub(super) fn says(reply: &Reply, body: &str) -> bool {
    reply.status == 200 && text(reply).is_some_and(|text| text.trim() == body)
}

/// Replaces a body of the JSON value `from` by one of `to`, white space kept.
pub(super) fn say_instead(reply: &mut Reply, from: &str, to: &str) {
    if says(reply, from) {
        change_text(reply, |text| text.replacen(from, to, 1));
    }
}

pub(super) fn index(reply: &Reply) -> Option<u64> {
    reply.header("X-Consul-Index")?.parse().ok()
}

/// Changes the index where there is one.
pub(super) fn change_index(reply: &mut Reply, change: impl FnOnce(u64) -> u64) {
    if let Some(index) = index(reply) {
        set_header(reply, "X-Consul-Index", &change(index).to_string());
    }
}

/// Sets a header where it stands, or adds it.
pub(super) fn set_header(reply: &mut Reply, name: &str, value: &str) {
    let known = reply
        .headers
        .iter_mut()
        .find(|(other, _)| other.eq_ignore_ascii_case(name));
    match known {
        Some((_, old)) => value.clone_into(old),
        None => reply.headers.push((name.to_owned(), value.to_owned())),
    }
}

pub(super) fn drop_header(reply: &mut Reply, name: &str) {
    reply
        .headers
        .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
}

/// Spells the name of a header in another way.
pub(super) fn spell_header(reply: &mut Reply, spelling: &str) {
    for (name, _) in &mut reply.headers {
        if name.eq_ignore_ascii_case(spelling) {
            spelling.clone_into(name);
        }
    }
}

pub(super) fn set_status(reply: &mut Reply, status: u16, reason: &str) {
    reply.status = status;
    reason.clone_into(&mut reply.reason);
}

/// Turns the reply into one of status and body, its headers as they are.
pub(super) fn become_reply(reply: &mut Reply, status: u16, reason: &str, body: &str) {
    set_status(reply, status, reason);
    reply.body = body.as_bytes().to_vec();
}

/// Changes the reply of an outcome that has one.
pub(super) fn with_reply(mut outcome: Outcome, change: impl FnOnce(&mut Reply)) -> Outcome {
    if let Outcome::Reply(reply) = &mut outcome {
        change(reply);
    }
    outcome
}
