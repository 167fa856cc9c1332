//! Names in configuration files.

/// A name that files may use in an object.
pub struct Known {
    /// The name.
    pub name: String,
    /// The name in the API, in any case; `None` for one that is not sent there.
    pub api_name: Option<String>,
    /// The kind of its value.
    pub value: Names,
}

/// The names in the value of a member.
pub enum Names {
    /// A value, or an object with names of the user.
    Value,
    /// A list of values.
    List,
    /// One object, or a list of one.
    Object(KnownNames),
    /// A list of objects.
    Objects(KnownNames),
    /// An object with names of the user, whose values are objects.
    Named(KnownNames),
}

/// Lists names. A service contains its sidecar, so lists are made where they are needed.
pub type KnownNames = Box<dyn Fn() -> Vec<Known>>;

impl Known {
    /// A member with this name.
    pub fn new(name: impl Into<String>, value: Names) -> Self {
        let name = name.into();
        Self {
            api_name: Some(simple(&name)),
            name,
            value,
        }
    }

    /// The same member, sent to the API under another name, or not at all.
    pub fn sent_as(self, api_name: Option<String>) -> Self {
        Self { api_name, ..self }
    }

    /// Whether this is the member with a name in either spelling.
    pub fn is_named(&self, name: &str) -> bool {
        simple(&self.name) == simple(name)
    }
}

/// Returns a name in lower case without underscores.
pub(super) fn simple(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}
