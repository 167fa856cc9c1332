//! The version table says nothing that the server does not do.

use std::collections::BTreeSet;

use crate::{assert_none, rust_files};

/// The table of what differs between Consul's versions.
const TABLE: &str = "server/version/src/behaviour.rs";

/// The variants that the table's list declares: `Name = "area.word", [...]`.
fn declared(table: &str) -> Vec<&str> {
    let variants = table.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once(" = \"")?;
        let is_variant = name.chars().all(char::is_alphanumeric) && rest.contains("\",");
        is_variant.then_some(name)
    });
    variants.collect()
}

/// The words of a code: a variant that is used is one of them, by its path or below a `use Behaviour::{...}`.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// A row that no code asks for claims a difference between versions that the emulator does not make.
#[test]
fn every_row_of_the_version_table_is_read() {
    let files = rust_files();
    let table = files.iter().find(|file| file.path == TABLE);
    let table = &table.expect("the version table is there").text;
    let list = table.split("\nbehaviours! {").nth(1).unwrap_or_default();
    let variants = declared(list);
    assert!(variants.len() > 50, "the rows of the table are found");
    let product = files
        .iter()
        .filter(|file| file.path.starts_with("server/") && file.path != TABLE)
        .filter(|file| !file.path.ends_with("tests.rs") && !file.path.contains("/tests/"));
    let read: BTreeSet<&str> = product
        .map(|file| file.text.split("#[cfg(test)]").next().unwrap_or_default())
        .flat_map(words)
        .collect();
    let unread = variants.iter().filter(|variant| !read.contains(*variant));
    let complaints: Vec<String> = unread.map(|variant| (*variant).to_owned()).collect();
    assert_none("rows of the version table that no code reads", &complaints);
}
