//! Which requests have to do with each other: only between those does an order show.
//!
//! Everything here errs on one side: requests that might are taken to.

use super::Done;
use super::order::Timed;
use crate::shadow::mapping::ids_in;
use proconsul_conformance::wire::asked::Asked;

#[derive(PartialEq, Eq)]
enum Kind {
    Key,
    Session,
    /// Transactions, and all that may end sessions: the catalog, checks.
    Other,
}

fn kind(asked: &Asked) -> Kind {
    match asked.key() {
        Some(_) => Kind::Key,
        None if asked.path().starts_with("/v1/session/") => Kind::Session,
        None => Kind::Other,
    }
}

/// Whether what one of them does may show in the answer to the other, or in what the other leaves behind.
pub(super) fn relates(one: &Asked, other: &Asked) -> bool {
    match (kind(one), kind(other)) {
        (Kind::Key, Kind::Key) => keys_meet(one, other) || share_an_id(one, other),
        // A session that ends lets any key go.
        (Kind::Key, Kind::Session) => other.session("destroy").is_some() || share_an_id(one, other),
        (Kind::Session, Kind::Key) => relates(other, one),
        (Kind::Session, Kind::Session) => lists(one) || lists(other) || share_an_id(one, other),
        (Kind::Key, Kind::Other) => !other.is_read(),
        (Kind::Other, Kind::Key) => relates(other, one),
        (Kind::Other | Kind::Session, Kind::Other) | (Kind::Other, Kind::Session) => true,
    }
}

fn keys_meet(one: &Asked, other: &Asked) -> bool {
    let reaches = |above: &Asked, below: &Asked| match (above.key(), below.key()) {
        (Some(above_key), Some(below_key)) if above.has("recurse") || above.has("keys") => {
            below_key.starts_with(above_key)
        }
        (above, below) => above == below,
    };
    reaches(one, other) || reaches(other, one)
}

fn share_an_id(one: &Asked, other: &Asked) -> bool {
    let ids = ids_in(&other.target);
    ids_in(&one.target).iter().any(|id| ids.contains(id))
}

fn lists(asked: &Asked) -> bool {
    asked.is_read() && asked.session("info").is_none()
}

/// Whether neither was answered before the other was sent: either may have been done first.
fn overlap(one: &Done, other: &Done) -> bool {
    one.answered > other.flight.sent && other.answered > one.flight.sent
}

/// Writes that overlapped, by twos.
#[derive(Default)]
pub(super) struct Race(Vec<(Asked, Asked)>);

impl Race {
    pub(super) fn of<'g>(group: &(impl Iterator<Item = &'g Timed> + Clone)) -> Self {
        let mut twos = Vec::new();
        for (at, (_, one)) in group.clone().enumerate() {
            let later = group.clone().skip(at + 1).map(|(_, other)| other);
            for other in later.filter(|other| overlap(one, other)) {
                twos.push((one.flight.asked.clone(), other.flight.asked.clone()));
            }
        }
        Self(twos)
    }

    /// Whether a read may show something of two of them, and so their order.
    pub(super) fn shows_in(&self, read: &Asked) -> bool {
        let mut twos = self.0.iter();
        twos.any(|(one, other)| relates(read, one) && relates(read, other))
    }

    pub(super) fn is_one_of(&self, write: &Asked) -> bool {
        self.0
            .iter()
            .any(|(one, other)| one == write || other == write)
    }

    /// Whether one of them, the write, may have been answered otherwise had it come before or after the other.
    pub(super) fn decides(&self, write: &Asked) -> bool {
        let mut twos = self.0.iter();
        twos.any(|(one, other)| (one == write || other == write) && relates(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proconsul_conformance::wire::asked::Reading;

    const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

    fn asked(line: &str) -> Asked {
        let line = line.replace("ID", ID);
        match Asked::read(format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()) {
            Reading::Whole(asked, _) => *asked,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn requests_are_related_where_the_order_of_both_may_show() {
        for (one, other, expected) in [
            ("PUT /v1/kv/a", "PUT /v1/kv/a", true),
            ("PUT /v1/kv/a", "PUT /v1/kv/b", false),
            ("PUT /v1/kv/a", "PUT /v1/kv/ab", false),
            ("DELETE /v1/kv/a?recurse", "PUT /v1/kv/ab", true),
            ("GET /v1/kv/a?keys", "PUT /v1/kv/b", false),
            ("PUT /v1/kv/a?acquire=ID", "PUT /v1/kv/b?acquire=ID", true),
            ("PUT /v1/kv/a", "PUT /v1/session/destroy/ID", true),
            ("PUT /v1/kv/a", "PUT /v1/session/renew/ID", false),
            ("PUT /v1/kv/a", "PUT /v1/session/create", false),
            ("PUT /v1/session/create", "PUT /v1/session/create", false),
            ("GET /v1/session/list", "PUT /v1/session/create", true),
            (
                "GET /v1/session/info/ID",
                "PUT /v1/session/destroy/ID",
                true,
            ),
            ("PUT /v1/kv/a", "PUT /v1/catalog/deregister", true),
            ("PUT /v1/kv/a", "GET /v1/catalog/nodes", false),
            ("PUT /v1/kv/a", "PUT /v1/txn", true),
            ("GET /v1/health/node/n", "PUT /v1/agent/check/pass/c", true),
        ] {
            let (one, other) = (asked(one), asked(other));
            assert_eq!(relates(&one, &other), expected, "{one:?} {other:?}");
            assert_eq!(relates(&other, &one), expected, "{other:?} {one:?}");
        }
    }
}
