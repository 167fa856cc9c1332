//! Auth methods and binding rules, which are kept and shown (acl.md 8.4).

use std::convert::Infallible;
use std::sync::Arc;

use super::grants::check_name;
use super::object::{AclObject, Shown};
use super::policy::AclTarget;
use super::refusal::AclRefusal;
use super::{AclId, AclKind, AclTables, Table};
use crate::command::Command;
use crate::command::effects::Touched;
use crate::read::{Answer, Read, ReadResult, Subject, Watch};
use crate::{Change, Index, Store};

/// An auth method as a client sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewAuthMethod {
    /// The name.
    pub name: String,
    /// The type, such as `jwt`.
    pub kind: String,
    /// The name for people.
    pub display_name: String,
    /// The description.
    pub description: String,
    /// The longest lifetime of a token in nanoseconds; 0 for no limit.
    pub max_token_ttl_ns: i64,
    /// `local`, `global`, or empty for `local`.
    pub token_locality: String,
    /// The template of the names of logins' tokens; empty for [`NewAuthMethod::TOKEN_NAME`].
    #[serde(default)]
    pub token_name_format: String,
    /// The settings of the type as a JSON object.
    #[serde(deserialize_with = "crate::image::value::config")]
    pub config: Option<String>,
}

impl NewAuthMethod {
    /// The names of logins' tokens where a method says nothing (2.1.md 3.r2).
    pub const TOKEN_NAME: &str = "${auth_method_type}-${auth_method_name}";
}

/// A stored auth method.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AuthMethodRow {
    /// The method.
    pub method: NewAuthMethod,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// Creates an auth method, or replaces the one of that name.
#[derive(Clone, Debug)]
pub struct AuthMethodWrite {
    /// The method.
    pub method: NewAuthMethod,
    /// Why it is invalid, from the caller that knows the types.
    pub flaw: Option<String>,
}

/// Deletes the auth method with this name, with its binding rules and the tokens of its logins. Returns whether there
/// was one.
#[derive(Clone, Debug)]
pub struct AuthMethodDelete(pub String);

/// Reads all auth methods, in the order of their names.
#[derive(Clone, Debug)]
pub struct AuthMethodList;

/// Reads the auth method with this name, in any case.
#[derive(Clone, Debug)]
pub struct AuthMethodInfo(pub String);

/// A binding rule as a client sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewBindingRule {
    /// The description.
    pub description: String,
    /// The name of the auth method.
    pub auth_method: String,
    /// The expression that chooses logins.
    pub selector: String,
    /// `service`, `role`, and in later releases others.
    pub bind_type: String,
    /// The name of what is granted.
    pub bind_name: String,
}

/// A stored binding rule.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct BindingRuleRow {
    /// The id, as the last write spelled it.
    pub id: String,
    /// The rule.
    pub rule: NewBindingRule,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// Creates or replaces a binding rule.
#[derive(Clone, Debug)]
pub struct BindingRuleWrite {
    /// The rule to create or replace.
    pub target: AclTarget,
    /// The rule.
    pub rule: NewBindingRule,
    /// Why it is invalid, from the caller that knows its language.
    pub flaw: Option<String>,
}

/// The longest name of an auth method.
const LONGEST: usize = 128;

impl AclObject for BindingRuleRow {
    const KIND: AclKind = AclKind::BindingRule;

    fn id_text(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        ""
    }

    fn indexes(&self) -> (Index, Index) {
        (self.create_index, self.modify_index)
    }

    fn table(tables: &AclTables) -> &Table<AclId, Self> {
        &tables.binding_rules
    }

    fn table_mut(tables: &mut AclTables) -> &mut Table<AclId, Self> {
        &mut tables.binding_rules
    }
}

impl Store {
    /// Returns the auth method with this name, in any case.
    #[must_use]
    pub fn auth_method(&self, name: &str) -> Option<&Arc<AuthMethodRow>> {
        self.acl.methods.rows.get(&name.to_lowercase())
    }

    /// Answers a read of auth methods.
    fn auth_method_answer<T>(&self, rows: T) -> Answer<T> {
        let reads = vec![Watch::Acl(AclKind::AuthMethod)];
        Answer::new(self.acl.methods.newest, rows, reads)
    }
}

impl Read for AuthMethodList {
    type Rows = Vec<Arc<AuthMethodRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all auth methods")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = store.acl.methods.rows.values().cloned().collect();
        Ok(store.auth_method_answer(rows))
    }
}

impl Read for AuthMethodInfo {
    type Rows = Option<Arc<AuthMethodRow>>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("auth method {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        Ok(store.auth_method_answer(store.auth_method(&self.0).cloned()))
    }
}

impl Command for AuthMethodWrite {
    type Reply = Arc<AuthMethodRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Arc<AuthMethodRow>, AclRefusal> {
        let method = self.method;
        if method.name.is_empty() {
            return Err(AclRefusal::NoName(AclKind::AuthMethod));
        }
        check_name(&method.name, LONGEST)
            .map_err(|flaw| AclRefusal::BadName(AclKind::AuthMethod, flaw))?;
        let current = change.store.auth_method(&method.name);
        if current.is_some_and(|current| current.method.kind != method.kind) {
            return Err(AclRefusal::Immutable(AclKind::AuthMethod, "Type"));
        }
        let created = current.map(|row| row.create_index);
        if let Some(flaw) = self.flaw {
            return Err(AclRefusal::Method(flaw));
        }
        change.take_indexes(1);
        let name = method.name.to_lowercase();
        let row = Arc::new(AuthMethodRow {
            method,
            create_index: created.unwrap_or(change.index),
            modify_index: change.index,
        });
        let methods = &mut change.store.acl.methods;
        methods.rows.insert(name, Arc::clone(&row));
        change.auth_methods_changed();
        Ok(row)
    }
}

impl Command for AuthMethodDelete {
    type Reply = bool;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<bool, AclRefusal> {
        let name = self.0.to_lowercase();
        let tables = &change.store.acl;
        if !tables.methods.rows.contains_key(&name) {
            return Ok(false);
        }
        let is_of = |method: &str| method.to_lowercase() == name;
        let rules = tables.binding_rules.rows.iter();
        let rules = rules.filter(|(_, row)| is_of(&row.rule.auth_method));
        let rules: Vec<AclId> = rules.map(|(id, _)| *id).collect();
        let tokens = tables.tokens.rows.iter();
        let tokens = tokens.filter(|(_, row)| is_of(&row.auth_method));
        let tokens: Vec<AclId> = tokens.map(|(id, _)| *id).collect();
        change.take_indexes(1);
        change.store.acl.methods.rows.remove(&name);
        change.auth_methods_changed();
        for id in rules {
            change.store.acl.binding_rules.rows.remove(&id);
            change.acl_changed::<BindingRuleRow>(id);
        }
        for id in tokens {
            change.store.acl.remove_token(id);
            change.acl_changed::<super::token::TokenRow>(id);
        }
        Ok(true)
    }
}

impl Change<'_> {
    fn auth_methods_changed(&mut self) {
        self.store.acl.methods.newest = self.index;
        let touched = Touched::AclTable(AclKind::AuthMethod);
        self.effects.touched.push(touched);
    }
}

impl Command for BindingRuleWrite {
    type Reply = Shown<BindingRuleRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<BindingRuleRow>, AclRefusal> {
        let Self {
            target,
            mut rule,
            flaw,
        } = self;
        let store = &*change.store;
        let current = match &target {
            AclTarget::New(_) => None,
            AclTarget::Existing(id) => {
                let kind = AclKind::BindingRule;
                let parsed = AclId::parse(id).map_err(|_| AclRefusal::MalformedTarget(kind))?;
                let row = parsed.and_then(|id| store.acl.by_id::<BindingRuleRow>(id));
                Some(row.ok_or_else(|| AclRefusal::NoTarget(kind, id.clone()))?)
            }
        };
        if let Some(current) = current {
            if rule.auth_method.is_empty() {
                rule.auth_method.clone_from(&current.rule.auth_method);
            } else if rule.auth_method != current.rule.auth_method {
                return Err(AclRefusal::Immutable(AclKind::BindingRule, "AuthMethod"));
            }
        }
        let created = current.map(|row| row.create_index);
        if rule.auth_method.is_empty() {
            let sentence = "Invalid Binding Rule: no AuthMethod is set";
            return Err(AclRefusal::Method(sentence.to_owned()));
        }
        if store.auth_method(&rule.auth_method).is_none() {
            return Err(AclRefusal::NoAuthMethod(rule.auth_method));
        }
        if let Some(flaw) = flaw {
            return Err(AclRefusal::Method(flaw));
        }
        change.take_indexes(1);
        Ok(change.put_acl(BindingRuleRow {
            id: target.id_text(),
            rule,
            create_index: created.unwrap_or(change.index),
            modify_index: change.index,
        }))
    }
}
