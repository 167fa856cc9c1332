//! What a search leaves in a folder.

use std::fs;
use std::path::Path;

use proconsul_explore::Report;

/// Writes the report, and of what was found the schedule and the recorded run.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(folder: &str, report: &Report, _program: &[String]) -> Result<(), String> {
    let folder = Path::new(folder);
    let mut files = vec![("report.txt", report.to_string())];
    if let Some(broken) = &report.broken {
        files.push(("schedule.txt", broken.schedule.to_string()));
        files.push(("run.jsonl", broken.run.to_lines()));
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Says what was found in the form of GitHub's annotations, inside a job there.
pub(super) fn annotate(_report: &Report) {}
