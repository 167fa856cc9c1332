//! Flags of the verbs that are clients, and the flags of all of them.

use std::time::Duration;

use proconsul_client::{Client, Consistency, QueryOptions};

use crate::commands::{Failure, because, source};
use proconsul_config::settings::go_flags::{Flag, FlagKind, ParsedFlags};
use proconsul_gocompat::duration;
use proconsul_gocompat::number::{parse_bool, parse_int_of_any_base, parse_uint};

/// The argument of a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum ArgumentKind {
    Switch,
    Text,
    Number,
    /// A number that may be negative.
    Integer,
    /// `key=value`.
    Pair,
    Time,
}

impl FlagKind for ArgumentKind {
    fn is_switch(&self) -> bool {
        *self == Self::Switch
    }

    fn check(&self, name: &str, argument: &str) -> Result<(), String> {
        let is_valid = match self {
            Self::Text => true,
            Self::Switch => parse_bool(argument).is_ok(),
            Self::Number => parse_uint(argument).is_ok(),
            Self::Integer => parse_int_of_any_base(argument).is_ok(),
            Self::Pair => argument.contains('='),
            Self::Time => duration::parse(argument).is_ok(),
        };
        if is_valid {
            return Ok(());
        }
        Err(match self {
            Self::Switch => format!("invalid boolean value {argument:?} for -{name}: parse error"),
            Self::Pair => format!(
                "invalid value {argument:?} for flag -{name}: Missing \"=\" value in argument: {argument}"
            ),
            Self::Text | Self::Number | Self::Integer | Self::Time => {
                format!("invalid value {argument:?} for flag -{name}: parse error")
            }
        })
    }
}

/// The flags of every verb.
pub(in crate::commands) const COMMON: &[Flag<ArgumentKind>] = flags! {
    Text "ca-file" "A PEM file of certificates to trust, as CONSUL_CACERT";
    Text "client-cert" "A PEM file with a certificate to show, as CONSUL_CLIENT_CERT";
    Text "client-key" "A PEM file with its key, as CONSUL_CLIENT_KEY";
    Text "datacenter" "The datacenter to ask (default: the agent's)";
    Text "http-addr" "The server, as CONSUL_HTTP_ADDR (default: 127.0.0.1:8500)";
    Text "namespace" "The namespace, as CONSUL_NAMESPACE";
    Switch "stale" "Lets any server answer";
    Text "token" "The ACL token, as CONSUL_HTTP_TOKEN";
    Text "token-file" "A file with the ACL token, as CONSUL_HTTP_TOKEN_FILE";
};

/// The flags and arguments of a verb.
pub(in crate::commands) struct Given(pub(in crate::commands) ParsedFlags<ArgumentKind>);

impl Given {
    /// Returns the arguments behind the flags.
    pub(in crate::commands) fn rest(&self) -> &[String] {
        &self.0.rest
    }

    /// Returns the last argument of a flag.
    pub(in crate::commands) fn text(&self, name: &str) -> Option<&str> {
        let mut given = self.0.flags.iter().rev();
        given
            .find(|(flag, _)| flag.name == name)
            .map(|(_, argument)| argument.as_str())
    }

    /// Returns the last argument of a flag. Consul's commands treat an empty one as missing in many places.
    pub(in crate::commands) fn filled(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Returns all arguments of a flag, in their order.
    pub(in crate::commands) fn texts(&self, name: &str) -> Vec<&str> {
        let given = self.0.flags.iter().filter(|(flag, _)| flag.name == name);
        given.map(|(_, argument)| argument.as_str()).collect()
    }

    pub(in crate::commands) fn is_set(&self, name: &str) -> bool {
        self.text(name)
            .is_some_and(|text| parse_bool(text).unwrap_or(false))
    }

    pub(in crate::commands) fn number(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|text| parse_uint(text).ok())
    }

    /// Returns the duration of a flag; 0 for a negative one.
    pub(in crate::commands) fn time(&self, name: &str) -> Option<Duration> {
        let nanoseconds = duration::parse(self.text(name)?).ok()?;
        Some(Duration::from_nanos(
            u64::try_from(nanoseconds).unwrap_or(0),
        ))
    }

    /// Fails if more than `expected` arguments follow the flags.
    pub(in crate::commands) fn only(&self, expected: usize) -> Result<(), Failure> {
        let got = self.rest().len();
        if got > expected {
            return Err(format!("Too many arguments (expected {expected}, got {got})").into());
        }
        Ok(())
    }

    /// Returns the client that the flags and the environment describe.
    pub(in crate::commands) fn client(&self) -> Result<Client, Failure> {
        self.connect()
            .map_err(|why| format!("Error connecting to Consul agent: {why}").into())
    }

    /// Returns the client once the agent has answered it, as several of Consul's verbs begin: a token that may not read
    /// the agent fails here.
    pub(in crate::commands) async fn agents_client(&self) -> Result<Client, Failure> {
        let client = self.client()?;
        let asked = client.read("v1/agent/self", &[]).await;
        asked.map_err(because("Error querying Consul agent"))?;
        Ok(client)
    }

    fn connect(&self) -> Result<Client, String> {
        const TOKEN_FILE: &str = "CONSUL_HTTP_TOKEN_FILE";
        let wrong = |error: proconsul_client::Error| error.to_string();
        let of_environment = |name: &str| std::env::var(name).ok();
        // The file is read here, for Consul's text about a missing one.
        let variables = |name: &str| of_environment(name).filter(|_| name != TOKEN_FILE);
        let mut builder = proconsul_client::Builder::from_variables(variables).map_err(wrong)?;
        if let Some(address) = self.text("http-addr") {
            builder = builder.address(address);
        }
        if let Some(token) = self.filled("token") {
            builder = builder.token(token);
        }
        // A file goes before all tokens, wherever they are given (acl.md 12).
        let file = self.filled("token-file").map(str::to_owned);
        if let Some(path) =
            file.or_else(|| of_environment(TOKEN_FILE).filter(|path| !path.is_empty()))
        {
            let token =
                source::file(&path).map_err(|why| format!("Error loading token file: {why}"))?;
            let token = String::from_utf8_lossy(&token);
            if !token.trim().is_empty() {
                builder = builder.token(token.trim());
            }
        }
        if let Some(path) = self.text("ca-file") {
            builder = builder.ca_file(path);
        }
        if let (Some(certificate), Some(key)) = (self.text("client-cert"), self.text("client-key"))
        {
            builder = builder.client_certificate(certificate, key);
        }
        let client = builder.build().map_err(wrong)?;
        let mut options: QueryOptions = client.options().clone();
        if let Some(datacenter) = self.text("datacenter") {
            options = options.datacenter(datacenter);
        }
        if let Some(namespace) = self.text("namespace") {
            options = options.namespace(namespace);
        }
        if self.is_set("stale") {
            options = options.consistency(Consistency::Stale);
        }
        Ok(client.with(options))
    }
}
