//! Searches over contenders in this process: right ones are not accused, and each planted bug is found.

#![expect(
    clippy::disallowed_methods,
    reason = "the time that is slept is simulated: it takes none of the machine's"
)]
#![expect(
    clippy::print_stdout,
    reason = "what was searched and found is worth reading"
)]

mod book;
mod contenders;
mod overlaps;
mod plain;
mod reads;
mod watches;

use proconsul::explore::{Explore, Property, Report, Schedule};

use contenders::{Kind, contend};

fn explore() -> Explore {
    Explore::new().contenders(2).guard("work/")
}

fn search(kind: Kind, runs: u64) -> Report {
    let report = explore()
        .runs(runs)
        .search(move |contender| contend(contender, kind));
    println!("{kind:?}: {report}");
    report
}

/// How many runs the right contenders have to stand; `PROCONSUL_EXPLORE_RUNS` sets another number.
fn runs() -> u64 {
    let set = std::env::var("PROCONSUL_EXPLORE_RUNS").ok();
    set.map_or(60, |text| text.parse().expect("a number"))
}

#[test]
fn the_clients_election_is_not_broken() {
    search(Kind::Election, runs()).assert_not_broken();
}

#[test]
fn the_clients_lock_and_its_fencing_token_are_not_broken() {
    search(Kind::Lock, runs()).assert_not_broken();
}

#[test]
fn the_clients_watch_is_not_broken() {
    let report = search(Kind::Watch, runs());
    report.assert_not_broken();
    assert!(!report.to_string().contains("idle"), "{report}");
}

#[test]
fn contenders_with_agents_of_their_own_are_not_broken() {
    for kind in [Kind::Election, Kind::Lock, Kind::Watch] {
        let search = explore().agents(3).runs(runs());
        let report = search.search(move |contender| contend(contender, kind));
        println!("{kind:?} at agents: {report}");
        assert!(report.broken.is_none(), "{report}");
    }
}

/// Runs end in another order each time.
#[test]
fn a_search_is_repeated_by_its_seed() {
    let [one, other] = [0; 2].map(|_| search(Kind::TriesThrice, 500));
    let (found, again) = (one.broken.expect("a bug"), other.broken.expect("a bug"));
    assert_eq!((found.schedule, found.seed), (again.schedule, again.seed));
    assert_eq!(found.run, again.run);
    assert_eq!(one.summary.runs, other.summary.runs);
    assert_eq!(one.summary.coverage, other.summary.coverage);
}

/// Searches for a planted bug, and replays what is found from its text.
fn assert_found(kind: Kind, expected: &[Property]) {
    assert_found_by(explore(), kind, expected);
}

/// Returns what is found.
fn assert_found_by(search: Explore, kind: Kind, expected: &[Property]) -> Schedule {
    let only = expected.to_vec();
    let search = search.runs(2000).limits(|limits| limits.only = only);
    let report = search.search(move |contender| contend(contender, kind));
    println!("{kind:?}: {report}");
    let broken = report.broken.expect("it is found");
    let property = broken.finding.property;
    assert!(expected.contains(&property), "{property:?}");
    assert!(broken.schedule.decisions.len() <= 2, "{}", broken.schedule);
    assert_eq!(broken.replays.0, broken.replays.1);
    assert_eq!(broken.is_repeated, Some(true));
    let schedule: Schedule = broken.schedule.to_string().parse().expect("it is ours");
    let again = explore().replay(&schedule, broken.seed, |contender| contend(contender, kind));
    let mut findings = again.findings.iter();
    assert!(findings.any(|finding| finding.property == property));
    schedule
}

#[test]
fn a_contender_that_believes_its_own_agent_is_found_by_agents_alone() {
    let expected = [Property::TwoBelievers, Property::NoticedLate];
    let found = assert_found_by(explore().agents(3), Kind::BelievesStale, &expected);
    assert_eq!(found.agents, 3);
    let mut decisions = found.decisions.iter();
    assert!(
        decisions.any(|decision| decision.action.is_of_agent()),
        "{found}"
    );
    let alone = search(Kind::BelievesStale, 30);
    assert!(alone.broken.is_none(), "{alone}");
}

#[test]
fn a_contender_that_renews_from_its_own_loop_is_found() {
    let expected = [
        Property::TwoBelievers,
        Property::NoticedLate,
        Property::StaleWrite,
    ];
    assert_found(Kind::OneLoop, &expected);
}

#[test]
fn a_contender_that_ignores_the_end_of_its_session_is_found() {
    let expected = [
        Property::TwoBelievers,
        Property::NoticedLate,
        Property::StaleWrite,
    ];
    assert_found(Kind::RenewsForEver, &expected);
}

#[test]
fn a_contender_that_locks_itself_out_is_found() {
    assert_found(Kind::BeginsAnew, &[Property::NobodyLeads]);
}

#[test]
fn a_contender_that_gives_up_is_found() {
    assert_found(Kind::TriesThrice, &[Property::NobodyLeads]);
}

#[test]
fn a_fencing_token_that_goes_back_is_found() {
    assert_found(Kind::LockIndex, &[Property::TokenBack]);
}

#[test]
fn a_monitor_that_gives_up_at_a_limit_is_found() {
    assert_found(Kind::GivesUpAtLimit, &[Property::NobodyLeads]);
}

#[test]
fn a_watch_that_waits_without_a_unit_is_found() {
    assert_found(Kind::WaitWithoutUnit, &[Property::BusyLoop]);
}

#[test]
fn a_watch_that_ignores_a_deletion_is_found() {
    assert_found(Kind::IgnoresDeletion, &[Property::BusyLoop]);
}

#[test]
fn a_watch_that_keeps_the_highest_index_is_found() {
    assert_found(Kind::HighestIndex, &[Property::MissedValue]);
}
