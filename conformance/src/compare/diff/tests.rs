//! Two fakes that agree, and two that do not.

use std::sync::Mutex;

use super::*;
use crate::wire::fake::{Fake, consul_like};

fn target(fake: &Fake) -> Target {
    Target::address(&fake.address().to_string()).expect("the fake says what a Consul says")
}

static GOOD: Case = Case {
    id: "t/good",
    run: |t| drop(t.put("good", "", "")),
    ..Case::MUST
};

static RACING: Case = Case {
    id: "t/racing",
    run: |t| drop(t.together(2, |_| t.put("good", "", ""))),
    ..Case::MUST
};

#[test]
fn equal_answers_pass_and_others_are_shown() {
    let one = Fake::answering(|line| Some(consul_like(line)));
    let same = Fake::answering(|line| Some(consul_like(line)));
    let other = Fake::answering(|line| {
        let text = String::from_utf8(consul_like(line)).expect("ASCII");
        Some(text.replace("true", "else").into_bytes())
    });
    let (one, same, other) = (target(&one), target(&same), target(&other));
    let equal = diff_one(&one, &same, &GOOD).expect("both live");
    assert_eq!(equal.state, State::Pass);
    let differing = diff_one(&one, &other, &GOOD).expect("both live");
    let State::Fail(failure) = differing.state else {
        panic!("{:?}", differing.state)
    };
    assert!(
        failure.message.contains("- < true\n+ < else\n"),
        "{failure}"
    );
    assert_eq!(
        differing.transcript.lines.len(),
        4,
        "both transcripts with their headings"
    );
}

#[test]
fn what_races_is_not_compared() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let result = diff_one(&target, &target, &RACING).expect("it lives");
    assert!(matches!(result.state, State::Skip(why) if why.contains("race")));
}

#[test]
fn a_whole_run_names_both_and_tells_the_observer() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let target = target(&fake);
    let seen = Mutex::new(0);
    let selection = Selection::only(["kv/get/missing-is-404-with-index"]);
    let report = diff(&target, &target, &selection, &|_| {
        *seen.lock().expect("no panic while counting") += 1;
    })
    .expect("it lives");
    assert!(report.target.contains(" against "), "{}", report.target);
    assert_eq!(
        report.count("pass"),
        1,
        "the claim fails on both alike: {report}"
    );
    assert_eq!(*seen.lock().expect("no panic while counting"), 1);
}
