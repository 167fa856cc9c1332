//! The end of tokens: at its time a token stops to count, and a moment later the leader removes it (acl.md 5.30).

use std::time::Duration;

use crate::acl::object::AclObject;
use crate::acl::token::TokenRow;
use crate::acl::{AclId, AclTables};
use crate::ordered::OrderedSet;
use crate::timestamp::Timestamp;
use crate::{Change, Deadline};

/// How long an expired token stays in its table.
const KEPT: Duration = Duration::from_millis(500);

impl AclTables {
    /// Returns the next end of a token, and the next removal of expired ones.
    pub(crate) fn next_of_each(&self) -> [Option<Timestamp>; 2] {
        [
            self.expiring.first().map(|(at, _)| *at),
            self.reaps.first().map(|(at, _)| *at),
        ]
    }

    /// Returns the next token that expires, as a deadline.
    pub(crate) fn next_expiry(&self) -> Option<Deadline> {
        let (_, token) = self.expiring.first()?;
        Some(Deadline::ExpireToken(*token))
    }

    /// Returns the next removal of expired tokens, as a deadline.
    pub(crate) fn next_reap(&self) -> Option<Deadline> {
        let (at, local) = *self.reaps.first()?;
        Some(Deadline::ReapTokens { at, local })
    }

    /// Returns all ends of tokens and removals of expired ones, with their times.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (Timestamp, Deadline)> {
        let ends = self.expiring.iter();
        let ends = ends.map(|(at, token)| (*at, Deadline::ExpireToken(*token)));
        let reaps = self.reaps.iter().copied();
        ends.chain(reaps.map(|(at, local)| (at, Deadline::ReapTokens { at, local })))
    }

    /// Moves all times of tokens.
    pub(crate) fn carry(&mut self, from: Timestamp, to: Timestamp) {
        let carried = |at: Timestamp| at.carried(from, to);
        self.expiring = self
            .expiring
            .iter()
            .map(|(at, id)| (carried(*at), *id))
            .collect();
        self.reaps = self
            .reaps
            .iter()
            .map(|(at, local)| (carried(*at), *local))
            .collect();
        self.tokens.rows = crate::each_changed(&self.tokens.rows, |row| {
            row.created = row.created.map(carried);
            if let Some(expiry) = &mut row.expires {
                expiry.at = carried(expiry.at);
            }
        });
    }

    /// Removes all deadlines.
    pub(crate) fn drop_deadlines(&mut self) {
        self.expiring = OrderedSet::new();
        self.reaps = OrderedSet::new();
    }

    /// Writes a token of an image, whose time is [`Timestamp::ZERO`]. It may have expired.
    pub(crate) fn restore_token(&mut self, mut row: TokenRow) {
        if let Some(expiry) = row.expires.filter(|expiry| expiry.at <= Timestamp::ZERO) {
            row.is_expired = true;
            let at = expiry.at.plus(KEPT).max(Timestamp::ZERO);
            self.reaps.insert((at, row.local));
        }
        self.put_token(row);
    }
}

impl Change<'_> {
    /// Lets a token count no longer. Nothing that clients watch changes yet.
    pub(crate) fn expire_token(&mut self, id: AclId) {
        let tables = &mut self.store.acl;
        let Some(row) = tables.remove_token(id) else {
            return;
        };
        tables.reaps.insert((self.now.plus(KEPT), row.local));
        tables.put_token(TokenRow {
            is_expired: true,
            ..TokenRow::clone(&row)
        });
    }

    /// Removes the expired tokens that are local, or those that are not.
    pub(crate) fn reap_tokens(&mut self, at: Timestamp, local: bool) {
        let tables = &mut self.store.acl;
        tables.reaps.remove(&(at, local));
        let rows = tables.tokens.rows.values();
        let over = rows.filter(|row| row.is_expired && row.local == local);
        let over: Vec<AclId> = over.map(|row| row.id()).collect();
        if over.is_empty() {
            return;
        }
        self.take_indexes(1);
        for id in over {
            self.store.acl.remove_token(id);
            self.acl_changed::<TokenRow>(id);
        }
    }
}
