//! Go's `path.Clean`, the cleaning of `net/http` on top of it, and the filter for unprintable paths.

use std::borrow::Cow;

use crate::quote::printable::{Unicode, is_printable};

/// `path.Clean`: returns the shortest equivalent path. It merges slashes, drops `.` and a trailing slash, and
/// resolves `..`, also at the root. An empty result is `.`.
pub fn clean(path: &[u8]) -> Vec<u8> {
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

/// Like [`clean`], but keeps a trailing slash. A clean path, as nearly all are, is borrowed.
pub fn clean_up_to_slash(path: &[u8]) -> Cow<'_, [u8]> {
    if is_plain(path) {
        return Cow::Borrowed(path);
    }
    let mut cleaned = clean(path);
    if path.ends_with(b"/") && !cleaned.ends_with(b"/") {
        cleaned.push(b'/');
    }
    Cow::Owned(cleaned)
}

/// Whether a path is certainly clean. `false` for some clean paths, too.
fn is_plain(path: &[u8]) -> bool {
    let may_go = |pair: &[u8]| pair[0] == b'/' && matches!(pair[1], b'/' | b'.');
    path.first().is_some_and(|first| *first != b'.') && !path.windows(2).any(may_go)
}

/// The cleaning of `net/http.ServeMux`: makes the path rooted and keeps a trailing slash.
pub(crate) fn clean_rooted(path: &[u8]) -> Cow<'_, [u8]> {
    if path.starts_with(b"/") {
        return clean_up_to_slash(path);
    }
    let rooted = [b"/", path].concat();
    Cow::Owned(clean_up_to_slash(&rooted).into_owned())
}

/// Whether every character of a decoded path is printable. Invalid bytes count as U+FFFD, which is printable
/// (kv.md 1.6).
pub fn is_printable_path(path: &[u8], unicode: Unicode) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    // Without an early end the compiler looks at many bytes at once.
    if path.iter().fold(true, |all, byte| all & is_plain(byte)) {
        return true;
    }
    path.utf8_chunks().all(|chunk| {
        chunk
            .valid()
            .chars()
            .all(|character| is_printable(character, unicode))
    })
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_rooted, clean_up_to_slash, is_printable_path};
    use crate::quote::printable::Unicode;

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
            ("/v1/kv/.a/..b", "/v1/kv/.a/..b"),
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
    fn keys_keep_their_trailing_slash() {
        for (path, cleaned) in [
            ("a/b/", "a/b/"),
            ("./a", "a"),
            ("a//", "a/"),
            ("/", "/"),
            ("./", "./"),
            ("", "."),
        ] {
            assert_eq!(
                clean_up_to_slash(path.as_bytes()),
                cleaned.as_bytes(),
                "{path}"
            );
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
