//! The same test body on a frozen server and on a real Consul: a lock that is lost by TTL, guarded by the lock-delay and
//! taken over happens in the same order on both, at once on the one and in half a minute on the other.

use std::time::Duration;

use proconsul::Server;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::time::{Clock, RealClock};
use proconsul_conformance::wire::{self, Address, Outcome, Request};

const SECOND: Duration = Duration::from_secs(1);

/// What the test body needs of a Consul.
struct Consul<'a> {
    address: Address,
    /// None where time passes for real.
    control: Option<&'a Server>,
}

impl Consul<'_> {
    fn put(&self, target: &str, body: &str) -> String {
        match wire::exchange(&self.address, &Request::put(target, body)) {
            Outcome::Reply(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
            other => panic!("no answer to {target}: {other:?}"),
        }
    }

    fn session(&self, body: &str) -> String {
        let answer = self.put("/v1/session/create", body);
        answer.split('"').nth(3).expect("an id").to_owned()
    }

    fn acquire(&self, session: &str) -> bool {
        self.put(&format!("/v1/kv/handover?acquire={session}"), "x")
            .trim()
            == "true"
    }

    fn pass(&self, duration: Duration) {
        match self.control {
            Some(control) => drop(control.advance(duration)),
            None => RealClock.pass(duration).expect("time passes"),
        }
    }

    /// Whether the contender gets the lock: while it is held, shortly before the holder lapses, after that during the
    /// lock-delay, and after the lock-delay.
    fn handover(&self) -> [bool; 4] {
        let holder = self.session(r#"{"TTL":"10s","LockDelay":"5s"}"#);
        let contender = self.session(r#"{"TTL":"86400s"}"#);
        assert!(self.acquire(&holder));
        let held = self.acquire(&contender);
        self.pass(18 * SECOND);
        let late = self.acquire(&contender);
        self.pass(4 * SECOND);
        let guarded = self.acquire(&contender);
        self.pass(6 * SECOND);
        [held, late, guarded, self.acquire(&contender)]
    }
}

const IN_ORDER: [bool; 4] = [false, false, false, true];

#[test]
fn on_a_frozen_server() {
    let server = proconsul::test::frozen();
    let address = Address::parse(&server.addr().to_string()).expect("an address");
    let control = Some(&*server);
    assert_eq!(Consul { address, control }.handover(), IN_ORDER);
    server.assert_lock_safety("handover", &[]);
}

#[test]
fn on_a_real_consul() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let target = consul::start(&binary, &Agent::default());
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    let address = target.shared_address().expect("one agent for all").clone();
    let control = None;
    assert_eq!(Consul { address, control }.handover(), IN_ORDER);
}
