//! The pages, and the file for programs.

use std::fmt::Write as _;

use proconsul_conformance::Case;
use proconsul_conformance::compare::difference::difference;
use serde_json::{Value, json};

use super::{Change, Release};

/// Headers that say nothing of a release.
const NOISE: [&str; 4] = ["Host: ", "Date: ", "Content-Length: ", "User-Agent: "];
/// How much of a line, and how many lines, are shown.
const SHOWN: usize = 160;
const LINES: usize = 24;
/// How a compressed body begins.
const COMPRESSED: &str = r"\x1f\x8b";
/// What each key of the suite begins with.
const OWN_KEYS: &str = "conformance/<run>/";

/// The lines of a request as a reader would write it.
pub(crate) fn request(lines: &[String]) -> Vec<String> {
    let mut lines = told(lines, "> ");
    if let Some(first) = lines.first_mut() {
        *first = first.trim_end_matches(" HTTP/1.1").to_owned();
    }
    lines
}

/// The lines of an answer, from its status on.
pub(crate) fn answer(lines: &[String]) -> Vec<String> {
    let mut lines = told(lines, "< ");
    if let Some(first) = lines.first_mut() {
        *first = first.trim_start_matches("HTTP/1.1 ").to_owned();
    }
    lines
}

fn told(lines: &[String], sign: &str) -> Vec<String> {
    let bare = lines
        .iter()
        .map(|line| line.strip_prefix(sign).unwrap_or(""));
    let told = bare.filter(|line| !NOISE.iter().any(|header| line.starts_with(header)));
    let told = told.map(|line| match line.starts_with(COMPRESSED) {
        true => "(compressed)".to_owned(),
        false => line.replace(OWN_KEYS, ""),
    });
    let mut told: Vec<String> = told.collect();
    while told.last().is_some_and(String::is_empty) {
        told.pop();
    }
    told
}

/// Returns each file of the book with its text.
pub(crate) fn all(releases: &[Release]) -> Vec<(String, String)> {
    let files = releases.iter().flat_map(|release| {
        let name = format!("releases/{}", release.pair.after);
        let data = serde_json::to_string_pretty(&data(release));
        let data = data.expect("all members are texts");
        [
            (format!("{name}.md"), page(release)),
            (format!("{name}.json"), data + "\n"),
        ]
    });
    let mut files: Vec<_> = files.collect();
    files.push(("releases.md".to_owned(), index(releases)));
    files
}

fn index(releases: &[Release]) -> String {
    let mut text = String::from(
        "# What each release changed

Each page compares a release with the one before: the rows of the [table of behaviours](versions.md#what-differs-between-releases)
that differ, and the claims of [the suite](compatibility.md#the-suite) that hold for one of them alone, each with its request and both
answers. The answers are proconsul's; as 1.22.0 they are held against recordings of a build of late 2025. Each row says how it is known.
Beside each page is the same as JSON, such as [`1.21.5.json`](releases/1.21.5.json); its rows have the members that
`proconsul changes -format=json` prints.

| release | before | behaviours | answers |
|---|---|--:|--:|
",
    );
    for release in releases {
        let (after, before) = (release.pair.after, release.pair.before);
        let (rows, changes) = (release.rows.len(), release.changes.len());
        let _ = writeln!(
            text,
            "| [{after}](releases/{after}.md) | {before} | {rows} | {changes} |"
        );
    }
    text
}

fn page(release: &Release) -> String {
    let (before, after) = (release.pair.before, release.pair.after);
    let mut text = format!(
        "# What {after} changed\n\nCompared with {before}. [`{after}.json`]({after}.json) has the same for programs.\n"
    );
    if !release.rows.is_empty() {
        text += "\n## Behaviours\n\n| id | what | how it is known |\n|---|---|---|\n";
    }
    for behaviour in &release.rows {
        let row = behaviour.row();
        let no_longer = if after.has(*behaviour) {
            ""
        } else {
            "No longer: "
        };
        let _ = writeln!(
            text,
            "| `{}` | {no_longer}{} | {}; {}; {} |",
            row.id,
            escaped(behaviour.text()),
            row.releases(),
            row.known().word(),
            row.dated()
        );
    }
    if !release.changes.is_empty() {
        let _ = write!(
            text,
            "\n## Answers\n\nThe answer of each case that differs most: `-` as {before}, `+` as {after}. What differs between two runs \
             of one release has a name, such as `<index:1>`.\n"
        );
    }
    let mut topic = "";
    for Alike {
        first: change,
        others,
        ..
    } in alike(&release.changes)
    {
        if topic != self::topic(change.case) {
            topic = self::topic(change.case);
            let _ = write!(text, "\n### {topic}\n");
        }
        let holds = !change.case.is_of_another_version(super::of_suite(after));
        text += &shown(change, holds, &others);
    }
    if release.silent > 0 {
        let _ = write!(
            text,
            "\nClaims that hold for one of the two alone, without an answer to show: {}.\n",
            release.silent
        );
    }
    text
}

fn topic(case: &Case) -> &'static str {
    case.id.split('/').next().unwrap_or_default()
}

/// Changes of one topic in which the same lines differ.
struct Alike<'c> {
    lines: Vec<String>,
    first: &'c Change,
    others: Vec<&'c Change>,
}

fn alike(changes: &[Change]) -> Vec<Alike<'_>> {
    let mut groups: Vec<Alike<'_>> = Vec::new();
    for change in changes {
        let text = difference(&change.before, &change.after).unwrap_or_default();
        let lines = text.lines().filter(|line| line.starts_with(['-', '+']));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let is_known = |group: &&mut Alike<'_>| {
            group.lines == lines && topic(group.first.case) == topic(change.case)
        };
        match groups.iter_mut().find(is_known) {
            Some(group) => group.others.push(change),
            None => groups.push(Alike {
                lines,
                first: change,
                others: Vec::new(),
            }),
        }
    }
    groups
}

fn shown(change: &Change, holds: bool, others: &[&Change]) -> String {
    let Case { id, source, .. } = change.case;
    let claim = escaped(change.case.claim);
    let no_longer = if holds { "" } else { "No longer: " };
    let mut text = format!("\n**{no_longer}{claim}** (`{id}`; {source})\n\n```diff\n");
    for line in &change.request {
        let _ = writeln!(text, "{}", format!("  {}", cut(line)).trim_end());
    }
    text.push('\n');
    let both = difference(&change.before, &change.after).unwrap_or_default();
    for line in both.lines().take(LINES) {
        let _ = writeln!(text, "{}", cut(line).trim_end());
    }
    if both.lines().count() > LINES {
        text += "  ...\n";
    }
    text += "```\n";
    if !others.is_empty() {
        let ids: Vec<String> = others
            .iter()
            .map(|other| format!("`{}`", other.case.id))
            .collect();
        let _ = write!(text, "\nThe same lines differ in {}.\n", ids.join(", "));
    }
    text
}

/// What is shown of a line, which ends with a whole word.
fn cut(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(SHOWN) else {
        return line.to_owned();
    };
    let whole = line[..end].trim_end_matches(char::is_alphanumeric);
    format!("{whole}…")
}

/// A sentence that is not taken for markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut is_code = false;
    for c in text.chars() {
        is_code ^= c == '`';
        match c {
            '|' => escaped += "\\|",
            '<' if !is_code => escaped += "&lt;",
            '*' | '[' if !is_code => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

fn data(release: &Release) -> Value {
    let rows = release.rows.iter().map(|behaviour| {
        let row = behaviour.row();
        json!({
            "Id": row.id,
            "Text": behaviour.text(),
            "New": release.pair.after.has(*behaviour),
            "Releases": row.releases(),
            "Evidence": row.evidence,
            "Known": row.known().word(),
            "Dated": row.dated(),
        })
    });
    let cut = |lines: &[String]| {
        lines
            .iter()
            .take(LINES)
            .map(|line| cut(line))
            .collect::<Vec<_>>()
    };
    let changes = release.changes.iter().map(|change| {
        json!({
            "Case": change.case.id,
            "Claim": change.case.claim,
            "Source": change.case.source,
            "Request": cut(&change.request),
            "Before": cut(&change.before),
            "After": cut(&change.after),
        })
    });
    json!({
        "Release": release.pair.after.to_string(),
        "Before": release.pair.before.to_string(),
        "Behaviours": rows.collect::<Vec<_>>(),
        "Answers": changes.collect::<Vec<_>>(),
    })
}
