//! Go's `path.Clean`, the cleaning of `net/http` on top of it, and the filter for unprintable paths.

use super::printable::{Unicode, is_printable};

/// `path.Clean`: the shortest path that means the same. Repeated slashes become one, `.` goes, `..` takes its parent with
/// it, a trailing slash goes; `..` at the root goes too; nothing left is `.`.
pub(crate) fn clean(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|&last| last != b"..") => {
                kept.pop();
            }
            b".." if rooted => {}
            _ => kept.push(segment),
        }
    }
    let mut cleaned = if rooted { b"/".to_vec() } else { Vec::new() };
    cleaned.extend(kept.join(&b'/'));
    if cleaned.is_empty() {
        cleaned.push(b'.');
    }
    cleaned
}

/// The cleaning of `net/http.ServeMux`: rooted, and a trailing slash is kept.
pub(crate) fn clean_rooted(path: &[u8]) -> Vec<u8> {
    let mut rooted = if path.starts_with(b"/") {
        Vec::new()
    } else {
        b"/".to_vec()
    };
    rooted.extend_from_slice(path);
    let mut cleaned = clean(&rooted);
    if path.ends_with(b"/") && cleaned != b"/" {
        cleaned.push(b'/');
    }
    cleaned
}

/// Whether every character of a decoded path is printable. A byte that is not UTF-8 counts as U+FFFD, which is (kv.md 1.6).
pub(crate) fn is_printable_path(path: &[u8], unicode: Unicode) -> bool {
    path.utf8_chunks().all(|chunk| {
        chunk
            .valid()
            .chars()
            .all(|character| is_printable(character, unicode))
    })
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_rooted, is_printable_path};
    use crate::go::printable::Unicode;

    #[test]
    fn cleaning_as_go_does() {
        for (path, cleaned) in [
            ("", "."),
            (".", "."),
            ("/", "/"),
            ("a", "a"),
            ("a/../b", "b"),
            ("/..", "/"),
            ("..", ".."),
            ("../a", "../a"),
            ("../../a", "../../a"),
            ("a/../../b", "../b"),
            ("a/./b", "a/b"),
            ("//a//b/", "/a/b"),
            ("a/", "a"),
            ("a//", "a"),
            ("a/..", "."),
            ("a/b/../..", "."),
            ("./..", ".."),
            ("/a/../../b", "/b"),
            ("abc/def/..", "abc"),
            ("...", "..."),
            ("a/..b", "a/..b"),
        ] {
            assert_eq!(clean(path.as_bytes()), cleaned.as_bytes(), "{path}");
        }
    }

    #[test]
    fn rooted_paths_keep_their_trailing_slash() {
        for (path, cleaned) in [
            ("", "/"),
            ("/", "/"),
            ("//", "/"),
            ("v1", "/v1"),
            ("/v1/kv/", "/v1/kv/"),
            ("/v1/kv/trail//", "/v1/kv/trail/"),
            ("/v1/kv/..", "/v1"),
            ("/v1/kv/.", "/v1/kv"),
            ("/v1/kv/./", "/v1/kv/"),
            ("/v1/kv/a/../", "/v1/kv/"),
            ("/../", "/"),
        ] {
            assert_eq!(clean_rooted(path.as_bytes()), cleaned.as_bytes(), "{path}");
        }
    }

    #[test]
    fn printable_paths() {
        for path in [
            &b"/v1/kv/a b"[..],
            b"/\xff",
            b"/\xe2\x82",
            "/\u{e9}\u{1f600}".as_bytes(),
            b"",
        ] {
            assert!(is_printable_path(path, Unicode::V12));
        }
        for path in [
            &b"/a\0"[..],
            b"/a\t",
            b"/\x7f",
            b"\xff\n",
            "/\u{85}".as_bytes(),
            "/\u{a0}".as_bytes(),
        ] {
            assert!(!is_printable_path(path, Unicode::V15));
        }
    }
}
