//! A page of the book for each release that changed something: the rows of the table of behaviours that differ from the release before,
//! and each case of the suite that says something of one of the two alone, with its request and both answers.
//!
//! After a change: `WRITE_CHANGES=1 cargo test -p proconsul-conformance --test changes` makes them anew.

#[path = "../in_process/mod.rs"]
mod in_process;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proconsul::Version;
use proconsul_conformance::compare::normalize::normalize;
use proconsul_conformance::runner::parallel;
use proconsul_conformance::{
    Case, Runner, State, Target, ToolError, Version as SuiteVersion, cases,
};
use proconsul_version::Behaviour;

/// Cases at once. Many of them wait a moment for what must not come.
const JOBS: usize = 16;
/// Releases at once.
const PAIRS: usize = 4;

/// What answers with figures of one process, which no two runs share.
const METRICS: &str = "/v1/agent/metrics";

/// A release, and the one before it in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    before: Version,
    after: Version,
}

/// The answer in which two releases differ most in a case, without what differs between two runs by nature.
struct Change {
    case: &'static Case,
    request: Vec<String>,
    before: Vec<String>,
    after: Vec<String>,
}

/// What a release does otherwise than the one before.
struct Release {
    pair: Pair,
    rows: Vec<Behaviour>,
    changes: Vec<Change>,
    /// Cases of one of the two alone in which nothing differs that is said on the wire, or that these servers cannot run.
    silent: usize,
}

fn of_suite(version: Version) -> SuiteVersion {
    SuiteVersion::new(version.major, version.minor, version.patch)
}

/// The releases that began or ended something, each with the one before. The first that is emulated has none.
fn pairs() -> Vec<Pair> {
    let rows = Behaviour::TABLE
        .iter()
        .flat_map(proconsul_version::Row::turns);
    let cases = cases::all().into_iter();
    let turns = cases.flat_map(|case| [Some(case.since), case.until]);
    let turns = turns.flatten();
    let turns = turns.map(|version| Version::new(version.major, version.minor, version.patch));
    let known: BTreeSet<Version> = rows.chain(turns).collect();
    let emulated = known.iter().filter(|version| **version > Version::V1_8_7);
    emulated.map(|version| pair(*version, &known)).collect()
}

fn pair(after: Version, known: &BTreeSet<Version>) -> Pair {
    let Version {
        major,
        minor,
        patch,
    } = after;
    let newest = known.range(..after).next_back();
    let before = match patch {
        0 => *newest.expect("1.8.7 is known"),
        _ => Version::new(major, minor, patch - 1),
    };
    Pair { before, after }
}

fn release(pair: Pair) -> Result<Release, ToolError> {
    let (before, after) = (of_suite(pair.before), of_suite(pair.after));
    let mut cases = cases::all();
    cases.retain(|case| case.is_of_another_version(before) != case.is_of_another_version(after));
    let mut changes = Vec::new();
    for dev in [false, true] {
        let (one, other) = (servers(pair.before, dev)?, servers(pair.after, dev)?);
        let can_run = |case: &&Case| {
            let of_all = of_all_releases(case);
            [&one, &other]
                .iter()
                .all(|target| of_all.skip_reason(target.facts()).is_none())
        };
        let chosen: Vec<&'static Case> = cases.extract_if(.., |case| can_run(&&**case)).collect();
        changes.extend(parallel::each(JOBS, &chosen, |case| {
            change(&one, &other, case)
        })?);
    }
    let silent = cases.len() + changes.iter().filter(|change| change.is_none()).count();
    let mut changes: Vec<Change> = changes.into_iter().flatten().collect();
    // First what holds now.
    changes.sort_by_key(|change| {
        let topic = change.case.id.split('/').next();
        (
            topic,
            change.case.is_of_another_version(after),
            change.case.id,
        )
    });
    Ok(Release {
        pair,
        rows: Behaviour::between(pair.before, pair.after),
        changes,
        silent,
    })
}

fn servers(version: Version, dev: bool) -> Result<Target, ToolError> {
    let open = move |settings: &str| in_process::open(in_process::config(settings, version, dev)?);
    let target = Target::fresh(&format!("proconsul {version}"), move || open(""))?;
    Ok(target.with_own_servers(open))
}

/// The same case for whichever release: it goes as far as its claim holds.
const fn of_all_releases(case: &Case) -> Case {
    Case {
        since: SuiteVersion::V1_8,
        until: None,
        ..*case
    }
}

fn change(one: &Target, other: &Target, case: &'static Case) -> Result<Option<Change>, ToolError> {
    let of_all: &'static Case = Box::leak(Box::new(of_all_releases(case)));
    let said = |target| {
        let result = Runner::new(target).run_one(of_all);
        match result.state {
            // A release that does not know a key does not start with it. That is its whole answer.
            State::Error(why) if why.contains("invalid config key") => Ok(Vec::new()),
            State::Error(why) => Err(ToolError(format!("{}: {why}", case.id))),
            _ => Ok(normalize(&result.transcript)),
        }
    };
    let (before, after) = (said(one)?, said(other)?);
    let pairs = exchanges(&before).zip(exchanges(&after));
    // What comes after another request is another story.
    let pairs = pairs.take_while(|(before, after)| before.0 == after.0);
    let changes = pairs.map(|((request, before), (_, after))| Change {
        case,
        request: page::request(request),
        before: page::answer(before),
        after: page::answer(after),
    });
    // Of those that differ as much, the first.
    Ok(changes
        .filter(|change| change.before != change.after && !change.request[0].contains(METRICS))
        .min_by_key(|change| {
            let (before, after) = (&change.before, &change.after);
            let has_other_status = before.first() != after.first();
            let has_other_body = body(before) != body(after);
            (!has_other_status, !has_other_body)
        }))
}

/// The lines of an answer after its headers.
fn body(answer: &[String]) -> &[String] {
    let head = answer.iter().position(String::is_empty);
    &answer[head.unwrap_or(answer.len())..]
}

/// The requests with their answers, of which each line begins with a sign.
fn exchanges(lines: &[String]) -> impl Iterator<Item = (&[String], &[String])> {
    let is_sent = |line: &String| line.starts_with('>');
    let exchanges = lines.chunk_by(move |line, next| is_sent(line) || !is_sent(next));
    exchanges.map(move |exchange| {
        let length = exchange.iter().take_while(|line| is_sent(line)).count();
        exchange.split_at(length)
    })
}

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src")
}

#[test]
fn the_book_has_what_each_release_changed() {
    let releases = parallel::each(PAIRS, &pairs(), release);
    let mut releases = releases.expect("the emulator starts as each release");
    releases.retain(|release| !release.rows.is_empty() || !release.changes.is_empty());
    let made = page::all(&releases);
    if std::env::var_os("WRITE_CHANGES").is_some() {
        let folder = book().join("releases");
        std::fs::create_dir_all(folder).expect("the book can be written");
        for (name, text) in &made {
            std::fs::write(book().join(name), text).expect("the book can be written");
        }
    }
    let stale: Vec<&String> = made
        .iter()
        .filter(|(name, text)| {
            std::fs::read_to_string(book().join(name)).ok().as_ref() != Some(text)
        })
        .map(|(name, _)| name)
        .collect();
    let pages = std::fs::read_dir(book().join("releases")).expect("the book has them");
    let pages = pages.map(|page| page.expect("it is there").file_name());
    let pages = pages.map(|page| format!("releases/{}", page.display()));
    let gone: Vec<String> = pages
        .filter(|page| made.iter().all(|(name, _)| name != page))
        .collect();
    assert!(
        gone.is_empty(),
        "of no release that changed something: {gone:?}"
    );
    let again = "WRITE_CHANGES=1 cargo test -p proconsul-conformance --test changes";
    assert!(
        stale.is_empty(),
        "stale, make them anew with `{again}`: {stale:?}"
    );
}

#[test]
fn a_key_with_a_space_is_refused_since_1_21_5() {
    let pair = Pair {
        before: Version::new(1, 21, 4),
        after: Version::V1_21_5,
    };
    assert!(pairs().contains(&pair));
    let release = release(pair).expect("the emulator starts as both");
    let is_refusal = |line: &String| line.starts_with("invalid key name");
    let refused = release.changes.iter().find(|change| {
        change.request[0].starts_with("PUT /v1/kv/") && change.after.iter().any(is_refusal)
    });
    let refused = refused.expect("1.21.5 checks keys");
    assert_eq!(refused.before[0], "200 OK");
    assert_eq!(refused.after[0], "500 Internal Server Error");
    assert!(release.rows.contains(&Behaviour::KvKeyPattern));
}
