//! The URLs of HTTP checks, parsed as far as requests need it.

/// A URL in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// The URL as given.
    pub(super) text: String,
    /// The host, without brackets.
    pub(super) host: String,
    /// The port; 80 or 443 if unset.
    pub(super) port: u16,
    /// Whether the scheme is HTTPS.
    pub(super) is_https: bool,
    /// Host and port as in the URL.
    pub(super) authority: String,
    /// Path and query.
    pub(super) target: String,
}

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    /// Go's sentence for an invalid URL or an unsupported scheme.
    pub(super) fn parse(text: &str, method: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(no_scheme(text, method));
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let authority = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let is_https = cfg!(feature = "https-checks") && scheme.eq_ignore_ascii_case("https");
        if !is_https && !scheme.eq_ignore_ascii_case("http") {
            return Err(error(
                method,
                text,
                &format!("unsupported protocol scheme \"{scheme}\""),
            ));
        }
        if authority.is_empty() {
            return Err(error(method, text, "http: no Host in request URL"));
        }
        if let Some(bad) = authority
            .chars()
            .find(|character| " \"<>\\^`{|}".contains(*character))
        {
            return Err(format!(
                "parse \"{text}\": invalid character \"{bad}\" in host name"
            ));
        }
        let (host, port) = host_and_port(authority);
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!(
                "parse \"{text}\": invalid port \":{port}\" after host"
            ));
        }
        let port = match port {
            "" if is_https => "443",
            "" => "80",
            given => given,
        };
        let Ok(port) = port.parse() else {
            let why = format!("dial tcp: address {port}: invalid port");
            return Err(error(method, text, &why));
        };
        let target = match target.as_bytes().first() {
            Some(b'/') => target.to_owned(),
            Some(_) | None => format!("/{target}"),
        };
        Ok(Self {
            text: text.to_owned(),
            host: host.to_owned(),
            port,
            is_https,
            authority: authority.to_owned(),
            target,
        })
    }

    /// Resolves the location of a redirect.
    pub(super) fn join(&self, location: &str, method: &str) -> Result<Self, String> {
        if location.contains("://") {
            return Self::parse(location, method);
        }
        let path = if location.starts_with('/') {
            location.to_owned()
        } else {
            let path = self.target.split('?').next().unwrap_or_default();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{location}")
        };
        let scheme = if self.is_https { "https" } else { "http" };
        Self::parse(&format!("{scheme}://{}{path}", self.authority), method)
    }
}

fn no_scheme(text: &str, method: &str) -> String {
    let first = text.split('/').next().unwrap_or_default();
    if first.contains(':') {
        return format!("parse \"{text}\": first path segment in URL cannot contain colon");
    }
    error(method, text, "unsupported protocol scheme \"\"")
}

/// Splits host and port, without brackets and colon; the port may be empty.
pub(super) fn host_and_port(authority: &str) -> (&str, &str) {
    if let Some((host, port)) = authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return (host, port.trim_start_matches(':'));
    }
    authority.rsplit_once(':').unwrap_or((authority, ""))
}

/// Returns the sentence of Go's client for a failed request: `Get "http://...": why`.
pub(super) fn error(method: &str, url: &str, why: &str) -> String {
    let (first, rest) = method.split_at(method.len().min(1));
    format!("{first}{} \"{url}\": {why}", rest.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, u16, String) {
        let url = Url::parse(text, "GET").expect("the test gives a URL");
        (url.host, url.port, url.target)
    }

    #[test]
    fn a_url_is_taken_apart() {
        let expected = |host: &str, port, target: &str| (host.to_owned(), port, target.to_owned());
        assert_eq!(parts("http://a:81/x?y=1#z"), expected("a", 81, "/x?y=1"));
        assert_eq!(parts("http://a"), expected("a", 80, "/"));
        assert_eq!(parts("http://a?q"), expected("a", 80, "/?q"));
        assert_eq!(parts("HTTP://u:p@[::1]:8/"), expected("::1", 8, "/"));
    }

    #[test]
    fn what_is_no_url_is_refused_in_gos_words() {
        let refused = |text| Url::parse(text, "GET").expect_err("the test gives no URL");
        assert_eq!(
            refused("127.0.0.1:1"),
            "parse \"127.0.0.1:1\": first path segment in URL cannot contain colon"
        );
        assert_eq!(
            refused("ftp://x/"),
            "Get \"ftp://x/\": unsupported protocol scheme \"ftp\""
        );
        assert_eq!(
            refused("http://a:x/"),
            "parse \"http://a:x/\": invalid port \":x\" after host"
        );
        assert_eq!(
            refused("http://a:99999/"),
            "Get \"http://a:99999/\": dial tcp: address 99999: invalid port"
        );
        assert_eq!(
            refused("http:///x"),
            "Get \"http:///x\": http: no Host in request URL"
        );
    }

    #[test]
    fn a_redirect_leads_from_where_it_stands() {
        let url = Url::parse("http://a:1/b/c?d", "GET").expect("the test gives a URL");
        let to = |location| {
            let joined = url
                .join(location, "GET")
                .expect("the test gives a location");
            (joined.authority, joined.target)
        };
        assert_eq!(to("/x"), ("a:1".into(), "/x".into()));
        assert_eq!(to("x?y"), ("a:1".into(), "/b/x?y".into()));
        assert_eq!(to("http://z/"), ("z".into(), "/".into()));
    }
}
