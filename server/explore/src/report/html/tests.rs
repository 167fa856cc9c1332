use super::*;
use crate::report::samples::{self, Pen, SECOND};
use crate::run::What;
use crate::search::Purpose;
use scene::Span;

fn broken() -> Broken {
    samples::broken().broken.expect("it is broken")
}

/// Returns the names of the elements that are open at the end, or what is wrong.
fn unclosed(page: &str) -> Result<Vec<&str>, String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let end = end_of_tag(after).ok_or_else(|| format!("no end: {after:.40}"))?;
        let tag = &after[..end];
        rest = &after[end + 1..];
        let name = tag.split([' ', '/', '\n']).find(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("no name: {tag}"))?;
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return Err(format!("unexpected end of {name} in {open:?}"));
            }
        } else if !tag.ends_with('/') && !["!doctype", "meta"].contains(&name) {
            open.push(name);
        }
        if name == "style" && !tag.starts_with('/') {
            rest = &rest[rest.find("</style>").ok_or("style has no end")?..];
        }
    }
    Ok(open)
}

/// Returns where a tag ends: at the first `>` outside of quotes.
fn end_of_tag(after: &str) -> Option<usize> {
    let mut is_quoted = false;
    after.find(|letter| {
        is_quoted ^= letter == '"';
        letter == '>' && !is_quoted
    })
}

#[test]
fn a_page_is_one_file_that_loads_and_runs_nothing() {
    for report in [samples::broken(), samples::not_broken()] {
        let page = html(&report);
        for word in ["<script", "<link", "<img", "src=", "href=", "@import"] {
            assert!(!page.contains(word), "{word}");
        }
        let urls = page.matches("url(").count();
        assert_eq!(
            urls,
            page.matches("url(#").count(),
            "only what is in the page"
        );
    }
}

#[test]
fn hostile_keys_and_tokens_stay_texts() {
    let mut report = samples::broken();
    let by_process = |report: &mut Report| report.options.is_exact = false;
    for change in [|_: &mut Report| {}, by_process] {
        change(&mut report);
        let page = html(&report);
        assert_eq!(unclosed(&page), Ok(Vec::new()));
        assert!(!page.contains("</script>"));
        // The lock's name, and titles that name it in attributes and elements.
        assert!(page.contains("&lt;/script&gt;&quot;&amp;&lt;lock"));
        assert!(page.contains("token 7&quot;"), "the token");
        assert!(!page.contains("secret"), "no token of a request");
    }
}

#[test]
fn a_belief_is_striped_from_the_moment_at_which_nothing_is_held() {
    let scene = reader::scene(&broken());
    let parts = scene.lanes[0].believed();
    let held = Span {
        from: 0,
        to: 23 * SECOND,
    };
    let wrong = Span {
        from: held.to,
        to: 60 * SECOND,
    };
    assert_eq!(parts, [(held, true), (wrong, false)]);
    assert_eq!(scene.lanes[1].believed().len(), 1);
    let page = html(&samples::broken());
    assert_eq!(page.matches("\"belief wrong\"").count(), 1);
}

#[test]
fn each_decision_is_a_mark_with_its_number_and_its_trouble_is_shaded() {
    let scene = reader::scene(&broken());
    let numbers: Vec<_> = scene.lanes[0]
        .marks
        .iter()
        .map(|mark| mark.number)
        .collect();
    assert_eq!(numbers, [Some(1), Some(2)]);
    let silent = Span {
        from: 6 * SECOND,
        to: 60 * SECOND,
    };
    assert_eq!(scene.lanes[0].troubles, [(scene::Trouble::Silent, silent)]);
    let page = html(&samples::broken());
    assert_eq!(page.matches("class=\"mark warn\"").count(), 2);
    // Both say in the table what allows them.
    assert_eq!(page.matches("<td>the network</td>").count(), 2);
}

#[test]
fn the_lock_has_its_holders_its_lock_delay_and_its_rejected_acquire() {
    let scene = reader::scene(&broken());
    let [lock] = &scene.locks[..] else {
        panic!("one lock");
    };
    assert_eq!(lock.key, samples::KEY);
    let names: Vec<&str> = lock.holds.iter().map(|hold| hold.name.as_str()).collect();
    assert_eq!(names, ["a's session 1", "b's session 1"]);
    let delay = Span {
        from: 23 * SECOND,
        to: 38 * SECOND,
    };
    assert_eq!(lock.delays, [delay]);
    assert_eq!(lock.rejected, [SECOND / 10]);
}

#[test]
fn why_a_lock_was_lost_at_the_left_edge_stands_after_the_moment() {
    let mut report = samples::broken();
    assert!(html(&report).contains("class=\"cause\""));
    let broken = report.broken.as_mut().expect("it is broken");
    let mut events = broken.run.events.iter_mut();
    let released = events.find(|event| matches!(event.what, What::Released { .. }));
    released.expect("a loses it").at = SECOND;
    let page = html(&report);
    assert!(page.contains("class=\"cause after\""), "{page}");
}

#[test]
fn a_long_run_is_shown_from_what_led_to_the_finding() {
    let mut broken = broken();
    let later = |at: u64| at + 600 * SECOND;
    for event in &mut broken.run.events {
        event.at = later(event.at);
    }
    broken.run.setup.ended = later(broken.run.setup.ended);
    broken.finding.at += Duration::from_secs(600);
    let shown = reader::scene(&broken).shown;
    assert!(
        shown.from > 590 * SECOND && shown.from < 600 * SECOND,
        "{shown:?}"
    );
    assert!(
        shown.to > 635 * SECOND && shown.to < 645 * SECOND,
        "{shown:?}"
    );
}

#[test]
fn a_busy_loop_is_drawn_in_a_page_of_bounded_size() {
    let mut pen = Pen::new();
    for number in 0..20_000_u32 {
        let at = f64::from(number) / 1000.0;
        let call = pen.request(at, 1, "GET /v1/kv/a?index=0");
        pen.answer(at, call, (number % 3 > 0).then_some(500), None);
        pen.believes(at, 0, (number % 2 == 0).then_some("1"));
    }
    let mut report = samples::broken();
    let broken = report.broken.as_mut().expect("it is broken");
    broken.run.events = pen.events;
    broken.finding.at = Duration::from_secs(19);
    let page = html(&report);
    assert!(page.len() < 600_000, "{}", page.len());
    assert!(page.contains("lines are left out"));
    assert!(
        page.contains("class=\"finding\""),
        "the line that matters is shown"
    );
    assert_eq!(unclosed(&page), Ok(Vec::new()));
}

#[test]
fn a_contender_that_ended_is_marked_in_its_lane_and_believes_no_more() {
    let mut broken = broken();
    let event = broken.run.events.last_mut().expect("there are some");
    assert_eq!(event.at, 40 * SECOND);
    event.what = What::Driver {
        text: "b ended by itself: exit status: 101".to_owned(),
    };
    let scene = reader::scene(&broken);
    let texts: Vec<&str> = scene.lanes[1]
        .marks
        .iter()
        .map(|mark| mark.text.as_str())
        .collect();
    assert_eq!(texts, ["b ended by itself: exit status: 101"]);
    assert_eq!(scene.lanes[1].beliefs[0].span.to, 40 * SECOND);
}

#[test]
fn changes_of_what_is_watched_are_a_row() {
    let mut report = samples::broken();
    assert!(!html(&report).contains("Consul: changes"));
    let broken = report.broken.as_mut().expect("it is broken");
    let event = broken.run.events.last_mut().expect("there are some");
    event.what = What::Driver {
        text: "changed /v1/kv/<key>".to_owned(),
    };
    let page = html(&report);
    assert!(page.contains("Consul: changes"));
    assert!(page.contains("<title>40 s /v1/kv/&lt;key&gt; changes</title>"));
}

#[test]
fn how_to_run_it_again_depends_on_what_the_contenders_are() {
    let mut report = samples::broken();
    let page = html(&report);
    assert!(page.contains("explore.replay(") && !page.contains("--replay"));
    report.options.is_exact = false;
    let page = html(&report);
    assert!(page.contains("proconsul explore --replay schedule.txt --guard"));
    let words = ["--", "./worker", "<&>"].map(str::to_owned);
    let of_command = html_of_command(&report, &words);
    assert!(of_command.contains("--replay schedule.txt -- ./worker &#39;&lt;&amp;&gt;&#39;"));
    assert!(page.contains("\n\tfile := t.TempDir()"), "it can be copied");
    for name in ["Rust", "Go", "Python", "Shell"] {
        assert!(
            page.contains(&format!("<summary>{name}</summary>")),
            "{name}"
        );
    }
}

#[test]
fn a_replay_says_nothing_of_what_was_tried() {
    let mut report = samples::not_broken();
    assert!(html(&report).contains("<dt>Lock lost</dt><dd>in 50 of 62 runs</dd>"));
    report.summary.runs = [(Purpose::Replay, 20)].into();
    assert!(!html(&report).contains("Lock lost"));
}

#[test]
fn a_search_that_found_nothing_says_what_it_leaves_open() {
    let mut report = samples::not_broken();
    let page = html(&report);
    assert!(page.contains("<h1>Not broken in 62 runs.</h1>"));
    // (1 - 1/200)^60.
    assert!(page.contains("p ≤ 0.740"), "{page}");
    assert!(page.contains("because the contenders have no fencing tokens"));
    assert!(!page.contains("class=\"picture\"") && !page.contains("mostly idle"));
    assert_eq!(unclosed(&page), Ok(Vec::new()));
    report.summary.takeovers = 3;
    report.summary.runs.insert(Purpose::Drawn(2), 10);
    let page = html(&report);
    assert!(page.contains("mostly idle") && page.contains("2 decisions"));
}

#[test]
fn a_sentence_begins_with_a_capital_unless_that_is_a_contender() {
    assert_eq!(sentence("both a and b"), "Both a and b.");
    assert_eq!(sentence("a wrote"), "a wrote.");
    assert_eq!(sentence("20 sessions"), "20 sessions.");
    assert_eq!(sentence(""), ".");
}
