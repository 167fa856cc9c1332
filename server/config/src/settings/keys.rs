//! Reads configuration documents by the table of settings.

use crate::document::shape;
use crate::document::tree::Tree;
use crate::resolve::Errors;
use crate::settings::{IGNORED_KEYS, LATER_KEYS, MOOT_KEYS, SETTINGS, SettingField, Settings};
use proconsul_version::Version;

/// The keys of a document that have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Keys of Consul that are not emulated.
    pub ignored: Vec<String>,
    /// Keys that would change nothing for clients.
    pub moot: Vec<String>,
}

/// Applies a document to the settings of a server of this version.
///
/// # Errors
/// Consul's text about all values of the wrong type, or else about all unknown keys.
pub fn take_document(
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
        // Consul lists them in random order.
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

/// The state of reading a document.
struct Reading<'a> {
    version: Version,
    settings: &'a mut Settings,
    remarks: &'a mut Remarks,
    /// Texts about values of the wrong type.
    misfits: Vec<String>,
    /// The keys that the version does not know, as written.
    unknown: Vec<String>,
}

impl Reading<'_> {
    /// Reads the members of a group, or of the document itself, whose name is empty.
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
            // Consul ignores the case of keys. Its errors name a key as written, but its group in lower case.
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
        let is_later = LATER_KEYS
            .iter()
            .any(|(behaviour, keys)| !self.version.has(*behaviour) && lists(keys, &path));
        let found = find(&path);
        match found {
            KeyKind::Unknown => return self.unknown.push(written),
            _ if is_later => return self.unknown.push(written),
            KeyKind::Group => return self.take_group(&path, value),
            KeyKind::Setting(_) | KeyKind::Ignored | KeyKind::Moot => {}
        }
        shape::find_unknown(&path, value, &mut self.unknown);
        match found {
            KeyKind::Setting(field) => {
                field(self.settings).take_tree(&path, value, &mut self.misfits);
            }
            _ if is_without_effect(value) => {}
            KeyKind::Ignored => self.remarks.ignored.push(path),
            KeyKind::Moot => self.remarks.moot.push(path),
            KeyKind::Group | KeyKind::Unknown => {}
        }
    }
}

/// Whether a value has no effect in Consul either: it is empty or false.
fn is_without_effect(value: &Tree) -> bool {
    match value {
        Tree::Null | Tree::Bool(false) => true,
        Tree::Text(text) => text.is_empty(),
        Tree::List(items) => items.iter().all(is_without_effect),
        Tree::Object(members) => members.values().all(is_without_effect),
        Tree::Bool(true) | Tree::Integer(_) | Tree::Float(_) => false,
    }
}

/// The kind of a key. Unknown keys end the start, as in Consul.
enum KeyKind {
    Setting(SettingField),
    Ignored,
    Moot,
    /// A group of keys.
    Group,
    Unknown,
}

fn find(path: &str) -> KeyKind {
    let below = |key: &str| {
        let rest = key.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let setting = SETTINGS.iter().find(|setting| setting.keys.contains(&path));
    let settings = SETTINGS.iter().flat_map(|setting| setting.keys).copied();
    let others = [IGNORED_KEYS, MOOT_KEYS];
    let mut all = settings.chain(others.into_iter().flat_map(str::split_whitespace));
    match setting {
        Some(setting) => KeyKind::Setting(setting.field),
        None if lists(IGNORED_KEYS, path) => KeyKind::Ignored,
        None if lists(MOOT_KEYS, path) => KeyKind::Moot,
        None if all.any(below) => KeyKind::Group,
        None => KeyKind::Unknown,
    }
}

/// Whether a list contains a key.
fn lists(keys: &str, path: &str) -> bool {
    keys.split_whitespace().any(|key| key == path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::document::hcl;

    /// Returns the settings and remarks of an HCL document, or its error.
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
            assert!(
                !matches!(find(key), KeyKind::Group | KeyKind::Unknown),
                "{key}"
            );
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
            ui_config_enabled: Some(true),
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
    fn what_has_no_effect_is_named_unless_it_is_without_effect() {
        let document = r#"
            data_dir = "d" performance { raft_multiplier = 1 } ports { grpc = 1 } encrypt = "x" autopilot { zork = 1 }
            connect = { enabled = false } retry_join = [] domain = "" acl { tokens { agent = "x" } }
        "#;
        let (_, remarks) = taken(document).expect("values of keys without effect may be anything");
        assert_eq!(remarks.ignored, ["autopilot", "encrypt"]);
        assert_eq!(remarks.moot, ["performance"]);
    }

    /// Observed on 1.8.7, which lists them in random order.
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
        for later in LATER_KEYS
            .iter()
            .flat_map(|(_, keys)| keys.split_whitespace())
        {
            assert!(
                !matches!(find(later), KeyKind::Unknown),
                "{later} has a row"
            );
        }
    }

    #[test]
    fn keys_of_consul_2_are_unknown_before() {
        let tree = hcl::parse(
            r#"http_config { idle_timeout = "2m" } tls { https { tls_ecdh_curves = "X25519" } }"#,
        );
        let tree = tree.expect("the test gives HCL");
        let taken = |version| {
            let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
            take_document(&tree, version, &mut settings, &mut remarks).map(|()| remarks.ignored)
        };
        let refused = |keys: &[&str]| {
            let lines = keys
                .iter()
                .map(|key| format!("\t* invalid config key {key}\n"));
            let lines: String = lines.collect();
            let plural = if keys.len() == 1 { "" } else { "s" };
            Err(format!("{} error{plural} occurred:\n{lines}\n", keys.len()))
        };
        let both = ["http_config.idle_timeout", "tls.https.tls_ecdh_curves"];
        assert_eq!(taken(Version::V1_22_0), refused(&both));
        assert_eq!(taken(Version::new(1, 22, 4)), refused(&both[1..]));
        assert_eq!(taken(Version::V2_1_0), Ok(both.map(str::to_owned).to_vec()));
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
