//! One self-contained page: cases against targets, each cell opens what was said and heard. Works without scripts; a script only filters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::contract;
use super::document::{CaseDocument, Document};
use super::escape::escape;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");
const STATES: [&str; 5] = ["fail", "error", "deviation", "skip", "pass"];

/// What each state and level says of a claim.
const LEGEND: [(&str, &str, &str); 9] = [
    ("state pass", "pass", "the claim holds"),
    ("state fail", "fail", "it does not hold"),
    (
        "state deviation",
        "deviation",
        "it does not hold, which is known and listed with the reason",
    ),
    (
        "state skip",
        "skip",
        "it is not made of this release, or the server lacks what it needs",
    ),
    ("state error", "error", "the suite could not tell"),
    ("", "not run", "the run did not select it"),
    ("level", "must", "documented, and clients rely on it"),
    (
        "level",
        "should",
        "documented or customary, and clients can do without it",
    ),
    (
        "level",
        "real",
        "what Consul really does, though no document says so",
    ),
];

/// The page for one or several runs; each run of cases is a column, each case of any of them a row. Mutants have a table of their own.
#[must_use]
pub fn html(documents: &[Document]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Conformance with Consul</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Conformance with Consul</h1>\n"
    );
    let (runs, campaigns): (Vec<&Document>, Vec<&Document>) = documents
        .iter()
        .partition(|document| document.mutants.is_empty());
    summary(&mut page, &runs);
    mutants(&mut page, &campaigns);
    if !runs.is_empty() {
        legend(&mut page);
        filters(&mut page);
        let rows = rows(&runs);
        matrix(&mut page, &runs, &rows);
        all_details(&mut page, &runs, &rows);
        add(&mut page, format_args!("<script>\n{SCRIPT}</script>\n"));
    }
    page.push_str("</body>\n</html>\n");
    page
}

struct Row<'d> {
    /// Any of its cells: all say the same claim.
    case: &'d CaseDocument,
    /// One per document.
    cells: Vec<Option<&'d CaseDocument>>,
}

/// The rows in the order in which the documents bring their cases up.
fn rows<'d>(documents: &[&'d Document]) -> Vec<Row<'d>> {
    let mut rows: Vec<Row<'d>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (column, document) in documents.iter().enumerate() {
        for case in &document.cases {
            let at = *known.entry(case.id.as_str()).or_insert_with(|| {
                rows.push(Row {
                    case,
                    cells: vec![None; documents.len()],
                });
                rows.len() - 1
            });
            rows[at].cells[column] = Some(case);
        }
    }
    rows
}

fn summary(page: &mut String, documents: &[&Document]) {
    page.push_str("<ul class=\"targets\">\n");
    for (column, document) in documents.iter().enumerate() {
        add(
            page,
            format_args!(
                "<li><b>{}. {}</b> <span>{}</span><span>{}, {:.1} s, suite {}</span><span class=\"counts\">",
                column + 1,
                escape(&document.target),
                escape(&document.build),
                escape(&document.date),
                document.seconds,
                escape(&document.suite)
            ),
        );
        for state in STATES {
            let count = document.count(state);
            if count > 0 {
                add(
                    page,
                    format_args!("<span class=\"state {state}\">{count} {state}</span>"),
                );
            }
        }
        page.push_str("</span></li>\n");
    }
    page.push_str("</ul>\n");
}

/// Which case found out which altered server.
fn mutants(page: &mut String, documents: &[&Document]) {
    for document in documents {
        let (all, survived) = (document.mutants.len(), document.survivors());
        let (target, date) = (escape(&document.target), escape(&document.date));
        add(
            page,
            format_args!(
                "<details class=\"mutants\"><summary>{all} mutants of {target}, {survived} survived ({date})</summary>\n<table>\n\
                 <thead><tr><th>mutant</th><th>found out by</th></tr></thead>\n<tbody>\n"
            ),
        );
        for mutant in &document.mutants {
            let fate = match &mutant.killed_by {
                Some(by) => format!("<code>{}</code><p>{}</p>", escape(by), escape(&mutant.how)),
                None => "<span class=\"state fail\">survived</span>".to_owned(),
            };
            add(
                page,
                format_args!(
                    "<tr><th scope=\"row\"><code>{}</code><p>{}</p></th><td>{fate}</td></tr>\n",
                    escape(&mutant.name),
                    escape(&mutant.what)
                ),
            );
        }
        page.push_str("</tbody>\n</table>\n</details>\n");
    }
}

fn legend(page: &mut String) {
    page.push_str("<details class=\"legend\"><summary>What the words mean</summary>\n<dl>\n");
    for (class, word, meaning) in LEGEND {
        add(
            page,
            format_args!("<dt><span class=\"{class}\">{word}</span></dt><dd>{meaning}</dd>\n"),
        );
    }
    add(
        page,
        format_args!(
            "</dl>\n<p>A word in the table opens what was said and heard. A source that names a section leads to \
             <a href=\"{}/README.md\">the contract</a>, which says how each statement is known.</p>\n</details>\n",
            contract::address()
        ),
    );
}

fn filters(page: &mut String) {
    page.push_str(
        "<form class=\"filters\" hidden>\n<input type=\"search\" placeholder=\"id, claim or source\" aria-label=\"Filter cases\">\n",
    );
    for state in STATES {
        add(
            page,
            format_args!(
                "<label><input type=\"checkbox\" value=\"{state}\" checked> {state}</label>\n"
            ),
        );
    }
    page.push_str("<output></output>\n</form>\n");
}

fn matrix(page: &mut String, documents: &[&Document], rows: &[Row<'_>]) {
    page.push_str("<table>\n<thead><tr><th>case</th>");
    for (column, document) in documents.iter().enumerate() {
        let (number, target) = (column + 1, escape(&document.target));
        add(
            page,
            format_args!(
                "<th class=\"target\" title=\"{}\">{number}. {target}</th>",
                escape(&document.build)
            ),
        );
    }
    page.push_str("</tr></thead>\n");
    let mut topic = "";
    for (number, row) in rows.iter().enumerate() {
        if row.case.topic() != topic {
            topic = row.case.topic();
            add(
                page,
                format_args!(
                    "<tbody class=\"topic\"><tr><th colspan=\"{}\">{}</th></tr></tbody>\n",
                    documents.len() + 1,
                    escape(topic)
                ),
            );
        }
        matrix_row(page, documents, number, row);
    }
    page.push_str("</table>\n");
}

fn matrix_row(page: &mut String, documents: &[&Document], number: usize, row: &Row<'_>) {
    let case = row.case;
    let states: Vec<&str> = row
        .cells
        .iter()
        .flatten()
        .map(|cell| cell.state.as_str())
        .collect();
    add(
        page,
        format_args!(
            "<tr class=\"case\" data-states=\"{}\"><th scope=\"row\"><code>{}</code><span class=\"level\">{}</span>\
             <p>{}</p><p class=\"source\">{}</p></th>",
            escape(&states.join(" ")),
            escape(&case.id),
            escape(&case.level),
            escape(&case.claim),
            contract::linked(&case.source)
        ),
    );
    for (column, cell) in row.cells.iter().enumerate() {
        let label = escape(&format!("{}. {}", column + 1, documents[column].target));
        match cell {
            Some(cell) => {
                let (state, anchor) = (escape(&cell.state), anchor(number, column));
                let why = escape(cell.message.lines().next().unwrap_or_default());
                add(
                    page,
                    format_args!(
                        "<td data-target=\"{label}\"><a class=\"state {state}\" href=\"#{anchor}\" title=\"{why}\">{state}</a></td>"
                    ),
                );
            }
            None => add(
                page,
                format_args!("<td data-target=\"{label}\">not run</td>"),
            ),
        }
    }
    page.push_str("</tr>\n");
}

fn all_details(page: &mut String, documents: &[&Document], rows: &[Row<'_>]) {
    for (number, row) in rows.iter().enumerate() {
        for (column, case) in row.cells.iter().enumerate() {
            if let Some(case) = case {
                details(page, &anchor(number, column), case, documents[column]);
            }
        }
    }
}

/// What a cell opens: shown while the address ends in its name.
fn details(page: &mut String, anchor: &str, case: &CaseDocument, document: &Document) {
    let state = escape(&case.state);
    add(
        page,
        format_args!(
            "<section class=\"details\" id=\"{anchor}\"><div>\n<a class=\"close\" href=\"#closed\" aria-label=\"Close\">close</a>\n\
             <h2><span class=\"state {state}\">{state}</span> <code>{}</code></h2>\n\
             <p>{} <span class=\"level\">{}</span></p>\n<p class=\"source\">{}; {} ({}), {:.3} s</p>\n",
            escape(&case.id),
            escape(&case.claim),
            escape(&case.level),
            contract::linked(&case.source),
            escape(&document.target),
            escape(&document.build),
            case.seconds
        ),
    );
    for (class, text) in [("message", &case.message), ("transcript", &case.transcript)] {
        if !text.is_empty() {
            add(
                page,
                format_args!("<pre class=\"{class}\">{}</pre>\n", escape(text)),
            );
        }
    }
    page.push_str("</div></section>\n");
}

fn anchor(row: usize, column: usize) -> String {
    format!("case-{row}-{column}")
}

fn add(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text)
        .expect("writing into a string cannot fail");
}
