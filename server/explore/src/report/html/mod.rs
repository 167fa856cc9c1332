//! A report as one HTML file: without scripts, and without anything that is loaded.

mod frame;
mod lane;
mod legend;
mod picture;
mod reader;
mod requests;
mod scene;
mod search;
mod shapes;
#[cfg(test)]
mod tests;

use std::time::Duration;

use super::test_code::{Language, replay_command, test_code};
use super::text::named;
use super::timeline::{Line, LineKind, timeline};
use super::{Report, in_runs};
use crate::judge::Finding;
use crate::schedule::Schedule;
use crate::search::Broken;
use frame::{count, escaped, escaped_code, put};

const STYLE: &str = include_str!("style.css");
/// The icon of the web UI.
const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#4a3aa7"/><path d="M10 15v-4a6 6 0 0 1 12 0v4" fill="none" stroke="#fff" stroke-width="3"/><rect x="7" y="14" width="18" height="12" rx="3" fill="#fff"/><circle cx="16" cy="20" r="2.4" fill="#4a3aa7"/></svg>"##;
/// How many lines of the timeline are shown: the first ones, those before the finding, and those after it.
const FIRST_LINES: usize = 60;
const LINES_BEFORE: usize = 240;
const LINES_AFTER: usize = 30;

/// Returns the report as one HTML file that loads nothing.
#[must_use]
pub fn html(report: &Report) -> String {
    html_of_command(report, &[])
}

/// Returns the report as [`html`] does, with the words behind `proconsul explore --replay FILE` that run it again: flags, `--`,
/// and the program.
#[must_use]
pub fn html_of_command(report: &Report, words: &[String]) -> String {
    let title = escaped(&title(report));
    let mut page = format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<header>{ICON}<span class=\"logo\">proconsul</span><span class=\"about\">explore</span></header>
<main>
"
    );
    match &report.broken {
        Some(broken) => {
            let finding = Finding {
                text: named(&broken.run, &broken.finding.text),
                ..broken.finding.clone()
            };
            put_verdict(&mut page, report, broken, &finding);
            put_picture(&mut page, broken, &finding);
            put_schedule(&mut page, broken);
            put_timeline(&mut page, broken, &finding);
            put_replay(&mut page, report, broken, words);
        }
        None => put_nothing_found(&mut page, report),
    }
    search::put(&mut page, report);
    page + "</main>\n</body>\n</html>\n"
}

/// Returns the verdict in a few words.
fn title(report: &Report) -> String {
    match &report.broken {
        Some(broken) => format!("broken: {}", broken.finding.property.name()),
        None if report.is_not_judged() => "not judged".to_owned(),
        None => format!("not broken in {}", in_runs(count(report.summary.tried()))),
    }
}

fn put_verdict(page: &mut String, report: &Report, broken: &Broken, finding: &Finding) {
    let property = finding.property;
    let text = escaped(&sentence(&finding.text));
    let after = report
        .found_after
        .map(|after| format!(" after {:.1} s", after.as_secs_f64()));
    let after = after.unwrap_or_default();
    let (hits, replays) = broken.replays;
    let again = match (replays, broken.is_repeated) {
        (0, _) => String::new(),
        (_, Some(true)) => {
            format!("; {hits} of {replays} replays break it, each the same byte for byte")
        }
        (_, Some(false)) => format!(
            "; {hits} of {replays} replays break it, not the same byte for byte: the contenders draw on something that the seed does not decide"
        ),
        (_, None) => format!("; {hits} of {replays} replays break it"),
    };
    put!(
        page,
        "<section class=\"verdict\">
<p><span class=\"badge bad\">broken</span> <span class=\"badge\">{}</span></p>
<h1>{text}</h1>
<p class=\"quiet\">{}</p>
<p class=\"quiet\">Found in run {} ({}){after}{again}. Seed {}.</p>
</section>
",
        property.name(),
        escaped(property.meaning()),
        count(broken.found_in),
        escaped(&broken.purpose.in_words()),
        broken.seed,
    );
}

/// Returns a text with a capital and an end. A contender's name stays small.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_word = letters.as_str().starts_with(char::is_alphabetic);
    let first = first.map(|first| {
        if is_word {
            first.to_ascii_uppercase()
        } else {
            first
        }
    });
    first.into_iter().chain(letters).chain(['.']).collect()
}

fn put_nothing_found(page: &mut String, report: &Report) {
    let (badge, heading) = if report.is_not_judged() {
        let heading = "Nobody has acquired a lock, so nothing about locks was judged.".to_owned();
        ("<span class=\"badge warn\">not judged</span>", heading)
    } else {
        let runs = in_runs(count(report.summary.tried()));
        (
            "<span class=\"badge info\">not broken</span>",
            format!("Not broken in {runs}."),
        )
    };
    let again = match report.unconfirmed.as_slice() {
        [] => "",
        _ => " again: what was found once is below",
    };
    put!(
        page,
        "<section class=\"verdict\">\n<p>{badge}</p>\n<h1>{heading}</h1>
<p class=\"quiet\">No schedule that was tried breaks it{again}. That proves nothing about those that were not tried.</p>\n</section>\n"
    );
}

fn put_picture(page: &mut String, broken: &Broken, finding: &Finding) {
    let scene = reader::scene(broken);
    let svg = picture::picture(&scene, finding);
    let shown = scene.shown;
    *page += "<section class=\"card frame\" aria-label=\"The run as a picture\">\n";
    *page += &svg;
    *page += &legend::legend(&scene);
    put!(
        page,
        "<p class=\"quiet\" style=\"font-size:0.8rem;margin-top:0.4rem\">Shown are {} to {} of a run of {}, on the server's clock. What a mark means is shown where the pointer rests on it.</p>\n</section>\n",
        rounded(shown.from),
        rounded(shown.to.min(scene.end)),
        rounded(scene.end),
    );
}

fn put_schedule(page: &mut String, broken: &Broken) {
    let Schedule {
        contenders,
        agents,
        order,
        decisions,
    } = &broken.schedule;
    *page += "<section class=\"card\">\n<h2>The schedule</h2>\n";
    put!(page, "<p>{contenders} contenders");
    if *agents > 1 {
        put!(page, ", each with one of {agents} agents");
    }
    if !order.is_empty() {
        let names: Vec<String> = order.iter().map(ToString::to_string).collect();
        put!(
            page,
            "; where two compete, they come in the order {}",
            names.join(", ")
        );
    }
    if decisions.is_empty() {
        *page +=
            ". It has no decisions: the contenders break it without any help.</p>\n</section>\n";
        return;
    }
    *page += ".</p>\n<table>\n<tr><th></th><th>At this request</th><th>this happens</th><th>which is allowed by</th></tr>\n";
    for (decision, number) in decisions.iter().zip(1..) {
        let action = &decision.action;
        put!(
            page,
            "<tr><td style=\"width:2.2rem\"><span class=\"nr\">{number}</span></td><td class=\"mono\">{}</td><td class=\"mono\">{}</td><td>{}</td></tr>\n",
            escaped(&decision.place.to_string()),
            escaped(&action.to_string()),
            escaped(action.source()),
        );
    }
    *page += "</table>\n";
    if broken.first != broken.schedule && broken.first.decisions.len() > decisions.len() {
        put!(
            page,
            "<details><summary>Made small from {} decisions</summary><pre>{}</pre></details>\n",
            broken.first.decisions.len(),
            escaped(&broken.first.to_string()),
        );
    }
    *page += "</section>\n";
}

fn put_timeline(page: &mut String, broken: &Broken, finding: &Finding) {
    let lines = timeline(&broken.run, std::slice::from_ref(finding));
    let decisions: Vec<String> = broken
        .schedule
        .decisions
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut is_after = false;
    *page += "<section class=\"card\">\n<h2>What happened</h2>\n<table class=\"lines\">\n<tr><th class=\"num\">time</th><th></th><th></th></tr>\n";
    let mut left_out = 0;
    for (line, is_shown) in lines.iter().zip(shown_lines(&lines)) {
        if !is_shown {
            left_out += 1;
            continue;
        }
        put_gap(page, &mut left_out);
        let number = decisions.iter().position(|decision| *decision == line.text);
        put_line(page, line, number, is_after);
        is_after |= line.kind == LineKind::Finding;
    }
    put_gap(page, &mut left_out);
    *page += "</table>\n</section>\n";
}

/// Returns for each line whether it is shown: a busy loop has thousands.
fn shown_lines(lines: &[Line]) -> Vec<bool> {
    let found = lines
        .iter()
        .position(|line| line.kind == LineKind::Finding)
        .unwrap_or(lines.len());
    let near = found.saturating_sub(LINES_BEFORE)..=found + LINES_AFTER;
    let is_shown = |number: usize| number < FIRST_LINES || near.contains(&number);
    (0..lines.len()).map(is_shown).collect()
}

fn put_gap(page: &mut String, left_out: &mut u64) {
    if *left_out > 0 {
        let words = if *left_out == 1 {
            "line is"
        } else {
            "lines are"
        };
        put!(
            page,
            "<tr class=\"gap\"><td colspan=\"3\">{} {words} left out</td></tr>\n",
            count(*left_out)
        );
    }
    *left_out = 0;
}

fn put_line(page: &mut String, line: &Line, number: Option<usize>, is_after: bool) {
    let after = if is_after { " after" } else { "" };
    let kind = match line.kind {
        LineKind::Schedule => "schedule",
        LineKind::Lock => "lock",
        LineKind::Belief => "belief",
        LineKind::Request => "request",
        LineKind::Finding => "finding",
    };
    let who = match (line.by, number) {
        (_, Some(number)) => format!("<span class=\"nr\">{}</span>", number + 1),
        (Some(by), None) => format!(
            "<span class=\"who\" style=\"{}\">{by}</span>",
            shapes::hue(Some(by))
        ),
        (None, None) => String::new(),
    };
    let text = escaped(&line.text);
    put!(
        page,
        "<tr class=\"{kind}{after}\"><td class=\"num\">{}</td><td>{who}</td><td>{text}</td></tr>\n",
        precise(line.at)
    );
}

fn rounded(at: scene::At) -> String {
    let seconds = format!("{:.1}", Duration::from_nanos(at).as_secs_f64());
    format!("{} s", seconds.trim_end_matches(".0"))
}

fn precise(at: Duration) -> String {
    format!("{:.3} s", at.as_secs_f64())
}

fn put_replay(page: &mut String, report: &Report, broken: &Broken, words: &[String]) {
    *page += "<section class=\"card\">\n<h2>Run it again</h2>\n";
    let languages: &[Language] = if report.options.is_exact {
        *page += "<p>This test fails until the program is mended. <code>contend</code> is the function that the search was given.</p>\n";
        &[Language::Rust]
    } else {
        let program = match words {
            [] => ", with your program in place of <code>./my-worker</code>",
            _ => "",
        };
        put!(
            page,
            "<p>Save this as <code>schedule.txt</code>:</p>\n<pre>{}</pre>
<p style=\"margin-top:0.6rem\">Then run this{program}. It ends with 1 as long as the schedule breaks the program, and with 0 once it does not:</p>\n<pre>{}</pre>
<p style=\"margin-top:0.6rem\">Or keep it as a test:</p>\n",
            escaped(&broken.schedule.to_string()),
            escaped(&replay_command(broken, words, "schedule.txt")),
        );
        Language::ALL
    };
    for language in languages {
        let code = test_code(report, *language, words).unwrap_or_default();
        let name = language.in_words();
        let open = if languages.len() == 1 { " open" } else { "" };
        put!(
            page,
            "<details{open}><summary>{name}</summary><pre>{}</pre></details>\n",
            escaped_code(&code)
        );
    }
    *page += "</section>\n";
}
