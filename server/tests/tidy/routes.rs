//! The table of all routes, `server/ROUTES.md`, and that of endpoints in the book, which are made from the tables of the
//! pages: `WRITE_ROUTES=1 cargo test -p proconsul --test tidy routes` writes both anew.

use std::collections::{BTreeMap, BTreeSet};

use crate::endpoints::AREAS;
use crate::{assert_none, files, root};

/// The line before and after the table in the book.
const BEGIN: &str =
    "<!-- made by `WRITE_ROUTES=1 cargo test -p proconsul --test tidy routes`; do not edit -->";
/// See [`BEGIN`].
const END: &str = "<!-- end of the endpoints -->";

/// What the table says of a release without a route.
const UNKNOWN: &str = "unknown path";

/// Paths that are answered as by a server that does not use what they are about.
const SHAPED: &[&str] = &[
    "/debug/pprof/",
    "/v1/agent/connect/ca/roots",
    "/v1/agent/host",
    "/v1/connect/ca/configuration",
    "/v1/connect/ca/roots",
    "/v1/exported-services",
    "/v1/operator/autopilot/health",
    "/v1/operator/autopilot/state",
    "/v1/operator/keyring",
    "/v1/operator/raft/configuration",
    "/v1/operator/raft/peer",
    "/v1/operator/raft/transfer-leader",
    "/v1/operator/utilization",
    "/v1/peering/",
    "/v1/peering/establish",
    "/v1/peering/token",
    "/v1/peerings",
];

/// What is 501 of a path that is answered otherwise.
const PARTLY_REFUSED: &[(&str, &str)] = &[
    ("/v1/connect/ca/configuration", "PUT"),
    ("/v1/peering/establish", "POST with a name"),
    ("/v1/peering/token", "POST with a name"),
];

/// A route, and what is made of a request to it in both releases.
struct Route {
    methods: String,
    old: String,
    new: String,
    /// The feature of proconsul without which it answers 501; empty if it needs none.
    feature: String,
}

/// What a server that knows the route makes of a request to it.
fn kind(route: &Route) -> &str {
    let known = if route.new == UNKNOWN {
        &route.old
    } else {
        &route.new
    };
    known.split([':', ';']).next().unwrap_or_default()
}

/// Adds the routes of a file.
fn routes_of(path: &str, text: &str, routes: &mut BTreeMap<String, Route>) {
    let Some((_, table)) = text.split_once("\nroutes! {\n") else {
        return;
    };
    let table = table.split("\n}").next().unwrap_or_default();
    let of_guest = table.trim_start().strip_prefix("feature \"");
    let of_guest = of_guest.and_then(|rest| rest.split_once("\";\n"));
    let (feature, table) = of_guest.unwrap_or(("", table));
    for row in table.split(";\n").map(str::trim) {
        let mut quoted = row.split('"');
        let Some(route) = quoted.nth(1) else {
            continue;
        };
        let methods = row.split(['[', ']']).nth(1).unwrap_or_default();
        let is_refused = path.ends_with("/not_emulated.rs") || row.contains("(not_emulated)");
        let answered = if is_refused {
            "refused: 501"
        } else if SHAPED.contains(&route) {
            "shaped"
        } else {
            "emulated"
        };
        let partly = PARTLY_REFUSED.iter().find(|(partly, _)| *partly == route);
        let answered = match partly {
            Some((_, what)) => format!("{answered}; {what}: 501"),
            None => answered.to_owned(),
        };
        let [old, new] = if row.contains(", since ") {
            [UNKNOWN, answered.as_str()]
        } else if row.contains(", until ") {
            [answered.as_str(), UNKNOWN]
        } else {
            [answered.as_str(); 2]
        };
        let methods = if methods.is_empty() { "any" } else { methods };
        let [methods, old, new, feature] = [methods, old, new, feature].map(str::to_owned);
        let row = Route {
            methods,
            old,
            new,
            feature,
        };
        routes.insert(route.to_owned(), row);
    }
}

fn routes() -> BTreeMap<String, Route> {
    let mut routes = BTreeMap::new();
    for page in files() {
        if page.path.starts_with("server/core/src/api/") {
            routes_of(&page.path, &page.text, &mut routes);
        }
    }
    assert!(routes.len() > 100, "the tables of routes are found");
    routes
}

fn table(routes: &BTreeMap<String, Route>) -> String {
    let rows = routes.iter().map(|(path, route)| {
        let Route {
            methods,
            old,
            new,
            feature,
        } = route;
        format!("| `{path}` | {methods} | {old} | {new} | {feature} |\n")
    });
    let rows: String = rows.collect();
    format!(
        "# Routes\n\n\
         Made from the tables of routes in `server/core/src/api/`: `WRITE_ROUTES=1 cargo test -p proconsul --test tidy routes`\n\
         writes it anew. *Emulated* is what acts and is kept as on a real Consul, *shaped* what answers as a lone server that does not use\n\
         it, *refused* what Consul has and this server does not. A path with a slash at its end stands for all below it. A library\n\
         without the feature that a row names answers 501 there.\n\n\
         | path | methods | 1.8.7 | 1.22.0 | feature |\n|---|---|---|---|---|\n{rows}"
    )
}

/// The routes that an endpoint of the book's table stands for.
fn routes_behind<'r>(endpoint: &str, routes: &'r BTreeMap<String, Route>) -> Vec<&'r str> {
    let path = endpoint.split('<').next().unwrap_or_default();
    let is_all = endpoint == "/v1/acl/<path>";
    let named = routes.keys().map(String::as_str);
    let named = named.filter(|route| *route == path || is_all && route.starts_with(path));
    named.collect()
}

/// The table of the book, and what is wrong with the list that it is made of.
fn endpoints(routes: &BTreeMap<String, Route>) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut complaints = Vec::new();
    let mut listed = Vec::new();
    for (area, rows) in AREAS {
        text += &format!("\n### {area}\n\n| endpoint | | |\n|---|---|---|\n");
        for (endpoints, note) in *rows {
            let mut kinds = BTreeSet::new();
            for endpoint in endpoints.split(' ') {
                let behind = routes_behind(endpoint, routes);
                if behind.is_empty() {
                    complaints.push(format!("no route: {endpoint}"));
                }
                kinds.extend(behind.iter().map(|route| kind(&routes[*route])));
                listed.extend(behind);
            }
            if kinds.len() > 1 {
                complaints.push(format!("differ, and need rows of their own: {endpoints}"));
            }
            let kind = kinds.pop_first().unwrap_or_default();
            let kind = if kind == "refused" { "501" } else { kind };
            let endpoints = endpoints.replace(' ', "`, `");
            text += &format!("| `{endpoints}` | {kind} | {note} |\n");
        }
    }
    let missing = routes
        .keys()
        .filter(|route| !listed.contains(&route.as_str()));
    complaints.extend(missing.map(|route| format!("not in endpoints.rs: {route}")));
    (text, complaints)
}

/// The page with the table between its marks made anew.
fn renewed(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[test]
fn the_books_table_of_endpoints_is_up_to_date() {
    let path = root().join("docs/src/compatibility.md");
    let written = std::fs::read_to_string(&path).expect("the page is there");
    let (table, mut complaints) = endpoints(&routes());
    let page = renewed(&written, &table).expect("the page has a place for the table");
    if std::env::var_os("WRITE_ROUTES").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    } else if page != written {
        let renew = "WRITE_ROUTES=1 cargo test -p proconsul --test tidy routes";
        complaints.push(format!("docs/src/compatibility.md is stale: {renew}"));
    }
    assert_none("the endpoints of the book", &complaints);
}

#[test]
fn the_table_of_routes_is_up_to_date() {
    let path = root().join("server/ROUTES.md");
    let table = table(&routes());
    if std::env::var_os("WRITE_ROUTES").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let missing = table
        .lines()
        .filter(|line| !written.lines().any(|own| own == *line));
    let gone = written
        .lines()
        .filter(|line| !table.lines().any(|own| own == *line));
    let complaints: Vec<String> = missing
        .map(|line| format!("missing: {line}"))
        .chain(gone.map(|line| format!("no longer so: {line}")))
        .collect();
    assert_none("server/ROUTES.md, to be written anew", &complaints);
    let known: Vec<String> = SHAPED.iter().map(|path| format!("| `{path}` |")).collect();
    let unknown: Vec<String> = known
        .into_iter()
        .filter(|path| !table.contains(path))
        .collect();
    assert_none("shaped paths without a route", &unknown);
}
