//! What the suite covers and what the emulator does otherwise, as Markdown: parts of documents that are made
//! from the cases and never written by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::case::Case;
use crate::cases::uncovered::UNCOVERED;
use crate::citation;
use crate::deviation::Deviations;

/// The line before and after the generated part of a document.
pub const BEGIN: &str = "<!-- made by `proconsul-conformance coverage`; do not edit -->";
/// See [`BEGIN`].
pub const END: &str = "<!-- end of what is made -->";

/// The table of the README: how many claims each topic makes, and which of them the emulator does not meet.
#[must_use]
pub fn table(cases: &[&Case], deviations: &Deviations) -> String {
    let mut text = String::from(
        "| what | claims | seen on a real 1.8.7 | of later releases | met by the emulator |\n|---|---|---|---|---|\n",
    );
    let mut all = Count::default();
    for (topic, count) in by_topic(cases, deviations) {
        row(&mut text, topic, count);
        all = all.plus(count);
    }
    row(&mut text, "all", all);
    let unmet = deviating(cases, deviations);
    if !unmet.is_empty() {
        text.push_str("\nWhat proconsul does not do as Consul does:\n\n");
    }
    for (why, claims) in unmet {
        line(&mut text, &format!("- {why}: {}.", named(&claims)));
    }
    text
}

/// The page of what the contract says and no case shows.
#[must_use]
pub fn page() -> String {
    let mut text = String::from(
        "# What no case shows\n\nStatements of the contract that the suite leaves out, each with the reason.\n",
    );
    let mut source = "";
    for uncovered in UNCOVERED {
        if uncovered.source != source {
            source = uncovered.source;
            let (file, anchor) = citation::place(source).expect("entries name places");
            line(
                &mut text,
                &format!("\n## [{source}](contract/{file}#{anchor})\n"),
            );
        }
        let (statement, why) = (uncovered.statement, uncovered.why);
        line(&mut text, &format!("- {statement}. *{why}.*"));
    }
    text
}

/// A document with its generated part made anew; none when it has no place for it.
#[must_use]
pub fn renewed(document: &str, made: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{made}{END}{after}"))
}

#[derive(Clone, Copy, Default)]
struct Count {
    claims: usize,
    later: usize,
    unmet: usize,
}

impl Count {
    fn plus(self, other: Self) -> Self {
        Self {
            claims: self.claims + other.claims,
            later: self.later + other.later,
            unmet: self.unmet + other.unmet,
        }
    }
}

fn by_topic<'c>(cases: &[&'c Case], deviations: &Deviations) -> BTreeMap<&'c str, Count> {
    let mut topics: BTreeMap<&str, Count> = BTreeMap::new();
    for case in cases {
        let count = topics.entry(topic(case)).or_default();
        *count = count.plus(Count {
            claims: 1,
            later: usize::from(case.since > Case::MUST.since),
            unmet: usize::from(deviations.reason(case.id).is_some()),
        });
    }
    topics
}

/// What cases claim, or where many of them stand.
fn named(cases: &[&Case]) -> String {
    if let [case] = cases {
        return format!("{} (`{}`)", case.claim, case.id);
    }
    let topics: BTreeSet<_> = cases.iter().map(|case| topic(case)).collect();
    let topics: Vec<_> = topics.iter().map(|topic| format!("`{topic}/`")).collect();
    format!("{} claims of {}", cases.len(), topics.join(", "))
}

fn topic(case: &Case) -> &'static str {
    case.id.split('/').next().unwrap_or_default()
}

/// The cases that are not met, by the reason why.
fn deviating<'c, 'd>(
    cases: &[&'c Case],
    deviations: &'d Deviations,
) -> BTreeMap<&'d str, Vec<&'c Case>> {
    let mut reasons: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        if let Some(why) = deviations.reason(case.id) {
            reasons.entry(why).or_default().push(case);
        }
    }
    reasons
}

fn row(text: &mut String, topic: &str, count: Count) {
    let Count {
        claims,
        later,
        unmet,
    } = count;
    let (seen, met) = (claims - later, claims - unmet);
    line(
        text,
        &format!("| {topic} | {claims} | {seen} | {later} | {met} |"),
    );
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing into a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: Case = Case {
        id: "kv/a",
        claim: "Keys are read",
        ..Case::MUST
    };
    const LATE: Case = Case {
        id: "kv/b",
        claim: "Keys are cleaned",
        since: crate::Version {
            major: 1,
            minor: 21,
            patch: 5,
        },
        ..Case::MUST
    };

    #[test]
    fn claims_are_counted_and_deviations_are_named() {
        let cases = [&EARLY, &LATE];
        let deviations = Deviations::parse(
            r#""kv/b" = { why = "not yet", fails = "came 200" }"#,
            &cases,
        );
        let text = table(&cases, &deviations.expect("the line names a case"));
        assert!(text.contains("| kv | 2 | 1 | 1 | 1 |"), "{text}");
        assert!(
            text.contains("- not yet: Keys are cleaned (`kv/b`)."),
            "{text}"
        );
        assert!(!text.contains("Keys are read ("), "{text}");

        let both = r#"
        "kv/a" = { why = "never", fails = "came 200" }
        "kv/b" = { why = "never", fails = "came 200" }
        "#;
        let deviations = Deviations::parse(both, &cases).expect("the lines name cases");
        let text = table(&cases, &deviations);
        assert!(text.contains("- never: 2 claims of `kv/`."), "{text}");
    }

    #[test]
    fn only_the_generated_part_is_renewed() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let renewed = renewed(&document, "new\n").expect("there is a place");
        assert_eq!(renewed, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(super::renewed("nothing", "new\n"), None);
    }
}
