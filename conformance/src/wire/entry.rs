//! One KV entry as Consul prints it, with assertions on its fields.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::runner::verdict::fail;

/// One KV entry of an answer. Its fields are as they came; a missing `Session` means that nobody holds the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `LockIndex`.
    pub lock_index: u64,
    /// `Key`.
    pub key: String,
    /// `Flags`, a full `u64`.
    pub flags: u64,
    /// `Value`, decoded; `None` for JSON null.
    pub value: Option<Vec<u8>>,
    /// `Session`; `None` when the field is absent.
    pub session: Option<String>,
    /// `CreateIndex`.
    pub create_index: u64,
    /// `ModifyIndex`.
    pub modify_index: u64,
}

impl Entry {
    /// Reads one JSON object.
    ///
    /// # Errors
    /// Which field is missing or of the wrong kind.
    pub fn read(json: &Value) -> Result<Self, String> {
        let number = |name: &str| {
            json.get(name)
                .and_then(Value::as_u64)
                .ok_or_else(|| format!("an entry without a number `{name}`: {json}"))
        };
        let value = match json.get("Value") {
            Some(Value::Null) => None,
            Some(Value::String(text)) => Some(
                STANDARD
                    .decode(text)
                    .map_err(|error| format!("Value {text:?} is not base64: {error}"))?,
            ),
            _ => return Err(format!("an entry without `Value`: {json}")),
        };
        let session = match json.get("Session") {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(other) => return Err(format!("`Session` is not text: {other}")),
        };
        let key = json
            .get("Key")
            .and_then(Value::as_str)
            .ok_or_else(|| format!("an entry without `Key`: {json}"))?;
        Ok(Self {
            lock_index: number("LockIndex")?,
            key: key.to_owned(),
            flags: number("Flags")?,
            value,
            session,
            create_index: number("CreateIndex")?,
            modify_index: number("ModifyIndex")?,
        })
    }

    #[track_caller]
    fn field(self, name: &str, right: bool, expected: &str) -> Self {
        if !right {
            fail(format!(
                "expected {name} {expected}, but the entry is {self:?}"
            ));
        }
        self
    }

    /// The value is exactly this (for an empty one: [`Self::value_is_null`]).
    #[track_caller]
    pub fn value_is(self, expected: impl AsRef<[u8]>) -> Self {
        let expected = expected.as_ref();
        let right = self.value.as_deref() == Some(expected);
        self.field(
            "Value",
            right,
            &format!("{:?}", String::from_utf8_lossy(expected)),
        )
    }

    /// The value is JSON null.
    #[track_caller]
    pub fn value_is_null(self) -> Self {
        let right = self.value.is_none();
        self.field("Value", right, "null")
    }

    /// The flags are exactly these.
    #[track_caller]
    pub fn flags_is(self, expected: u64) -> Self {
        let right = self.flags == expected;
        self.field("Flags", right, &expected.to_string())
    }

    /// The lock index is exactly this.
    #[track_caller]
    pub fn lock_index_is(self, expected: u64) -> Self {
        let right = self.lock_index == expected;
        self.field("LockIndex", right, &expected.to_string())
    }

    /// The key is held by this session, in this spelling.
    #[track_caller]
    pub fn session_is(self, expected: &str) -> Self {
        let right = self.session.as_deref() == Some(expected);
        self.field("Session", right, expected)
    }

    /// Nobody holds the key: the field is absent.
    #[track_caller]
    pub fn is_unlocked(self) -> Self {
        let right = self.session.is_none();
        self.field("Session", right, "absent")
    }

    /// The key was never changed since it was created.
    #[track_caller]
    pub fn is_as_created(self) -> Self {
        let right = self.create_index == self.modify_index;
        self.field("ModifyIndex", right, "equal to CreateIndex")
    }

    /// Nothing at all has changed since `earlier`.
    #[track_caller]
    pub fn is_unchanged_since(self, earlier: &Self) -> Self {
        let right = self == *earlier;
        self.field("nothing", right, &format!("changed since {earlier:?}"))
    }

    /// The entry is still the one of `earlier` (same `CreateIndex`), with a greater `ModifyIndex`.
    #[track_caller]
    pub fn is_modified_since(self, earlier: &Self) -> Self {
        let right =
            self.create_index == earlier.create_index && self.modify_index > earlier.modify_index;
        self.field("a greater ModifyIndex", right, &format!("than {earlier:?}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_flags_beyond_i64_and_null_values() {
        let entry = Entry::read(&json!({
            "LockIndex": 1, "Key": "a", "Flags": u64::MAX, "Value": null,
            "Session": "s", "CreateIndex": 3, "ModifyIndex": 4
        }))
        .expect("a whole entry");
        assert_eq!(entry.flags, u64::MAX);
        assert_eq!(entry.value, None);
        assert_eq!(entry.session.as_deref(), Some("s"));
    }

    #[test]
    fn says_what_is_missing() {
        let error = Entry::read(&json!({"LockIndex": 1, "Key": "a", "Flags": 0})).unwrap_err();
        assert!(error.contains("Value"), "{error}");
    }
}
