//! Questions of DNS.

use std::net::IpAddr;

/// A question of DNS, as far as faults look at it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The name, with dots between its labels.
    pub name: &'a str,
    /// The client's address.
    pub client: Option<IpAddr>,
    /// The number of the agent that it came to.
    pub agent: usize,
    /// Whether it came in a datagram.
    pub is_datagram: bool,
}

/// Whether a name is `above`, or ends with it.
pub(super) fn is_below(name: &str, above: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let before = name.strip_suffix(above);
    before.is_some_and(|before| before.is_empty() || above.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_name_is_below_whole_labels() {
        for above in ["", "consul", "service.consul", "web.service.consul"] {
            assert!(is_below("Web.service.consul.", above), "{above}");
        }
        for other in ["eb.service.consul", "a.web.service.consul", "service"] {
            assert!(!is_below("web.service.consul.", other), "{other}");
        }
    }
}
