//! A test that fails tells what happened on its server, whichever way it fails.

use std::error::Error;
use std::io;
use std::process::Command;
use std::time::Duration;

use proconsul::Server;
use proconsul::Version;
use proconsul::test::{frozen, server, server_with};
use proconsul_engine::BlockedOn;

/// Says which way this test is to fail; without it, it runs itself each way.
const WAY: &str = "PROCONSUL_TEST_FAILS_BY";

/// The way of the test that returns an error itself.
const RETURNED: &str = "returned error";

type Outcome = Result<(), Box<dyn Error>>;

/// How a test fails, and what it prints besides its server's history.
struct Way {
    name: &'static str,
    says: &'static str,
    test: fn() -> Outcome,
}

const UNMET: &str = "timed out after 20ms waiting for 2 requests blocked on keys under \"config/\"; nobody was blocked";

const WAYS: [Way; 9] = [
    Way {
        name: "panic",
        says: "on purpose",
        test: || {
            let server = frozen();
            write(&server);
            panic!("on purpose")
        },
    },
    Way {
        name: "panic in another thread",
        says: "on purpose",
        test: || {
            let server = server();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    write(&server);
                    panic!("on purpose")
                });
            });
            Ok(())
        },
    },
    Way {
        name: "panic inside",
        says: "on purpose",
        test: || {
            server().run(|server| {
                write(server);
                panic!("on purpose")
            })
        },
    },
    Way {
        name: "error",
        says: "on purpose",
        test: || {
            server().run(|server| {
                write(server);
                Err(io::Error::other("on purpose").into())
            })
        },
    },
    Way {
        name: "error of a future",
        says: "on purpose",
        test: || {
            in_a_runtime(frozen().run_async(async |server| {
                write(server);
                Err(io::Error::other("on purpose").into())
            }))
        },
    },
    Way {
        name: "panic of a task",
        says: "on purpose",
        test: || {
            in_a_runtime(server().run_async(async |server| {
                write(server);
                let task = tokio::spawn(async { panic!("on purpose") });
                task.await.expect("the task is well");
                Ok(())
            }))
        },
    },
    Way {
        name: "barrier that is not met",
        says: UNMET,
        test: || {
            frozen().run(|server| {
                write(server);
                server.wait_blocked(&BlockedOn::prefix("config/"), 2, Duration::from_millis(20))?;
                Ok(())
            })
        },
    },
    Way {
        name: "barrier of a version that a future waits for",
        says: UNMET,
        test: || {
            let old = Server::builder().version(Version::V1_8_7);
            in_a_runtime(server_with(old).run_async(async |server| {
                write(server);
                let on = BlockedOn::prefix("config/");
                let waited = server.wait_blocked_async(&on, 2, Duration::from_millis(20));
                waited.await?;
                Ok(())
            }))
        },
    },
    Way {
        name: "barrier that is unwrapped",
        says: UNMET,
        test: || {
            let server = server_with(Server::builder().frozen());
            write(&server);
            let met =
                server.wait_blocked(&BlockedOn::prefix("config/"), 2, Duration::from_millis(20));
            met.expect("two clients watch the configuration");
            Ok(())
        },
    },
];

fn write(server: &Server) {
    server.kv().put("the/key/of/this/test", "x");
}

fn in_a_runtime(test: impl Future<Output = Outcome>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    runtime.block_on(test)
}

#[test]
fn a_test_that_fails_tells_what_happened() -> Outcome {
    if let Ok(named) = std::env::var(WAY) {
        let way = WAYS.iter().find(|way| way.name == named);
        return (way.expect("it is one of the ways").test)();
    }
    for Way { name, says, .. } in WAYS {
        let mut again = Command::new(std::env::current_exe()?);
        let name_of_this = "a_test_that_fails_tells_what_happened";
        let output = again
            .args(["--exact", name_of_this, "--nocapture"])
            .env(WAY, name)
            .output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {told}");
        check_told(&told, name, says);
    }
    Ok(())
}

fn check_told(told: &str, name: &str, says: &str) {
    let parts = [
        "what happened on http://127.0.0.1:",
        " (seed ",
        "\"the/key/of/this/test\" written",
        says,
    ];
    for part in parts {
        let times = told.matches(part).count();
        assert!(
            times == 1 || part == says && times > 1,
            "{name}: {times} times {part:?} in {told}"
        );
    }
}

/// Runs a test of this file again, as `cargo test` does.
fn captured(test: &str) -> io::Result<std::process::Output> {
    let mut again = Command::new(std::env::current_exe()?);
    again
        .env_remove("NEXTEST")
        .env_remove("RUST_TEST_NOCAPTURE");
    let again = again.args(["--exact", test]).env(WAY, RETURNED);
    again.output()
}

#[test]
fn a_test_that_returns_an_error_tells_what_happened() -> io::Result<()> {
    let output = captured("a_test_that_returns_an_error")?;
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{told}");
    check_told(&told, RETURNED, "on purpose");
    Ok(())
}

#[test]
fn a_test_that_returns_an_error() -> io::Result<()> {
    let server = server();
    write(&server);
    let is_to_fail = std::env::var(WAY).is_ok_and(|way| way == RETURNED);
    if is_to_fail {
        return Err(io::Error::other("on purpose"));
    }
    Ok(())
}

#[test]
fn a_test_that_passes_tells_nothing() -> io::Result<()> {
    let output = Command::new(std::env::current_exe()?)
        .args([
            "--exact",
            "a_test_that_passes_is_silent_inside",
            "--nocapture",
        ])
        .env_remove("NEXTEST")
        .output()?;
    for output in [output, captured("a_test_that_passes_is_silent_inside")?] {
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert!(
            output.status.success() && !told.contains("what happened"),
            "{told}"
        );
    }
    Ok(())
}

#[test]
fn a_test_that_passes_is_silent_inside() {
    write(&server());
    server().run(write);
    assert_eq!(
        server().run(|server| Ok::<_, ()>(server.addr().port() > 0)),
        Ok(true)
    );
}
