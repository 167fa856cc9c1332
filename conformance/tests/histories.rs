//! Concurrent histories again and again, on a real Consul and on the emulator: what chance hides once it shows another time.
//!
//! `CONFORMANCE_HISTORIES` sets how many times (default 2).

use proconsul::Version;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::{Runner, Selection, Target};

mod in_process;

const TIMES: usize = 2;

fn hold(target: &Target) {
    let times = std::env::var("CONFORMANCE_HISTORIES").map_or(TIMES, |text| {
        text.parse().expect("CONFORMANCE_HISTORIES is a number")
    });
    let selection = Selection::only(["concurrent/*"]);
    for _ in 0..times {
        let report = Runner::new(target).run(&selection);
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        assert!(report.count("pass") > 0, "there are histories");
        assert_eq!(report.exit_status(), 0, "{report}");
    }
}

#[test]
fn of_a_real_consul() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let target = consul::start(&binary, &Agent::default());
    hold(&target.unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn of_the_emulator() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let open = move || in_process::open(in_process::config("", version, true)?);
        let target = Target::fresh("proconsul", open);
        hold(&target.unwrap_or_else(|error| panic!("{error}")));
    }
}
