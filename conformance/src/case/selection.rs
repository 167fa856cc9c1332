//! Which cases a run takes.

use crate::case::Case;
use crate::target::site::ToolError;

/// Patterns over case ids. Without any, every case is taken.
///
/// A pattern with `*` (any run of characters, `/` included) or `?` (any one) must match the whole id; any other must occur in it.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    only: Vec<String>,
    skip: Vec<String>,
}

impl Selection {
    /// Every case.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// The cases that match one of the patterns (all, when there is none).
    #[must_use]
    pub fn only<T: Into<String>>(patterns: impl IntoIterator<Item = T>) -> Self {
        Self {
            only: patterns.into_iter().map(Into::into).collect(),
            skip: Vec::new(),
        }
    }

    /// The same selection without the cases that match one of the patterns.
    #[must_use]
    pub fn without<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.skip.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// The selected cases of a list, in its order.
    ///
    /// # Errors
    /// A pattern that no case matches: most likely a misspelled name.
    pub fn of<'c>(&self, cases: &[&'c Case]) -> Result<Vec<&'c Case>, ToolError> {
        for pattern in self.only.iter().chain(&self.skip) {
            if !cases.iter().any(|case| matches(pattern, case.id)) {
                return Err(ToolError(format!(
                    "no case is called `{pattern}`; `proconsul-conformance list` shows all"
                )));
            }
        }
        let takes = |id: &str| {
            (self.only.is_empty() || self.only.iter().any(|pattern| matches(pattern, id)))
                && !self.skip.iter().any(|pattern| matches(pattern, id))
        };
        Ok(cases
            .iter()
            .copied()
            .filter(|case| takes(case.id))
            .collect())
    }
}

fn matches(pattern: &str, id: &str) -> bool {
    if pattern.contains(['*', '?']) {
        glob(pattern.as_bytes(), id.as_bytes())
    } else {
        id.contains(pattern)
    }
}

fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            glob(rest, text)
                || text
                    .split_first()
                    .is_some_and(|(_, tail)| glob(pattern, tail))
        }
        (Some((b'?', rest)), Some((_, tail))) => glob(rest, tail),
        (Some((expected, rest)), Some((byte, tail))) => expected == byte && glob(rest, tail),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(selection: &Selection) -> Result<Vec<&'static str>, ToolError> {
        const CASES: [Case; 3] = [
            Case {
                id: "kv/get/a",
                ..Case::MUST
            },
            Case {
                id: "kv/put/b",
                ..Case::MUST
            },
            Case {
                id: "session/get/c",
                ..Case::MUST
            },
        ];
        let cases: Vec<&'static Case> = const { &CASES }.iter().collect();
        Ok(selection.of(&cases)?.iter().map(|case| case.id).collect())
    }

    #[test]
    fn substrings_and_globs() {
        let ids = |patterns: &[&str]| chosen(&Selection::only(patterns.iter().copied())).unwrap();
        assert_eq!(ids(&[]), ["kv/get/a", "kv/put/b", "session/get/c"]);
        assert_eq!(ids(&["get"]), ["kv/get/a", "session/get/c"]);
        assert_eq!(ids(&["kv/*"]), ["kv/get/a", "kv/put/b"]);
        assert_eq!(ids(&["*/get/?"]), ["kv/get/a", "session/get/c"]);
        assert_eq!(ids(&["put", "session"]), ["kv/put/b", "session/get/c"]);
        let without = Selection::all().without(["kv/*"]);
        assert_eq!(chosen(&without).unwrap(), ["session/get/c"]);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = chosen(&Selection::only(["kv/gte"])).unwrap_err();
        assert!(error.0.contains("no case is called `kv/gte`"), "{error}");
        assert!(chosen(&Selection::only(["get*"])).is_err());
    }
}
