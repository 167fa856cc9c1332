//! The same bodies on a frozen server in this process and on a real Consul in real time.
//! `cargo test -p proconsul-client --test recipes -- consul/` runs those on a real Consul.

mod bodies;
mod host;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;

use host::Host;
use libtest_mimic::{Arguments, Failed, Trial};
use proconsul_client::Error;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};

type Body = fn(Host) -> Pin<Box<dyn Future<Output = Result<(), Error>>>>;

/// Each body by its own name.
macro_rules! bodies {
    ($($name:ident),* $(,)?) => {
        const BODIES: &[(&str, Body)] = &[$((stringify!($name), |host| Box::pin(bodies::$name(host)))),*];
    };
}

bodies![
    a_lapse_takes_the_lock_and_the_lock_delay_guards_it,
    a_waiting_contender_gets_the_lock_when_it_is_released,
    dropping_a_guard_and_closing_a_keeper_give_back,
    one_session_holds_a_key_for_one_guard_at_a_time,
    a_cancelled_acquire_leaves_nothing_behind,
    a_lock_that_somebody_takes_away_is_lost,
    a_lost_session_ends_the_wait_and_a_used_key_is_a_conflict,
    an_observer_sees_every_kind_of_change,
    a_semaphore_has_so_many_slots,
    a_slot_that_an_operator_takes_away_is_lost,
    a_published_key_goes_with_its_session,
];

fn trial(
    server: &str,
    name: &'static str,
    body: Body,
    host: impl FnOnce() -> Host + Send + 'static,
) -> Trial {
    Trial::test(format!("{server}/{name}"), move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let done = runtime.block_on(body(host()));
        done.map_err(|error| Failed::from(format!("{error:?}")))
    })
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = BODIES
        .iter()
        .map(|&(name, body)| trial("emulator", name, body, Host::frozen))
        .collect();
    let binary = if arguments.list {
        consul::find()
    } else {
        left_out::consul()
    };
    // Stopped when it is dropped, at the end.
    let target = binary.map(|binary| {
        consul::start(&binary, &Agent::default()).unwrap_or_else(|error| panic!("{error}"))
    });
    if let Some(target) = &target {
        let address = target.shared_address().expect("one agent for all");
        trials.extend(BODIES.iter().map(|&(name, body)| {
            let address = address.host.clone();
            trial("consul", name, body, move || Host::real(&address, name))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
