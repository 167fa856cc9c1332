//! The five states, and what happens when the target goes away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::case::feature::Feature;
use crate::target::site::Site;
use crate::wire::fake::{Fake, consul_like};

fn target(fake: &Fake) -> Target {
    Target::address(&fake.address().to_string()).expect("the fake says what a Consul says")
}

static GOOD: Case = Case {
    id: "t/good",
    run: |t| {
        t.put("good", "", "").is(200, "true");
    },
    ..Case::MUST
};
static BAD: Case = Case {
    id: "t/bad",
    claim: "what is bad is good",
    source: "nowhere",
    run: |t| {
        t.put("bad", "", "").is(200, "true");
    },
    ..Case::MUST
};
static NEEDY: Case = Case {
    id: "t/needy",
    needs: &[Feature::AclsOn],
    run: |_| panic!("never run"),
    ..Case::MUST
};
static LONELY: Case = Case {
    id: "t/lonely",
    needs: &[Feature::OwnServer],
    run: |t| {
        t.get("shared", "").is(200, "no");
    },
    ..Case::MUST
};
static BROKEN: Case = Case {
    id: "t/broken",
    run: |_| std::panic::resume_unwind(Box::new("a mistake in the case")),
    ..Case::MUST
};

static CONFIGURED: Case = Case {
    id: "t/configured",
    settings: r#"{"acl": {"enabled": true}}"#,
    ..Case::MUST
};
/// Its server has crashed.
static GONE: Case = Case {
    id: "t/gone",
    run: |_| verdict::halt(Halt::Unreachable("refused".to_owned())),
    ..Case::MUST
};

#[test]
fn the_five_states() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let known = Deviations::parse(
        r#"
        "t/bad" = { why = "known", fails = "/v1/kv/bad*came 404" }
        "t/good" = { why = "wrong", fails = "came 404" }
        "#,
        &[&BAD, &GOOD],
    )
    .expect("two entries");
    let state = |runner: &Runner<'_>, case| runner.run_one(case).state;
    let strict = Runner::new(&target);
    assert_eq!(state(&strict, &GOOD), State::Pass);
    assert!(matches!(state(&strict, &BAD), State::Fail(_)));
    assert_eq!(
        state(&strict, &NEEDY),
        State::Skip("needs ACLs on".to_owned())
    );
    assert_eq!(
        state(&strict, &BROKEN),
        State::Error("a case panicked: a mistake in the case".to_owned())
    );
    let lenient = Runner::new(&target).deviations(known);
    assert!(matches!(state(&lenient, &BAD), State::Deviation { why, .. } if why == "known"));
    let State::Fail(failure) = state(&lenient, &GOOD) else {
        panic!("a deviation that passes is red")
    };
    assert!(
        failure.message.contains("take it off the list"),
        "{failure}"
    );
}

#[test]
fn only_what_a_deviation_names_may_fail() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let state = |case: &'static Case, fails: &str| {
        let text = format!("{:?} = {{ why = \"known\", fails = {fails:?} }}", case.id);
        let known = Deviations::parse(&text, &[case]).expect("one entry");
        Runner::new(&target).deviations(known).run_one(case).state
    };
    assert!(matches!(state(&BAD, "came 404"), State::Deviation { .. }));
    let State::Fail(failure) = state(&BAD, "came 500") else {
        panic!("another failure than the listed one is red")
    };
    let text = "fails otherwise than its expected deviation says (\"came 500\"): PUT /v1/kv/bad";
    assert!(failure.message.starts_with(text), "{failure}");
    assert_eq!(
        state(&BROKEN, "a mistake"),
        State::Error("a case panicked: a mistake in the case".to_owned())
    );
    assert!(matches!(state(&GONE, "no connection"), State::Error(_)));
}

#[test]
fn a_server_that_refuses_settings_may_be_known_to() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let refuses = |_: &str| Err(ToolError("acl.enabled is not emulated".to_owned()));
    let target = target.with_own_servers(refuses);
    let state = |case: &'static Case, fails: &str| {
        let text = format!("{:?} = {{ why = \"known\", fails = {fails:?} }}", case.id);
        let known = Deviations::parse(&text, &[case]).expect("one entry");
        Runner::new(&target).deviations(known).run_one(case).state
    };
    assert!(matches!(
        state(&CONFIGURED, "acl.enabled is not"),
        State::Deviation { .. }
    ));
    assert!(matches!(state(&CONFIGURED, "came 401"), State::Error(_)));
    assert!(matches!(state(&LONELY, "acl.enabled"), State::Error(_)));
}

#[test]
fn what_another_server_answered_is_an_error() {
    static OF_ANOTHER: AtomicBool = AtomicBool::new(false);
    static SWAPPED: Case = Case {
        id: "t/swapped",
        run: |t| {
            OF_ANOTHER.store(true, Ordering::SeqCst);
            t.put("good", "", "").is(200, "true");
        },
        ..Case::MUST
    };
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let site = Site::new(fake.address()).checked(|| match OF_ANOTHER.load(Ordering::SeqCst) {
        false => Ok(()),
        true => Err(ToolError("the port is another's".to_owned())),
    });
    let target = Target::shared("swapped", site).expect("the fake is a Consul");
    let runner = Runner::new(&target);
    let error = State::Error("the port is another's".to_owned());
    assert_eq!(runner.run_one(&GOOD).state, State::Pass);
    assert_eq!(runner.run_one(&SWAPPED).state, error);
    assert_eq!(runner.run_one(&GOOD).state, error, "before the case, too");
}

#[test]
fn exit_statuses_and_counts() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let status = |cases: &[&'static Case]| {
        let report = Runner::new(&target)
            .run_cases(cases)
            .expect("the fake lives");
        assert_eq!(report.results.len(), cases.len());
        report.exit_status()
    };
    assert_eq!(status(&[&GOOD, &NEEDY]), 0);
    assert_eq!(status(&[&GOOD, &BAD]), 1);
    assert_eq!(status(&[&BROKEN, &BAD]), 2);
}

#[test]
fn a_failure_shows_claim_source_and_transcript() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let report = Runner::new(&target)
        .run_cases(&[&BAD, &NEEDY])
        .expect("the fake lives");
    let text = report.to_string();
    for part in [
        "--- FAIL t/bad",
        "claim:  what is bad is good (must)",
        "source: nowhere",
        "PUT /v1/kv/bad: expected 200 \"true\"; came 404",
        "tests.rs:",
        "> PUT /v1/kv/bad HTTP/1.1",
        "< HTTP/1.1 404 X",
        "skipped 1: needs ACLs on",
        "0 pass, 1 fail, 1 skip, 0 deviation, 0 error",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn a_target_that_dies_midway_ends_the_run() {
    let dead = Arc::new(AtomicBool::new(false));
    let dies = Arc::clone(&dead);
    let fake = Fake::answering(move |line| {
        if line.contains("/v1/kv/") {
            dies.store(true, Ordering::SeqCst);
        }
        let answer = if dies.load(Ordering::SeqCst) {
            Vec::new()
        } else {
            consul_like(line)
        };
        Some(answer)
    });
    let target = target(&fake);
    let known = r#""t/good" = { why = "known", fails = "PUT /v1/kv/good" }"#;
    let known = Deviations::parse(known, &[&GOOD]).expect("one entry");
    for deviations in [Deviations::none(), known] {
        dead.store(false, Ordering::SeqCst);
        let runner = Runner::new(&target).deviations(deviations);
        let error = runner.run_cases(&[&GOOD]).expect_err("it died");
        assert!(error.0.contains("died midway"), "{error}");
        assert!(error.0.contains("t/good"), "the case saw it: {error}");
        assert!(dead.load(Ordering::SeqCst));
    }
}

#[test]
fn results_keep_the_order_of_the_cases() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let cases: [&'static Case; 4] = [&NEEDY, &GOOD, &BAD, &GOOD];
    let report = Runner::new(&target)
        .run_cases(&cases)
        .expect("the fake lives");
    let ids: Vec<&str> = report.results.iter().map(|result| result.case.id).collect();
    assert_eq!(ids, ["t/needy", "t/good", "t/bad", "t/good"]);
}

#[test]
fn a_server_of_its_own_is_for_the_cases_that_ask_for_one() {
    let shared = Fake::answering(|line| Some(consul_like(line)));
    let own = Fake::saying(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
    let without = target(&shared);
    assert_eq!(
        Runner::new(&without).run_one(&LONELY).state,
        State::Skip("needs a server of its own".to_owned())
    );
    let address = own.address();
    let with = target(&shared).with_own_servers(move |_| Ok(Site::new(address.clone())));
    let runner = Runner::new(&with);
    assert_eq!(runner.run_one(&LONELY).state, State::Pass);
    assert_eq!(runner.run_one(&GOOD).state, State::Pass);
}

static HURRIED: Case = Case {
    id: "t/hurried",
    run: |t| {
        let tries = std::cell::Cell::new(0);
        t.in_time(Duration::ZERO, || {
            tries.set(tries.get() + 1);
            t.check(tries.get() == 3, "held up");
        });
        t.same("tries", tries.get(), 3);
        t.in_time(Duration::from_secs(600), || t.check(false, "wrong in time"));
    },
    ..Case::MUST
};

static TOO_SLOW: Case = Case {
    id: "t/too-slow",
    run: |t| t.in_time(Duration::ZERO, || t.check(false, "held up")),
    ..Case::MUST
};

#[test]
fn what_fails_because_it_was_held_up_is_tried_again() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let runner = Runner::new(&target);
    let State::Fail(failure) = runner.run_one(&HURRIED).state else {
        panic!("a claim that fails in time fails")
    };
    assert_eq!(failure.message, "wrong in time");
    assert!(
        matches!(runner.run_one(&TOO_SLOW).state, State::Error(why) if why.contains("too slow"))
    );
}
