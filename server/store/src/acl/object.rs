//! What the kinds of objects with an id share: their reads and their deletion.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use super::grants::Grants;
use super::refusal::AclRefusal;
use super::{AclId, AclKind, AclTables, Table};
use crate::command::Command;
use crate::command::effects::Touched;
use crate::read::{Answer, News, Read, ReadResult, Subject, Watch};
use crate::{Change, Index, Store};

/// A row of a kind whose objects have ids.
pub trait AclObject: Clone + Sized {
    /// The kind.
    const KIND: AclKind;

    /// Returns the id as it is shown.
    fn id_text(&self) -> &str;

    /// Returns the name; empty for kinds without names.
    fn name(&self) -> &str;

    /// Returns the indexes of creation and of the last change.
    fn indexes(&self) -> (Index, Index);

    /// Returns what the object links to.
    fn grants(&self) -> Option<&Grants> {
        None
    }

    /// Whether it is kept only until it is removed, and shown no longer.
    fn is_over(&self) -> bool {
        false
    }

    /// Returns the table of the kind.
    #[doc(hidden)]
    fn table(tables: &AclTables) -> &Table<AclId, Self>;

    /// Returns the table of the kind.
    #[doc(hidden)]
    fn table_mut(tables: &mut AclTables) -> &mut Table<AclId, Self>;

    /// Returns the id. A row's id was parsed when it was written.
    fn id(&self) -> AclId {
        let id = AclId::parse(self.id_text()).ok().flatten();
        id.unwrap_or(AclId::from_bytes([0; 16]))
    }
}

/// The id and the name of an object that another one links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AclLink {
    /// The id.
    pub id: String,
    /// The name at the moment of the read.
    pub name: String,
}

/// A row with the names of what it links to. Links to deleted objects are left out.
#[derive(Clone, Debug)]
pub struct Shown<R> {
    /// The row.
    pub row: Arc<R>,
    /// The policies.
    pub policies: Vec<AclLink>,
    /// The roles.
    pub roles: Vec<AclLink>,
}

/// Reads all objects of a kind, in the order of their ids. Tokens are in the order of their secrets.
#[derive(Clone, Debug)]
pub struct AclList<R>(PhantomData<R>);

/// Reads the object with this id, as the client spelled it.
#[derive(Clone, Debug)]
pub struct AclInfo<R>(String, PhantomData<R>);

/// Reads the object with this name, in any case.
#[derive(Clone, Debug)]
pub struct AclNamed<R>(String, PhantomData<R>);

/// Deletes the policy, role or binding rule with this id, as the client spelled it. Returns whether there was one.
#[derive(Clone, Debug)]
pub struct AclDelete<R>(String, PhantomData<R>);

impl<R> Default for AclList<R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

macro_rules! of_text {
    ($($name:ident)*) => {$(
        impl<R> $name<R> {
            /// Creates it.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into(), PhantomData)
            }
        }
    )*};
}

of_text! { AclInfo AclNamed AclDelete }

impl AclTables {
    /// Returns the object with this id, if there is one.
    pub(crate) fn by_id<R: AclObject>(&self, id: AclId) -> Option<&Arc<R>> {
        R::table(self).rows.get(&id)
    }

    /// Returns the object that a text names by its id.
    pub(crate) fn by_id_text<R: AclObject>(
        &self,
        text: &str,
    ) -> Result<Option<&Arc<R>>, AclRefusal> {
        let id = AclId::parse(text).map_err(|error| AclRefusal::MalformedId(R::KIND, error))?;
        Ok(id.and_then(|id| self.by_id(id)))
    }

    /// Returns the object with this name, in any case.
    pub(crate) fn by_name<R: AclObject>(&self, name: &str) -> Option<&Arc<R>> {
        let name = name.to_lowercase();
        let mut rows = R::table(self).rows.values();
        rows.find(|row| row.name().to_lowercase() == name)
    }

    /// Returns a row with the names of what it links to.
    pub(crate) fn shown<R: AclObject>(&self, row: &Arc<R>) -> Shown<R> {
        let grants = row.grants();
        let policies = grants.map(|grants| grants.policies.as_slice());
        let roles = grants.map(|grants| grants.roles.as_slice());
        Shown {
            row: Arc::clone(row),
            policies: links(&self.policies, policies.unwrap_or_default()),
            roles: links(&self.roles, roles.unwrap_or_default()),
        }
    }
}

fn links<R: AclObject>(table: &Table<AclId, R>, ids: &[AclId]) -> Vec<AclLink> {
    let rows = ids.iter().filter_map(|id| table.rows.get(id));
    let link = |row: &Arc<R>| AclLink {
        id: row.id_text().to_owned(),
        name: row.name().to_owned(),
    };
    rows.map(link).collect()
}

impl Store {
    /// Answers a read of at most one object. A missing one is waited for with its table, or by itself where such waits
    /// go on through other writes.
    pub(crate) fn acl_answer<R: AclObject>(
        &self,
        id: Option<AclId>,
        row: Option<&Arc<R>>,
    ) -> Answer<Option<Shown<R>>> {
        let tables = &self.acl;
        let found = row.map(|row| tables.shown(row));
        let id = row.map(|row| row.id()).or(id);
        let waits = row.is_none() && self.rules.missing_keeps_blocking;
        let watch = match id {
            Some(id) if row.is_some() || waits => Watch::AclObject(R::KIND, id),
            _ => Watch::Acl(R::KIND),
        };
        let mut answer = Answer::new(R::table(tables).newest, found, vec![watch]);
        if waits {
            answer.news = News::Existence;
        }
        answer
    }
}

impl<R: AclObject> Read for AclList<R> {
    type Rows = Vec<Shown<R>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("all {}s", R::KIND.name()))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let table = R::table(&store.acl);
        let rows = table.rows.values().filter(|row| !row.is_over());
        let rows = rows.map(|row| store.acl.shown(row)).collect();
        Ok(Answer::new(table.newest, rows, vec![Watch::Acl(R::KIND)]))
    }
}

impl<R: AclObject> Read for AclInfo<R> {
    type Rows = Option<Shown<R>>;
    type Refused = AclRefusal;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("{} {}", R::KIND.name(), self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let row = store.acl.by_id_text::<R>(&self.0)?;
        let id = AclId::parse(&self.0).ok().flatten();
        Ok(store.acl_answer(id, row))
    }
}

impl<R: AclObject> Read for AclNamed<R> {
    type Rows = Option<Shown<R>>;
    type Refused = AclRefusal;

    fn subject(&self) -> Subject {
        Subject::other(format!("{} {:?}", R::KIND.name(), self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        Ok(store.acl_answer(None, store.acl.by_name::<R>(&self.0)))
    }
}

impl<R: AclObject> Command for AclDelete<R> {
    type Reply = bool;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<bool, AclRefusal> {
        let Some(row) = change.store.acl.by_id_text::<R>(&self.0)? else {
            return Ok(false);
        };
        if R::KIND == AclKind::Policy && row.id().is_builtin_policy() {
            return Err(AclRefusal::BuiltinDeleted(row.name().to_owned()));
        }
        let id = row.id();
        change.take_indexes(1);
        R::table_mut(&mut change.store.acl).rows.remove(&id);
        change.acl_changed::<R>(id);
        Ok(true)
    }
}

impl Change<'_> {
    /// Writes a row at the index of this command.
    pub(crate) fn put_acl<R: AclObject>(&mut self, row: R) -> Shown<R> {
        let (id, row) = (row.id(), Arc::new(row));
        let table = R::table_mut(&mut self.store.acl);
        table.rows.insert(id, Arc::clone(&row));
        self.acl_changed::<R>(id);
        self.store.acl.shown(&row)
    }

    /// Moves the index of a table, and notes which row it was.
    pub(crate) fn acl_changed<R: AclObject>(&mut self, id: AclId) {
        R::table_mut(&mut self.store.acl).newest = self.index;
        self.effects.touched.push(Touched::AclObject(R::KIND, id));
    }
}

impl AclKind {
    /// Returns the name in Consul's texts, such as `binding rule`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Role => "role",
            Self::Token => "token",
            Self::AuthMethod => "auth method",
            Self::BindingRule => "binding rule",
        }
    }
}
