//! What links name: policies and roles, by their ids or names (acl.md 5.8 to 5.10, 8.1).

use crate::acl::grants::{Grants, NewAclLink, NewGrants};
use crate::acl::object::AclObject;
use crate::acl::policy::PolicyRow;
use crate::acl::refusal::AclRefusal;
use crate::acl::role::RoleRow;
use crate::acl::{AclId, AclTables};

impl AclTables {
    /// Returns the ids of what links name, each once.
    pub(crate) fn resolve<R: AclObject>(
        &self,
        links: &[NewAclLink],
    ) -> Result<Vec<AclId>, AclRefusal> {
        let mut ids = Vec::new();
        for link in links {
            let row = if link.id.is_empty() {
                self.by_name::<R>(&link.name)
                    .ok_or_else(|| AclRefusal::NoSuchName(R::KIND, link.name.clone()))?
            } else {
                let id = AclId::parse(&link.id)
                    .map_err(|error| AclRefusal::MalformedLink(R::KIND, link.id.clone(), error))?;
                id.and_then(|id| self.by_id::<R>(id))
                    .ok_or_else(|| AclRefusal::NoSuchId(R::KIND, link.id.clone()))?
            };
            push_new(&mut ids, row.id());
        }
        Ok(ids)
    }

    /// Returns the policies of a new role. Names are looked up now, ids only when the role is written.
    pub(crate) fn resolve_names(
        &self,
        links: &[NewAclLink],
    ) -> Result<Vec<NewAclLink>, AclRefusal> {
        let resolved = links.iter().map(|link| {
            if !link.id.is_empty() {
                return Ok(link.clone());
            }
            let row = self.by_name::<PolicyRow>(&link.name);
            let row =
                row.ok_or_else(|| AclRefusal::NoSuchName(PolicyRow::KIND, link.name.clone()))?;
            Ok(NewAclLink {
                id: row.id_text().to_owned(),
                ..NewAclLink::default()
            })
        });
        resolved.collect()
    }

    /// Returns the ids of a new role's policies, as its write into the table finds them.
    pub(crate) fn policies_of_role(&self, links: &[NewAclLink]) -> Result<Vec<AclId>, AclRefusal> {
        let mut ids = Vec::new();
        for link in links {
            let row = self.by_id_text::<PolicyRow>(&link.id)?;
            let row = row.ok_or_else(|| AclRefusal::NoPolicyOfRole(link.id.clone()))?;
            push_new(&mut ids, row.id());
        }
        Ok(ids)
    }

    /// Returns the links of a new token. Whose mistakes are told first depends on the release (acl.md 5.10).
    pub(crate) fn resolve_token(
        &self,
        new: &NewGrants,
        roles_first: bool,
    ) -> Result<Grants, AclRefusal> {
        let roles = || self.resolve::<RoleRow>(&new.roles);
        let early = roles_first.then(roles).transpose()?;
        Ok(Grants {
            policies: self.resolve::<PolicyRow>(&new.policies)?,
            roles: early.map_or_else(roles, Ok)?,
            ..Grants::default()
        })
    }
}

pub(super) fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
