//! Go's `url.Values`: the parameters of a query.

use std::fmt;

use crate::url::{UrlError, query_escape, query_unescape};

/// The meaning of `;` in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semicolons {
    /// It separates parameters as `&` does: Go until 1.16.
    Separate,
    /// It is an error: Go 1.17 and later.
    Refused,
}

/// Why a query is invalid. Consul answers 500 without the reason (kv.md 0 step 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// A percent-escape is invalid.
    Escape(UrlError),
    /// A `;`, which newer Go refuses.
    Semicolon,
}

impl fmt::Display for QueryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Escape(error) => error.fmt(formatter),
            QueryError::Semicolon => formatter.write_str("invalid semicolon separator in query"),
        }
    }
}

impl std::error::Error for QueryError {}

/// The parameters of a query, in the order sent. Names and values may be any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    parameters: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Query {
    /// Decodes a raw query. A parameter without `=` has an empty value; empty parameters (`a&&b`) are dropped.
    ///
    /// # Errors
    /// The first invalid percent-escape, or a refused `;`.
    pub fn parse(raw: &[u8], semicolons: Semicolons) -> Result<Query, QueryError> {
        let separates =
            |&byte: &u8| byte == b'&' || (byte == b';' && semicolons == Semicolons::Separate);
        let decode = |text| query_unescape(text).map_err(QueryError::Escape);
        let mut parameters = Vec::new();
        for parameter in raw
            .split(separates)
            .filter(|parameter| !parameter.is_empty())
        {
            if parameter.contains(&b';') && semicolons == Semicolons::Refused {
                return Err(QueryError::Semicolon);
            }
            let (name, value) = match parameter.iter().position(|&byte| byte == b'=') {
                Some(at) => (&parameter[..at], &parameter[at + 1..]),
                None => (parameter, &b""[..]),
            };
            parameters.push((decode(name)?, decode(value)?));
        }
        Ok(Query { parameters })
    }

    /// Returns all parameters with their values.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let pairs = self.parameters.iter();
        pairs.map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// Whether the parameter is present. Names are case-sensitive.
    pub fn has(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// Returns the first value of the parameter; `None` if it is missing.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.all(name).next()
    }

    /// Returns the first value of the parameter; empty if it is missing: `Values.Get`.
    pub fn get(&self, name: &str) -> &[u8] {
        self.first(name).unwrap_or_default()
    }

    /// Returns all values of the parameter, in the order sent.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.parameters
            .iter()
            .filter(move |(known, _)| known == name.as_bytes())
            .map(|(_, value)| value.as_slice())
    }

    /// Encodes all parameters, sorted by name, as `name=value`: `Values.Encode` (kv.md 2.1, `Conflicting
    /// flags`).
    pub fn encode(&self) -> String {
        let mut sorted: Vec<_> = self.parameters.iter().collect();
        // A stable sort: the values of one name keep their order.
        sorted.sort_by_key(|(name, _)| name);
        let encoded: Vec<_> = sorted
            .iter()
            .map(|(name, value)| format!("{}={}", query_escape(name), query_escape(value)))
            .collect();
        encoded.join("&")
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, QueryError, Semicolons};

    fn query(raw: &str) -> Query {
        Query::parse(raw.as_bytes(), Semicolons::Refused).expect("the query is well-formed")
    }

    #[test]
    fn presence_and_values() {
        let query = query("flags=7&raw&flags=8&=x&&+a+=%2B+&b=c=d&bin=%FF");
        assert_eq!(query.first("flags"), Some(&b"7"[..]));
        assert_eq!(query.all("flags").collect::<Vec<_>>(), [b"7", b"8"]);
        assert!(query.has("raw"));
        assert_eq!(query.first("raw"), Some(&b""[..]));
        assert!(!query.has("Raw"));
        assert_eq!(query.first("cas"), None);
        assert_eq!(query.get("cas"), b"");
        assert_eq!(query.get(""), b"x");
        assert_eq!(query.get(" a "), b"+ ");
        assert_eq!(query.get("b"), b"c=d");
        assert_eq!(query.get("bin"), b"\xff");
    }

    #[test]
    fn names_are_decoded_before_they_are_compared() {
        assert!(query("%72aw").has("raw"));
    }

    #[test]
    fn bad_escapes() {
        for raw in ["a=%zz", "%zz=1", "x&a=%zz&%y=1"] {
            let error =
                Query::parse(raw.as_bytes(), Semicolons::Separate).expect_err("the escape is bad");
            assert_eq!(error.to_string(), "invalid URL escape \"%zz\"");
        }
        assert!(Query::parse(b"a=%", Semicolons::Separate).is_err());
    }

    #[test]
    fn semicolons_of_both_go_lines() {
        let separated =
            Query::parse(b"cas=0;flags=1;;b", Semicolons::Separate).expect("semicolons separate");
        assert_eq!(separated.get("cas"), b"0");
        assert_eq!(separated.get("flags"), b"1");
        assert_eq!(separated.encode(), "b=&cas=0&flags=1");
        assert_eq!(
            Query::parse(b"a=1&cas=0;flags=1", Semicolons::Refused),
            Err(QueryError::Semicolon)
        );
        assert_eq!(query("a=%3B").get("a"), b";");
    }

    #[test]
    fn encoding_sorts_by_name_and_keeps_the_order_of_values() {
        assert_eq!(
            query("release=b&acquire=a&dc=dc1&cas=1&flags=3").encode(),
            "acquire=a&cas=1&dc=dc1&flags=3&release=b"
        );
        assert_eq!(
            query("b=2&a&b=1&%C3%A9=%20/+").encode(),
            "a=&b=2&b=1&%C3%A9=+%2F+"
        );
        assert_eq!(query("").encode(), "");
    }
}
