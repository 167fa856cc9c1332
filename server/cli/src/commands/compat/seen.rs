//! The tests that a command's output names, in the forms of usual test runners.

use std::collections::BTreeMap;

/// The tests, and whether each passed. A test that is named twice has passed only if it did both times.
pub(super) type Tests = BTreeMap<String, bool>;

/// Returns the tests that an output names.
pub(super) fn tests(output: &str) -> Tests {
    let mut tests = Tests::new();
    for (name, passed) in output.lines().filter_map(|line| test(line.trim())) {
        let before = tests.entry(name.to_owned()).or_insert(true);
        *before &= passed;
    }
    tests
}

/// Returns the test that a line names, and whether it passed.
fn test(line: &str) -> Option<(&str, bool)> {
    cargo(line)
        .or_else(|| go(line))
        .or_else(|| pytest(line))
        .or_else(|| tap(line))
        .or_else(|| marked(line))
}

/// `test kv::cas ... ok`.
fn cargo(line: &str) -> Option<(&str, bool)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    match outcome {
        "ok" => Some((name, true)),
        "FAILED" => Some((name, false)),
        _ => None,
    }
}

/// `--- FAIL: TestKV/cas (0.00s)`.
fn go(line: &str) -> Option<(&str, bool)> {
    let rest = line.strip_prefix("--- ")?;
    let (outcome, rest) = rest.split_once(": ")?;
    let name = rest.split(" (").next()?;
    match outcome {
        "PASS" => Some((name, true)),
        "FAIL" => Some((name, false)),
        _ => None,
    }
}

/// `tests/test_kv.py::test_cas PASSED [ 50%]`.
fn pytest(line: &str) -> Option<(&str, bool)> {
    let mut words = line.split_whitespace();
    let (name, outcome) = (words.next()?, words.next()?);
    let passed = match outcome {
        "PASSED" => true,
        "FAILED" | "ERROR" => false,
        _ => return None,
    };
    name.contains("::").then_some((name, passed))
}

/// `not ok 2 - sets a key`, of TAP.
fn tap(line: &str) -> Option<(&str, bool)> {
    let (passed, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok ")?),
    };
    let (number, name) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    Some((name.trim_start_matches("- "), passed))
}

/// `✓ sets a key`, of Jest and others.
fn marked(line: &str) -> Option<(&str, bool)> {
    let passed = |mark| line.strip_prefix(mark).map(|name| (name, true));
    let failed = |mark| line.strip_prefix(mark).map(|name| (name, false));
    let found = passed("✓ ").or_else(|| passed("✔ "));
    let (name, passed) = found.or_else(|| failed("✕ ")).or_else(|| failed("✖ "))?;
    // The time that it took.
    Some((name.split(" (").next().unwrap_or(name), passed))
}

#[cfg(test)]
mod tests {
    use super::tests;

    #[test]
    fn each_runner_names_its_tests() {
        let output = "
            running 2 tests
            test kv::cas ... ok
            test kv::spaces ... FAILED
            test result: FAILED. 1 passed; 1 failed
            --- PASS: TestLock (0.10s)
                --- FAIL: TestLock/renews (0.00s)
            tests/test_kv.py::test_get PASSED   [ 50%]
            tests/test_kv.py::test_put FAILED   [100%]
            ok 1 - sets a key
            not ok 2 - deletes a key
            okay 3 is no test
            ✓ watches (12 ms)
            ✕ elects
        ";
        let tests = tests(output);
        let of = |passed: bool| {
            let tests = tests.iter().filter(|(_, own)| **own == passed);
            tests.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(
            of(true),
            [
                "TestLock",
                "kv::cas",
                "sets a key",
                "tests/test_kv.py::test_get",
                "watches"
            ]
        );
        assert_eq!(
            of(false),
            [
                "TestLock/renews",
                "deletes a key",
                "elects",
                "kv::spaces",
                "tests/test_kv.py::test_put"
            ]
        );
    }

    #[test]
    fn a_test_that_failed_once_has_failed() {
        assert!(!tests("test a ... ok\ntest a ... FAILED\ntest a ... ok")["a"]);
    }
}
