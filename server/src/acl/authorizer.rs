//! The answer to "may this token do that".

use std::collections::HashMap;
use std::sync::Arc;

use super::kind::{Kind, Scalar};
use super::level::{Allows, Level};
use super::question::{Access, Question, Resource};
use super::rules::Rules;
use super::table::{Levels, NewEntry, Table};

/// What is allowed where no rule says anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultPolicy {
    /// Everything but what [`Resource::Acl`] stands for (acl.md 9.10).
    #[default]
    Allow,
    /// Nothing.
    Deny,
}

/// What is allowed where no rule says anything, with the right of a server's own hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    Default(DefaultPolicy),
    /// Everything, ACLs included.
    Everything,
}

/// All rules of a token, merged, and the default policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorizer {
    agent: Table,
    event: Table,
    intention: Table,
    key: Table,
    node: Table,
    query: Table,
    service: Table,
    session: Table,
    acl: Option<Allows>,
    keyring: Option<Allows>,
    mesh: Option<Allows>,
    operator: Option<Allows>,
    peering: Option<Allows>,
    otherwise: Otherwise,
}

impl Authorizer {
    /// Makes an authorizer of the rules of a token and of its roles, merged (acl.md 9.8): first those of its policies in
    /// the order of their ids, then those of its identities. The order shows only in levels that are not in lower case.
    pub fn new(rules: &[Arc<Rules>], default: DefaultPolicy) -> Authorizer {
        Authorizer::merged(rules, Otherwise::Default(default))
    }

    /// Makes one that allows everything.
    pub fn management() -> Authorizer {
        Authorizer::merged(&[], Otherwise::Everything)
    }

    fn merged(rules: &[Arc<Rules>], otherwise: Otherwise) -> Authorizer {
        let mut named: HashMap<(Kind, bool, &str), Levels> = HashMap::new();
        let entries = rules.iter().flat_map(|rules| &rules.named);
        for rule in entries {
            named
                .entry((rule.kind, rule.is_prefix, &*rule.name))
                .and_modify(|levels| *levels = levels.merged(rule.levels))
                .or_insert(rule.levels);
        }
        let table = |wanted: Kind, allows: fn(&Levels) -> Allows| {
            let own = named.iter().filter(|((kind, ..), _)| *kind == wanted);
            Table::new(own.map(|((_, is_prefix, text), levels)| NewEntry {
                text,
                is_prefix: *is_prefix,
                allows: allows(levels),
            }))
        };
        let plain = |kind| table(kind, |levels| levels.policy.allows);
        let scalar = |wanted: Scalar| {
            let levels = rules.iter().map(|rules| rules.scalar(wanted));
            let level = levels.fold(None, Level::merged_optional);
            level.map(|level| level.allows)
        };
        Authorizer {
            agent: plain(Kind::Agent),
            event: plain(Kind::Event),
            intention: table(Kind::Service, intentions),
            key: plain(Kind::Key),
            node: plain(Kind::Node),
            query: plain(Kind::Query),
            service: plain(Kind::Service),
            session: plain(Kind::Session),
            acl: scalar(Scalar::Acl),
            keyring: scalar(Scalar::Keyring),
            mesh: scalar(Scalar::Mesh),
            operator: scalar(Scalar::Operator),
            peering: scalar(Scalar::Peering),
            otherwise,
        }
    }

    /// Answers a question. Costs a search among the rules of its kind, and no memory.
    pub fn allows(&self, question: Question<'_>) -> bool {
        let Question { access, name, .. } = question;
        let table = match question.resource {
            Resource::Acl => return self.by_rule(self.acl, access, Otherwise::allows_acl),
            Resource::Keyring => return self.is_covered(self.keyring, access),
            Resource::Operator => return self.is_covered(self.operator, access),
            Resource::Mesh => return self.is_covered(self.mesh.or(self.operator), access),
            Resource::Peering => return self.is_covered(self.peering.or(self.operator), access),
            Resource::Intention if name == "*" => return self.allows_intentions(access),
            Resource::Key if access == Access::WriteTree => return self.allows_tree(name),
            Resource::Agent => &self.agent,
            Resource::Event => &self.event,
            Resource::Intention => &self.intention,
            Resource::Key => &self.key,
            Resource::Node => &self.node,
            Resource::Query => &self.query,
            Resource::Service => &self.service,
            Resource::Session => &self.session,
        };
        self.is_covered(table.find(name), access)
    }

    /// Whether all keys below a path may be deleted (acl.md 6.5).
    fn allows_tree(&self, path: &str) -> bool {
        let covers = |allows: Allows| allows.covers(Access::Write);
        self.is_covered(self.key.find_prefix(path), Access::Write)
            && self.key.below(path).all(covers)
    }

    /// Whether intentions of all services may be read or written: the first if any rule allows it, the second if all
    /// do. Where no rule covers all names, the default policy counts as one (acl.md 9.9).
    fn allows_intentions(&self, access: Access) -> bool {
        let covers = |allows: Allows| allows.covers(access);
        let rest = self.is_covered(self.intention.find_prefix(""), access);
        match access {
            Access::Read => rest || self.intention.all().any(covers),
            _ => rest && self.intention.all().all(covers),
        }
    }

    fn is_covered(&self, rule: Option<Allows>, access: Access) -> bool {
        self.by_rule(rule, access, Otherwise::allows_rest)
    }

    fn by_rule(
        &self,
        rule: Option<Allows>,
        access: Access,
        otherwise: fn(Otherwise) -> bool,
    ) -> bool {
        match rule {
            Some(allows) => allows.covers(access),
            None => otherwise(self.otherwise),
        }
    }
}

impl Otherwise {
    fn allows_acl(self) -> bool {
        self == Otherwise::Everything
    }

    fn allows_rest(self) -> bool {
        self != Otherwise::Default(DefaultPolicy::Deny)
    }
}

/// Returns what a rule about a service says about intentions that lead to it (acl.md 9.9).
fn intentions(levels: &Levels) -> Allows {
    match (levels.intentions, levels.policy) {
        (Some(intentions), _) => intentions.allows,
        (None, policy) if policy.is_lower && policy.allows >= Allows::Read => Allows::Read,
        (None, _) => Allows::Nothing,
    }
}

#[cfg(test)]
mod tests;
