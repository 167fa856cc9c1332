//! The verb `changes`: what releases of Consul do otherwise, as the server's own table has it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proconsul::Version;
use proconsul_version::{Behaviour, Known, Row};
use serde_json::{Value, json};

use super::{Failure, Given, Outcome};

commands! {
    "changes" "[FROM TO]" changes "Lists what two releases of Consul do otherwise, or how much is known of each (not in Consul)" {
        Text "format" "pretty (default) or json";
    }
}

async fn changes(given: Given) -> Outcome {
    let is_json = match given.filled("format").unwrap_or("pretty") {
        "pretty" => false,
        "json" => true,
        other => return Err(format!("-format: expected pretty or json, found {other:?}").into()),
    };
    match given.rest() {
        [] if is_json => Ok(printed(&all())),
        [] => Ok(overview()),
        [from, to] => {
            let (from, to) = (version(from)?, version(to)?);
            let rows = Behaviour::between(from, to);
            Ok(if is_json {
                printed(&rows.iter().map(|row| shown(*row)).collect())
            } else {
                listed(from, to, &rows)
            })
        }
        _ => Err("expected two releases, such as 1.21.4 1.21.5, or none".into()),
    }
}

fn version(text: &str) -> Result<Version, Failure> {
    let version: Result<Version, _> = text.parse();
    version.map_err(|error| error.to_string().into())
}

fn listed(from: Version, to: Version, rows: &[Behaviour]) -> String {
    let mut text = format!("What {to} does otherwise than {from}, as far as it is known:\n");
    for behaviour in rows {
        let row = behaviour.row();
        let no_longer = if to.has(*behaviour) {
            ""
        } else {
            "No longer: "
        };
        let _ = write!(
            text,
            "\n{}\n  {no_longer}{}\n  {}; {}, {}\n",
            row.id,
            behaviour.text(),
            row.releases(),
            row.known().word(),
            row.dated(),
        );
    }
    if rows.is_empty() {
        text += "\nnothing\n";
    }
    text
}

fn shown(behaviour: Behaviour) -> Value {
    let row = behaviour.row();
    json!({
        "Id": row.id,
        "Text": behaviour.text(),
        "Releases": row.releases(),
        "Evidence": row.evidence,
        "Known": row.known().word(),
        "Dated": row.dated(),
    })
}

fn all() -> Vec<Value> {
    let rows = Behaviour::TABLE.iter();
    rows.map(|row| shown(row.behaviour)).collect()
}

fn printed(rows: &Vec<Value>) -> String {
    let text = serde_json::to_string_pretty(rows);
    text.expect("all members are texts") + "\n"
}

/// Returns for each release that changed something how many rows began or ended with it, and how they are known.
fn overview() -> String {
    let rows = Behaviour::TABLE;
    let releases: BTreeSet<Version> = rows.iter().flat_map(Row::turns).collect();
    let mut text = format!(
        "{:<10}{:>8}{:>7}{:>7}{:>10}\n",
        "release", "changes", "seen", "read", "inferred"
    );
    for release in releases {
        let own: Vec<_> = rows
            .iter()
            .filter(|row| row.turns().contains(&release))
            .collect();
        let count = |known| own.iter().filter(|row| row.known() == known).count();
        let [seen, read, inferred] = [Known::Seen, Known::Read, Known::Inferred].map(count);
        let _ = writeln!(
            text,
            "{:<10}{:>8}{seen:>7}{read:>7}{inferred:>10}",
            release.to_string(),
            own.len()
        );
    }
    text + "\nReal servers that were asked: 1.8.7, and a build of late 2025, which 1.22.0 stands for.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_is_no_longer() {
        let (early, late) = (Version::new(1, 21, 4), Version::new(1, 21, 5));
        let rows = Behaviour::between(late, early);
        assert!(listed(late, early, &rows).contains("No longer: A key has to match"));
    }
}
