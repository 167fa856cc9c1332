//! What a search leaves in a folder.

use std::fs;
use std::path::Path;

use proconsul_explore::{Language, Report, annotation, html_of_command, junit, test_code};
use serde_json::json;

/// Writes the report, which is `text`, and of what was found the schedule, the recorded run and tests that replay it; of what did not
/// show again the first two. `words` are flags, `--` and the program.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(
    folder: &str,
    report: &Report,
    text: &str,
    words: &[String],
) -> Result<(), String> {
    let folder = Path::new(folder);
    let mut files = vec![
        ("report.txt", text.to_owned()),
        ("report.html", html_of_command(report, words)),
        ("report.json", summary(report)),
        ("junit.xml", junit(report)),
    ];
    if let Some(broken) = &report.broken {
        files.push(("schedule.txt", broken.schedule.to_string()));
        files.push(("run.jsonl", broken.run.to_lines()));
        files.push(("history.edn", broken.run.to_edn()));
        files.push(("porcupine.jsonl", broken.run.to_porcupine()));
    }
    let tests = [
        ("replay.rs", Language::Rust),
        ("replay_test.go", Language::Go),
        ("test_replay.py", Language::Python),
        ("replay.sh", Language::Shell),
    ];
    for (name, language) in tests {
        let test = test_code(report, language, words);
        files.extend(test.map(|test| (name, test)));
    }
    let files = files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text));
    let unconfirmed = report.unconfirmed.iter().flat_map(|broken| {
        let name = format!("unconfirmed-{}", broken.found_in);
        let schedule = (format!("{name}.txt"), broken.schedule.to_string());
        [schedule, (format!("{name}.jsonl"), broken.run.to_lines())]
    });
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, text) in files.chain(unconfirmed) {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns what was found as an annotation of GitHub, inside a job there; empty elsewhere.
pub(super) fn annotated(report: &Report) -> String {
    let is_job = std::env::var_os("GITHUB_ACTIONS").is_some();
    let line = annotation(report).filter(|_| is_job);
    line.map_or(String::new(), |line| line.trim_end().to_owned() + "\n")
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
        "unconfirmed": report.unconfirmed.len(),
        "took_s": report.took.as_secs_f64(),
        "is_judged": !report.is_not_judged(),
    });
    summary.to_string() + "\n"
}
