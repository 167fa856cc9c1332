//! The answer to "may this token do that".

use std::collections::HashMap;
use std::sync::Arc;

use super::decision::{Deciding, Decision};
use super::kind::{Kind, Scalar};
use super::level::{Allows, Level};
use super::question::{Access, Question, Resource};
use super::rules::Rules;
use super::table::{Found, Levels, NewEntry, Table};

/// What is allowed where no rule says anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultPolicy {
    /// Everything but what [`Resource::Acl`] stands for (acl.md 9.10).
    #[default]
    Allow,
    /// Nothing.
    Deny,
}

impl DefaultPolicy {
    /// Returns the policy of this name in a configuration. One of another name stops the agent.
    pub fn named(name: &str) -> DefaultPolicy {
        if name == "deny" {
            DefaultPolicy::Deny
        } else {
            DefaultPolicy::Allow
        }
    }
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
        self.decision(question).is_allowed
    }

    /// Answers a question, and says what decided.
    pub fn decision(&self, question: Question<'_>) -> Decision<'_> {
        let Question { access, name, .. } = question;
        let scalar = |scalar: Scalar, allows: Option<Allows>| {
            allows.map(|allows| Deciding {
                rule: scalar.rule(),
                name: None,
                allows,
            })
        };
        let operator = || scalar(Scalar::Operator, self.operator);
        let (kind, table) = match question.resource {
            Resource::Acl => {
                let rule = scalar(Scalar::Acl, self.acl);
                return self.decided(rule, access, Otherwise::allows_acl);
            }
            Resource::Keyring => return self.by(scalar(Scalar::Keyring, self.keyring), access),
            Resource::Operator => return self.by(operator(), access),
            Resource::Mesh => {
                return self.by(scalar(Scalar::Mesh, self.mesh).or_else(operator), access);
            }
            Resource::Peering => {
                let rule = scalar(Scalar::Peering, self.peering).or_else(operator);
                return self.by(rule, access);
            }
            Resource::Intention if name == "*" => return self.on_intentions(access),
            Resource::Key if access == Access::WriteTree => return self.on_tree(name),
            Resource::Agent => (Kind::Agent, &self.agent),
            Resource::Event => (Kind::Event, &self.event),
            Resource::Intention => (Kind::Service, &self.intention),
            Resource::Key => (Kind::Key, &self.key),
            Resource::Node => (Kind::Node, &self.node),
            Resource::Query => (Kind::Query, &self.query),
            Resource::Service => (Kind::Service, &self.service),
            Resource::Session => (Kind::Session, &self.session),
        };
        self.by(table.find(name).map(|found| found.of(kind)), access)
    }

    /// Whether all keys below a path may be deleted (acl.md 6.5).
    fn on_tree(&self, path: &str) -> Decision<'_> {
        let rest = self.key.find_prefix(path);
        let below = self.key.below(path).map(Some);
        let rules = std::iter::once(rest).chain(below);
        self.first(false, rules, Kind::Key, Access::Write)
    }

    /// Whether intentions of all services may be read or written: the first if any rule allows it, the second if all
    /// do. Where no rule covers all names, the default policy counts as one (acl.md 9.9).
    fn on_intentions(&self, access: Access) -> Decision<'_> {
        let rest = self.intention.find_prefix("");
        let all = self.intention.all().map(Some);
        let rules = std::iter::once(rest).chain(all);
        self.first(access == Access::Read, rules, Kind::Service, access)
    }

    /// Returns the first decision that is `wanted`, else that of the first rule.
    fn first<'a>(
        &'a self,
        wanted: bool,
        mut rules: impl Iterator<Item = Option<Found<'a>>>,
        kind: Kind,
        access: Access,
    ) -> Decision<'a> {
        let decide = |rule: Option<Found<'a>>| self.by(rule.map(|found| found.of(kind)), access);
        let first = decide(rules.next().flatten());
        if first.is_allowed == wanted {
            return first;
        }
        let mut decisions = rules.map(decide);
        let found = decisions.find(|decision| decision.is_allowed == wanted);
        found.unwrap_or(first)
    }

    fn by<'a>(&self, rule: Option<Deciding<'a>>, access: Access) -> Decision<'a> {
        self.decided(rule, access, Otherwise::allows_rest)
    }

    fn decided<'a>(
        &self,
        rule: Option<Deciding<'a>>,
        access: Access,
        otherwise: fn(Otherwise) -> bool,
    ) -> Decision<'a> {
        Decision {
            is_allowed: match rule {
                Some(rule) => rule.allows.covers(access),
                None => otherwise(self.otherwise),
            },
            by: rule,
        }
    }
}

impl<'a> Found<'a> {
    fn of(self, kind: Kind) -> Deciding<'a> {
        Deciding {
            rule: kind.rule(self.is_prefix),
            name: Some(self.text),
            allows: self.allows,
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
