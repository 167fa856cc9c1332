//! Roles: what several tokens grant together (acl.md 8.1).

use super::grants::{Grants, NewGrants, check_name};
use super::object::{AclObject, Shown};
use super::policy::{AclTarget, check_spelling, replaced};
use super::refusal::AclRefusal;
use super::{AclId, AclKind, AclTables, Table};
use crate::command::Command;
use crate::{Change, Index};

/// A stored role.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct RoleRow {
    /// The id, as the last write spelled it.
    pub id: String,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// What it grants.
    pub grants: Grants,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// Creates or replaces a role.
#[derive(Clone, Debug)]
pub struct RoleWrite {
    /// The role to create or replace.
    pub target: AclTarget,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// What it is to grant.
    pub grants: NewGrants,
}

/// The longest name of a role.
const LONGEST: usize = 256;

impl AclObject for RoleRow {
    const KIND: AclKind = AclKind::Role;

    fn id_text(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn indexes(&self) -> (Index, Index) {
        (self.create_index, self.modify_index)
    }

    fn grants(&self) -> Option<&Grants> {
        Some(&self.grants)
    }

    fn table(tables: &AclTables) -> &Table<AclId, Self> {
        &tables.roles
    }

    fn table_mut(tables: &mut AclTables) -> &mut Table<AclId, Self> {
        &mut tables.roles
    }
}

impl Command for RoleWrite {
    type Reply = Shown<RoleRow>;
    type Refused = AclRefusal;

    fn run(mut self, change: &mut Change<'_>) -> Result<Shown<RoleRow>, AclRefusal> {
        if self.name.is_empty() {
            return Err(AclRefusal::NoName(AclKind::Role));
        }
        check_name(&self.name, LONGEST).map_err(|flaw| AclRefusal::BadName(AclKind::Role, flaw))?;
        let tables = &change.store.acl;
        let current = replaced::<RoleRow>(tables, &self.target, &self.name)?;
        let policies = tables.resolve_names(&self.grants.policies)?;
        let mut grants = Grants::default();
        let as_given = change.store.rules.acl_grants_as_given;
        self.grants.add_identities(&mut grants, None, as_given)?;
        change.take_indexes(1);
        check_spelling(current.as_ref(), &self.target, &self.name)?;
        grants.policies = change.store.acl.policies_of_role(&policies)?;
        Ok(change.put_acl(RoleRow {
            id: self.target.id_text(),
            name: self.name,
            description: self.description,
            grants,
            create_index: current.map_or(change.index, |row| row.create_index),
            modify_index: change.index,
        }))
    }
}
