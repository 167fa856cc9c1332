//! A difference as a case: `saved_case.txt` is what `--save-case` writes, compiled here as it stands.

use proconsul_conformance::Target;
use proconsul_conformance::case::Case;
use proconsul_conformance::runner::{Runner, State};
use proconsul_conformance::target::site::Site;
use proconsul_conformance::wire::Address;

use crate::shadowed::{mutant, shadowed};
use crate::{put, real, session};

const TEXT: &str = include_str!("saved_case.txt");
const CASE: &Case = &include!("saved_case.txt");

#[test]
fn a_difference_becomes_a_case() {
    let (_server, real) = real();
    let shadowed = shadowed(&real, Some("lock/given-twice"));
    let at = shadowed.address();
    let [one, other] = [(); 2].map(|()| session(&at, r#"{"LockDelay":"0s"}"#));
    put(&at, &format!("/v1/kv/k?acquire={one}"), "a \"b\"");
    put(&at, "/v1/kv/unrelated", "x");
    put(&at, &format!("/v1/kv/k?acquire={other}"), "c");
    let findings = shadowed.finish();
    let case = findings.differences()[0].case().expect("it is the first");
    assert_eq!(case, TEXT);
}

/// What comes of the case on a server that is kept as long.
fn state_on(address: &Address, altered: Option<&str>) -> State {
    let site = Site::new(address.clone());
    let site = match altered {
        None => site,
        Some(name) => {
            proconsul_lab::mutate::in_place_of(site, mutant(name)).expect("a proxy listens")
        }
    };
    let target = Target::shared("saved", site).expect("it answers");
    Runner::new(&target).run_one(CASE).state
}

#[test]
fn the_case_passes_where_shadow_saw_it_and_fails_where_it_differed() {
    let (_server, real) = real();
    let passed = state_on(&real, None);
    assert!(matches!(passed, State::Pass), "{passed:?}");
    let failed = state_on(&real, Some("lock/given-twice"));
    assert!(matches!(failed, State::Fail(_)), "{failed:?}");
}
