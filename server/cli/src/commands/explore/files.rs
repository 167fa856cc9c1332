//! What a search leaves in a folder.

use std::fs;
use std::path::Path;

use proconsul_explore::Report;
use serde_json::json;

/// Writes the report, and of what was found the schedule and the recorded run.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(folder: &str, report: &Report) -> Result<(), String> {
    let folder = Path::new(folder);
    let mut files = vec![
        ("report.txt", report.to_string()),
        ("report.json", summary(report)),
    ];
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

/// Returns the outcome for programs; what is null was not found.
fn summary(report: &Report) -> String {
    let broken = report.broken.as_ref();
    let summary = json!({
        "property": broken.map(|broken| broken.finding.property.name()),
        "finding": broken.map(|broken| broken.finding.text.clone()),
        "schedule": broken.map(|broken| broken.schedule.to_string()),
        "found_in": broken.map(|broken| broken.found_in),
        "found_after_s": report.found_after.map(|after| after.as_secs_f64()),
        "replays_broken": broken.map(|broken| broken.replays.0),
        "replays": broken.map(|broken| broken.replays.1),
        "seed": report.options.seed,
        "runs": report.summary.tried(),
        "takeovers": report.summary.takeovers,
        "took_s": report.took.as_secs_f64(),
        "is_judged": !report.is_not_judged(),
    });
    summary.to_string() + "\n"
}
