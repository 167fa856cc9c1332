//! Programs that cargo has built beside the running test: no test builds anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Finds an example of `proconsul-client`, which cargo builds when all tests, or all of that package, are asked for.
///
/// # Errors
/// What has to be run first, when the example was not built, or when a source is newer.
pub fn example(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().unwrap_or_default();
    // A test stands in `deps`, beside `examples`.
    let profile = own.parent().and_then(Path::parent).unwrap_or(&own);
    let program = profile.join("examples").join(name);
    if is_up_to_date(&program) {
        return Ok(program);
    }
    Err(format!(
        "cargo build -p proconsul-client --example {name}, or cargo test --workspace"
    ))
}

/// Whether a program is there and as new as all of its sources, which cargo lists in a file beside it.
fn is_up_to_date(program: &Path) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let Some(built) = changed(program) else {
        return false;
    };
    let list = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let mut sources = sources(&list).peekable();
    // A source that is gone is no source any more, and whoever named it was changed.
    sources.peek().is_some() && sources.all(|source| changed(&source) <= Some(built))
}

/// The sources in `<program>: <source> <source> ...`, where a space within a name is `\ `.
fn sources(list: &str) -> impl Iterator<Item = PathBuf> {
    let first = list.lines().next().unwrap_or_default();
    let sources = first.split_once(": ").map_or("", |(_, sources)| sources);
    let sources = sources.replace("\\ ", "\0");
    let sources: Vec<PathBuf> = sources
        .split_whitespace()
        .map(|source| PathBuf::from(source.replace('\0', " ")))
        .collect();
    sources.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_up_to_date_until_a_source_changes() {
        let folder = std::env::temp_dir().join(format!("built {}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let [program, source] = ["program", "source.rs"].map(|name| folder.join(name));
        let at = |path: &Path, seconds: u64| {
            fs::write(path, "").expect("the folder can be written");
            let file = fs::File::options().append(true).open(path);
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let set = file.and_then(|file| file.set_modified(time));
            set.expect("the time of a file can be set");
        };
        at(&source, 100);
        assert!(!is_up_to_date(&program), "it is not there");
        at(&program, 200);
        assert!(!is_up_to_date(&program), "nobody knows its sources");
        let escape = |path: &Path| path.display().to_string().replace(' ', "\\ ");
        let list = format!("{}: {}\n", escape(&program), escape(&source));
        fs::write(program.with_extension("d"), list).expect("the folder can be written");
        assert!(is_up_to_date(&program));
        at(&source, 300);
        assert!(!is_up_to_date(&program), "its source is newer");
        fs::remove_dir_all(folder).expect("it can be deleted");
    }
}
