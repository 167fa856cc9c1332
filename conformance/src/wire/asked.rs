//! A request as a client sent it, for a proxy that forwards it.

/// A whole request, as it came; changed only where who stands between changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// Which of several addresses it came to, counted from 0; who stands between sets it.
    pub agent: usize,
    /// `HTTP/1.1`.
    version: String,
    /// The header lines, each with its end, without the empty line behind them.
    headers: String,
    /// The body with its framing, as sent.
    body: Vec<u8>,
}

/// What the bytes that have come so far are.
#[derive(Debug, PartialEq, Eq)]
pub enum Reading {
    /// A request, and how many bytes it took.
    Whole(Box<Asked>, usize),
    /// The beginning of one.
    Partial,
    /// The beginning of one whose client waits for leave to send the body.
    Expecting,
    /// Nothing that can be told apart.
    Foreign,
}

impl Asked {
    /// Looks for a request at the beginning of `bytes`.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Reading {
        let Some(head) = find(bytes, b"\r\n\r\n") else {
            return Reading::Partial;
        };
        let Ok(text) = std::str::from_utf8(&bytes[..head + 2]) else {
            return Reading::Foreign;
        };
        let (line, headers) = text.split_once("\r\n").unwrap_or((text, ""));
        let mut parts = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Reading::Foreign;
        };
        let Some(body) = body_length(headers, &bytes[head + 4..]) else {
            return Reading::Foreign;
        };
        let Ok(length) = body else {
            return match header(headers, "Expect") {
                Some(_) => Reading::Expecting,
                None => Reading::Partial,
            };
        };
        let end = head + 4 + length;
        let asked = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            agent: 0,
            version: version.to_owned(),
            headers: headers.to_owned(),
            body: bytes[head + 4..end].to_vec(),
        };
        Reading::Whole(Box::new(asked), end)
    }

    /// What goes to the target.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self {
            method,
            target,
            version,
            headers,
            ..
        } = self;
        let mut bytes = format!("{method} {target} {version}\r\n{headers}\r\n").into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// The path as sent.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// What follows the question mark, as sent.
    #[must_use]
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The value of a parameter, as sent; empty when it has none.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query()
            .split('&')
            .map(|part| part.split_once('=').unwrap_or((part, "")))
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }

    /// The value of a parameter that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.parameter(name)?.parse().ok()
    }

    /// Whether there is a parameter of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// Takes a parameter away.
    pub fn drop_parameter(&mut self, name: &str) {
        let kept: Vec<&str> = self
            .query()
            .split('&')
            .filter(|part| !part.is_empty() && part.split('=').next() != Some(name))
            .collect();
        self.target = match kept.is_empty() {
            true => self.path().to_owned(),
            false => format!("{}?{}", self.path(), kept.join("&")),
        };
    }

    /// Adds a parameter, such as `recurse`.
    pub fn add_parameter(&mut self, parameter: &str) {
        let mark = if self.target.contains('?') { '&' } else { '?' };
        self.target = format!("{}{mark}{parameter}", self.target);
    }

    /// The key of a request to the KV store, as sent.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.path().strip_prefix("/v1/kv/")
    }

    /// What follows the slash of a session endpoint: `destroy`, `renew`, `info`, `node`.
    #[must_use]
    pub fn session(&self, endpoint: &str) -> Option<&str> {
        let rest = self.path().strip_prefix("/v1/session/")?;
        let id = rest.strip_prefix(endpoint)?.strip_prefix('/')?;
        (!id.is_empty()).then_some(id)
    }

    /// Whether it is a GET.
    #[must_use]
    pub fn is_get(&self) -> bool {
        self.method == "GET"
    }

    /// Whether it is a PUT.
    #[must_use]
    pub fn is_put(&self) -> bool {
        self.method == "PUT"
    }

    /// A read of entries: neither keys nor raw.
    #[must_use]
    pub fn reads_entries(&self) -> bool {
        self.is_get() && self.key().is_some() && !self.has("keys") && !self.has("raw")
    }

    /// Whether it only looks.
    #[must_use]
    pub fn is_read(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }

    /// A read that blocks.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.is_get() && self.index().is_some_and(|index| index > 0)
    }

    /// The index to exceed.
    #[must_use]
    pub fn index(&self) -> Option<u64> {
        let index = self.parameter("index")?;
        // A sign, which Go refuses, would do for Rust.
        let digits = index.bytes().all(|byte| byte.is_ascii_digit());
        index.parse().ok().filter(|_| digits)
    }

    /// The body as text, where it is sized and text.
    #[must_use]
    pub fn body_text(&self) -> Option<&str> {
        let sized = header(&self.headers, "Content-Length").is_some();
        std::str::from_utf8(&self.body).ok().filter(|_| sized)
    }

    /// A look at another place, with what the client says of itself.
    #[must_use]
    pub fn look_at(&self, target: &str) -> Self {
        let mut look = self.clone();
        look.set_body("");
        look.method = "GET".to_owned();
        look.target = target.to_owned();
        look
    }

    /// Sets a sized body.
    pub fn set_body(&mut self, body: &str) {
        let lines = self.headers.split_inclusive("\r\n");
        let other = |line: &&str| {
            let line = line.to_ascii_lowercase();
            !line.starts_with("content-length:") && !line.starts_with("transfer-encoding:")
        };
        let mut headers: String = lines.filter(other).collect();
        headers.push_str(&format!("Content-Length: {}\r\n", body.len()));
        self.headers = headers;
        self.body = body.as_bytes().to_vec();
    }

    /// The token that Consul takes of a request (acl.md 2.1); empty without one.
    #[must_use]
    pub fn token(&self) -> &str {
        let bearer = || {
            let (scheme, rest) = header(&self.headers, "Authorization")?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| rest.trim())
        };
        let given = |token: &&str| !token.is_empty();
        let parameter = self.parameter("token").filter(given);
        let token = parameter.or_else(|| header(&self.headers, "X-Consul-Token").filter(given));
        token.or_else(bearer).unwrap_or_default()
    }

    /// Puts this token in place of any other.
    pub fn set_token(&mut self, token: &str) {
        if self.has("token") {
            self.drop_parameter("token");
        }
        let lines = self.headers.split_inclusive("\r\n");
        let other = |line: &&str| {
            let line = line.to_ascii_lowercase();
            !line.starts_with("x-consul-token:") && !line.starts_with("authorization:")
        };
        self.headers = lines.filter(other).collect();
        self.headers
            .push_str(&format!("X-Consul-Token: {token}\r\n"));
    }

    /// Whether the client waits for leave to send its body.
    #[must_use]
    pub fn expects(&self) -> bool {
        header(&self.headers, "Expect").is_some()
    }

    /// The body without its framing.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        if header(&self.headers, "Transfer-Encoding").is_none() {
            return self.body.clone();
        }
        let (mut content, mut rest) = (Vec::new(), self.body.as_slice());
        while let Some(end) = find(rest, b"\r\n") {
            let size = String::from_utf8_lossy(&rest[..end]).into_owned();
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).unwrap_or_default();
            let Some(chunk) = rest.get(end + 2..end + 2 + size).filter(|_| size > 0) else {
                break;
            };
            content.extend_from_slice(chunk);
            rest = rest.get(end + size + 4..).unwrap_or_default();
        }
        content
    }

    /// The body with its framing.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// How long the body is: `None` when that cannot be told, an error when it is not all there.
fn body_length(headers: &str, bytes: &[u8]) -> Option<Result<usize, ()>> {
    if let Some(encoding) = header(headers, "Transfer-Encoding") {
        if !encoding.eq_ignore_ascii_case("chunked") {
            return None;
        }
        return chunks_length(bytes);
    }
    let length = match header(headers, "Content-Length") {
        None => 0,
        Some(length) => length.parse().ok()?,
    };
    Some((bytes.len() >= length).then_some(length).ok_or(()))
}

/// How long a chunked body is with its framing; as [`body_length`].
fn chunks_length(bytes: &[u8]) -> Option<Result<usize, ()>> {
    let mut end = 0;
    loop {
        let Some(line) = find(&bytes[end..], b"\r\n") else {
            return Some(Err(()));
        };
        let size = std::str::from_utf8(&bytes[end..end + line]).ok()?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        end += line + 2;
        if size == 0 {
            // Trailers, if any, end with an empty line.
            let rest = &bytes[end..];
            let last = match rest.starts_with(b"\r\n") {
                true => Some(2),
                false => find(rest, b"\r\n\r\n").map(|at| at + 4),
            };
            return Some(last.map(|last| end + last).ok_or(()));
        }
        end = end.checked_add(size)?.checked_add(2)?;
        if end > bytes.len() {
            return Some(Err(()));
        }
    }
}

fn header<'h>(headers: &'h str, name: &str) -> Option<&'h str> {
    headers
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Asked {
        match Asked::read(bytes) {
            Reading::Whole(asked, end) => {
                assert_eq!(end, bytes.len());
                assert_eq!(asked.to_bytes(), bytes);
                *asked
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_has_the_token_that_consul_takes_of_it() {
        for (head, expected) in [
            ("GET /?token=q HTTP/1.1\r\nX-Consul-Token: h\r\n", "q"),
            (
                "GET /?token= HTTP/1.1\r\nX-Consul-Token: h\r\nAuthorization: Bearer b\r\n",
                "h",
            ),
            ("GET / HTTP/1.1\r\nauthorization: bearer  b\r\n", "b"),
            ("GET / HTTP/1.1\r\nAuthorization: Basic b\r\n", ""),
        ] {
            let mut asked = whole(format!("{head}\r\n").as_bytes());
            assert_eq!(asked.token(), expected, "{head}");
            asked.set_token("new");
            let bytes = b"GET / HTTP/1.1\r\nX-Consul-Token: new\r\n\r\n";
            assert_eq!(asked.to_bytes(), bytes, "{head}");
        }
    }

    #[test]
    fn reads_whole_requests_and_gives_back_their_bytes() {
        let asked = whole(b"GET /v1/kv/a/b?recurse&index=7 HTTP/1.1\r\nhOst:  x\r\n\r\n");
        assert_eq!(
            (asked.key(), asked.parameter("index")),
            (Some("a/b"), Some("7"))
        );
        assert!(asked.blocks() && asked.has("recurse") && !asked.has("keys"));
        whole(b"PUT /v1/kv/a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        whole(b"PUT /v1/kv/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n");
        whole(b"PUT /v1/kv/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    }

    #[test]
    fn tells_what_is_not_all_there_or_not_for_it() {
        let partial = |bytes: &[u8]| assert_eq!(Asked::read(bytes), Reading::Partial);
        partial(b"GET / HTTP/1.1\r\nHost: x\r\n");
        partial(b"PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab");
        partial(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
        let foreign = |bytes: &[u8]| assert_eq!(Asked::read(bytes), Reading::Foreign);
        foreign(b"GET /a b HTTP/1.1\r\n\r\n");
        foreign(b"PUT / HTTP/1.1\r\nContent-Length: x\r\n\r\n");
        let expecting = b"PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
        assert_eq!(Asked::read(expecting), Reading::Expecting);
        let chunked = b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        foreign(&[chunked.as_slice(), b"x\r\n"].concat());
        let pipelined = [chunked.as_slice(), b"1\r\na\r\n0\r\nT: r\r\n\r\nGET"].concat();
        let asked = whole(&pipelined[..pipelined.len() - 3]);
        assert_eq!(asked.content(), b"a");
        assert!(
            matches!(Asked::read(&pipelined), Reading::Whole(_, end) if end == pipelined.len() - 3)
        );
    }

    #[test]
    fn parameters_come_and_go() {
        let mut asked = whole(b"PUT /v1/kv/a?cas=1&flags=2 HTTP/1.1\r\n\r\n");
        asked.drop_parameter("cas");
        assert_eq!(asked.target, "/v1/kv/a?flags=2");
        asked.drop_parameter("flags");
        assert_eq!(asked.target, "/v1/kv/a");
        asked.add_parameter("recurse");
        asked.add_parameter("cas=0");
        assert_eq!(asked.target, "/v1/kv/a?recurse&cas=0");
    }

    #[test]
    fn a_new_body_has_a_new_length() {
        let mut asked = whole(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\nA: b\r\n\r\na");
        asked.set_body("long");
        whole(&asked.to_bytes());
        assert_eq!(asked.body_text(), Some("long"));
    }
}
