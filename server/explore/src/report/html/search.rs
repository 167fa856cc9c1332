//! What was searched: runs, bounds, what was not judged, and which actions met which requests.

use std::collections::{BTreeMap, BTreeSet};

use super::frame::{count, escaped, put};
use super::sentence;
use crate::report::{Report, in_runs, in_words};
use crate::search::{Purpose, Summary};

/// Adds what was searched.
pub(super) fn put(page: &mut String, report: &Report) {
    *page += "<div class=\"pair\">\n";
    put_runs(page, report);
    put_unknown(page, report);
    *page += "</div>\n";
    put_coverage(page, &report.summary);
}

fn put_runs(page: &mut String, report: &Report) {
    let summary = &report.summary;
    let all: u64 = summary.runs.values().sum();
    put!(
        page,
        "<section class=\"card\">\n<h2>The search</h2>\n<dl class=\"facts\">
<dt>Runs</dt><dd>{} in {:.1} s</dd>
<dt>Contenders</dt><dd>{}</dd>\n",
        count(all),
        report.took.as_secs_f64(),
        report.options.contenders,
    );
    // A replay only repeats: it tries nothing.
    if summary.tried() > 0 {
        put!(
            page,
            "<dt>Lock lost</dt><dd>in {} of {}</dd>
<dt>Taken over by another</dt><dd>in {} of them{}</dd>\n",
            count(summary.losses),
            in_runs(count(summary.tried())),
            count(summary.takeovers),
            if report.broken.is_none() && report.is_idle() {
                " <span class=\"badge warn\">mostly idle</span>"
            } else {
                ""
            },
        );
    }
    put!(
        page,
        "<dt>Seed of the search</dt><dd class=\"mono\">{}</dd>\n</dl>\n<h3>Runs by purpose</h3>\n<table class=\"small\">\n",
        report.options.seed,
    );
    for (purpose, runs) in &summary.runs {
        put!(
            page,
            "<tr><td>{}</td><td class=\"num\">{}</td></tr>\n",
            escaped(&purpose.in_words()),
            count(*runs)
        );
    }
    *page += "</table>\n</section>\n";
}

/// Adds what the search leaves open.
fn put_unknown(page: &mut String, report: &Report) {
    let summary = &report.summary;
    *page += "<section class=\"card\">\n<h2>What it does not say</h2>\n";
    let bounds = (1..=3).filter_map(|depth| Some((depth, summary.missed(depth)?)));
    let bounds: Vec<(u32, f64)> = bounds.filter(|_| report.broken.is_none()).collect();
    if !bounds.is_empty() {
        *page += "<h3>Chance that a bug was missed</h3>\n<table class=\"small\">\n<tr><th>A bug that needs</th><th>runs</th><th>was missed with</th></tr>\n";
        for (depth, missed) in bounds {
            let runs = summary
                .runs
                .get(&Purpose::Drawn(depth))
                .copied()
                .unwrap_or_default();
            let words = if depth == 1 { "decision" } else { "decisions" };
            put!(
                page,
                "<tr><td>{depth} {words}</td><td class=\"num\">{}</td><td class=\"num\">p ≤ {missed:.3}</td></tr>\n",
                count(runs)
            );
        }
        put!(
            page,
            "</table>\n<p class=\"quiet\">Of the {} pairs of a request and an action that there are.</p>\n",
            count(summary.pairs)
        );
    }
    if report.broken.is_some() {
        *page += "<p>The search ended with the first property that broke. Others may be broken, too.</p>\n";
    }
    if summary.not_judged.is_empty() {
        *page += "<p>All properties were judged.</p>\n";
    } else {
        *page += "<h3>Not judged</h3>\n<table class=\"small\">\n";
        for (property, why) in &summary.not_judged {
            put!(
                page,
                "<tr><td class=\"mono\">{}</td><td>because {}</td></tr>\n",
                property.name(),
                escaped(why)
            );
        }
        *page += "</table>\n";
    }
    if !report.unconfirmed.is_empty() {
        *page += "<h3>Found, and not again</h3>\n";
        for broken in &report.unconfirmed {
            put!(page, "<p>{}</p>\n", escaped(&sentence(&in_words(broken))));
        }
    }
    *page += "</section>\n";
}

fn put_coverage(page: &mut String, summary: &Summary) {
    let coverage = &summary.coverage;
    if coverage.is_empty() {
        return;
    }
    let actions: BTreeSet<&str> = coverage.keys().map(|(_, action)| *action).collect();
    let mut kinds: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for ((kind, action), times) in coverage {
        kinds.entry(kind).or_default().insert(action, *times);
    }
    let most = coverage.values().max().copied().unwrap_or(1).max(1);
    *page += "<section class=\"card\" style=\"overflow-x:auto\">\n<h2>Actions that met requests</h2>\n<table class=\"heat\">\n<tr><td style=\"background:none\"></td>";
    for action in &actions {
        put!(
            page,
            "<th scope=\"col\"><span>{}</span></th>",
            escaped(action)
        );
    }
    *page += "</tr>\n";
    for (kind, row) in kinds {
        put!(page, "<tr><th scope=\"row\">{}</th>", escaped(kind));
        for action in &actions {
            match row.get(action) {
                // Each doubling is a step, because counts differ by orders of magnitude.
                Some(times) => {
                    let share = 8 + 32 * (times.ilog2() + 1) / (most.ilog2() + 1);
                    put!(
                        page,
                        "<td class=\"num\" style=\"--share:{share}%\">{}</td>",
                        count(*times)
                    );
                }
                None => *page += "<td class=\"num none\">·</td>",
            }
        }
        *page += "</tr>\n";
    }
    *page += "</table>\n</section>\n";
}
