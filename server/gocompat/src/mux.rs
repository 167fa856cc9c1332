//! Go's `net/http.ServeMux`: the path for matching routes, and redirects of unclean paths.

use std::borrow::Cow;

use crate::url::path::clean_rooted;
use crate::url::{RequestTarget, path_escape, path_unescape, push_query};

/// The form of the path that the mux cleans and matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mux {
    /// The decoded path: Go before 1.22. Encoded slashes and dots count as such (kv.md 1.6).
    Decoded,
    /// The escaped path: Go 1.22 and later. Only literal slashes and dots count (1.22.md A1.6).
    Escaped,
}

impl Mux {
    /// Returns the path to compare with the patterns of routes, cleaned and decoded, and the redirect if the target's own
    /// path is not clean. A slash that the mux does not take for a separator stays `%2F`, so that it matches none in a
    /// pattern. [`Mux::redirect_to_slash`] comes before this redirect.
    pub fn route_path<'a>(self, target: &'a RequestTarget) -> (Cow<'a, [u8]>, Option<Redirect>) {
        match self {
            Mux::Decoded => {
                let cleaned = clean_rooted(target.path());
                let is_clean = *cleaned == *target.path();
                let redirect = (!is_clean).then(|| Redirect::to(target.with_path(&cleaned)));
                (cleaned, redirect)
            }
            Mux::Escaped => {
                let escaped = target.escaped_path();
                let cleaned = match &escaped {
                    Cow::Borrowed(path) => clean_rooted(path),
                    Cow::Owned(path) => Cow::Owned(clean_rooted(path).into_owned()),
                };
                // Go takes the escaped path for a decoded one and escapes it again (1.22.md A1.6).
                let redirect =
                    (cleaned != escaped).then(|| Redirect::to_path(&cleaned, target.raw_query()));
                (decode_segments(cleaned), redirect)
            }
        }
    }

    /// Returns the redirect of `/v1/kv` to a route `/v1/kv/`, on either mux.
    pub fn redirect_to_slash(target: &RequestTarget) -> Redirect {
        let mut path = clean_rooted(target.path()).into_owned();
        path.push(b'/');
        Redirect::to_path(&path, target.raw_query())
    }
}

/// Decodes each segment of an escaped path, but keeps slashes in segments escaped.
fn decode_segments(escaped: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if !escaped.contains(&b'%') {
        return escaped;
    }
    let mut decoded = Vec::with_capacity(escaped.len());
    for (position, segment) in escaped.split(|&byte| byte == b'/').enumerate() {
        if position > 0 {
            decoded.push(b'/');
        }
        let segment = path_unescape(segment).unwrap_or(Cow::Borrowed(segment));
        for &byte in segment.iter() {
            match byte {
                b'/' => decoded.extend_from_slice(b"%2F"),
                _ => decoded.push(byte),
            }
        }
    }
    Cow::Owned(decoded)
}

/// A response that redirects, as `http.Redirect` writes it.
///
/// GET and HEAD carry `Content-Type: text/html; charset=utf-8`, only GET has a body (kv.md 1.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    url: Vec<u8>,
}

impl Redirect {
    /// Creates a redirect to an escaped target.
    pub fn to(url: impl Into<Vec<u8>>) -> Redirect {
        Redirect { url: url.into() }
    }

    fn to_path(path: &[u8], raw_query: &[u8]) -> Redirect {
        let mut url = path_escape(path).into_bytes();
        push_query(&mut url, raw_query);
        Redirect { url }
    }

    /// Returns the header `Location`. Non-ASCII bytes, which only a query can have, are escaped with
    /// lower-case digits.
    pub fn location(&self) -> String {
        let mut location = String::with_capacity(self.url.len());
        for &byte in &self.url {
            match byte {
                0..0x80 => location.push(char::from(byte)),
                _ => location.push_str(&format!("%{byte:x}")),
            }
        }
        location
    }

    /// Returns the body for a GET, with the URL escaped for HTML and the reason of the status, such as `Moved Permanently`.
    pub fn html(&self, reason: &str) -> Vec<u8> {
        let mut body = b"<a href=\"".to_vec();
        for byte in &self.url {
            body.extend_from_slice(match byte {
                b'&' => b"&amp;",
                b'<' => b"&lt;",
                b'>' => b"&gt;",
                b'"' => b"&#34;",
                b'\'' => b"&#39;",
                byte => std::slice::from_ref(byte),
            });
        }
        body.extend_from_slice(b"\">");
        body.extend_from_slice(reason.as_bytes());
        body.extend_from_slice(b"</a>.\n\n");
        body
    }
}

#[cfg(test)]
mod tests {
    use super::{Mux, Redirect};
    use crate::url::RequestTarget;

    fn target(text: &str) -> RequestTarget {
        RequestTarget::parse(text.as_bytes()).expect("the target is well-formed")
    }

    fn location(mux: Mux, text: &str) -> Option<String> {
        let (_, redirect) = mux.route_path(&target(text));
        redirect.map(|redirect| redirect.location())
    }

    #[test]
    fn clean_paths_are_not_redirected() {
        for text in [
            "/v1/kv/a%2Fb",
            "/v1/kv/trail/",
            "/v1/kv/%C3%A9?x=//",
            "/v1/%6bv/a",
            "/v1/kv/<b>",
            "/v1/kv/a..b",
            "/",
        ] {
            assert_eq!(location(Mux::Decoded, text), None, "{text}");
            assert_eq!(location(Mux::Escaped, text), None, "{text}");
        }
    }

    #[test]
    fn literal_slashes_and_dots_redirect_on_both() {
        for (text, cleaned) in [
            ("/v1/kv//lead", "/v1/kv/lead"),
            ("/v1/kv/x//y", "/v1/kv/x/y"),
            ("/v1/kv/dot/./k", "/v1/kv/dot/k"),
            ("/v1/kv/dd/../k2", "/v1/kv/k2"),
            ("/v1/kv/trail//", "/v1/kv/trail/"),
            ("/v1/kv/..", "/v1"),
            ("/v1/kv/a/..", "/v1/kv"),
            ("//v1/kv/a", "/v1/kv/a"),
            ("/v1/kv/é//x?y=é", "/v1/kv/%C3%A9/x?y=%c3%a9"),
        ] {
            assert_eq!(
                location(Mux::Decoded, text).as_deref(),
                Some(cleaned),
                "{text}"
            );
            let escaped_again = cleaned.replace("%C3%A9", "%25C3%25A9");
            assert_eq!(location(Mux::Escaped, text), Some(escaped_again), "{text}");
        }
    }

    #[test]
    fn encoded_slashes_and_dots_redirect_on_the_decoded_path_only() {
        for (text, cleaned) in [
            ("/v1/kv/%2Flead2", "/v1/kv/lead2"),
            ("/v1/kv/x%2F%2Fz", "/v1/kv/x/z"),
            ("/v1/kv/dd/%2E%2E/k3", "/v1/kv/k3"),
            ("/v1/kv/x%2F..%2Fy", "/v1/kv/y"),
            ("/v1/kv/a/%2E", "/v1/kv/a"),
            ("/v1/kv/%2E%2E", "/v1"),
        ] {
            assert_eq!(
                location(Mux::Decoded, text).as_deref(),
                Some(cleaned),
                "{text}"
            );
            assert_eq!(location(Mux::Escaped, text), None, "{text}");
        }
    }

    #[test]
    fn escapes_in_a_location() {
        let text = "/v1/kv/a%20b//c%2Bd+e%C3%A9?raw";
        assert_eq!(
            location(Mux::Decoded, text).as_deref(),
            Some("/v1/kv/a%20b/c+d+e%C3%A9?raw")
        );
        assert_eq!(
            location(Mux::Escaped, text).as_deref(),
            Some("/v1/kv/a%2520b/c%252Bd+e%25C3%25A9?raw")
        );
        let text = "/v1/kv/a\"b//c'";
        assert_eq!(
            location(Mux::Decoded, text).as_deref(),
            Some("/v1/kv/a%22b/c%27")
        );
        assert_eq!(
            location(Mux::Escaped, text).as_deref(),
            Some("/v1/kv/a%2522b/c%2527")
        );
        let text = "/v1/kv/%5B//[x]";
        assert_eq!(
            location(Mux::Decoded, text).as_deref(),
            Some("/v1/kv/%5B/%5Bx%5D")
        );
        assert_eq!(
            location(Mux::Escaped, text).as_deref(),
            Some("/v1/kv/%255B/%5Bx%5D")
        );
    }

    #[test]
    fn origin_and_bare_question_mark() {
        assert_eq!(
            location(Mux::Decoded, "http://h/v1/kv//a?b").as_deref(),
            Some("http://h/v1/kv/a?b")
        );
        assert_eq!(
            location(Mux::Escaped, "http://h/v1/kv//a?b").as_deref(),
            Some("/v1/kv/a?b")
        );
        assert_eq!(
            location(Mux::Decoded, "/v1/kv//a?").as_deref(),
            Some("/v1/kv/a?")
        );
        assert_eq!(
            location(Mux::Escaped, "/v1/kv//a?").as_deref(),
            Some("/v1/kv/a")
        );
    }

    #[test]
    fn the_missing_slash_is_added_to_the_clean_path() {
        for (text, slashed) in [
            ("/v1/kv", "/v1/kv/"),
            ("/v1//kv?", "/v1/kv/"),
            ("/v1/%6bv?x=1", "/v1/kv/?x=1"),
            ("http://h/v1/kv?b", "/v1/kv/?b"),
        ] {
            assert_eq!(
                Mux::redirect_to_slash(&target(text)).location(),
                slashed,
                "{text}"
            );
        }
    }

    #[test]
    fn what_routes_see() {
        for (text, decoded, escaped) in [
            ("/v1/%6bv/a", "/v1/kv/a", "/v1/kv/a"),
            ("/v1/kv%2Fa", "/v1/kv/a", "/v1/kv%2Fa"),
            ("/v1/kv/a%2Fb", "/v1/kv/a/b", "/v1/kv/a%2Fb"),
            ("/v1/kv/", "/v1/kv/", "/v1/kv/"),
            ("/v1//kv", "/v1/kv", "/v1/kv"),
            ("/v1/kv/%2E%2E", "/v1", "/v1/kv/.."),
            ("http://h", "/", "/"),
        ] {
            assert_eq!(
                Mux::Decoded.route_path(&target(text)).0,
                decoded.as_bytes(),
                "{text}"
            );
            assert_eq!(
                Mux::Escaped.route_path(&target(text)).0,
                escaped.as_bytes(),
                "{text}"
            );
        }
    }

    #[test]
    fn the_body_is_escaped_for_html() {
        assert_eq!(
            Redirect::to("/v1/kv/").html("Moved Permanently"),
            b"<a href=\"/v1/kv/\">Moved Permanently</a>.\n\n"
        );
        let redirect = Redirect::to("/a?x='\"<&>\u{e9}");
        assert_eq!(redirect.location(), "/a?x='\"<&>%c3%a9");
        let body = "<a href=\"/a?x=&#39;&#34;&lt;&amp;&gt;\u{e9}\">Temporary Redirect</a>.\n\n";
        assert_eq!(redirect.html("Temporary Redirect"), body.as_bytes());
    }
}
