//! What the suite covers and what the emulator does otherwise, as Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::case::Case;
use crate::case::version::Version;
use crate::report::rows::Page;
use crate::runner::asked::Asked;
use crate::runner::deviation::Deviations;

/// The areas of the README's table, the topics of each, and what is emulated of it. Each topic is in one area.
pub(super) const AREAS: &[(&str, &[&str], &str)] = &[
    (
        "Keys and blocking queries",
        &["blocking", "concurrent", "index", "kv"],
        "all of it, with Consul's indexes and wake-ups",
    ),
    (
        "Sessions and locks",
        &["invalidation", "lock-delay", "session"],
        "all of it: TTLs, behaviors, lock-delay, checks that end sessions",
    ),
    (
        "Transactions",
        &["txn"],
        "all verbs of KV, Node, Service and Check",
    ),
    (
        "Catalog and health",
        &["catalog", "filter", "health", "page"],
        "nodes, services, checks, `?filter=`; what Consul's own web UI reads",
    ),
    (
        "Agent",
        &["agent", "settings"],
        "its services, checks that are run, maintenance, reload, metrics, log; Consul's configuration files",
    ),
    (
        "ACLs",
        &["acl"],
        "policies, roles, tokens, binding rules, logins by JSON Web Token; the legacy system before 1.11",
    ),
    (
        "Queries, events, coordinates",
        &["coordinate", "event", "query"],
        "prepared queries with failover to other datacenters, user events, coordinates that clients send",
    ),
    (
        "Configuration entries, intentions",
        &["config"],
        "stored, checked, matched and compiled into discovery chains; no proxy follows them",
    ),
    (
        "HTTP and the cluster",
        &[
            "endpoint", "http", "operator", "shaped", "snapshot", "status",
        ],
        "Consul's headers, errors and redirects; snapshots; one server, or several agents and datacenters",
    ),
];

/// The table of the README: what is emulated by area, and how many claims of the suite are met.
///
/// # Panics
/// When a topic is in no area.
pub(super) fn summary(cases: &[&Case], deviations: &Deviations, asked: &[Asked]) -> String {
    let mut text = String::from("| area | emulated | cases | pass |");
    for asked in asked {
        text.push_str(&format!(" seen on a real {} |", asked.version));
    }
    text.push_str("\n|---|---|---|---|");
    text.push_str(&"---|".repeat(asked.len()));
    text.push('\n');
    let mut left: BTreeSet<&str> = cases.iter().map(|case| topic(case)).collect();
    let all = [("All", [].as_slice(), "")];
    for (area, topics, emulated) in AREAS.iter().chain(&all) {
        let is_all = topics.is_empty();
        let own = cases.iter().copied();
        let own: Vec<&Case> = own
            .filter(|case| is_all || topics.contains(&topic(case)))
            .collect();
        topics.iter().for_each(|topic| _ = left.remove(topic));
        let met = own
            .iter()
            .filter(|case| deviations.reason(case.id).is_none());
        let mut figures = vec![own.len(), met.count()];
        let held = |asked: &Asked| {
            own.iter()
                .filter(|case| asked.pass.contains(case.id))
                .count()
        };
        figures.extend(asked.iter().map(held));
        let figures: Vec<String> = figures.iter().map(ToString::to_string).collect();
        line(
            &mut text,
            &format!("| {area} | {emulated} | {} |", figures.join(" | ")),
        );
    }
    assert!(left.is_empty(), "topics without an area: {left:?}");
    text
}

/// The table of the book: how many claims each topic makes, how many of them were seen on real servers, and how many the emulator
/// meets: `tests/emulator.rs` holds it against every one on a release of which it is claimed, and `server/wasm/test` the module, whose
/// `deviations` are second.
pub(super) fn table(cases: &[&Case], deviations: [&Deviations; 2], asked: &[Asked]) -> String {
    let mut text = String::from("| topic | cases |");
    for asked in asked {
        text.push_str(&format!(" seen on a real {} |", asked.version));
    }
    text.push_str(" seen on none | pass | pass as WebAssembly |\n|---|---|---|---|---|");
    text.push_str(&"---|".repeat(asked.len()));
    text.push('\n');
    let mut topics: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        topics.entry(topic(case)).or_default().push(case);
    }
    for (topic, cases) in &topics {
        row(&mut text, topic, cases, deviations, asked);
    }
    row(&mut text, "all", cases, deviations, asked);
    text.push('\n');
    for asked in asked {
        line(&mut text, &told(asked));
    }
    line(
        &mut text,
        "No real server of another release was asked: claims about these come from documents.",
    );
    for (whose, deviations) in ["", " of the module"].iter().zip(deviations) {
        let unmet = deviating(cases, deviations);
        if !unmet.is_empty() {
            line(&mut text, &format!("\nKnown differences{whose}:\n"));
        }
        for (why, claims) in unmet {
            line(&mut text, &format!("- {why}: {}.", named(&claims)));
        }
    }
    text
}

/// How the claims about a release are known: those that were asked, and of each line the last that began or ended a claim.
pub(super) fn by_release(cases: &[&Case], asked: &[Asked]) -> String {
    let mut text = String::from(
        "\nHow the claims about a release are known, for the releases that were asked and for the last of each line that changed a claim:\n\n| release | claims | seen there | read | inferred |\n|---|---|---|---|---|\n",
    );
    let is_bound = |case: &Case| case.since > Version::V1_8 || case.until.is_some();
    let turns = cases
        .iter()
        .filter(|case| is_bound(case))
        .flat_map(|case| [Some(case.since), case.until])
        .flatten();
    let of_lines: BTreeMap<_, _> = turns
        .collect::<BTreeSet<Version>>()
        .into_iter()
        .map(|turn| ((turn.major, turn.minor), turn))
        .collect();
    let asked_for = asked
        .iter()
        .map(|asked| asked.version.parse().expect("a release was asked"));
    let releases: BTreeSet<Version> = of_lines.into_values().chain(asked_for).collect();
    for release in releases {
        let own = cases
            .iter()
            .filter(|case| !case.is_of_another_version(release));
        let is_seen = |case: &&&Case| {
            let there = |asked: &&Asked| asked.version == release.to_string();
            let asked = asked.iter().find(there);
            asked.is_some_and(|asked| asked.pass.contains(case.id))
        };
        let is_inferred = |case: &&&Case| {
            !is_bound(case) && asked.iter().any(|asked| asked.pass.contains(case.id))
        };
        let (seen, unseen): (Vec<&&Case>, Vec<&&Case>) = own.partition(is_seen);
        let (inferred, read): (Vec<&&Case>, Vec<&&Case>) =
            unseen.into_iter().partition(is_inferred);
        let [seen, read, inferred] = [seen, read, inferred].map(|cases| cases.len());
        let all = seen + read + inferred;
        line(
            &mut text,
            &format!("| {release} | {all} | {seen} | {read} | {inferred} |"),
        );
    }
    line(
        &mut text,
        "\nRead: a document says so. Inferred: it was seen on another release, and no document that was found says that this one differs.",
    );
    text
}

/// What one release was asked, and when.
fn told(asked: &Asked) -> String {
    let runs = asked.runs.iter();
    let runs: Vec<String> = runs
        .map(|(mode, date)| format!("{mode} on {date}"))
        .collect();
    let (version, build, runs) = (&asked.version, &asked.build, runs.join(" and "));
    let held = asked.pass.len();
    if asked.from_recordings {
        return format!(
            "A real Consul {version} ({build}) was recorded {runs}: {held} claims held; other cases are not counted ([which build that is](../../fixtures/README.md))."
        );
    }
    let failed = asked.fail.len();
    format!(
        "A real Consul {version} ({build}) was asked {runs}: {held} claims hold, {failed} do not."
    )
}

/// The table of the contract: how many of each page's rows a case or a claim about several agents shows.
pub(super) fn contract(pages: &[Page]) -> String {
    let mut text = String::from(
        "\n| page of the contract | rows | shown by a case or a claim | not, with the reason |\n|---|---|---|---|\n",
    );
    for Page { file, rows, shown } in pages {
        let left = rows - shown;
        line(
            &mut text,
            &format!(
                "| [`{file}`](../../conformance/contract/{file}) | {rows} | {shown} | {left} |"
            ),
        );
    }
    text
}

/// What cases claim, or where many of them stand.
fn named(cases: &[&Case]) -> String {
    if let [case] = cases {
        return format!("{} (`{}`)", case.claim, case.id);
    }
    let topics: BTreeSet<_> = cases.iter().map(|case| topic(case)).collect();
    let topics: Vec<_> = topics.iter().map(|topic| format!("`{topic}/`")).collect();
    format!("{} cases of {}", cases.len(), topics.join(", "))
}

pub(super) fn topic(case: &Case) -> &'static str {
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

fn row(
    text: &mut String,
    topic: &str,
    cases: &[&Case],
    [native, module]: [&Deviations; 2],
    asked: &[Asked],
) {
    let count = |holds: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| holds(case)).count();
    let held = |case: &Case, asked: &Asked| asked.pass.contains(case.id);
    let mut figures = vec![cases.len()];
    figures.extend(asked.iter().map(|asked| count(&|case| held(case, asked))));
    figures.push(count(&|case| !asked.iter().any(|asked| held(case, asked))));
    let passes = |case: &Case| native.reason(case.id).is_none();
    figures.push(count(&passes));
    figures.push(count(&|case| {
        passes(case) && module.reason(case.id).is_none()
    }));
    let figures: Vec<String> = figures.iter().map(ToString::to_string).collect();
    line(text, &format!("| {topic} | {} |", figures.join(" | ")));
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
        since: Version::V1_21_5,
        ..Case::MUST
    };

    #[test]
    fn a_claim_is_seen_read_or_inferred() {
        let asked = Asked {
            version: "1.8.7".to_owned(),
            pass: ["kv/a".to_owned()].into(),
            ..Asked::default()
        };
        let text = by_release(&[&EARLY, &LATE], &[asked]);
        assert!(text.contains("| 1.8.7 | 1 | 1 | 0 | 0 |"), "{text}");
        assert!(text.contains("| 1.21.5 | 2 | 0 | 1 | 1 |"), "{text}");
    }

    #[test]
    fn figures_are_counted_from_runs_and_deviations_are_named() {
        let cases = [&EARLY, &LATE];
        let known = r#""kv/b" = { why = "not yet", fails = "came 200" }"#;
        let deviations = Deviations::parse(known, &cases).expect("the line names a case");
        let mut asked = Asked {
            version: "1.8.7".to_owned(),
            build: "1.8.7 go1.15".to_owned(),
            ..Asked::default()
        };
        let text = table(&cases, [&deviations, &Deviations::none()], &[asked.clone()]);
        assert!(text.contains("| kv | 2 | 0 | 2 | 1 | 1 |"), "{text}");
        asked.pass.insert("kv/a".to_owned());
        asked
            .runs
            .insert("-dev".to_owned(), "2026-11-22".to_owned());
        let text = table(&cases, [&deviations, &Deviations::none()], &[asked.clone()]);
        assert!(text.contains("| seen on a real 1.8.7 |"), "{text}");
        assert!(text.contains("| kv | 2 | 1 | 1 | 1 | 1 |"), "{text}");
        let told = "A real Consul 1.8.7 (1.8.7 go1.15) was asked -dev on 2026-11-22: 1 claims hold, 0 do not.";
        assert!(text.contains(told), "{text}");
        let recorded = Asked {
            version: "1.22.0".to_owned(),
            build: "1.22.0 go1.25.4".to_owned(),
            pass: ["kv/b".to_owned()].into(),
            from_recordings: true,
            ..asked.clone()
        };
        let both = table(
            &cases,
            [&deviations, &Deviations::none()],
            &[asked, recorded],
        );
        assert!(both.contains("| kv | 2 | 1 | 1 | 0 | 1 | 1 |"), "{both}");
        let told = "1.22.0 (1.22.0 go1.25.4) was recorded -dev on 2026-11-22: 1 claims held; other cases are not counted (";
        assert!(both.contains(told), "{both}");
        assert!(
            text.contains("- not yet: Keys are cleaned (`kv/b`)."),
            "{text}"
        );
        assert!(!text.contains("Keys are read ("), "{text}");

        let both = r#"
        "kv/a" = { why = "never", fails = "came 200" }
        "kv/b" = { why = "never", fails = "came 200" }
        "#;
        let module = Deviations::parse(both, &cases).expect("the lines name cases");
        let text = table(&cases, [&deviations, &module], &[]);
        assert!(text.contains("| kv | 2 | 2 | 1 | 0 |"), "{text}");
        assert!(
            text.contains("Known differences of the module:\n\n- never"),
            "{text}"
        );
        assert!(text.contains("- never: 2 cases of `kv/`."), "{text}");
    }
}
