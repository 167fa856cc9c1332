//! The page of a report in a real browser: at the width of a telephone and of a desk nothing sticks out to the side.

use std::path::PathBuf;
use std::process::Command;

use proconsul_conformance::report::document::{CaseDocument, Document, MutantDocument};
use proconsul_conformance::report::html::html;
use proconsul_conformance::report::left_out;

/// Opens everything that can be opened, and tells how wide the page is, how wide its window, and how many cases it shows.
const PROBE: &str = r##"<script>
document.querySelectorAll("details").forEach((one) => { one.open = true; });
document.querySelectorAll(".details").forEach((one) => { one.style.display = "block"; one.style.position = "static"; });
const shown = document.querySelectorAll("tr.case:not([hidden])").length;
parent.postMessage(`${document.documentElement.scrollWidth} of ${window.innerWidth} pixels, ${shown} cases`, "*");
</script>"##;

/// A frame of that width around the page: a browser's own window has a least width.
fn frame(width: u32, page: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        r#"<!doctype html><script>onmessage = (told) => {{ document.title = told.data; }};</script>
<iframe style="width: {width}px; height: 800px; border: 0" srcdoc="{page}"></iframe>"#
    )
}

/// A file that is deleted with the test.
struct Page(PathBuf);

impl Drop for Page {
    fn drop(&mut self) {
        if std::fs::remove_file(&self.0).is_err() {
            // The system's temporary directory is cleared by the system in the end.
        }
    }
}

/// A report of two targets and of mutants whose texts are as long as they come.
fn page() -> String {
    let long = "v1/kv/conformance/".repeat(20);
    let run = |target: &str| Document {
        suite: "0.1.0".to_owned(),
        target: target.to_owned(),
        build: "1.8.7 go1.15.9".to_owned(),
        date: "2026-11-21".to_owned(),
        seconds: 20.0,
        cases: ["pass", "fail", "skip", "deviation", "error"]
            .into_iter()
            .map(|state| CaseDocument {
                id: format!("kv/{state}/{}", "long-".repeat(20)),
                claim: format!("What {long} claims"),
                source: "session.md 2.1, trap 18".to_owned(),
                level: "must".to_owned(),
                state: state.to_owned(),
                message: format!("expected {long}"),
                seconds: 0.1,
                transcript: format!("> GET /{long} HTTP/1.1\n< {}", "x".repeat(300)),
            })
            .collect(),
        mutants: Vec::new(),
    };
    let altered = Document {
        cases: Vec::new(),
        mutants: vec![MutantDocument {
            name: format!("index/{}", "long-".repeat(20)),
            what: format!("What {long} does"),
            killed_by: Some(format!("kv/get/{}", "long-".repeat(20))),
            how: format!("expected {long}"),
            seconds: 0.5,
        }],
        ..run("proconsul")
    };
    html(&[run("consul -dev"), run("proconsul -dev"), altered])
}

#[test]
fn nothing_sticks_out_to_the_side() {
    let Some(browser) = left_out::browser() else {
        return;
    };
    let page = page().replace("</body>", &format!("{PROBE}</body>"));
    for width in [1280, 400] {
        let name = format!("proconsul-conformance-{}-{width}.html", std::process::id());
        let file = Page(std::env::temp_dir().join(name));
        std::fs::write(&file.0, frame(width, &page)).expect("the temporary directory is there");
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            // Until the frame has told.
            .args(["--hide-scrollbars", "--virtual-time-budget=5000"])
            .arg(format!("file://{}", file.0.display()))
            .output()
            .expect("the browser runs");
        let dom = String::from_utf8_lossy(&output.stdout);
        let title = dom.split("<title>").nth(1).unwrap_or_default();
        let told = title.split("</title>").next().unwrap_or_default();
        // All five cases: the script that filters has run, and filters nothing yet.
        assert_eq!(told, format!("{width} of {width} pixels, 5 cases"));
    }
}
