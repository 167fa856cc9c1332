//! Which binary is a real Consul: it is asked, for a double may go by the same name.

use std::ffi::{OsStr, OsString};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::process::Process;
use super::release::version_text;
use crate::case::feature;
use crate::target::site::ToolError;

/// What proconsul calls itself in the text of `consul version`.
const DOUBLE: &str = "proconsul";

/// Finds a real Consul: the one that `CONSUL_BIN` names, else `consul` on the `PATH`, else the one that `fetch-consul` has put under
/// `target/`. `None` when it finds no binary. A `consul` on the `PATH` that is not a real one is passed over, and standard error names it.
///
/// A process looks once; what it has found is found again.
///
/// # Errors
/// A `CONSUL_BIN` that is not a real Consul or does not run.
pub fn locate() -> Result<Option<PathBuf>, ToolError> {
    static FOUND: OnceLock<Result<Option<PathBuf>, ToolError>> = OnceLock::new();
    let search = || {
        let named = std::env::var_os("CONSUL_BIN").filter(|named| !named.is_empty());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let exe = std::env::current_exe().unwrap_or_default();
        search(named, &path, &exe, &|line| {
            if writeln!(stderr(), "{line}").is_err() {
                // Nobody is left to tell.
            }
        })
    };
    FOUND.get_or_init(search).clone()
}

/// [`locate`] for tests: an error ends the test.
///
/// # Panics
/// With the error's sentence, when `CONSUL_BIN` names something else than a real Consul.
#[must_use]
pub fn find() -> Option<PathBuf> {
    locate().unwrap_or_else(|error| panic!("{error}"))
}

fn search(
    named: Option<OsString>,
    path: &OsStr,
    exe: &Path,
    say: &dyn Fn(&str),
) -> Result<Option<PathBuf>, ToolError> {
    if let Some(named) = named {
        let named = PathBuf::from(named);
        return match check(&named) {
            Ok(()) => Ok(Some(named)),
            Err(error) => Err(ToolError(format!("CONSUL_BIN: {error}"))),
        };
    }
    let on_path = std::env::split_paths(path).map(|directory| directory.join("consul"));
    let fetched = exe
        .ancestors()
        .map(|directory| directory.join("consul-1.8.7/usr/bin/consul"));
    for file in on_path.chain(fetched).filter(|file| file.is_file()) {
        match check(&file) {
            Ok(()) => return Ok(Some(file)),
            Err(error) => say(&format!("passed over: {error}")),
        }
    }
    Ok(None)
}

/// Asks a binary what it is.
///
/// # Errors
/// That it is not a real Consul, or does not run.
fn check(binary: &Path) -> Result<(), ToolError> {
    let name = binary.display();
    let version = version_text(binary)?;
    if let Some(line) = version.lines().find(|line| line.contains(DOUBLE)) {
        let text = format!("{name} is not a real Consul: its version says {line:?}");
        return Err(ToolError(text));
    }
    let agent = Process::self_of(binary)?;
    let json = serde_json::from_slice(&agent.body).unwrap_or_default();
    if agent.status == 200 && feature::is_genuine(&json) {
        return Ok(());
    }
    Err(ToolError(format!(
        "{name} is not a real Consul: its agent/self does not show the inside of one"
    )))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Mutex;

    use super::*;

    /// A folder with a script by the name of `consul`.
    struct Script(PathBuf);

    impl Script {
        fn new(name: &str, text: &str) -> Self {
            let name = format!("proconsul-binary-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).expect("a folder can be made");
            let script = Self(folder);
            fs::write(script.file(), format!("#!/bin/sh\n{text}\n")).expect("a file");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(script.file(), mode).expect("it is ours");
            script
        }

        fn file(&self) -> PathBuf {
            self.0.join("consul")
        }
    }

    impl Drop for Script {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    /// What proconsul prints.
    const VERSION: &str = "echo Consul v1.22.0; echo 'proconsul 0.1.0: a stand-in; not Consul'";

    #[test]
    fn a_double_that_is_named_is_an_error() {
        let double = Script::new("named", VERSION);
        let named = Some(double.file().into_os_string());
        let found = search(named, OsStr::new(""), Path::new(""), &|line| {
            panic!("nothing is passed over: {line}")
        });
        let error = found.expect_err("it is a double").0;
        let file = double.file();
        let says = "its version says \"proconsul 0.1.0: a stand-in; not Consul\"";
        let text = format!(
            "CONSUL_BIN: {} is not a real Consul: {says}",
            file.display()
        );
        assert_eq!(error, text);
    }

    #[test]
    fn what_does_not_run_is_an_error_when_it_is_named() {
        let named = Some(OsString::from("/no/such/consul"));
        let error = search(named, OsStr::new(""), Path::new(""), &|_| {});
        let error = error.expect_err("there is none").0;
        let text = "CONSUL_BIN: cannot run /no/such/consul: ";
        assert!(error.starts_with(text), "{error}");
    }

    #[test]
    fn doubles_on_the_path_are_passed_over_by_name() {
        let double = Script::new("double", VERSION);
        let other = Script::new("other", "exit 3");
        let path = std::env::join_paths([&double.0, &other.0]).expect("two folders");
        let said = Mutex::new(Vec::new());
        let found = search(None, &path, Path::new(""), &|line| {
            said.lock().expect("nobody panicked").push(line.to_owned());
        });
        assert_eq!(found, Ok(None));
        let said = said.into_inner().expect("nobody panicked");
        let [first, second] = &said[..] else {
            panic!("a line for each: {said:?}")
        };
        let passed = format!(
            "passed over: {} is not a real Consul",
            double.file().display()
        );
        assert!(first.starts_with(&passed), "{first}");
        assert!(second.contains("ended early"), "{second}");
    }
}
