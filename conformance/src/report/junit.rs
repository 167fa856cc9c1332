//! The report that CI systems read: one suite per topic, one test case per case.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::document::{CaseDocument, Document};

/// The document as JUnit XML.
#[must_use]
pub fn junit(document: &Document) -> String {
    let mut report = Report::new(format!("{} ({})", document.target, document.build));
    report.set_time(seconds(document.seconds));
    let mut suites: Vec<TestSuite> = Vec::new();
    for case in &document.cases {
        let topic = case.topic();
        let at = suites.iter().position(|suite| suite.name.as_str() == topic);
        let at = at.unwrap_or_else(|| {
            suites.push(TestSuite::new(topic));
            suites.len() - 1
        });
        suites[at].add_test_case(test_case(case));
    }
    report.add_test_suites(suites);
    report
        .to_string()
        .expect("text without control characters is XML")
}

fn test_case(case: &CaseDocument) -> TestCase {
    let mut status = match case.state.as_str() {
        "pass" => TestCaseStatus::success(),
        "fail" => TestCaseStatus::non_success(NonSuccessKind::Failure),
        "error" => TestCaseStatus::non_success(NonSuccessKind::Error),
        // JUnit knows no expected failure: a deviation is skipped, and says why.
        _ => TestCaseStatus::skipped(),
    };
    if case.state != "pass" {
        let first = case.message.lines().next().unwrap_or_default();
        status.set_message(format!("{}: {first}", case.state));
        status.set_description(format!(
            "claim: {} ({})\nsource: {}\n{}\n{}",
            case.claim, case.level, case.source, case.message, case.transcript
        ));
    }
    let mut test = TestCase::new(case.id.as_str(), status);
    test.set_classname(case.topic())
        .set_time(seconds(case.seconds));
    test
}

fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}
