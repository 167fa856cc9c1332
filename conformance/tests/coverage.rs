//! Every row of the contract has a case or a reason why not, and what documents say of the suite's coverage is what the suite says.
//!
//! When this fails: `cargo run -p proconsul-conformance -- coverage`, from the root of the repository.

use std::path::{Path, PathBuf};

use proconsul_conformance::report::generated::{documents, renewed};
use proconsul_conformance::report::rows::Coverage;
use proconsul_conformance::runner::asked::Asked;
use proconsul_conformance::{Case, cases};

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("the crate lies in a workspace").into()
}

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn coverage_of(cases: &[&Case]) -> Coverage {
    let contract = root().join("conformance/contract");
    Coverage::of(&contract, cases).expect("the contract can be read")
}

fn asked() -> Vec<Asked> {
    Asked::read_all(&root().join("fixtures")).expect("results are in order")
}

/// When this fails: `cargo run -p proconsul-conformance -- run --count fixtures`, and once more with `--plain`.
#[test]
fn what_real_servers_were_asked_are_cases_that_held() {
    let known = cases::all();
    let asked = asked();
    assert!(!asked.is_empty(), "no real server was ever asked");
    for asked in asked {
        assert!(asked.fail.is_empty(), "{}: {:?}", asked.version, asked.fail);
        let strangers = asked.pass.iter();
        let strangers = strangers.filter(|id| known.iter().all(|case| case.id != id.as_str()));
        let strangers: Vec<&String> = strangers.collect();
        assert!(strangers.is_empty(), "no cases any more: {strangers:?}");
    }
}

#[test]
fn the_documents_have_the_figures_of_today() {
    let documents = documents(&root()).expect("everything can be read");
    for (document, made) in documents {
        let written = read(document);
        let made = renewed(&written, &made).expect("the document has a place for the table");
        assert!(
            made == written,
            "{document} is stale: see the top of this file"
        );
    }
}

#[test]
fn every_row_of_the_contract_has_a_case_or_a_reason_why_not() {
    let complaints = coverage_of(&cases::all()).complaints;
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
