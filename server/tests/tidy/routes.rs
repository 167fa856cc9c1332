//! The table of all routes, `server/ROUTES.md`, which is made from the tables of the pages.

use std::collections::BTreeMap;

use crate::{assert_none, files, root};

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

/// The words of the table about a route: in 1.8.7, in 1.22.0, and its methods.
fn rows_of(path: &str, text: &str, rows: &mut BTreeMap<String, String>) {
    let Some((_, table)) = text.split_once("\nroutes! {\n") else {
        return;
    };
    let table = table.split("\n}").next().unwrap_or_default();
    for row in table.split(";\n").map(str::trim) {
        let mut quoted = row.split('"');
        let Some(route) = quoted.nth(1) else {
            continue;
        };
        let methods = row.split(['[', ']']).nth(1).unwrap_or_default();
        let is_refused = path.ends_with("/absent.rs") || row.contains("(not_emulated)");
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
            ["unknown path", answered.as_str()]
        } else if row.contains(", until ") {
            [answered.as_str(), "unknown path"]
        } else {
            [answered.as_str(); 2]
        };
        let methods = if methods.is_empty() { "any" } else { methods };
        let words = format!("| `{route}` | {methods} | {old} | {new} |\n");
        rows.insert(route.to_owned(), words);
    }
}

fn table() -> String {
    let mut rows = BTreeMap::new();
    for page in files() {
        if page.path.starts_with("server/src/http/api/") {
            rows_of(&page.path, &page.text, &mut rows);
        }
    }
    let rows: String = rows.into_values().collect();
    format!(
        "# Routes\n\n\
         Made from the tables of routes in `server/src/http/api/`: `WRITE_ROUTES=1 cargo test -p proconsul --test tidy routes`\n\
         writes it anew. *Emulated* is what acts and is kept as on a real Consul, *shaped* what answers as a lone server that does not use\n\
         it, *refused* what Consul has and this server does not. A path with a slash at its end stands for all below it.\n\n\
         | path | methods | 1.8.7 | 1.22.0 |\n|---|---|---|---|\n{rows}"
    )
}

#[test]
fn the_table_of_routes_is_up_to_date() {
    let path = root().join("server/ROUTES.md");
    let table = table();
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
