//! What binding rules ask of a login, and the names that they make of its claims.

use std::collections::BTreeMap;

use super::{Claims, Settings};
use proconsul_filter::{Field, Filter, Listed};
use proconsul_gocompat::json::maps;
use proconsul_store::{NewAuthMethod, NewBindingRule, is_identity};
use proconsul_version::Version;

/// What selectors may name.
const FIELDS: &Listed<Claims> = &Listed(&[
    Field::labels("value", |claims| Some(&claims.values)),
    Field::lists("list", |claims| &claims.lists),
]);

/// The longest name of a role.
const LONGEST: usize = 256;

/// Returns what is wrong with the selector of a rule.
pub fn flaw_of_selector(selector: &str, version: Version) -> Option<String> {
    Filter::new(selector.as_bytes(), FIELDS, version).err()
}

/// Whether a rule is for a login with these claims.
pub fn is_chosen(rule: &NewBindingRule, claims: &Claims, version: Version) -> bool {
    let filter = Filter::new(rule.selector.as_bytes(), FIELDS, version);
    filter.is_ok_and(|filter| filter.keeps(claims))
}

/// Returns what is wrong with the name that a rule makes, whatever the claims of logins are; an empty text if it has the
/// wrong form.
pub fn flaw_of_bind_name(rule: &NewBindingRule, settings: &Settings) -> Option<String> {
    match interpolated(&rule.bind_name, &variables(settings, |_| "fake")) {
        Err(words) => Some(words),
        Ok(name) if !is_name(&rule.bind_type, &name) => Some(String::new()),
        Ok(_) => None,
    }
}

/// Returns the name that a rule makes of a login's claims. Claims that are missing count as empty.
///
/// # Errors
/// The name has the wrong form.
pub fn bound_name(
    rule: &NewBindingRule,
    settings: &Settings,
    claims: &Claims,
) -> Result<String, String> {
    let kind = &rule.bind_type;
    let mut name = interpolated(
        &rule.bind_name,
        &variables(settings, |name| claims.value(name)),
    )?;
    if matches!(kind.as_str(), "service" | "node") {
        name = name.to_lowercase();
    }
    if !is_name(kind, &name) {
        return Err(format!(
            "computed \"{kind}\" bind name for bind target is invalid: \"{name}\""
        ));
    }
    Ok(name)
}

/// Returns what is wrong with the `TokenNameFormat` of a method in every login.
pub fn flaw_of_token_name(method: &NewAuthMethod, settings: &Settings) -> Option<String> {
    interpolated_name(method, variables(settings, |_| "fake")).err()
}

/// Returns the name of the token of a login with these claims (2.1.md 3.r2).
///
/// # Errors
/// `TokenNameFormat` is no template.
pub fn token_name(
    method: &NewAuthMethod,
    settings: &Settings,
    claims: &Claims,
) -> Result<String, String> {
    interpolated_name(method, variables(settings, |name| claims.value(name)))
}

fn interpolated_name<'a>(
    method: &'a NewAuthMethod,
    mut variables: Variables<'a>,
) -> Result<String, String> {
    let format = match method.token_name_format.as_str() {
        "" => NewAuthMethod::TOKEN_NAME,
        format => format,
    };
    variables.insert("auth_method_type".to_owned(), &method.kind);
    variables.insert("auth_method_name".to_owned(), &method.name);
    interpolated(format, &variables)
}

/// The variables of a text by their names.
type Variables<'a> = BTreeMap<String, &'a str>;

/// Returns a variable for each claim that a method maps to a name.
fn variables<'a>(settings: &'a Settings, value: impl Fn(&'a str) -> &'a str) -> Variables<'a> {
    let names = settings.values.values();
    maps::collect(names.map(|name| (format!("value.{name}"), value(name))))
}

fn is_name(kind: &str, name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match kind {
        "service" | "node" => is_identity(name),
        "templated-policy" => !name.is_empty(),
        _ => !name.is_empty() && name.len() <= LONGEST && name.bytes().all(letter),
    }
}

/// Fills in variables such as `${value.x}`, and texts in quotes in the place of a variable. Whatever else Consul's language
/// of expressions has is a syntax error here.
fn interpolated(text: &str, variables: &Variables<'_>) -> Result<String, String> {
    let syntax = || "parse error: syntax error".to_owned();
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        made.push_str(before);
        if before.ends_with('$') {
            // What is escaped is no variable, and no name has it.
            made.push_str("${");
            rest = behind;
            continue;
        }
        let (inner, behind) = behind.split_once('}').ok_or_else(syntax)?;
        let name = inner.trim();
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
        let quoted = name
            .strip_prefix('"')
            .and_then(|name| name.strip_suffix('"'));
        if let Some(quoted) = quoted.filter(|quoted| !quoted.contains(['"', '\\'])) {
            made.push_str(quoted);
        } else if name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && name.chars().all(is_part)
        {
            let value = variables.get(name).ok_or_else(|| {
                let column = text.len() - behind.len() - inner.trim_start().len();
                format!("1:{column}: unknown variable accessed: {name}")
            })?;
            made.push_str(value);
        } else {
            return Err(syntax());
        }
        rest = behind;
    }
    made.push_str(rest);
    Ok(made)
}
