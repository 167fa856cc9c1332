//! Policies: rules with a name (acl.md 4).

use super::grants::check_name;
use super::object::{AclObject, Shown};
use super::refusal::{AclRefusal, NameFlaw};
use super::{AclId, AclKind, AclTables, Table};
use crate::command::Command;
use crate::{Change, Index, VersionRules};

/// A policy as a client sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewPolicy {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The text of the rules.
    pub rules: String,
    /// The datacenters in which it counts; `None` or empty for all.
    pub datacenters: Option<Vec<String>>,
}

/// A stored policy.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRow {
    /// The id, as the last write spelled it.
    pub id: String,
    /// The policy.
    pub policy: NewPolicy,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// The object that a write creates or replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AclTarget {
    /// A new one, with an id made by the caller.
    New(AclId),
    /// An existing one, by its id as the client spelled it.
    Existing(String),
}

/// Creates or replaces a policy.
#[derive(Clone, Debug)]
pub struct PolicyWrite {
    /// The policy to create or replace.
    pub target: AclTarget,
    /// The policy.
    pub policy: NewPolicy,
    /// Why the rules are invalid, from the caller that knows the language.
    pub flaw: Option<String>,
}

/// The longest name of a policy.
const LONGEST: usize = 128;

impl AclObject for PolicyRow {
    const KIND: AclKind = AclKind::Policy;

    fn id_text(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.policy.name
    }

    fn indexes(&self) -> (Index, Index) {
        (self.create_index, self.modify_index)
    }

    fn table(tables: &AclTables) -> &Table<AclId, Self> {
        &tables.policies
    }

    fn table_mut(tables: &mut AclTables) -> &mut Table<AclId, Self> {
        &mut tables.policies
    }
}

impl AclId {
    /// The policy that allows everything.
    pub const GLOBAL_MANAGEMENT: Self = Self::reserved(1);
    /// The policy that allows reading everything, of later releases.
    pub const GLOBAL_READ_ONLY: Self = Self::reserved(2);
    /// The AccessorID of the anonymous token.
    pub const ANONYMOUS: Self = Self::reserved(2);

    const fn reserved(number: u8) -> Self {
        let mut bytes = [0; 16];
        bytes[15] = number;
        Self::from_bytes(bytes)
    }

    /// Whether this is the id of a policy that Consul makes itself.
    pub(crate) fn is_builtin_policy(self) -> bool {
        self == Self::GLOBAL_MANAGEMENT || self == Self::GLOBAL_READ_ONLY
    }
}

/// Checks the name of a policy.
fn check_policy_name(name: &str, rules: VersionRules) -> Result<(), NameFlaw> {
    if !rules.acl_policy_names_have_slash {
        return check_name(name, LONGEST);
    }
    if name.len() > LONGEST {
        return Err(NameFlaw::Length);
    }
    if name.starts_with('/') || name.starts_with("builtin/") {
        return Err(NameFlaw::Prefix);
    }
    let slashes = name.bytes().filter(|byte| *byte == b'/').count();
    if slashes > 1 {
        return Err(NameFlaw::Letters);
    }
    check_name(&name.replacen('/', "", 1), LONGEST)
}

/// Checks that an object which keeps its name keeps the spelling of its id, too: Consul takes another one for another
/// object, with the same name.
pub(crate) fn check_spelling<R: AclObject>(
    current: Option<&R>,
    target: &AclTarget,
    name: &str,
) -> Result<(), AclRefusal> {
    let is_kept = |row: &&R| row.name() == name && row.id_text() != target.id_text();
    match current.filter(is_kept) {
        Some(_) => Err(AclRefusal::OwnNameTaken(R::KIND, name.to_owned())),
        None => Ok(()),
    }
}

/// Returns the row to replace, after checking that no other object has the new name.
///
/// Consul looks the new name up only if its spelling has changed, and then finds the object itself in another case.
pub(crate) fn replaced<R: AclObject>(
    tables: &AclTables,
    target: &AclTarget,
    name: &str,
) -> Result<Option<R>, AclRefusal> {
    let taken = tables.by_name::<R>(name).is_some();
    match target {
        AclTarget::New(_) if taken => Err(AclRefusal::NameTaken(R::KIND, name.to_owned())),
        AclTarget::New(_) => Ok(None),
        AclTarget::Existing(id) => {
            let parsed = AclId::parse(id).map_err(|_| AclRefusal::MalformedTarget(R::KIND))?;
            let row = parsed.and_then(|id| tables.by_id::<R>(id));
            let row = row.ok_or_else(|| AclRefusal::NoTarget(R::KIND, id.clone()))?;
            if taken && row.name() != name {
                return Err(AclRefusal::NewNameTaken(R::KIND, name.to_owned()));
            }
            Ok(Some(R::clone(row)))
        }
    }
}

impl AclTarget {
    /// Returns the id of the row to write, as it is shown.
    pub(crate) fn id_text(&self) -> String {
        match self {
            Self::New(id) => id.to_string(),
            Self::Existing(id) => id.clone(),
        }
    }
}

impl Command for PolicyWrite {
    type Reply = Shown<PolicyRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<PolicyRow>, AclRefusal> {
        let Self {
            target,
            policy,
            flaw,
        } = self;
        if policy.name.is_empty() {
            return Err(AclRefusal::NoName(AclKind::Policy));
        }
        let existing_name = match &target {
            AclTarget::Existing(id) => change.store.acl.by_id_text::<PolicyRow>(id),
            AclTarget::New(_) => Ok(None),
        };
        let keeps_name = matches!(existing_name, Ok(Some(row)) if row.policy.name == policy.name);
        if !keeps_name {
            check_policy_name(&policy.name, change.store.rules)
                .map_err(|flaw| AclRefusal::BadName(AclKind::Policy, flaw))?;
        }
        let current = replaced::<PolicyRow>(&change.store.acl, &target, &policy.name)?;
        if let Some(current) = current.as_ref().filter(|row| row.id().is_builtin_policy()) {
            check_builtin(current, &policy)?;
        }
        if let Some(flaw) = flaw {
            return Err(AclRefusal::Rules(flaw));
        }
        change.take_indexes(1);
        check_spelling(current.as_ref(), &target, &policy.name)?;
        Ok(change.put_acl(PolicyRow {
            id: target.id_text(),
            policy,
            create_index: current.map_or(change.index, |row| row.create_index),
            modify_index: change.index,
        }))
    }
}

/// Checks a change of a builtin policy, of which only names and descriptions change.
fn check_builtin(current: &PolicyRow, policy: &NewPolicy) -> Result<(), AclRefusal> {
    let name = || current.policy.name.clone();
    if policy.rules != current.policy.rules {
        return Err(AclRefusal::BuiltinRules(name()));
    }
    if policy.datacenters.iter().flatten().next().is_some() {
        return Err(AclRefusal::BuiltinDatacenters(name()));
    }
    Ok(())
}
