//! Who asks: a token with the rules of all that it grants (acl.md 2.7).

use std::borrow::Cow;
use std::sync::Arc;

use crate::identity::{self, Template};
use crate::{Authorizer, Decision, DefaultPolicy, Question, Rules};
use proconsul_store::{ANONYMOUS, AclId, Identity};
use proconsul_version::Version;

/// Who asks.
#[derive(Debug)]
pub struct Caller {
    /// The AccessorID of the token.
    pub accessor: String,
    /// The description of the token.
    pub description: String,
    /// Whether it is the anonymous token.
    pub is_anonymous: bool,
    authorizer: Authorizer,
    default: DefaultPolicy,
    /// What the rules come from.
    sources: Vec<Source>,
}

/// Rules, and what they come from.
#[derive(Debug)]
struct Source {
    /// Such as `policy "reader"`.
    name: String,
    rules: Arc<Rules>,
}

/// The server that callers ask, as far as it decides what their tokens grant.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The emulated release.
    pub version: Version,
    /// The name of the datacenter.
    pub datacenter: &'a str,
    /// What is allowed where no rule says anything.
    pub default: DefaultPolicy,
}

impl Caller {
    /// Returns whoever has this token.
    pub fn of(identity: &Identity, place: Place<'_>) -> Self {
        let token = &identity.token;
        let mut caller = Self {
            description: token.description.clone(),
            is_anonymous: token.secret == ANONYMOUS,
            ..Self::with(token.accessor.clone(), sources(identity, place), place)
        };
        if token.legacy.as_ref().is_some_and(|old| old.is_management) {
            caller.authorizer = Authorizer::management();
        }
        caller
    }

    /// Returns whoever has no token, where there is no anonymous one either.
    pub fn nobody(place: Place<'_>) -> Self {
        Self {
            is_anonymous: true,
            ..Self::with(AclId::ANONYMOUS.to_string(), Vec::new(), place)
        }
    }

    /// Returns the caller with the recovery token of the agent of this node (acl.md 2.8).
    pub fn recovery(node: &str, place: Place<'_>) -> Self {
        let text = format!(
            "agent \"{node}\" {{ policy = \"write\" }} node_prefix \"\" {{ policy = \"read\" }}"
        );
        let accessor = format!("agent-recovery:{node}");
        let source = Source::read("the agent's recovery token".to_owned(), &text, place);
        Self::with(accessor, source.into_iter().collect(), place)
    }

    fn with(accessor: String, sources: Vec<Source>, place: Place<'_>) -> Self {
        let rules: Vec<_> = sources
            .iter()
            .map(|source| Arc::clone(&source.rules))
            .collect();
        Self {
            accessor,
            description: String::new(),
            is_anonymous: false,
            authorizer: Authorizer::new(&rules, place.default),
            default: place.default,
            sources,
        }
    }

    /// Whether the caller may do this.
    pub fn may(&self, question: Question<'_>) -> bool {
        self.authorizer.allows(question)
    }

    /// Says whether the caller may do this, and why: the rule and what it comes from, or the default policy.
    pub fn explain(&self, question: Question<'_>) -> (bool, String) {
        let Decision { is_allowed, by } = self.authorizer.decision(question);
        let Some(rule) = by else {
            let default = match self.default {
                DefaultPolicy::Allow => "allow",
                DefaultPolicy::Deny => "deny",
            };
            return (
                is_allowed,
                format!("no rule, and the default policy is {default}"),
            );
        };
        let sources = self.sources.iter();
        let sources = sources.filter(|source| source.rules.has(&rule));
        let names: Vec<_> = sources.map(|source| &*source.name).collect();
        (is_allowed, format!("{rule} of {}", names.join(" and ")))
    }
}

impl Source {
    /// Reads rules that were checked when they were written. Those of a loaded state may be of no use to this release.
    fn read(name: String, text: &str, place: Place<'_>) -> Option<Self> {
        let rules = Rules::parse(text, place.version).ok()?;
        let rules = rules.into();
        Some(Self { name, rules })
    }

    /// Reads the rules of a token of the old system.
    fn read_old(text: &str, place: Place<'_>) -> Option<Self> {
        let rules = Rules::parse_old(text, place.version).ok()?;
        let name = "the token itself".to_owned();
        let rules = rules.into();
        Some(Self { name, rules })
    }
}

/// Returns the rules of all that a token grants in this datacenter.
fn sources(found: &Identity, place: Place<'_>) -> Vec<Source> {
    let counts = |datacenters: &[String]| {
        let mut datacenters = datacenters.iter();
        datacenters.len() == 0 || datacenters.any(|datacenter| datacenter == place.datacenter)
    };
    let policies = found.policies.iter();
    let policies = policies
        .filter(|row| counts(row.policy.datacenters.as_deref().unwrap_or_default()))
        .map(|row| {
            let name = format!("policy {:?}", row.policy.name);
            (name, Cow::Borrowed(row.policy.rules.as_str()))
        });
    let services = found.service_identities.iter();
    let services = services
        .filter(|service| counts(&service.datacenters))
        .map(|service| &service.service_name)
        .map(|name| {
            (
                format!("service identity {name:?}"),
                Cow::Owned(identity::service(name)),
            )
        });
    let nodes = found.node_identities.iter();
    let nodes = nodes
        .filter(|node| node.datacenter == place.datacenter)
        .map(|node| &node.node_name)
        .map(|name| {
            (
                format!("node identity {name:?}"),
                Cow::Owned(identity::node(name)),
            )
        });
    let templated = found.templated_policies.iter();
    let templated = templated
        .filter(|templated| counts(&templated.datacenters))
        .filter_map(|templated| {
            let template = Template::named(&templated.template_name)?;
            let text = template.rules(templated.name.as_deref().unwrap_or_default());
            Some((format!("template {:?}", template.name()), Cow::Owned(text)))
        });
    let all = policies.chain(services).chain(nodes).chain(templated);
    let all = all.filter_map(|(name, text)| Source::read(name, &text, place));
    let old = found.token.old_rules();
    let old = old.and_then(|text| Source::read_old(text, place));
    all.chain(old).collect()
}
