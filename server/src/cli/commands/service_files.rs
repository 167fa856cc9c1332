//! The services that configuration files define, as the HTTP API takes them.

use serde_json::{Map, Value};

use crate::cli::definitions;
use crate::cli::keys::{self, Remarks};
use crate::cli::output;
use crate::cli::resolve::Errors;
use crate::cli::settings::Settings;
use crate::cli::sources::{self, Source};
use crate::cli::tree::Tree;
use crate::version::Version;

/// A service of a file.
pub(super) struct Service {
    pub(super) id: String,
    pub(super) name: String,
    /// What registers it.
    pub(super) body: String,
}

/// A field of a file, by its name in lower case without underscores, and what it is.
type Field = (&'static str, Shape);

/// What a field holds, and with it, where a name is one of Consul's and where one of the user's.
#[derive(Clone, Copy)]
enum Shape {
    /// A value.
    Plain,
    /// The id of a check, of whose two names the API knows only the other.
    CheckId,
    /// Values.
    List,
    /// An object of the user's names.
    Labels,
    /// Objects of these fields, by the user's names.
    Labelled(&'static [Field]),
    /// An object of these fields.
    Members(&'static [Field]),
    /// A list of such.
    Each(&'static [Field]),
    /// A service beside the service.
    Sidecar,
}

use Shape::{CheckId, Each, Labelled, Labels, List, Members, Plain, Sidecar};

const SERVICE: &[Field] = &[
    ("id", Plain),
    ("name", Plain),
    ("kind", Plain),
    ("tags", List),
    ("address", Plain),
    ("port", Plain),
    ("meta", Labels),
    (
        "taggedaddresses",
        Labelled(&[("address", Plain), ("port", Plain)]),
    ),
    (
        "weights",
        Members(&[("passing", Plain), ("warning", Plain)]),
    ),
    ("enabletagoverride", Plain),
    ("token", Plain),
    ("check", Members(CHECK)),
    ("checks", Each(CHECK)),
    ("proxy", Members(PROXY)),
    (
        "connect",
        Members(&[("native", Plain), ("sidecarservice", Sidecar)]),
    ),
];

const CHECK: &[Field] = &[
    ("id", CheckId),
    ("checkid", Plain),
    ("name", Plain),
    ("notes", Plain),
    ("status", Plain),
    ("serviceid", Plain),
    ("token", Plain),
    ("args", List),
    ("scriptargs", List),
    ("http", Plain),
    ("header", Labels),
    ("method", Plain),
    ("body", Plain),
    ("tcp", Plain),
    ("udp", Plain),
    ("interval", Plain),
    ("timeout", Plain),
    ("ttl", Plain),
    ("shell", Plain),
    ("dockercontainerid", Plain),
    ("aliasnode", Plain),
    ("aliasservice", Plain),
    ("grpc", Plain),
    ("grpcusetls", Plain),
    ("h2ping", Plain),
    ("h2pingusetls", Plain),
    ("osservice", Plain),
    ("tlsskipverify", Plain),
    ("tlsservername", Plain),
    ("outputmaxsize", Plain),
    ("successbeforepassing", Plain),
    ("failuresbeforewarning", Plain),
    ("failuresbeforecritical", Plain),
    ("deregistercriticalserviceafter", Plain),
];

const PROXY: &[Field] = &[
    ("destinationservicename", Plain),
    ("destinationserviceid", Plain),
    ("localserviceaddress", Plain),
    ("localserviceport", Plain),
    ("config", Labels),
    ("upstreams", Each(UPSTREAM)),
    ("meshgateway", Members(&[("mode", Plain)])),
    (
        "expose",
        Members(&[("checks", Plain), ("paths", Each(EXPOSED))]),
    ),
];

const UPSTREAM: &[Field] = &[
    ("destinationtype", Plain),
    ("destinationnamespace", Plain),
    ("destinationname", Plain),
    ("datacenter", Plain),
    ("localbindaddress", Plain),
    ("localbindport", Plain),
    ("config", Labels),
    ("meshgateway", Members(&[("mode", Plain)])),
];

const EXPOSED: &[Field] = &[
    ("listenerport", Plain),
    ("path", Plain),
    ("localpathport", Plain),
    ("protocol", Plain),
];

/// Reads files and directories. Of each file, those of `services` come before `service`, as with Consul's verb.
///
/// # Errors
/// Consul's text about the first file that cannot be read or understood, or about all durations that are none.
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
    // All files are understood before their values are checked.
    let mut errors = Errors::default();
    for tree in trees.iter().flat_map(services_of) {
        if let Err(error) = definitions::service(tree) {
            errors.push(error);
        }
    }
    errors.into_result()?;
    Ok(services)
}

fn of_source(source: &Source, tree: &Tree) -> Result<Vec<Service>, String> {
    let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
    keys::take_document(tree, Version::default(), &mut settings, &mut remarks)
        .map_err(|errors| source.failed(&errors))?;
    let mut services = Vec::new();
    for tree in services_of(tree) {
        let body = members(tree, SERVICE);
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

/// The services of a document.
fn services_of(tree: &Tree) -> Vec<&Tree> {
    let Tree::Object(document) = tree.unwrapped() else {
        return Vec::new();
    };
    let field = |wanted: &str| {
        document
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let list = field("services").map_or(&[][..], |(_, tree)| items(tree));
    let one = field("service").map(|(_, tree)| tree);
    list.iter().chain(one).collect()
}

/// The items of a list; of what is none, itself.
fn items(tree: &Tree) -> &[Tree] {
    match tree {
        Tree::List(items) => items,
        Tree::Null => &[],
        other => std::slice::from_ref(other),
    }
}

/// The fields of an object as the API calls them.
fn members(tree: &Tree, fields: &[Field]) -> Map<String, Value> {
    let mut members = Map::new();
    let Tree::Object(object) = tree.unwrapped() else {
        return members;
    };
    for (name, tree) in object {
        let simple = name.to_lowercase().replace('_', "");
        let Some((name, shape)) = fields.iter().find(|(known, _)| *known == simple) else {
            continue;
        };
        let name = match shape {
            CheckId => "CheckID",
            Plain | List | Labels | Labelled(_) | Members(_) | Each(_) | Sidecar => *name,
        };
        members.insert(name.to_owned(), value(tree, *shape));
    }
    members
}

fn value(tree: &Tree, shape: Shape) -> Value {
    match shape {
        Plain | CheckId | Labels => json(tree.unwrapped()),
        List => items(tree).iter().map(json).collect(),
        Labelled(fields) => {
            let Tree::Object(object) = tree.unwrapped() else {
                return Value::Null;
            };
            let each = object.iter();
            let each = each.map(|(label, tree)| (label.clone(), members(tree, fields).into()));
            Value::Object(each.collect())
        }
        Members(fields) => members(tree, fields).into(),
        Each(fields) => {
            let each = items(tree).iter().map(|tree| members(tree, fields));
            each.map(Value::Object).collect()
        }
        Sidecar => members(tree, SERVICE).into(),
    }
}

fn json(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(flag) => (*flag).into(),
        Tree::Integer(number) => (*number).into(),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it has no fraction, and `as` saturates"
        )]
        Tree::Float(number) if number.fract() == 0.0 => (*number as i64).into(),
        Tree::Float(number) => (*number).into(),
        Tree::Text(text) => text.as_str().into(),
        Tree::List(items) => items.iter().map(json).collect(),
        Tree::Object(object) => {
            let members = object.iter().map(|(name, tree)| (name.clone(), json(tree)));
            Value::Object(members.collect())
        }
    }
}
