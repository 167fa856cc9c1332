//! The verb `changes`: what releases of Consul do otherwise, as the server's own table has it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proconsul::Version;
use proconsul_version::{Behaviour, Since};
use serde_json::{Value, json};

use super::{Failure, Given, Outcome};

commands! {
    "changes" "[FROM TO]" changes "Lists what two releases of Consul do otherwise, or how much is known of each (not in Consul)" {
        Text "format" "pretty (default) or json";
    }
}

/// How a behaviour is known, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Seen,
    Read,
    Inferred,
}

impl Known {
    fn of(behaviour: Behaviour) -> Self {
        let marks = behaviour.row().evidence;
        // Late 2025 was seen, which 1.22.0 stands for: with what it has, and without what came later.
        let is_seen = marks.contains('N') && Version::V1_22_0.has(behaviour);
        if is_seen || marks.contains('G') {
            Known::Seen
        } else if marks.contains(['S', 'C', 'D', 'H']) {
            Known::Read
        } else {
            Known::Inferred
        }
    }

    fn word(self) -> &'static str {
        match self {
            Known::Seen => "seen on a real server",
            Known::Read => "read, not seen",
            Known::Inferred => "inferred",
        }
    }
}

/// Returns how it is known since when a behaviour is there.
fn dated(behaviour: Behaviour) -> &'static str {
    let marks = behaviour.row().evidence;
    if marks.contains('D') {
        "dated by the changelog"
    } else if marks.contains('H') {
        "dated by the commit"
    } else if marks.contains('I') {
        "the release is inferred"
    } else {
        "the release is not known, and no later one"
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
            let rows = between(from, to);
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

/// Returns the behaviours that one of two releases has.
fn between(from: Version, to: Version) -> Vec<Behaviour> {
    let rows = Behaviour::TABLE.iter().map(|row| row.behaviour);
    rows.filter(|behaviour| from.has(*behaviour) != to.has(*behaviour))
        .collect()
}

fn listed(from: Version, to: Version, rows: &[Behaviour]) -> String {
    let mut text = format!("What {to} does otherwise than {from}, as far as it is known:\n");
    for behaviour in rows {
        let no_longer = if to.has(*behaviour) {
            ""
        } else {
            "No longer: "
        };
        let _ = write!(
            text,
            "\n{}\n  {no_longer}{}\n  {}; {}, {}\n",
            behaviour.row().id,
            behaviour.text(),
            spans(*behaviour),
            Known::of(*behaviour).word(),
            dated(*behaviour),
        );
    }
    if rows.is_empty() {
        text += "\nnothing\n";
    }
    text
}

/// Returns the releases that have a behaviour, in words.
fn spans(behaviour: Behaviour) -> String {
    let row = behaviour.row();
    let spans = row.since.iter().map(|since| match since {
        Since::Onward(first) => format!("since {first}"),
        Since::Line(first) => format!("since {first} in its line"),
        Since::Only(one) => format!("in {one}"),
    });
    let until = row.until.map(|until| format!("until {until}"));
    spans.chain(until).collect::<Vec<_>>().join(", ")
}

fn shown(behaviour: Behaviour) -> Value {
    let row = behaviour.row();
    json!({
        "Id": row.id,
        "Text": behaviour.text(),
        "Releases": spans(behaviour),
        "Evidence": row.evidence,
        "Known": Known::of(behaviour).word(),
        "Dated": dated(behaviour),
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
    let first = |since: &Since| match since {
        Since::Onward(version) | Since::Line(version) | Since::Only(version) => *version,
    };
    let begins = |row: Behaviour| {
        let row = row.row();
        row.since
            .iter()
            .map(first)
            .chain(row.until)
            .collect::<BTreeSet<_>>()
    };
    let rows: Vec<Behaviour> = Behaviour::TABLE.iter().map(|row| row.behaviour).collect();
    let releases: BTreeSet<Version> = rows.iter().flat_map(|row| begins(*row)).collect();
    let mut text = format!(
        "{:<10}{:>8}{:>7}{:>7}{:>10}\n",
        "release", "changes", "seen", "read", "inferred"
    );
    for release in releases {
        let own: Vec<_> = rows
            .iter()
            .filter(|row| begins(**row).contains(&release))
            .collect();
        let count = |known| own.iter().filter(|row| Known::of(***row) == known).count();
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
    fn the_way_back_has_the_same_rows() {
        let (early, late) = (Version::new(1, 21, 4), Version::new(1, 21, 5));
        let rows = between(early, late);
        assert_eq!(rows, between(late, early));
        assert!(rows.contains(&Behaviour::KvKeyPattern), "{rows:?}");
        assert!(listed(late, early, &rows).contains("No longer: A key has to match"));
        assert!(between(early, early).is_empty());
    }

    #[test]
    fn a_row_says_how_it_is_known() {
        assert_eq!(spans(Behaviour::KvKeyPattern), "since 1.21.5, until 1.22.0");
        assert_eq!(Known::of(Behaviour::KvKeyPattern), Known::Read);
        assert_eq!(Known::of(Behaviour::KvPathClean), Known::Seen);
        assert_eq!(Known::of(Behaviour::HttpRedirectTemporary), Known::Read);
        assert_eq!(dated(Behaviour::KvPathClean), "dated by the changelog");
    }
}
