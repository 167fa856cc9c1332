//! Each form of the report shows every state, claim and transcript, and nothing in them can break the form.

use std::time::Duration;

use super::document::{Document, MutantDocument};
use super::html::html;
use super::junit::junit;
use crate::case::Case;
use crate::runner::verdict::Failure;
use crate::runner::{CaseResult, Report, State};
use crate::wire::transcript::{Line, Transcript};

static CASE: Case = Case {
    id: "kv/get/a",
    claim: "a < b & \"c\"",
    source: "API docs; kv.md 2.4, trap 2 (<late>)",
    ..Case::MUST
};
static OTHER: Case = Case {
    id: "session/get/b",
    ..Case::MUST
};

fn failure() -> Failure {
    Failure {
        message: "expected <this>".to_owned(),
        place: "case.rs:1".to_owned(),
    }
}

fn report(states: Vec<State>) -> Report {
    let cases = [&CASE, &OTHER].into_iter().cycle();
    let results = states
        .into_iter()
        .zip(cases)
        .map(|(state, case)| CaseResult {
            case,
            state,
            took: Duration::from_millis(1500),
            transcript: Transcript {
                lines: vec![Line::Note("</pre><script>\u{1}".to_owned())],
                ..Transcript::default()
            },
        });
    Report {
        target: "a <target>".to_owned(),
        build: "1.8.7 go1.15.9".to_owned(),
        results: results.collect(),
        took: Duration::from_secs(3),
    }
}

fn five() -> Report {
    report(vec![
        State::Pass,
        State::Fail(failure()),
        State::Skip("needs ACLs on".to_owned()),
        State::Deviation {
            why: "known".to_owned(),
            failure: failure(),
        },
        State::Error("broke".to_owned()),
    ])
}

#[test]
fn json_is_read_back_as_it_was_written() {
    let document = Document::of(&five());
    let read = Document::from_json(&document.to_json()).expect("our own JSON");
    assert_eq!(read, document);
    assert_eq!(read.count("deviation"), 1);
    assert!(Document::from_json("{\"some\":\"json\"}").is_err());
}

#[test]
fn junit_has_a_suite_per_topic_and_all_states() {
    let xml = junit(&Document::of(&five()));
    for part in [
        "<testsuites name=\"a &lt;target&gt; (1.8.7 go1.15.9)\" tests=\"5\"",
        "<testsuite name=\"kv\" tests=\"3\"",
        "<testsuite name=\"session\" tests=\"2\"",
        "<testcase name=\"kv/get/a\" classname=\"kv\" time=\"1.500\">",
        "<skipped message=\"skip: needs ACLs on\"",
        "<skipped message=\"deviation: known\"",
        "<failure message=\"fail: expected &lt;this&gt;\"",
        "<error message=\"error: broke\"",
        "claim: a &lt; b &amp;",
    ] {
        assert!(xml.contains(part), "no {part} in:\n{xml}");
    }
}

#[test]
fn html_links_every_cell_to_its_transcript() {
    let page = html(&[Document::of(&five())]);
    let (first, second) = ("href=\"#case-0-0\"", "id=\"case-0-0\"");
    assert!(page.contains(first) && page.contains(second), "{page}");
    assert!(page.contains("1 deviation</span>"), "{page}");
    assert!(
        page.contains("<p>a &lt; b &amp; &quot;c&quot;</p>"),
        "{page}"
    );
}

#[test]
fn html_links_sources_to_the_contract() {
    let page = html(&[Document::of(&report(vec![State::Pass]))]);
    let source = "API docs; <a href=\"conformance/contract/kv.md#2.4\">kv.md 2.4</a>, \
                  <a href=\"conformance/contract/kv.md#trap-2\">trap 2</a> (&lt;late&gt;)";
    assert_eq!(
        page.matches(source).count(),
        2,
        "in the row and in what it opens: {page}"
    );
}

#[test]
fn html_says_what_its_words_mean() {
    let page = html(&[Document::of(&five())]);
    for part in [
        "<span class=\"state skip\">skip</span></dt><dd>it is not made of this release",
        "<span class=\"level\">real</span></dt><dd>what Consul really does",
        "<a href=\"conformance/contract/README.md\">the contract</a>",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
}

#[test]
fn html_lets_nothing_out_of_its_text() {
    let page = html(&[Document::of(&five())]);
    assert!(!page.contains("</pre><script>"), "{page}");
    assert_eq!(page.matches("<script>").count(), 1);
    for outside in ["src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "self-contained");
    }
}

#[test]
fn html_puts_targets_beside_each_other() {
    let one = Document::of(&report(vec![State::Pass]));
    let two = Document::of(&report(vec![State::Fail(failure()), State::Pass]));
    let page = html(&[one, two]);
    assert_eq!(
        page.matches("<tr class=\"case\"").count(),
        2,
        "one row per case"
    );
    assert!(page.contains("data-states=\"pass fail\""), "{page}");
    assert!(
        page.contains(">not run</td>"),
        "the first target did not run the second case"
    );
}

#[test]
fn mutants_have_a_table_of_their_own() {
    let altered = Document {
        cases: Vec::new(),
        mutants: vec![
            mutant("index/<frozen>", Some("kv/get/a")),
            mutant("wake/never-comes", None),
        ],
        ..Document::of(&five())
    };
    assert_eq!(altered.survivors(), 1);
    assert_eq!(
        Document::from_json(&altered.to_json()).as_ref(),
        Ok(&altered)
    );
    let page = html(&[altered.clone(), Document::of(&five())]);
    assert!(page.contains("2 mutants of a &lt;target&gt;, 1 survived"));
    assert!(page.contains("<code>index/&lt;frozen&gt;</code>"));
    assert!(page.contains("<code>kv/get/a</code><p>because</p>"));
    assert!(page.contains("survived</span>"));
    // They are no column beside the runs of cases.
    assert!(page.contains("1. a &lt;target&gt;") && !page.contains("2. a &lt;target&gt;"));
    let alone = html(&[altered]);
    assert!(!alone.contains("<form") && !alone.contains("<script>"));
}

fn mutant(name: &str, killed_by: Option<&str>) -> MutantDocument {
    MutantDocument {
        name: name.to_owned(),
        what: "Something is altered".to_owned(),
        killed_by: killed_by.map(str::to_owned),
        how: "because".to_owned(),
        seconds: 0.5,
    }
}
