//! Templates of prepared queries, which are rendered for a name (session.md 5).
//!
//! This is the documented part of Consul's interpolation language: `${name.full}`, `${name.prefix}`, `${name.suffix}`,
//! `${match(N)}`, `${agent.segment}` and `$${` for a literal `${`. The language's arithmetic and other functions are
//! refused as syntax errors.

use std::cell::Cell;

use proconsul_gocompat::regexp::Regexp;
use proconsul_store::{NewPreparedQuery, ServiceSearch};
use proconsul_version::{Behaviour, Version};

/// The only kind of template.
const NAME_PREFIX_MATCH: &str = "name_prefix_match";

/// The most bytes of all rendered values of a query. A name may have a megabyte, and a template may repeat it; in
/// Consul, memory is the limit.
const MAX_RENDERED: usize = 8 * 1024 * 1024;

/// Returns what is wrong with a template, which follows `failed compiling template` in Consul's text; `None` for a
/// query without a template.
pub(crate) fn flaw(query: &NewPreparedQuery, version: Version) -> Option<String> {
    if !query.template.is_some() {
        return None;
    }
    let kind = &query.template.kind;
    if kind != NAME_PREFIX_MATCH {
        return Some(format!("Bad Template.Type '{kind}'"));
    }
    if let Err(error) = Regexp::new(query.template.regexp.as_bytes()) {
        return Some(format!("Bad Regexp: {error}"));
    }
    rendered(query, &query.name, version).err()
}

/// Renders the search of a query for a name.
///
/// # Errors
/// Consul's text about an invalid template.
pub(crate) fn rendered(
    query: &NewPreparedQuery,
    name: &str,
    version: Version,
) -> Result<ServiceSearch, String> {
    let mut search = query.service.clone();
    if !query.template.is_some() {
        return Ok(search);
    }
    let name = Name::new(query, name);
    let one = |field: &str, text: &mut String| -> Result<(), String> {
        *text = name
            .render(text)
            .map_err(|problem| problem.of(field, text, version))?;
        Ok(())
    };
    let all = |field: &str, texts: &mut Option<Vec<String>>| -> Result<(), String> {
        let mut texts = texts.iter_mut().flatten().enumerate();
        texts.try_for_each(|(place, text)| one(&format!("{field}[{place}]"), text))
    };
    one("Service.Service", &mut search.service)?;
    all(
        "Service.Failover.Datacenters",
        &mut search.failover_datacenters,
    )?;
    all("Service.IgnoreCheckIDs", &mut search.ignore_check_ids)?;
    one("Service.Near", &mut search.near)?;
    all("Service.Tags", &mut search.tags)?;
    for (field, labels) in [
        ("Service.NodeMeta", &mut search.node_meta),
        ("Service.ServiceMeta", &mut search.service_meta),
    ] {
        for (key, value) in labels.iter_mut().flatten() {
            one(&format!("{field}[{key}]"), value)?;
        }
    }
    if query.template.remove_empty_tags {
        let tags = search.tags.get_or_insert_default();
        tags.retain(|tag| !tag.is_empty());
    }
    Ok(search)
}

/// A name and its parts.
struct Name<'a> {
    full: &'a str,
    prefix: &'a str,
    suffix: &'a str,
    matches: Vec<String>,
    /// The rest of [`MAX_RENDERED`].
    left: Cell<usize>,
}

/// Why a text cannot be rendered.
enum Problem {
    /// A syntax error at a column, and what stands there; `None` for the end of the text.
    Syntax(usize, Option<char>),
    /// An unknown variable or function at a column; with the text.
    Unknown(usize, String),
    /// A wrong number of arguments, at a column.
    Arguments(usize, usize),
    /// The values are too long from a column on.
    TooLong(usize),
}

impl Problem {
    fn of(self, field: &str, text: &str, version: Version) -> String {
        match self {
            Problem::Syntax(..) if !version.has(Behaviour::QueryTemplateText) => {
                format!("Bad format '{text}' in {field}: parse error: syntax error")
            }
            Problem::Syntax(column, found) => {
                let found =
                    found.map_or("end of string".to_owned(), |found| format!("\"{found}\""));
                format!(
                    "Bad format '{text}' in {field}: parse error at 1:{column}: \
                     expected expression but found {found}"
                )
            }
            Problem::Unknown(column, what) => {
                format!("Bad evaluation for '{text}' in {field}: 1:{column}: {what}")
            }
            Problem::Arguments(column, count) => format!(
                "Bad evaluation for '{text}' in {field}: \
                 1:{column}: match: expected 1 arguments, got {count}"
            ),
            Problem::TooLong(column) => {
                format!("Bad evaluation in {field}: 1:{column}: more than {MAX_RENDERED} bytes")
            }
        }
    }
}

impl<'a> Name<'a> {
    fn new(query: &'a NewPreparedQuery, full: &'a str) -> Self {
        let regexp = &query.template.regexp;
        let compiled = Regexp::new(regexp.as_bytes()).ok();
        let compiled = compiled.filter(|_| !regexp.is_empty());
        Self {
            full,
            prefix: &query.name,
            suffix: full.strip_prefix(query.name.as_str()).unwrap_or(full),
            matches: compiled.map_or_else(Vec::new, |regexp| regexp.groups(full)),
            left: Cell::new(MAX_RENDERED),
        }
    }

    fn render(&self, text: &str) -> Result<String, Problem> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, behind) = rest.split_at(at);
            if let Some(before) = before.strip_suffix('$') {
                // An escaped `${`.
                out += before;
                out += "${";
                rest = &behind[2..];
                continue;
            }
            out += before;
            let inner = &behind[2..];
            let column = text.len() - inner.len() + 1;
            let end = inner.find('}');
            let end = end.ok_or(Problem::Syntax(column + inner.len(), None))?;
            let value = self.value(&inner[..end], column)?;
            let left = self.left.get().checked_sub(value.len());
            self.left.set(left.ok_or(Problem::TooLong(column))?);
            out += &value;
            rest = &inner[end + 1..];
        }
        Ok(out + rest)
    }

    /// Returns the value of an expression between braces, which begins at this column.
    fn value(&self, inner: &str, column: usize) -> Result<String, Problem> {
        match inner.trim() {
            "name.full" => Ok(self.full.to_owned()),
            "name.prefix" => Ok(self.prefix.to_owned()),
            "name.suffix" => Ok(self.suffix.to_owned()),
            "agent.segment" => Ok(String::new()),
            call if call.ends_with(')') => self.call(call, column),
            variable => Err(unknown_variable(variable, column)),
        }
    }

    fn call(&self, call: &str, column: usize) -> Result<String, Problem> {
        let (function, arguments) = call.split_once('(').ok_or_else(|| syntax(call, column))?;
        if !is_name(function) {
            return Err(syntax(function, column));
        }
        if function != "match" {
            let what = format!("unknown function called: {function}");
            return Err(Problem::Unknown(column, what));
        }
        let arguments = arguments.trim_end_matches(')').trim();
        match arguments.split(',').count() {
            _ if arguments.is_empty() => return Err(Problem::Arguments(column, 0)),
            1 => {}
            count => return Err(Problem::Arguments(column, count)),
        }
        let number = arguments
            .parse::<i64>()
            .map_err(|_| unknown_variable(arguments, column + function.len() + 1))?;
        let group = usize::try_from(number).ok();
        let group = group.and_then(|number| self.matches.get(number));
        Ok(group.cloned().unwrap_or_default())
    }
}

fn is_name(text: &str) -> bool {
    let letter = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
    !text.is_empty() && text.chars().all(letter)
}

fn unknown_variable(name: &str, column: usize) -> Problem {
    if is_name(name) {
        Problem::Unknown(column, format!("unknown variable accessed: {name}"))
    } else {
        syntax(name, column)
    }
}

/// Returns the error of an expression at this column that is not in the language.
fn syntax(expression: &str, column: usize) -> Problem {
    Problem::Syntax(column, Some(expression.chars().next().unwrap_or('}')))
}

#[cfg(test)]
mod tests {
    use super::{flaw, rendered};
    use proconsul_store::{NewPreparedQuery, ServiceSearch, Template};
    use proconsul_version::Version;

    fn template(service: &str, regexp: &str) -> NewPreparedQuery {
        NewPreparedQuery {
            name: "geo-".into(),
            template: Template {
                kind: "name_prefix_match".into(),
                regexp: regexp.into(),
                remove_empty_tags: true,
            },
            service: ServiceSearch {
                service: service.into(),
                tags: Some(vec!["${match(1)}".into(), "fixed".into()]),
                ..ServiceSearch::default()
            },
            ..NewPreparedQuery::default()
        }
    }

    fn service(text: &str, regexp: &str, name: &str) -> (String, Vec<String>) {
        let search = rendered(&template(text, regexp), name, Version::V1_8_7)
            .expect("the template is sound");
        (search.service, search.tags.unwrap_or_default())
    }

    #[test]
    fn names_are_taken_apart() {
        let all = "${name.full}|${name.prefix}|${ name.suffix }|${match(0)}|${match(2)}|${match(9)}|${agent.segment}";
        let regexp = "^geo-(.*)-([^-]+)$";
        let (name, tags) = service(all, regexp, "geo-a-b-c");
        assert_eq!(name, "geo-a-b-c|geo-|a-b-c|geo-a-b-c|c||");
        assert_eq!(tags, ["a-b", "fixed"]);
        let (name, tags) = service(all, regexp, "GEO-x");
        assert_eq!(name, "GEO-x|geo-|GEO-x||||");
        assert_eq!(tags, ["fixed"]);
        assert_eq!(service("$${name.full}$x", "", "geo-").0, "${name.full}$x");
    }

    #[test]
    fn a_query_that_is_no_template_searches_what_it_says() {
        let mut query = template("${name.full}", "");
        query.template = Template::default();
        let search = rendered(&query, "name", Version::V1_8_7).expect("nothing is rendered");
        assert_eq!(search, query.service);
    }

    #[test]
    fn a_long_name_in_many_places_is_too_much() {
        let long = template(&"${name.full}".repeat(1_000), "");
        assert!(rendered(&long, &"x".repeat(8_000), Version::V1_8_7).is_ok());
        let refused =
            rendered(&long, &"x".repeat(9_000), Version::V1_8_7).expect_err("it is too long");
        let sentence = "Bad evaluation in Service.Service: 1:11187: more than 8388608 bytes";
        assert_eq!(refused, sentence);
    }

    #[test]
    fn what_is_wrong_with_templates() {
        for (text, problem) in [
            (
                "${",
                "Bad format '${' in Service.Service: parse error: syntax error",
            ),
            (
                "${}",
                "Bad format '${}' in Service.Service: parse error: syntax error",
            ),
            (
                "a${name.foo}",
                "Bad evaluation for 'a${name.foo}' in Service.Service: 1:4: unknown variable accessed: name.foo",
            ),
            (
                "${match()}",
                "Bad evaluation for '${match()}' in Service.Service: 1:3: match: expected 1 arguments, got 0",
            ),
            (
                "${match(1,2)}",
                "Bad evaluation for '${match(1,2)}' in Service.Service: 1:3: match: expected 1 arguments, got 2",
            ),
            (
                "${match(a)}",
                "Bad evaluation for '${match(a)}' in Service.Service: 1:9: unknown variable accessed: a",
            ),
            (
                "${upper(name.full)}",
                "Bad evaluation for '${upper(name.full)}' in Service.Service: 1:3: unknown function called: upper",
            ),
        ] {
            assert_eq!(
                flaw(&template(text, ""), Version::V1_8_7).as_deref(),
                Some(problem)
            );
        }
        let late = flaw(&template("${", ""), Version::V1_22_0);
        let problem = "Bad format '${' in Service.Service: parse error at 1:3: expected expression but found end of string";
        assert_eq!(late.as_deref(), Some(problem));
        let broken = "Bad Regexp: error parsing regexp: missing closing ): `(`";
        assert_eq!(
            flaw(&template("web", "("), Version::V1_8_7).as_deref(),
            Some(broken)
        );
        let mut other = template("web", "");
        other.template.kind = "foo".into();
        assert_eq!(
            flaw(&other, Version::V1_8_7).as_deref(),
            Some("Bad Template.Type 'foo'")
        );
    }
}
