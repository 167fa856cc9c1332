//! Links between documents, and the book's table of contents.

use std::collections::BTreeSet;

use crate::{File, assert_none, files, root};

/// The text without its code, in which brackets are no links.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// The targets of links in Markdown, as `](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

/// What a heading is linked by: small letters, with hyphens for spaces and without punctuation.
fn slug(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

/// The places of a document that links can name.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if let Some((level, heading)) = line.split_once(' ')
            && !is_code
            && !level.is_empty()
            && level.bytes().all(|byte| byte == b'#')
        {
            anchors.insert(slug(heading));
        }
        let named = line.split("<a id=\"").skip(1);
        anchors.extend(
            named
                .filter_map(|rest| rest.split('"').next())
                .map(str::to_owned),
        );
    }
    anchors
}

/// What is wrong with the links of a document.
fn dead_links(file: &File) -> Vec<String> {
    let path = root().join(&file.path);
    let folder = path.parent().expect("a file lies in a folder");
    let text = without_code(&file.text);
    let own = links(&text).filter(|link| !link.contains("://"));
    let dead = own.filter(|link| {
        let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if target.is_empty() {
            path.clone()
        } else {
            folder.join(target)
        };
        let is_document = target
            .extension()
            .is_some_and(|extension| extension == "md");
        if anchor.is_empty() || !is_document {
            return !target.exists();
        }
        let document = std::fs::read_to_string(&target).unwrap_or_default();
        !anchors(&document).contains(anchor)
    });
    dead.map(|link| format!("{}: {link}", file.path)).collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let documents = files();
    let documents = documents.iter().filter(|file| file.path.ends_with(".md"));
    let complaints: Vec<String> = documents.flat_map(dead_links).collect();
    assert_none("dead links", &complaints);
}

#[test]
fn anchors_are_those_of_headings() {
    let text =
        "# The `web` UI, and more\n```sh\n# no heading\n```\n## <a id=\"0.1\"></a>0.1 First\n";
    let anchors = anchors(text);
    assert!(anchors.contains("the-web-ui-and-more"), "{anchors:?}");
    assert!(anchors.contains("0.1"), "{anchors:?}");
    assert!(!anchors.contains("no-heading"), "{anchors:?}");
}

/// mdBook leaves out a page that its table of contents does not name.
#[test]
fn the_book_names_each_of_its_pages() {
    let summary = std::fs::read_to_string(root().join("docs/src/SUMMARY.md"));
    let summary = summary.expect("the book has a table of contents");
    let named: BTreeSet<&str> = links(&summary).collect();
    let pages = files();
    let pages = pages
        .iter()
        .filter_map(|file| file.path.strip_prefix("docs/src/"));
    let pages: BTreeSet<&str> = pages
        .filter(|page| page.ends_with(".md") && *page != "SUMMARY.md")
        .collect();
    let complaints: Vec<String> = pages
        .symmetric_difference(&named)
        .map(|page| format!("docs/src/SUMMARY.md: {page}"))
        .collect();
    assert_none("pages of the book and its table of contents", &complaints);
}
