//! Reads JSON as Go's `mapstructure` does where it is lenient: numbers for texts, texts for numbers, one value for a list
//! of it. Unknown names are refused, all of them at once.

use super::field::{Field, Shape, is_named};
use proconsul_gocompat::json::maps;
use proconsul_gocompat::json::object::object_text;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_gocompat::{duration, number};
use proconsul_store::{ConfigMembers, ConfigValue};
use proconsul_version::{Behaviour, Version};

/// What goes wrong while a body is read.
struct Decoder {
    version: Version,
    errors: Vec<String>,
    /// The paths of unknown names.
    unknown: Vec<String>,
}

/// Refuses unknown names.
///
/// # Errors
/// Consul's text about all of them.
pub(super) fn check_known(unknown: &[String]) -> Result<(), String> {
    if unknown.is_empty() {
        return Ok(());
    }
    let plural = if unknown.len() == 1 { "" } else { "s" };
    let mut text = format!("{} error{plural} occurred:", unknown.len());
    for path in unknown {
        let feature = match path.rsplit('.').next() {
            _ if is_namespace(path) => ", namespaces are a consul enterprise feature",
            // The policies of an API gateway's listener.
            Some("JWT") => ", JWT policies are a consul enterprise feature",
            _ => "",
        };
        text += &format!("\n\t* invalid config key \"{path}\"{feature}");
    }
    Err(text + "\n\n")
}

/// Whether a path of unknown names is that of a namespace, which only Enterprise servers know.
pub(super) fn is_namespace(path: &str) -> bool {
    path.rsplit('.').next() == Some("Namespace")
}

/// Reads the fields of a structure. Returns the paths of unknown names, too.
///
/// # Errors
/// Consul's text about all values of wrong types.
pub(super) fn decode_known(
    value: Value<'_>,
    fields: &'static [Field],
    version: Version,
) -> Result<(ConfigMembers, Vec<String>), String> {
    let mut decoder = Decoder {
        version,
        errors: Vec::new(),
        unknown: Vec::new(),
    };
    let members = decoder.structure(value, fields, "");
    let mut errors = decoder.errors;
    if errors.is_empty() {
        return Ok((members, decoder.unknown));
    }
    errors.sort();
    Err(if version.has(Behaviour::ConfigLate) {
        let errors = errors.join("\n");
        format!("decoding failed due to the following error(s):\n\n{errors}")
    } else {
        let count = errors.len();
        let errors = errors.join("\n* ");
        format!("{count} error(s) decoding:\n\n* {errors}")
    })
}

/// Refuses a body that is no object.
pub(super) fn check_is_object(value: Value<'_>, version: Version) -> Result<(), String> {
    match value.kind() {
        ValueKind::Object | ValueKind::Null => Ok(()),
        other if version.has(Behaviour::ConfigLate) => Err(format!(
            "'' expected type 'map[string]interface {{}}', got unconvertible type '{}'",
            go_type(&other)
        )),
        other => Err(format!("'' expected a map, got '{}'", go_kind(&other))),
    }
}

impl Decoder {
    /// Reads a value of any shape; `None` for the zero value.
    fn value(
        &mut self,
        value: Value<'_>,
        shape: &'static Shape,
        path: &str,
    ) -> Option<ConfigValue> {
        let kind = value.kind();
        if kind == ValueKind::Null {
            return None;
        }
        match shape {
            Shape::List(element) => Some(self.list(value, element, path)),
            Shape::Map(element) => self.map(value, element, path).map(ConfigValue::Members),
            Shape::Any => self.any(value, path, alone).map(ConfigValue::Text),
            Shape::Kept => self.any(value, path, |given| given).map(ConfigValue::Text),
            Shape::Ignored => None,
            Shape::Struct(fields) | Shape::Pointer(fields) => {
                let value = alone(value);
                match value.kind() {
                    ValueKind::Object | ValueKind::Null => {
                        let members = self.structure(value, fields, path);
                        Some(ConfigValue::Members(members))
                    }
                    other if self.version.has(Behaviour::ConfigLate) => {
                        let got = go_kind(&other);
                        let text = format!("'{path}' expected a map or struct, got \"{got}\"");
                        self.errors.push(text);
                        None
                    }
                    other => self.no_map(&other, "", path),
                }
            }
            Shape::Text
            | Shape::Flag
            | Shape::Int
            | Shape::Uint
            | Shape::Time
            | Shape::Nanos
            | Shape::Weight => self.scalar(alone(value), shape, path),
        }
    }

    fn structure(
        &mut self,
        value: Value<'_>,
        fields: &'static [Field],
        path: &str,
    ) -> ConfigMembers {
        // The last of several members with the same name counts.
        let given = maps::collect(value.members());
        let mut used = Vec::new();
        let mut members = ConfigMembers::new();
        let version = self.version;
        for field in fields.iter().filter(|field| field.is_known(version)) {
            let exact = given.get_key_value(field.name);
            let mut folded = given.iter().filter(|(name, _)| is_named(field, name));
            let Some((name, member)) = exact.or_else(|| folded.next()) else {
                continue;
            };
            used.push(name);
            let path = below(path, field.name);
            if let Some(member) = self.value(*member, &field.shape, &path) {
                members.insert(field.name.to_owned(), member);
            }
        }
        let unknown = given.keys().filter(|name| !used.contains(name));
        self.unknown.extend(unknown.map(|name| below(path, name)));
        members
    }

    fn list(&mut self, value: Value<'_>, shape: &'static Shape, path: &str) -> ConfigValue {
        let elements: Vec<_> = match value.kind() {
            ValueKind::Array => value.elements().collect(),
            ValueKind::Object if value.members().next().is_none() => Vec::new(),
            _ => vec![value],
        };
        let elements = elements.into_iter().enumerate().map(|(at, element)| {
            let path = format!("{path}[{at}]");
            let element = self.value(element, shape, &path);
            element.unwrap_or_else(|| zero(shape))
        });
        ConfigValue::List(elements.collect())
    }

    fn map(
        &mut self,
        value: Value<'_>,
        shape: &'static Shape,
        path: &str,
    ) -> Option<ConfigMembers> {
        let parts = self.parts(value, "string", path)?;
        let mut members = ConfigMembers::new();
        for (path, part) in parts {
            for (name, member) in part.members() {
                let path = format!("{path}[{name}]");
                let member = self.value(member, shape, &path);
                members.insert(name.into_owned(), member.unwrap_or_else(|| zero(shape)));
            }
        }
        Some(members)
    }

    /// Returns the objects that together are a map, each with its path: one, or those of a list.
    fn parts<'a>(
        &mut self,
        value: Value<'a>,
        elements: &str,
        path: &str,
    ) -> Option<Vec<(String, Value<'a>)>> {
        let value = alone(value);
        match value.kind() {
            ValueKind::Object => return Some(vec![(path.to_owned(), value)]),
            ValueKind::Array => {}
            other => return self.no_map(&other, elements, path),
        }
        let mut parts = Vec::new();
        for (at, element) in value.elements().enumerate() {
            let path = format!("{path}[{at}]");
            parts.extend(match element.kind() {
                ValueKind::Null => Vec::new(),
                _ => self.parts(element, elements, &path)?,
            });
        }
        Some(parts)
    }

    /// Reads an object of any contents, with what `of` makes of each member.
    fn any(
        &mut self,
        value: Value<'_>,
        path: &str,
        of: impl Fn(Value<'_>) -> Value<'_>,
    ) -> Option<String> {
        let parts = self.parts(value, "interface {}", path)?;
        let members = parts.into_iter().flat_map(|(_, part)| part.members());
        let members = maps::collect(members);
        let members = members.into_iter().map(|(name, member)| {
            let name = serde_json::Value::from(name.into_owned());
            let member = String::from_utf8_lossy(of(member).text()).into_owned();
            format!("{name}:{member}")
        });
        let members: Vec<_> = members.collect();
        object_text(&format!("{{{}}}", members.join(","))).ok()
    }

    fn scalar(&mut self, value: Value<'_>, shape: &Shape, path: &str) -> Option<ConfigValue> {
        let read = match shape {
            Shape::Text => self.text(value, path).map(ConfigValue::Text),
            Shape::Flag => self.flag(value, path).map(ConfigValue::Flag),
            Shape::Weight => self.weight(value, path).map(ConfigValue::Number),
            _ => self.number(value, shape, path).map(ConfigValue::Number),
        };
        let is_zero = |read: &ConfigValue| match read {
            ConfigValue::Text(text) => text.is_empty(),
            ConfigValue::Flag(flag) => !flag,
            ConfigValue::Number(number) => *number == 0,
            ConfigValue::List(_) | ConfigValue::Members(_) => false,
        };
        read.filter(|read| !is_zero(read))
    }

    fn text(&mut self, value: Value<'_>, path: &str) -> Option<String> {
        match value.kind() {
            ValueKind::String(text) => Some(text.into_owned()),
            ValueKind::Bool(flag) => Some(u8::from(flag).to_string()),
            ValueKind::Number(number) => Some(float(number).to_string()),
            // Of all texts, only this one has a named type in Consul.
            other if path.ends_with("MeshGateway.Mode") => {
                self.mismatch(&other, "structs.MeshGatewayMode", path)
            }
            other => self.mismatch(&other, "string", path),
        }
    }

    fn flag(&mut self, value: Value<'_>, path: &str) -> Option<bool> {
        match value.kind() {
            ValueKind::Bool(flag) => Some(flag),
            ValueKind::Number(number) => Some(float(number) != 0.0),
            ValueKind::String(text) if text.is_empty() => Some(false),
            ValueKind::String(text) => {
                let read = number::parse_bool(text.as_bytes());
                self.parsed(read, "bool", path)
            }
            other => self.mismatch(&other, "bool", path),
        }
    }

    fn number(&mut self, value: Value<'_>, shape: &Shape, path: &str) -> Option<i64> {
        let narrow = |number: i64| match shape {
            Shape::Uint => number & i64::from(u32::MAX),
            _ => number,
        };
        match (value.kind(), shape) {
            (ValueKind::Bool(flag), _) => Some(i64::from(flag)),
            (ValueKind::Number(text), _) => Some(narrow(number::truncated(float(text)))),
            (ValueKind::String(text), Shape::Time | Shape::Nanos) => self.duration(&text, path),
            (ValueKind::String(text), Shape::Uint) => {
                let read = number::parse_uint(text.as_bytes());
                let read = self.parsed(read, "uint", path)?;
                Some(narrow(i64::try_from(read).unwrap_or(i64::MAX)))
            }
            (ValueKind::String(text), _) => {
                let read = number::parse_int_of_any_base(text.as_bytes());
                self.parsed(read, "int", path)
            }
            (other, shape) => {
                let go_type = match shape {
                    Shape::Time | Shape::Nanos => "time.Duration",
                    Shape::Uint => "uint32",
                    _ => "int",
                };
                self.mismatch(&other, go_type, path)
            }
        }
    }

    /// Reads a weight in hundredths.
    fn weight(&mut self, value: Value<'_>, path: &str) -> Option<i64> {
        let weight = match value.kind() {
            ValueKind::Bool(flag) => f64::from(u8::from(flag)),
            ValueKind::Number(number) => float(number),
            ValueKind::String(text) => match text.parse::<f64>() {
                Ok(weight) if weight.is_finite() => weight,
                _ => {
                    let text = text.into_owned();
                    self.errors.push(if self.version.has(Behaviour::ConfigLate) {
                        format!("cannot parse '{path}' as float: strconv.ParseFloat: invalid syntax")
                    } else {
                        format!("cannot parse '{path}' as float: strconv.ParseFloat: parsing {text:?}: invalid syntax")
                    });
                    return None;
                }
            },
            other => return self.mismatch(&other, "float32", path),
        };
        Some(number::truncated((weight * 100.0).round()))
    }

    fn duration(&mut self, text: &str, path: &str) -> Option<i64> {
        let refused = match duration::parse(text) {
            Ok(nanoseconds) => return Some(nanoseconds),
            Err(refused) => refused.message(self.version.go().duration_quotes),
        };
        self.errors
            .push(if self.version.has(Behaviour::ConfigLate) {
                let what = refused.split(" duration").next().unwrap_or_default();
                format!("'{path}' {what} duration")
            } else {
                format!("error decoding '{path}': {refused}")
            });
        None
    }

    /// Takes what was parsed, or notes why it could not be.
    fn parsed<T>(
        &mut self,
        read: Result<T, number::NumberError>,
        what: &str,
        path: &str,
    ) -> Option<T> {
        let refused = match read {
            Ok(value) => return Some(value),
            Err(refused) => refused.message(self.version.go().unicode),
        };
        self.errors
            .push(if self.version.has(Behaviour::ConfigLate) {
                let function = refused.split(": ").next().unwrap_or_default();
                let why = refused.rsplit(": ").next().unwrap_or_default();
                format!("cannot parse '{path}' as {what}: {function}: {why}")
            } else {
                format!("cannot parse '{path}' as {what}: {refused}")
            });
        None
    }

    fn mismatch<T>(&mut self, kind: &ValueKind<'_>, wanted: &str, path: &str) -> Option<T> {
        let got = go_type(kind);
        self.errors.push(format!(
            "'{path}' expected type '{wanted}', got unconvertible type '{got}'"
        ));
        None
    }

    /// Notes a value that is no map. Its elements are called so by later releases.
    fn no_map<T>(&mut self, kind: &ValueKind<'_>, elements: &str, path: &str) -> Option<T> {
        if self.version.has(Behaviour::ConfigLate) {
            return self.mismatch(kind, &format!("map[string]{elements}"), path);
        }
        let got = go_kind(kind);
        self.errors
            .push(format!("'{path}' expected a map, got '{got}'"));
        None
    }
}

/// Returns the only element of a list in place of the list.
fn alone(value: Value<'_>) -> Value<'_> {
    let mut elements = value.elements();
    match (elements.next(), elements.next()) {
        (Some(only), None) => only,
        _ => value,
    }
}

fn zero(shape: &Shape) -> ConfigValue {
    match shape {
        Shape::Text | Shape::Time | Shape::Any | Shape::Kept | Shape::Ignored => {
            ConfigValue::Text(String::new())
        }
        Shape::Flag => ConfigValue::Flag(false),
        Shape::Int | Shape::Uint | Shape::Nanos | Shape::Weight => ConfigValue::Number(0),
        Shape::List(_) => ConfigValue::List(Vec::new()),
        Shape::Map(_) | Shape::Struct(_) | Shape::Pointer(_) => {
            ConfigValue::Members(ConfigMembers::new())
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Returns a JSON number as Go's `float64`; one that is too large is the largest.
fn float(number: &str) -> f64 {
    let number: f64 = number.parse().unwrap_or_default();
    number.clamp(f64::MIN, f64::MAX)
}

/// Returns Go's name of the type of a decoded value.
fn go_type(kind: &ValueKind<'_>) -> &'static str {
    match kind {
        ValueKind::Null => "<nil>",
        ValueKind::Bool(_) => "bool",
        ValueKind::Number(_) => "float64",
        ValueKind::String(_) => "string",
        ValueKind::Array => "[]interface {}",
        ValueKind::Object => "map[string]interface {}",
    }
}

/// Returns Go's name of the kind of a decoded value.
fn go_kind(kind: &ValueKind<'_>) -> &'static str {
    match kind {
        ValueKind::Array => "slice",
        ValueKind::Object => "map",
        other => go_type(other),
    }
}
