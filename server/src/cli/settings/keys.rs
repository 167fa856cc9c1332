//! Reading a configuration document by the table of settings.

use crate::cli::document::shape;
use crate::cli::document::tree::Tree;
use crate::cli::resolve::Errors;
use crate::cli::settings::{IGNORED_KEYS, LATER_KEYS, MOOT_KEYS, SETTINGS, SettingField, Settings};
use crate::version::{Behaviour, Version};

/// What a document had besides values that were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remarks {
    /// Keys that Consul knows and proconsul does nothing about.
    pub(crate) ignored: Vec<String>,
    /// Keys that change nothing for clients here.
    pub(crate) moot: Vec<String>,
}

/// Takes all values of a document for a server of this version.
///
/// # Errors
/// Consul's text about all values of honoured keys that have another type, or else about all keys that the version
/// does not know.
pub(crate) fn take_document(
    tree: &Tree,
    version: Version,
    settings: &mut Settings,
    remarks: &mut Remarks,
) -> Result<(), String> {
    let mut reading = Reading {
        version,
        settings,
        remarks,
        misfits: Vec::new(),
        unknown: Vec::new(),
    };
    reading.take_group("", tree);
    let Reading {
        mut misfits,
        mut unknown,
        ..
    } = reading;
    if misfits.is_empty() {
        // Consul names them in any order.
        unknown.sort();
        let mut errors = Errors::default();
        for key in unknown {
            errors.push(format!("invalid config key {key}"));
        }
        return errors.into_result();
    }
    misfits.sort();
    let lines: Vec<String> = misfits.iter().map(|misfit| format!("* {misfit}")).collect();
    Err(format!(
        "{} error(s) decoding:\n\n{}",
        lines.len(),
        lines.join("\n")
    ))
}

/// A document that is being read.
struct Reading<'a> {
    version: Version,
    settings: &'a mut Settings,
    remarks: &'a mut Remarks,
    /// Sentences about values of another type.
    misfits: Vec<String>,
    /// Keys that the version does not know, as they are written.
    unknown: Vec<String>,
}

impl Reading<'_> {
    /// Takes the members of a group, or of the document itself, whose name is empty.
    fn take_group(&mut self, group: &str, tree: &Tree) {
        let members = match tree.unwrapped() {
            Tree::Object(members) => members,
            Tree::Null => return,
            other => {
                let kind = other.go_kind();
                self.misfits
                    .push(format!("'{group}' expected a map, got '{kind}'"));
                return;
            }
        };
        for (name, value) in members {
            // Consul finds keys in any case, and names the unknown as they are written, in the group as it is called.
            let (path, written) = if group.is_empty() {
                (name.to_lowercase(), name.clone())
            } else {
                (
                    format!("{group}.{}", name.to_lowercase()),
                    format!("{group}.{name}"),
                )
            };
            self.take_key(path, written, value);
        }
    }

    fn take_key(&mut self, path: String, written: String, value: &Tree) {
        let is_later = lists(LATER_KEYS, &path) && !self.version.has(Behaviour::CliLaterKeys);
        let found = find(&path);
        match found {
            Found::Nothing => return self.unknown.push(written),
            _ if is_later => return self.unknown.push(written),
            Found::Group => return self.take_group(&path, value),
            Found::Setting(_) | Found::Ignored | Found::Moot => {}
        }
        shape::find_unknown(&path, value, &mut self.unknown);
        match found {
            Found::Setting(field) => {
                field(self.settings).take_tree(&path, value, &mut self.misfits);
            }
            _ if says_nothing(value) => {}
            Found::Ignored => self.remarks.ignored.push(path),
            Found::Moot => self.remarks.moot.push(path),
            Found::Group | Found::Nothing => {}
        }
    }
}

/// Whether a value asks for nothing: it is empty, or switches off what is not there.
fn says_nothing(value: &Tree) -> bool {
    match value {
        Tree::Null | Tree::Bool(false) => true,
        Tree::Text(text) => text.is_empty(),
        Tree::List(items) => items.iter().all(says_nothing),
        Tree::Object(members) => members.values().all(says_nothing),
        Tree::Bool(true) | Tree::Integer(_) | Tree::Float(_) => false,
    }
}

/// What a key is. One that is nothing ends the start, as it does in Consul.
enum Found {
    Setting(SettingField),
    Ignored,
    Moot,
    /// No key, but the group of some.
    Group,
    Nothing,
}

fn find(path: &str) -> Found {
    let below = |key: &str| {
        let rest = key.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let setting = SETTINGS.iter().find(|setting| setting.keys.contains(&path));
    let settings = SETTINGS.iter().flat_map(|setting| setting.keys).copied();
    let others = [IGNORED_KEYS, MOOT_KEYS];
    let mut all = settings.chain(others.into_iter().flat_map(str::split_whitespace));
    match setting {
        Some(setting) => Found::Setting(setting.field),
        None if lists(IGNORED_KEYS, path) => Found::Ignored,
        None if lists(MOOT_KEYS, path) => Found::Moot,
        None if all.any(below) => Found::Group,
        None => Found::Nothing,
    }
}

/// Whether a list has the key.
fn lists(keys: &str, path: &str) -> bool {
    keys.split_whitespace().any(|key| key == path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::document::hcl;

    /// Settings and remarks after one HCL document, or its refusal.
    fn taken(document: &str) -> Result<(Settings, Remarks), String> {
        let tree = hcl::parse(document).expect("the test gives HCL");
        let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
        take_document(&tree, Version::default(), &mut settings, &mut remarks)
            .map(|()| (settings, remarks))
    }

    #[test]
    fn each_key_has_one_place() {
        let settings = SETTINGS.iter().flat_map(|setting| setting.keys).copied();
        let others = [IGNORED_KEYS, MOOT_KEYS];
        let others = others.into_iter().flat_map(str::split_whitespace);
        let mut seen = BTreeSet::new();
        for key in settings.chain(others) {
            assert!(seen.insert(key), "{key} is there twice");
            assert!(!matches!(find(key), Found::Group | Found::Nothing), "{key}");
        }
    }

    #[test]
    fn values_of_groups_and_blocks_reach_their_fields() {
        let document = r#"
            node_name = "a" NODE_ID = "id" limits { kv_max_value_size = 5 } ports = { http = 1, server = 2 }
            http_config { response_headers { A = "x" } block_endpoints = ["/v1/x"] }
            acl { enabled = false default_policy = "deny" } ui_config { enabled = true }
        "#;
        let (settings, remarks) = taken(document).expect("all values fit");
        let expected = Settings {
            acl_default_policy: Some("deny".to_owned()),
            acl_enabled: Some(false),
            block_endpoints: vec!["/v1/x".to_owned()],
            kv_max_value_size: Some(5),
            node_id: Some("id".to_owned()),
            node_name: Some("a".to_owned()),
            ports_http: Some(1),
            ports_server: Some(2),
            response_headers: [("A".to_owned(), "x".to_owned())].into(),
            ui: Some(true),
            ..Settings::default()
        };
        assert_eq!(settings, expected);
        assert_eq!(remarks, Remarks::default());
    }

    #[test]
    fn later_documents_win_and_lists_grow() {
        let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
        for document in [
            r#"node_name = "a" http_config { block_endpoints = ["/a"] response_headers { X = "a" Y = "a" } }"#,
            r#"node_name = "b" http_config { block_endpoints = ["/b"] response_headers { X = "b" } }"#,
        ] {
            let tree = hcl::parse(document).expect("the test gives HCL");
            take_document(&tree, Version::default(), &mut settings, &mut remarks)
                .expect("all values fit");
        }
        assert_eq!(settings.node_name.as_deref(), Some("b"));
        assert_eq!(settings.block_endpoints, ["/a", "/b"]);
        assert_eq!(
            format!("{:?}", settings.response_headers),
            r#"{"X": "b", "Y": "a"}"#
        );
    }

    #[test]
    fn what_has_no_effect_is_named_unless_it_says_nothing() {
        let document = r#"
            data_dir = 5 performance { raft_multiplier = 1 } ports { grpc = 1 } encrypt = "x" dns_config { zork = 1 }
            connect = { enabled = false } retry_join = [] domain = "" acl { tokens { agent = "x" } }
        "#;
        let (_, remarks) = taken(document).expect("values of keys without effect may be anything");
        assert_eq!(remarks.ignored, ["dns_config", "encrypt"]);
        assert_eq!(remarks.moot, ["acl.tokens", "data_dir", "performance"]);
    }

    /// Observed on 1.8.7; it names them in any order.
    #[test]
    fn keys_that_consul_does_not_know_are_refused() {
        let rows = [
            (
                "ZORK = 1",
                "1 error occurred:\n\t* invalid config key ZORK\n\n",
            ),
            (
                "Limits { Zork = 1 } kv_max_value_size = 7",
                "2 errors occurred:\n\t* invalid config key kv_max_value_size\n\t* invalid config key limits.Zork\n\n",
            ),
            (
                "acl { tokens { foo = \"x\" } }",
                "1 error occurred:\n\t* invalid config key acl.tokens.foo\n\n",
            ),
            (
                "zork = 1 node_name = 5",
                "1 error(s) decoding:\n\n* 'node_name' expected type 'string', got unconvertible type 'int'",
            ),
        ];
        for (document, expected) in rows {
            let refused = taken(document).map(|_| ());
            assert_eq!(refused, Err(expected.to_owned()), "{document}");
        }
    }

    /// Observed on 1.8.7.
    #[test]
    fn keys_that_came_later_are_unknown_to_1_8_7() {
        let tree = hcl::parse("tls {} limits { request_limits {} rpc_rate = 1 }");
        let tree = tree.expect("the test gives HCL");
        let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
        let old = Version::new(1, 8, 7);
        let refused = take_document(&tree, old, &mut settings, &mut remarks);
        let expected = "2 errors occurred:\n\t* invalid config key limits.request_limits\n\t* invalid config key tls\n\n";
        assert_eq!(refused, Err(expected.to_owned()));
        for later in LATER_KEYS.split_whitespace() {
            assert!(!matches!(find(later), Found::Nothing), "{later} has a row");
        }
    }

    #[test]
    fn all_misfits_are_named_in_order() {
        let refused = taken(r#"server = "yes" node_name = 5 ports = 7"#).map(|_| ());
        let expected = "3 error(s) decoding:\n\n* 'node_name' expected type 'string', got unconvertible type 'int'\n\
                        * 'ports' expected a map, got 'int'\n\
                        * 'server' expected type 'bool', got unconvertible type 'string'";
        assert_eq!(refused, Err(expected.to_owned()));
    }
}
