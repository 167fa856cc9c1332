//! What a read may ask for beside its subject, and what comes with its answer.

use std::time::Duration;

use crate::duration;

/// How fresh a read must be. Source: Consul's consistency modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// The leader answers, without asking its followers whether it still leads.
    #[default]
    Default,
    /// The leader asks first whether it still leads: never stale, one round trip dearer.
    Consistent,
    /// Any server answers, as of [`Meta::last_contact`] ago.
    Stale,
}

/// Options of a request, for [`Client::with`](crate::Client::with).
#[derive(Clone, Debug, Default)]
pub struct QueryOptions {
    pub(crate) consistency: Consistency,
    pub(crate) index: Option<u64>,
    pub(crate) wait: Option<Duration>,
    pub(crate) token: Option<String>,
    pub(crate) datacenter: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) near: Option<String>,
    pub(crate) filter: Option<String>,
}

impl QueryOptions {
    /// None set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How fresh the answer must be.
    #[must_use]
    pub fn consistency(mut self, consistency: Consistency) -> Self {
        self.consistency = consistency;
        self
    }

    /// Blocks until the index of the answer is beyond this one, or [`wait`](Self::wait) is over. 0 does not block.
    #[must_use]
    pub fn index(mut self, index: u64) -> Self {
        self.index = Some(index);
        self
    }

    /// How long a blocking read waits (Consul's default: 5 minutes, at most 10; Consul adds up to a sixteenth).
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// The ACL token, in place of the client's.
    ///
    /// ```no_run
    /// # async fn read(client: proconsul_client::Client) -> Result<(), proconsul_client::Error> {
    /// use proconsul_client::{Error, QueryOptions};
    ///
    /// let guest = client.with(QueryOptions::new().token("b78d37c7-0ca7-5f4d-99ee-6d9975ce4586"));
    /// match guest.kv().get("config").await {
    ///     Err(Error::PermissionDenied { text }) => println!("not for guests: {text}"),
    ///     other => println!("{:?}", other?.value),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The datacenter, in place of the agent's own.
    #[must_use]
    pub fn datacenter(mut self, datacenter: impl Into<String>) -> Self {
        self.datacenter = Some(datacenter.into());
        self
    }

    /// The namespace (Consul Enterprise; others refuse it).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sorts nodes by their distance from this one; `_agent` is the agent that answers.
    #[must_use]
    pub fn near(mut self, node: impl Into<String>) -> Self {
        self.near = Some(node.into());
        self
    }

    /// Consul's filter expression, for lists of nodes, services and checks.
    #[must_use]
    pub fn filter(mut self, expression: impl Into<String>) -> Self {
        self.filter = Some(expression.into());
        self
    }

    /// The parameters of a read.
    pub(crate) fn of_read(&self) -> Vec<(&'static str, String)> {
        let mut parameters = self.of_write();
        match self.consistency {
            Consistency::Default => {}
            Consistency::Consistent => parameters.push(("consistent", String::new())),
            Consistency::Stale => parameters.push(("stale", String::new())),
        }
        let texts = [
            ("index", self.index.map(|index| index.to_string())),
            ("wait", self.wait.map(duration::format)),
            ("near", self.near.clone()),
            ("filter", self.filter.clone()),
        ];
        for (name, value) in texts {
            parameters.extend(value.map(|value| (name, value)));
        }
        parameters
    }

    /// The parameters of a write.
    pub(crate) fn of_write(&self) -> Vec<(&'static str, String)> {
        let texts = [("dc", &self.datacenter), ("ns", &self.namespace)];
        texts
            .into_iter()
            .filter_map(|(name, value)| value.clone().map(|value| (name, value)))
            .collect()
    }

    /// How long Consul may hold this read on purpose.
    pub(crate) fn hold(&self) -> Duration {
        /// What Consul waits when it is not told.
        const DEFAULT: Duration = Duration::from_secs(300);
        const MOST: Duration = Duration::from_secs(600);
        if self.index.unwrap_or(0) == 0 {
            return Duration::ZERO;
        }
        let wait = self.wait.filter(|wait| !wait.is_zero());
        let wait = wait.unwrap_or(DEFAULT).min(MOST);
        wait + wait / 16
    }
}

/// What Consul says about an answer, in headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meta {
    /// `X-Consul-Index`: what to wait beyond. 0 when the endpoint has none.
    pub index: u64,
    /// `X-Consul-KnownLeader`: whether the answering server knew a leader.
    pub known_leader: bool,
    /// `X-Consul-LastContact`: how long ago the answering server last heard from the leader.
    pub last_contact: Duration,
}

/// A value with what Consul says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// What was asked for.
    pub value: T,
    /// Index, leader and age.
    pub meta: Meta,
}

impl<T> Answer<T> {
    /// The same answer with another value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        Answer {
            value: change(self.value),
            meta: self.meta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_does_not_block_is_not_held() {
        let options = QueryOptions::new().wait(Duration::from_secs(32));
        assert_eq!(options.hold(), Duration::ZERO);
        assert_eq!(options.clone().index(0).hold(), Duration::ZERO);
        assert_eq!(options.index(1).hold(), Duration::from_secs(34));
        let longest = QueryOptions::new().index(1).wait(Duration::from_secs(9999));
        assert_eq!(
            longest.hold(),
            Duration::from_secs(600 + 37) + Duration::from_millis(500)
        );
    }

    #[test]
    fn a_write_has_neither_consistency_nor_index() {
        let options = QueryOptions::new()
            .consistency(Consistency::Stale)
            .index(5)
            .datacenter("dc2");
        assert_eq!(options.of_write(), [("dc", "dc2".to_owned())]);
        let read = options.of_read();
        assert!(read.contains(&("stale", String::new())));
        assert!(read.contains(&("index", "5".to_owned())));
    }
}
