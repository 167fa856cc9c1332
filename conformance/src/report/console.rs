//! The report on the console: what failed, the claim, its source, and what was said and heard.

use std::fmt;

use crate::runner::{CaseResult, Report, State};
use crate::wire::transcript::render;

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for result in &self.results {
            if let State::Fail(_) | State::Error(_) = result.state {
                writeln!(formatter, "{}", details(result))?;
            }
        }
        let mut reasons: Vec<(&str, usize)> = Vec::new();
        for result in &self.results {
            if let State::Skip(reason) = &result.state {
                match reasons.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, count)) => *count += 1,
                    None => reasons.push((reason, 1)),
                }
            }
        }
        for (reason, count) in reasons {
            writeln!(formatter, "skipped {count}: {reason}")?;
        }
        formatter.write_str(&self.summary())
    }
}

impl Report {
    /// How many cases are in which state, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        format!(
            "{} ({}): {} pass, {} fail, {} skip, {} deviation, {} error; {:.1?}",
            self.target,
            self.build,
            self.count("pass"),
            self.count("fail"),
            self.count("skip"),
            self.count("deviation"),
            self.count("error"),
            self.took
        )
    }
}

/// One line for a result.
#[must_use]
pub fn line(result: &CaseResult) -> String {
    let id = result.case.id;
    match &result.state {
        State::Pass => format!("pass       {id} ({:.1?})", result.took),
        State::Fail(failure) => format!("FAIL       {id}: {}", first_line(&failure.message)),
        State::Skip(reason) => format!("skip       {id}: {reason}"),
        State::Deviation { why, .. } => format!("deviation  {id}: {why}"),
        State::Error(why) => format!("ERROR      {id}: {}", first_line(why)),
    }
}

/// Everything about a result: claim, source, what was expected, transcript.
#[must_use]
pub fn details(result: &CaseResult) -> String {
    let case = result.case;
    let (word, what) = match &result.state {
        State::Pass => ("pass", String::new()),
        State::Fail(failure) => ("FAIL", failure.to_string()),
        State::Skip(reason) => ("skip", reason.clone()),
        State::Deviation { why, failure } => ("deviation", format!("{why}\n{failure}")),
        State::Error(why) => ("ERROR", why.clone()),
    };
    format!(
        "--- {word} {}\nclaim:  {} ({})\nsource: {}\n{what}\n{}",
        case.id,
        case.claim,
        case.level,
        case.source,
        render(&result.transcript)
    )
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
