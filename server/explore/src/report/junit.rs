//! A report for CI: JUnit's XML, and the line that marks a change on GitHub.

use super::Report;
use super::text::named;
use crate::judge::Property;

/// The name of the suite and of each test case's class.
const SUITE: &str = "proconsul explore";
/// How many lines of a long report are kept, of its beginning and of its end.
const HALF: usize = 200;

/// Returns the report as JUnit's XML: one test case for each property.
///
/// It is a failure where the property is broken, and skipped where it was not judged. Nothing else is claimed: the others were
/// not broken in the runs that were made.
#[must_use]
pub fn junit(report: &Report) -> String {
    let cases: Vec<String> = Property::ALL.iter().map(|one| case(report, *one)).collect();
    let skipped = cases
        .iter()
        .filter(|case| case.contains("<skipped"))
        .count();
    let failures = usize::from(report.broken.is_some());
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\"",
        cases.len()
    );
    let seconds = report.took.as_secs_f64();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let lines = [
        format!("<testsuites name=\"{SUITE}\" {counts} time=\"{seconds:.3}\">"),
        format!(
            "  <testsuite name=\"{SUITE}\" {counts} skipped=\"{skipped}\" time=\"{seconds:.3}\">"
        ),
    ];
    for line in lines.into_iter().chain(cases) {
        xml += &line;
        xml.push('\n');
    }
    if report.broken.is_none() {
        xml += &format!(
            "    <system-out>{}</system-out>\n",
            escaped(&bounded(report))
        );
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

fn case(report: &Report, property: Property) -> String {
    let name = property.name();
    let begin = format!("    <testcase classname=\"{SUITE}\" name=\"{name}\" time=\"0\"");
    let broken = report.broken.as_ref();
    if let Some(broken) = broken.filter(|broken| broken.finding.property == property) {
        let text = named(&broken.run, &broken.finding.text);
        return format!(
            "{begin}><failure type=\"{name}\" message=\"{}\">{}</failure></testcase>",
            escaped_attribute(&text),
            escaped(&bounded(report)),
        );
    }
    match not_judged(report, property) {
        Some(why) => {
            let why = escaped_attribute(why);
            format!("{begin}><skipped message=\"not judged, because {why}\"/></testcase>")
        }
        None => format!("{begin}/>"),
    }
}

/// Returns the report as text, and no more of it than a CI system shows: the timeline of a busy loop has thousands of lines.
fn bounded(report: &Report) -> String {
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    let Some(left_out) = lines.len().checked_sub(2 * HALF).filter(|more| *more > 0) else {
        return text;
    };
    let (first, last) = (&lines[..HALF], &lines[lines.len() - HALF..]);
    format!(
        "{}\n... {left_out} lines are left out ...\n{}\n",
        first.join("\n"),
        last.join("\n")
    )
}

/// Returns why a property was not judged; `None` if it was.
fn not_judged(report: &Report, property: Property) -> Option<&'static str> {
    if !report.options.limits.judges(property) {
        return Some("it was not asked for");
    }
    let mut rows = report.summary.not_judged.iter();
    rows.find(|(one, _)| *one == property).map(|(_, why)| *why)
}

/// Returns the command of a GitHub workflow that shows the report at a change; `None` if nothing was found.
///
/// What is broken is an error, and a search that judged nothing is a warning.
#[must_use]
pub fn annotation(report: &Report) -> Option<String> {
    let (kind, title, text) = match &report.broken {
        Some(broken) => {
            let text = named(&broken.run, &broken.finding.text);
            let schedule = broken.schedule.to_string();
            let title = format!("{SUITE}: {}", broken.finding.property.name());
            ("error", title, format!("{text}\n{}", schedule.trim_end()))
        }
        None if report.is_not_judged() => {
            let text = report.to_string();
            let first = text.lines().next().unwrap_or_default().to_owned();
            ("warning", SUITE.to_owned(), first)
        }
        None => return None,
    };
    Some(format!(
        "::{kind} title={}::{}",
        of_property(&title),
        of_message(&text)
    ))
}

/// Escapes what follows the second `::` of a workflow command.
fn of_message(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a value before the second `::`.
fn of_property(text: &str) -> String {
    of_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes a text between tags. What XML cannot say at all is replaced.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Escapes a value of an attribute, whose line breaks a reader would take for spaces.
#[must_use]
pub fn escaped_attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use quick_junit::TestCaseStatus;

    use super::*;
    use crate::report::samples;

    fn read(report: &Report) -> quick_junit::Report {
        let xml = junit(report);
        quick_junit::Report::deserialize_from_str(&xml)
            .unwrap_or_else(|error| panic!("{error}: {xml}"))
    }

    #[test]
    fn what_is_broken_fails_and_what_was_not_judged_is_skipped_with_its_reason() {
        let report = read(&samples::broken());
        let [suite] = &report.test_suites[..] else {
            panic!("one suite");
        };
        assert_eq!(suite.name.as_str(), "proconsul explore");
        assert_eq!(suite.test_cases.len(), Property::ALL.len());
        for case in &suite.test_cases {
            match (case.name.as_str(), &case.status) {
                ("two-believers", TestCaseStatus::NonSuccess { message, .. }) => {
                    let message = message.as_ref().expect("it says what").as_str();
                    assert!(message.contains(r#"</script>\"&<lock"#), "{message}");
                }
                ("token-back", TestCaseStatus::Skipped { message, .. }) => {
                    let message = message.as_ref().expect("it says why").as_str();
                    assert!(message.ends_with("the contenders have no fencing tokens"));
                }
                ("stale-read", TestCaseStatus::Skipped { message, .. }) => {
                    let message = message.as_ref().expect("it says why").as_str();
                    assert!(message.ends_with("it was not asked for"));
                }
                (_, TestCaseStatus::Success { .. }) => {}
                (name, other) => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn nothing_fails_where_nothing_is_broken_and_what_nobody_asked_for_is_skipped() {
        let mut report = samples::not_broken();
        report.options.limits.only = vec![Property::BusyLoop];
        let report = read(&report);
        let cases = &report.test_suites[0].test_cases;
        let judged: Vec<&str> = cases
            .iter()
            .filter(|case| matches!(case.status, TestCaseStatus::Success { .. }))
            .map(|case| case.name.as_str())
            .collect();
        assert_eq!(judged, ["busy-loop"]);
    }

    #[test]
    fn a_long_report_is_bounded() {
        let mut report = samples::broken();
        let broken = report.broken.as_mut().expect("it is broken");
        let belief = broken
            .run
            .events
            .iter()
            .find(|event| matches!(event.what, crate::What::Belief { .. }));
        let belief = belief.expect("there is one").clone();
        broken.run.events.extend(std::iter::repeat_n(belief, 5000));
        let xml = junit(&report);
        assert!(xml.lines().count() < 500, "{}", xml.lines().count());
        assert!(
            xml.contains("lines are left out ...")
                && xml.contains("the schedule:")
                && xml.contains("found in run 3")
        );
    }

    #[test]
    fn what_xml_cannot_say_is_replaced() {
        assert_eq!(
            escaped_attribute("a\u{0}\u{1b}b\n\"<&>"),
            "a\u{fffd}\u{fffd}b&#10;&quot;&lt;&amp;&gt;"
        );
    }

    #[test]
    fn an_annotation_is_one_line_with_githubs_escapes() {
        let line = annotation(&samples::broken()).expect("it is broken");
        assert!(
            line.starts_with("::error title=proconsul explore%3A two-believers::both a and b"),
            "{line}"
        );
        assert!(line.ends_with("%0Acontenders 2%0Aa renew 1 after acquire 1: lose-response%0Aa renew 2 after acquire 1: silence a"), "{line}");
        assert!(!line.contains('\n'));
        assert_eq!(of_property("100%:\r\n,"), "100%25%3A%0D%0A%2C");
        assert_eq!(annotation(&samples::not_broken()), None);
    }

    #[test]
    fn a_search_that_judged_nothing_is_a_warning() {
        let mut report = samples::not_broken();
        report.summary.not_judged = vec![
            (Property::TwoHolders, "nobody has acquired a lock"),
            (Property::MissedValue, "no contender has watched anything"),
        ];
        let line = annotation(&report).expect("nothing was judged");
        assert_eq!(
            line,
            "::warning title=proconsul explore::not judged: nobody has acquired a lock"
        );
    }
}
