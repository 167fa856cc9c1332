//! Searches over contenders in this process: right ones are not accused, and each planted bug is found.

#![expect(
    clippy::disallowed_methods,
    reason = "the time that is slept is simulated: it takes none of the machine's"
)]

mod contenders;

use proconsul::explore::{Explore, Property, Report, Schedule};

use contenders::{Kind, contend};

fn searched(kind: Kind, runs: u64) -> Report {
    let search = Explore::new().contenders(2).runs(runs).guard("work/");
    search.search(move |contender| contend(contender, kind))
}

/// How many runs the right contenders have to stand; `PROCONSUL_EXPLORE_RUNS` sets another number.
fn runs() -> u64 {
    let set = std::env::var("PROCONSUL_EXPLORE_RUNS").ok();
    set.map_or(300, |text| text.parse().expect("a number"))
}

#[test]
#[expect(clippy::print_stdout, reason = "what was measured is worth reading")]
fn the_clients_recipes_are_not_broken() {
    let report = searched(Kind::Election, runs());
    println!("{report}");
    assert!(report.broken.is_none(), "{report}");
    assert!(!report.is_idle(), "{report}");
}

#[test]
#[expect(clippy::print_stdout, reason = "what was found is worth reading")]
fn a_contender_that_renews_from_its_own_loop_is_found() {
    let report = searched(Kind::OneLoop, 2000);
    println!("{report}");
    let broken = report.broken.expect("it is found");
    assert!(broken.schedule.decisions.len() <= 2, "{}", broken.schedule);
    assert_eq!(broken.replays.0, broken.replays.1);
    assert_eq!(broken.is_repeated, Some(true));
    // The schedule alone shows it, read from its text.
    let schedule: Schedule = broken
        .schedule
        .to_string()
        .parse()
        .expect("it is printed by us");
    let again =
        Explore::new()
            .contenders(2)
            .guard("work/")
            .replay(&schedule, broken.seed, |contender| {
                contend(contender, Kind::OneLoop)
            });
    let property = broken.finding.property;
    assert!(
        again
            .findings
            .iter()
            .any(|finding| finding.property == property)
    );
    assert_ne!(property, Property::TwoHolders, "the server is right");
}
