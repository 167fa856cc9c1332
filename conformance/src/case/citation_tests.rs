//! The grammar of citations, form by form.

use super::*;

/// The anchors that a citation names, each with its file: `kv#2.4 kv#trap-2`.
fn anchors(text: &str) -> String {
    let mut named = Vec::new();
    for citation in citations(text) {
        let file = citation.file.strip_suffix(".md").expect("Markdown");
        named.extend(
            citation
                .places
                .iter()
                .map(|place| format!("{file}#{}", place.anchor)),
        );
    }
    named.join(" ")
}

#[test]
fn citations_name_anchors() {
    for (text, named) in [
        ("kv.md 2.4", "kv#2.4"),
        ("(kv.md 2.4).", "kv#2.4"),
        ("`session.md 4.5b`: each", "session#4.5b"),
        ("session.md 3.3, 3.4", "session#3.3 session#3.4"),
        ("kv.md 1.2\n    and 1.3", "kv#1.2 kv#1.3"),
        ("session.md 1.1-1.4).", "session#1.1 session#1.4"),
        ("kv.md 2.1 to 2.4; 1.22.md A2)", "kv#2.1 kv#2.4 1.22#A2"),
        ("kv.md trap 27", "kv#trap-27"),
        (
            "session.md 1.4; trap 3, 2",
            "session#1.4 session#trap-3 session#2",
        ),
        (
            "kv.md 2.5; traps 4 and 5, 2.6",
            "kv#2.5 kv#trap-4 kv#trap-5 kv#2.6",
        ),
        ("kv.md section 0, in its order", "kv#0"),
        ("kv.md 0, step 5", "kv#0 kv#0.5"),
        ("kv.md 0 steps 6 to 9", "kv#0 kv#0.6 kv#0.9"),
        ("kv.md (b) and session.md 8(b)", "kv#b session#8b"),
        ("kv.md (a) 25", "kv#a kv#a.25"),
        (
            "session.md 2, 8(a); 1.22.md B2",
            "session#2 session#8a 1.22#B2",
        ),
        ("1.22.md part C.", "1.22#C"),
        (
            "1.22.md part F: kv.413_link [S, H: 1.12.0]",
            "1.22#F 1.22#F.kv.413_link",
        ),
        (
            "1.22.md F kv.raw_headers [S] [D]",
            "1.22#F 1.22#F.kv.raw_headers",
        ),
        (
            "1.22.md A1.2 [G], F http.error_ct_first",
            "1.22#A1.2 1.22#F 1.22#F.http.error_ct_first",
        ),
        (
            "1.22.md A6.2 (until (or so) 1.13.0 [H]), A0.10b",
            "1.22#A6.2 1.22#A0.10b",
        ),
        (
            "acl.md 9.text, 4.1.r3, 9.errors.r2",
            "acl#9.text acl#4.1.r3 acl#9.errors.r2",
        ),
        ("contract/kv.md#0.5).", "kv#0.5"),
    ] {
        assert_eq!(anchors(text), named, "{text}");
    }
}

#[test]
fn prose_is_no_place() {
    for text in [
        "`kv.md`, `session.md`",
        "kv.md, introduction",
        "kv.md trap {trap}",
        "kv.md A key",
        "kv.md 1.8.7",
        "mykv.md 2.4",
        "API docs, KV store: update key",
    ] {
        assert_eq!(anchors(text), "", "{text}");
    }
    assert_eq!(anchors("kv.md 2.4, which says so"), "kv#2.4");
    assert_eq!(anchors("kv.md 2.4. A key, 3 of them"), "kv#2.4");
}

#[test]
fn places_know_where_they_stand() {
    let text = "see kv.md 2.4; trap 2 (b)";
    let citations = citations(text);
    let places: Vec<&str> = citations[0]
        .places
        .iter()
        .map(|place| &text[place.at.clone()])
        .collect();
    assert_eq!(&text[citations[0].at.clone()], "kv.md");
    assert_eq!(places, ["2.4", "trap 2"]);
}

#[test]
fn a_place_is_one_citation_and_nothing_else() {
    assert_eq!(
        place("session.md trap 2"),
        Some(("session.md", "trap-2".to_owned()))
    );
    for text in [
        "session.md",
        "session.md 1, 2",
        "see session.md 1",
        "session.md 1 ",
        "API docs",
    ] {
        assert_eq!(place(text), None, "{text}");
    }
}
