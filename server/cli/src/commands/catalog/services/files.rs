//! The services of configuration files, in the form of the HTTP API.

use serde_json::{Map, Value};

use crate::output;
use proconsul_config::document::definitions;
use proconsul_config::document::shape;
use proconsul_config::document::sources::{self, ConfigSource};
use proconsul_config::document::tree::Tree;
use proconsul_config::resolve::Errors;
use proconsul_config::schema::names::{Known, Names};
use proconsul_config::settings::Settings;
use proconsul_config::settings::keys::{self, Remarks};
use proconsul_version::Version;

/// A service of a configuration file.
pub(super) struct Service {
    pub(super) id: String,
    pub(super) name: String,
    /// The body of its registration.
    pub(super) body: String,
}

/// Reads files and directories. In each file `services` comes before `service`, as in Consul's command.
///
/// # Errors
/// Consul's text about the first file that cannot be read or parsed, or about all invalid durations.
pub(super) fn read(paths: &[String]) -> Result<Vec<Service>, String> {
    let found = sources::find(paths, None, None)?;
    for file in &found.skipped {
        output::err(&format!(
            "skipping file {file}, extension must be .hcl or .json, or config format must be set\n"
        ));
    }
    let mut services = Vec::new();
    let mut trees = Vec::new();
    for source in &found.sources {
        let tree = source.parse()?;
        services.extend(of_source(source, &tree)?);
        trees.push(tree);
    }
    // All files are parsed before their values are checked.
    let mut errors = Errors::default();
    for tree in trees.iter().flat_map(services_of) {
        if let Err(error) = definitions::service(tree) {
            errors.push(error);
        }
    }
    errors.into_result()?;
    Ok(services)
}

fn of_source(source: &ConfigSource, tree: &Tree) -> Result<Vec<Service>, String> {
    let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
    keys::take_document(tree, Version::default(), &mut settings, &mut remarks)
        .map_err(|errors| source.failed(&errors))?;
    let mut services = Vec::new();
    for tree in services_of(tree) {
        let body = members(tree, &shape::service());
        let text = |field: &str| {
            body.get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        services.push(Service {
            id: text("id"),
            name: text("name"),
            body: Value::Object(body.clone()).to_string(),
        });
    }
    Ok(services)
}

/// Returns the services of a document.
fn services_of(tree: &Tree) -> Vec<&Tree> {
    let Tree::Object(document) = tree.unwrapped() else {
        return Vec::new();
    };
    let field = |wanted: &str| {
        document
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let list = field("services").map_or(&[][..], |(_, tree)| tree.items());
    let one = field("service").map(|(_, tree)| tree);
    list.iter().chain(one).collect()
}

/// Returns the members of an object in the form of the API: names without underscores, in lower case.
fn members(tree: &Tree, known: &[Known]) -> Map<String, Value> {
    let mut members = Map::new();
    let Tree::Object(object) = tree.unwrapped() else {
        return members;
    };
    for (name, tree) in object {
        let Some(known) = known.iter().find(|known| known.is_named(name)) else {
            continue;
        };
        let Some(api_name) = &known.api_name else {
            continue;
        };
        let value = match &known.value {
            Names::Object(known) => members_of(tree, &known()),
            Names::Objects(known) => {
                let each = tree.items().iter().map(|tree| members_of(tree, &known()));
                each.collect()
            }
            Names::Named(known) => match tree.unwrapped() {
                Tree::Object(object) => {
                    let each = object.iter();
                    let each =
                        each.map(|(label, tree)| (label.clone(), members_of(tree, &known())));
                    Value::Object(each.collect())
                }
                _ => Value::Null,
            },
            Names::List => tree.items().iter().map(Tree::to_json).collect(),
            Names::Value => tree.unwrapped().to_json(),
        };
        members.insert(api_name.clone(), value);
    }
    members
}

fn members_of(tree: &Tree, known: &[Known]) -> Value {
    members(tree, known).into()
}
