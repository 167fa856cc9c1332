//! The recorder refuses doubles, and recordings are compared only with their like.

use super::*;
use crate::fake::{Fake, consul_like, genuine_like};

const CASE: &str = "kv/get/missing-is-404-with-index";

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

    let known = Deviations::parse(&format!("\"{CASE}\" = \"known\""), &cases::all());
    let known = known.expect("one entry");
    let report = replay(&target(&wrong), &known, &selection, &version, &|_| {}).expect("replayed");
    assert_eq!(report.count("deviation"), 1, "{report}");

    let all = replay(
        &target(&double),
        &none,
        &Selection::only(["kv/get/*"]),
        &version,
        &|_| {},
    );
    assert!(
        all.expect("replayed")
            .to_string()
            .contains(": not recorded")
    );
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
