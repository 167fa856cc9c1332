//! Links from a case's source to the contract.

use super::escape::escape;
use crate::case::citation::citations;

/// The address of the repository, `package.repository` of `Cargo.toml`. While that is unset, links are relative to the repository's
/// root, where a report must then lie for them to lead anywhere.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The source of a case as HTML, with a link to each place of the contract that it names.
pub(super) fn linked(source: &str) -> String {
    linked_from(REPOSITORY, source)
}

/// The address of the contract's folder, as links have it.
pub(super) fn address() -> String {
    folder(REPOSITORY)
}

fn linked_from(repository: &str, source: &str) -> String {
    let folder = folder(repository);
    let mut html = String::new();
    let mut written = 0;
    for citation in citations(source) {
        // The first link has the file's name in it.
        let mut file_at = Some(citation.at.start);
        for place in citation.places {
            let start = file_at.take().unwrap_or(place.at.start);
            html.push_str(&escape(&source[written..start]));
            let (file, anchor) = (citation.file, place.anchor);
            let named = escape(&source[start..place.at.end]);
            html.push_str(&format!("<a href=\"{folder}/{file}#{anchor}\">{named}</a>"));
            written = place.at.end;
        }
    }
    html.push_str(&escape(&source[written..]));
    html
}

/// The address of the contract's folder.
fn folder(repository: &str) -> String {
    const FOLDER: &str = "conformance/contract";
    if repository.is_empty() {
        return FOLDER.to_owned();
    }
    format!("{}/blob/main/{FOLDER}", repository.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_into_the_repository_once_its_address_is_set() {
        for repository in ["https://example.org/a", "https://example.org/a/"] {
            assert_eq!(
                linked_from(repository, "1.22.md A6.7 [G]"),
                "<a href=\"https://example.org/a/blob/main/conformance/contract/1.22.md#A6.7\">1.22.md A6.7</a> [G]"
            );
        }
    }

    #[test]
    fn a_source_without_places_has_no_links() {
        assert_eq!(linked_from("", "API docs, a < b"), "API docs, a &lt; b");
    }
}
