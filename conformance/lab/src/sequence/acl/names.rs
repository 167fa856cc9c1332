//! What the names in requests of sequences with tokens stand for on one server.

use std::collections::HashMap;

/// The configured management token.
pub(super) const ROOT: &str = "root";
/// The AccessorID of the token that may do everything.
pub(super) const MANAGER_ACCESSOR: &str = "dddddddd-0000-4aaa-8aaa-aaaaaaaaaaaa";
/// Its SecretID.
pub(super) const MANAGER: &str = "dddddddd-0000-4bbb-8bbb-bbbbbbbbbbbb";
/// An id that nothing has.
const UNKNOWN: &str = "99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee";
/// The AccessorID of the token that expires a minute after the first sequence.
pub(super) const EXPIRING_ACCESSOR: &str = "eeeeeeee-0000-4aaa-8aaa-aaaaaaaaaaaa";
/// Its SecretID.
pub(super) const EXPIRING_SECRET: &str = "eeeeeeee-0000-4bbb-8bbb-bbbbbbbbbbbb";
/// The slot of a token whose ids the server made.
const MADE: char = '4';

/// The names of one sequence.
#[derive(Debug)]
pub(super) struct Names {
    tag: String,
    /// The agent's node.
    pub(super) node: String,
    /// Whether the token that expires has expired. Before, an unknown one stands for it.
    has_expired: bool,
    /// Ids that the server made, by the names that stand for them.
    made: HashMap<String, String>,
}

impl Names {
    pub(super) fn new(tag: &str, node: &str, has_expired: bool) -> Self {
        Self {
            tag: tag.to_owned(),
            node: node.to_owned(),
            has_expired,
            made: HashMap::new(),
        }
    }

    /// Fills in what begins with `$`.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            let behind = &rest[at + 1..];
            let kind = behind.chars().next().expect("a name is behind the mark");
            let has_slot = "PRASQ".contains(kind);
            let length = if has_slot { 2 } else { 1 };
            let (name, behind) = behind.split_at(length);
            filled.push_str(&self.named(name));
            rest = behind;
        }
        filled.push_str(rest);
        filled
    }

    fn named(&self, name: &str) -> String {
        if let Some(id) = self.made.get(name) {
            return id.clone();
        }
        let expired = |id: &str| if self.has_expired { id } else { UNKNOWN }.to_owned();
        let slot = name.chars().nth(1).unwrap_or_default();
        match (&name[..1], slot) {
            ("G", _) => MANAGER.to_owned(),
            ("T", _) => self.tag.clone(),
            ("N", _) => self.node.clone(),
            // As a name of an identity may be.
            ("M", _) => self.node.to_lowercase(),
            (_, 'E') => expired(if name == "AE" {
                EXPIRING_ACCESSOR
            } else {
                EXPIRING_SECRET
            }),
            ("A", '0'..='3') => self.id(slot, 'a'),
            // In another order than that of the AccessorIDs.
            ("S", '0'..='3') => self.id(char::from(b'9' - (slot as u8 - b'0')), 'b'),
            _ => UNKNOWN.to_owned(),
        }
    }

    /// An id that no other sequence has.
    fn id(&self, first: char, letter: char) -> String {
        let own = self
            .tag
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        let own = format!("{own:016x}");
        format!(
            "{first}{letter}{}-{}-4aaa-8aaa-aaaaaaaaaaaa",
            &own[..6],
            &own[6..10]
        )
    }

    /// Remembers an id that a server gave to the policy or role of this name.
    pub(super) fn learn_object(&mut self, name: &str, id: &str) {
        let own = name
            .strip_prefix(&self.tag)
            .and_then(|own| own.strip_prefix('-'));
        if let Some(own) = own {
            self.made.insert(own.to_uppercase(), id.to_owned());
        }
    }

    /// Remembers a token if the server made its SecretID. Returns whether it did.
    pub(super) fn learn_token(&mut self, accessor: &str, secret: &str) -> bool {
        let is_made = !secret.ends_with("-4aaa-8aaa-aaaaaaaaaaaa");
        if is_made {
            self.made.insert(format!("A{MADE}"), accessor.to_owned());
            self.made.insert(format!("S{MADE}"), secret.to_owned());
        }
        is_made
    }

    /// Remembers the ids of prepared queries, in the order in which they were made.
    pub(super) fn learn_queries(&mut self, ids: &[String]) {
        for (slot, id) in ids.iter().enumerate() {
            self.made.insert(format!("Q{slot}"), id.clone());
        }
    }
}
