//! What compiling costs: CPU of all that Cargo starts, and how many packages there are.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::{cargo, folder};
use crate::servers::{Kind, Setting, Turns};

/// The unit of `/proc/self/stat`: `USER_HZ` is 100 on all machines that Linux runs servers on.
const TICKS_PER_SECOND: f64 = 100.0;

/// The CPU seconds of a clean debug build of a crate that embeds a server, and how many packages it compiles.
pub(crate) fn embedder(setting: &Setting) -> Turns {
    build(setting, |source, target| {
        let embedder = folder("embedder");
        let server = source.join("server");
        let manifest = format!(
            "[workspace]\n[package]\nname = \"embedder\"\nedition = \"2024\"\n[dependencies]\n\
             proconsul = {{ path = {server:?}, default-features = false }}\n"
        );
        let written = fs::create_dir_all(embedder.join("src"))
            .and_then(|()| fs::write(embedder.join("Cargo.toml"), manifest))
            .and_then(|()| {
                fs::write(
                    embedder.join("src/main.rs"),
                    "fn main() { println!(\"{}\", proconsul::Server::start().addr()); }\n",
                )
            })
            .and_then(|()| fs::copy(source.join("Cargo.lock"), embedder.join("Cargo.lock")));
        written.expect("the target folder can be written");
        cargo(&embedder, target, &["build"])
    })
}

/// The CPU seconds of a clean release build of the binary.
pub(crate) fn release(setting: &Setting) -> Turns {
    build(setting, |source, target| {
        cargo(
            source,
            target,
            &["build", "--release", "--bin", "proconsul"],
        )
    })
}

fn build(setting: &Setting, run: impl Fn(&Path, &Path) -> Command) -> Turns {
    setting.interleaved(
        &Kind::OURS,
        1,
        |kind| setting.source(kind),
        |source| {
            let Some(source) = source else {
                return Vec::new();
            };
            let target = folder("clean");
            let _ = fs::remove_dir_all(&target);
            let before = cpu_of_children();
            let output = run(source, &target).output().expect("Cargo can be started");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{told}");
            let packages = told.matches("Compiling ").count() - 1;
            let cpu = cpu_of_children() - before;
            let _ = fs::remove_dir_all(&target);
            vec![cpu, packages as f64]
        },
    )
}

/// The CPU seconds of all processes that this one has started and that have ended, and of theirs.
fn cpu_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux tells of processes");
    // The name of the program, in parentheses, may have spaces: the third field is the first behind it.
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let field = |number: usize| fields.split_whitespace().nth(number - 3);
    let ticks = |number| field(number).and_then(|text| text.parse::<f64>().ok());
    let (user, system) = (ticks(16), ticks(17));
    let ticks = user.zip(system).map(|(user, system)| user + system);
    ticks.expect("the times of children are the 16th and 17th field") / TICKS_PER_SECOND
}
