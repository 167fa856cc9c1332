//! The recorder refuses doubles, and recordings are compared only with their like.

use super::*;
use crate::wire::fake::{Fake, consul_like, genuine_like};

const CASE: &str = "kv/get/missing-is-404-with-index";
/// It says why it is not compared.
const UNCOMPARED: &str = "event/list/in-order";
/// It moves the clock.
const MOVING: &str = "index/slide/deletions-are-forgotten";
/// It claims nothing of 1.8.7.
const LATER: &str = "http/gzip/from-1400-bytes-since-1-9";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("proconsul-fixtures-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn target(fake: &Fake) -> Target {
    Target::address(&fake.address().to_string()).expect("the fake says what a Consul says")
}

/// Answers the case as a Consul does.
fn answering(line: &str, index: u32) -> Vec<u8> {
    if line.starts_with("GET /v1/kv/") {
        let headers = "X-Consul-Knownleader: true\r\nX-Consul-Lastcontact: 0";
        return format!("HTTP/1.1 404 Not Found\r\nX-Consul-Index: {index}\r\n{headers}\r\nContent-Length: 0\r\n\r\n")
            .into_bytes();
    }
    genuine_like(line)
}

#[test]
fn a_double_is_refused() {
    let fake = Fake::answering(|line| Some(consul_like(line)));
    let folder = Folder::new("double");
    let error = record(&target(&fake), &Selection::all(), &folder.0, &|_| {}).unwrap_err();
    assert!(
        error
            .0
            .contains("does not show the inside of a real Consul"),
        "{error}"
    );
    assert!(!folder.0.exists());
}

#[test]
fn what_was_recorded_is_what_is_compared() {
    let folder = Folder::new("round");
    let selection = Selection::only([CASE]);
    let none = Deviations::none();
    let real = Fake::answering(|line| Some(answering(line, 7)));
    let report = record(&target(&real), &selection, &folder.0, &|_| {}).expect("recorded");
    assert_eq!(report.count("pass"), 1, "{report}");
    let version = folder.0.join("1.8.7");
    assert_eq!(read_about(&version).expect("about").version, "1.8.7");

    let stray = version.join("kv/get/no-such-case.txt");
    fs::write(&stray, "old").expect("the folder is there");
    record(&target(&real), &selection, &folder.0, &|_| {}).expect("recorded again");
    assert!(!stray.exists(), "a recording of no case is deleted");

    let double = Fake::answering(|line| Some(answering(line, 9000)));
    let report = replay(&target(&double), &none, &selection, &version, &|_| {}).expect("replayed");
    assert_eq!(
        report.count("pass"),
        1,
        "another index is no difference: {report}"
    );

    let wrong = Fake::answering(|line| {
        let text = String::from_utf8(answering(line, 7)).expect("ASCII");
        Some(
            text.replace("Lastcontact: 0", "Lastcontact: 1")
                .into_bytes(),
        )
    });
    let report = replay(&target(&wrong), &none, &selection, &version, &|_| {}).expect("replayed");
    assert_eq!(report.count("fail"), 1, "{report}");
    assert!(
        report.to_string().contains("- < X-Consul-Lastcontact: 0"),
        "{report}"
    );

    let list = folder.0.join("accepted.toml");
    for (differs, double, state) in [
        ("- < X-Consul-Lastcontact: 0", &wrong, "deviation"),
        ("- < X-Consul-Lastcontact: 9", &wrong, "fail"),
        ("- < X-Consul-Lastcontact: 0", &double, "fail"),
    ] {
        let line = format!(r#"{CASE:?} = {{ why = "known", fails = "{differs}" }}"#);
        fs::write(&list, format!("[\"1.8.7\"]\n{line}")).expect("the folder is there");
        let report = replay(&target(double), &none, &selection, &version, &|_| {});
        let report = report.expect("replayed");
        assert_eq!(report.count(state), 1, "{report}");
    }
    let unknown = format!(r#"{UNCOMPARED:?} = {{ why = "known", fails = "x" }}"#);
    fs::write(&list, format!("[\"1.8.7\"]\n{unknown}")).expect("the folder is there");
    let error = replay(&target(&double), &none, &selection, &version, &|_| {});
    let error = error.expect_err("it was never recorded").0;
    assert!(
        error.ends_with(&format!("`{UNCOMPARED}` has no recording")),
        "{error}"
    );
    fs::remove_file(&list).expect("it is there");

    let known = format!(r#""{CASE}" = {{ why = "known", fails = "Lastcontact: 0" }}"#);
    let known = Deviations::parse(&known, &cases::all()).expect("one entry");
    let report = replay(&target(&wrong), &known, &selection, &version, &|_| {}).expect("replayed");
    assert_eq!(report.count("deviation"), 1, "{report}");
}

#[test]
fn a_recording_that_is_missing_fails() {
    let folder = Folder::new("missing");
    let selection = Selection::only([CASE]);
    let real = Fake::answering(|line| Some(answering(line, 7)));
    record(&target(&real), &selection, &folder.0, &|_| {}).expect("recorded");
    let version = folder.0.join("1.8.7");
    let replayed = |selection: &Selection| {
        let none = Deviations::none();
        replay(&target(&real), &none, selection, &version, &|_| {})
    };
    fs::remove_file(version.join(format!("{CASE}.txt"))).expect("it was recorded");
    let report = replayed(&selection).expect("replayed");
    assert_eq!(report.count("fail"), 1, "{report}");
    let text = format!(
        "there is no recording of it, and neither the case nor not-recorded.toml says why: `record {CASE}`"
    );
    assert!(report.to_string().contains(&text), "{report}");

    let list = folder.0.join("not-recorded.toml");
    fs::write(&list, format!("[\"1.8.7\"]\n{CASE:?} = \"newer\"")).expect("the folder is there");
    let report = replayed(&selection).expect("replayed");
    assert_eq!(report.count("skip"), 1, "{report}");
    let other = format!("[\"1.8.7\"]\n{UNCOMPARED:?} = \"newer\"");
    fs::write(&list, other).expect("the folder is there");
    let uncompared = Selection::only([UNCOMPARED]);
    let report = replayed(&uncompared).expect("replayed");
    assert!(
        report.to_string().contains("take it off the list"),
        "{report}"
    );
    fs::remove_file(&list).expect("it is there");

    // A case that says why is not missed, nor one that no real Consul can be asked.
    let excused = Selection::only([UNCOMPARED, MOVING]);
    let report = replayed(&excused).expect("replayed");
    assert_eq!(report.count("fail"), 0, "{report}");
}

#[test]
fn a_recording_of_no_case_is_refused() {
    let folder = Folder::new("stranger");
    let selection = Selection::only([CASE]);
    let real = Fake::answering(|line| Some(answering(line, 7)));
    record(&target(&real), &selection, &folder.0, &|_| {}).expect("recorded");
    let version = folder.0.join("1.8.7");
    for stranger in ["kv/get/no-such-case", LATER] {
        let file = version.join(format!("{stranger}.txt"));
        fs::create_dir_all(file.parent().expect("below the folder")).expect("a folder");
        fs::write(&file, "old").expect("the folder is there");
        let none = Deviations::none();
        let error = replay(&target(&real), &none, &selection, &version, &|_| {});
        let error = error.expect_err("a recording of no case of this version");
        assert!(error.0.contains("is a recording of no case"), "{error}");
        fs::remove_file(&file).expect("it is there");
    }
}

#[test]
fn what_is_not_alike_is_not_compared() {
    let mut recorded = Recorded {
        version: "1.8.7".to_owned(),
        build: "1.8.7 go1.15".to_owned(),
        date: "2026-01-01".to_owned(),
        dev: true,
        shortest_ttl_ms: 1000,
    };
    let here = recorded.clone();
    recorded.date = "2025-01-01".to_owned();
    recorded.build = "1.8.7".to_owned();
    assert_eq!(recorded.refusal(&here), None);
    recorded.dev = false;
    assert!(
        recorded
            .refusal(&here)
            .is_some_and(|why| why.contains("dev mode"))
    );
    recorded.dev = true;
    recorded.version = "1.16.4".to_owned();
    assert!(
        recorded
            .refusal(&here)
            .is_some_and(|why| why.contains("version is 1.16.4"))
    );
}
