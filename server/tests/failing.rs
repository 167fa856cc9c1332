//! A test that fails tells what happened on its server, whichever way it fails.

use std::io;
use std::process::Command;

use proconsul::Server;
use proconsul::test::{frozen, with_server, with_server_async};

/// Says which way this test is to fail; without it, it runs itself each way.
const WAY: &str = "PROCONSUL_TEST_FAILS_BY";

type Way = (&'static str, fn() -> io::Result<()>);

const WAYS: [Way; 6] = [
    ("panic", || {
        let server = frozen();
        write(&server);
        panic!("on purpose")
    }),
    ("panic in another thread", || {
        let server = frozen();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                write(&server);
                panic!("on purpose")
            });
        });
        Ok(())
    }),
    ("panic inside", || {
        with_server(|server| {
            write(server);
            panic!("on purpose")
        })
    }),
    ("error", || {
        with_server(|server| {
            write(server);
            Err(io::Error::other("on purpose"))
        })
    }),
    ("error of a future", || {
        in_a_runtime(with_server_async(async |server| {
            write(server);
            Err(io::Error::other("on purpose"))
        }))
    }),
    ("panic of a task", || {
        in_a_runtime(with_server_async(async |server| {
            write(server);
            let task = tokio::spawn(async { panic!("on purpose") });
            task.await.expect("the task is well");
            Ok(())
        }))
    }),
];

fn write(server: &Server) {
    server.kv().put("the/key/of/this/test", "x");
}

fn in_a_runtime(test: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    runtime.block_on(test)
}

#[test]
fn a_test_that_fails_tells_what_happened() -> io::Result<()> {
    if let Ok(named) = std::env::var(WAY) {
        let way = WAYS.iter().find(|(name, _)| *name == named);
        let (_, way) = way.expect("it is one of the ways");
        return way();
    }
    for (name, _) in WAYS {
        let mut again = Command::new(std::env::current_exe()?);
        let name_of_this = "a_test_that_fails_tells_what_happened";
        let output = again
            .args(["--exact", name_of_this, "--nocapture"])
            .env(WAY, name)
            .output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {told}");
        assert!(
            told.contains("what happened on http://127.0.0.1:"),
            "{name}: {told}"
        );
        assert!(
            told.contains("\"the/key/of/this/test\" written"),
            "{name}: {told}"
        );
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
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !told.contains("what happened"),
        "{told}"
    );
    Ok(())
}

#[test]
fn a_test_that_passes_is_silent_inside() {
    with_server(write);
    assert_eq!(
        with_server(|server| Ok::<_, ()>(server.addr().port() > 0)),
        Ok(true)
    );
}
