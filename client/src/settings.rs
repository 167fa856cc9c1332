//! Settings as values: where the agent is, who asks, how it is trusted.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;

use crate::error::Error;
use crate::transport::address::Address;
use crate::transport::connector::Connector;
use crate::transport::tls::Tls;

/// Consul's default.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8500";

/// The HTTP client whose connections a [`Connector`] makes.
pub(crate) type Over = legacy::Client<Connector, reqwest::Body>;

pub(crate) struct Settings {
    pub(crate) address: String,
    pub(crate) token: Option<String>,
    pub(crate) auth: Option<(String, String)>,
    pub(crate) namespace: Option<String>,
    pub(crate) timeout: Duration,
    /// An address without a scheme is one of HTTPS.
    pub(crate) secure: bool,
    pub(crate) tls: Tls,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: DEFAULT_ADDRESS.to_owned(),
            token: None,
            auth: None,
            namespace: None,
            timeout: Duration::from_secs(10),
            secure: false,
            tls: Tls::default(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Token and password stay out of logs.
        f.debug_struct("Settings")
            .field("address", &self.address)
            .field("timeout", &self.timeout)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the variables of Consul's own tools; an empty one counts as absent.
    pub(crate) fn from_variables(read: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let read = |name: &str| read(name).filter(|value| !value.is_empty());
        let mut settings = Self::default();
        if let Some(address) = read("CONSUL_HTTP_ADDR") {
            settings.address = address;
        }
        settings.token = read("CONSUL_HTTP_TOKEN");
        // A file goes before the variable, unless it is empty.
        if let Some(path) = read("CONSUL_HTTP_TOKEN_FILE") {
            let token = std::fs::read_to_string(&path).map_err(|error| {
                Error::Settings(format!("CONSUL_HTTP_TOKEN_FILE={path}: {error}"))
            })?;
            let token = Some(token.trim().to_owned()).filter(|token| !token.is_empty());
            settings.token = token.or(settings.token);
        }
        settings.auth = read("CONSUL_HTTP_AUTH").map(|auth| match auth.split_once(':') {
            Some((user, password)) => (user.to_owned(), password.to_owned()),
            None => (auth, String::new()),
        });
        let switch = |name: &str, default: bool| match read(name) {
            None => Ok(default),
            Some(value) => boolean(&value)
                .ok_or_else(|| Error::Settings(format!("{name}={value}: expected true or false"))),
        };
        settings.secure = switch("CONSUL_HTTP_SSL", false)?;
        settings.tls.verify = switch("CONSUL_HTTP_SSL_VERIFY", true)?;
        settings.tls.ca_file = read("CONSUL_CACERT").map(PathBuf::from);
        settings.tls.certificate = read("CONSUL_CLIENT_CERT").map(PathBuf::from);
        settings.tls.key = read("CONSUL_CLIENT_KEY").map(PathBuf::from);
        settings.tls.server_name = read("CONSUL_TLS_SERVER_NAME");
        settings.namespace = read("CONSUL_NAMESPACE");
        Ok(settings)
    }

    /// Where the agent listens.
    pub(crate) fn address(&self) -> Result<Address, Error> {
        let server_name = self.tls.server_name.as_deref();
        Address::parse(&self.address, self.secure, server_name)
    }

    /// The HTTP client for connections that a connector makes.
    pub(crate) fn over(connector: Connector, address: &Address) -> Result<Over, Error> {
        if address.socket.is_some() || address.url.scheme() != "http" {
            let shown = &address.shown;
            return Err(Error::Settings(format!(
                "the address {shown:?} cannot be used with a connector; expected host:port or http://..."
            )));
        }
        // Idle connections would be closed by the machine's time.
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        Ok(builder.pool_idle_timeout(None).build(connector))
    }

    /// The HTTP client for an address.
    pub(crate) fn http_client(&self, address: &Address) -> Result<reqwest::Client, Error> {
        let builder = reqwest::Client::builder()
            // A 301 of Consul means that it would have used another key.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .tcp_nodelay(true);
        let builder = match &address.socket {
            None => builder,
            #[cfg(unix)]
            Some(path) => builder.unix_socket(path.as_path()),
            #[cfg(not(unix))]
            Some(path) => {
                return Err(Error::Settings(format!(
                    "unix://{}: Unix sockets do not work on this system: give a host and a port",
                    path.display()
                )));
            }
        };
        self.tls
            .apply(builder, address)?
            .build()
            .map_err(|error| Error::Settings(error.to_string()))
    }
}

/// What Go's `strconv.ParseBool` takes, for Consul's tools read their variables with it.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn url(variables: &[(&str, &str)]) -> Result<String, Error> {
        Ok(from(variables)?.address()?.url.to_string())
    }

    #[test]
    fn addresses_in_all_forms() -> Result<(), Error> {
        assert_eq!(url(&[])?, "http://127.0.0.1:8500/");
        assert_eq!(url(&[("CONSUL_HTTP_ADDR", "")])?, "http://127.0.0.1:8500/");
        assert_eq!(url(&[("CONSUL_HTTP_ADDR", "[::1]:1")])?, "http://[::1]:1/");
        assert_eq!(
            url(&[
                ("CONSUL_HTTP_ADDR", "https://c/x"),
                ("CONSUL_HTTP_SSL", "0")
            ])?,
            "https://c/x/"
        );
        assert_eq!(
            url(&[("CONSUL_HTTP_ADDR", "c:1"), ("CONSUL_HTTP_SSL", "true")])?,
            "https://c:1/"
        );
        // Consul's verbs ask DNS for this name, too (seen on 1.8.7).
        assert_eq!(
            url(&[("CONSUL_HTTP_ADDR", "bücher.invalid:1")])?,
            "http://xn--bcher-kva.invalid:1/"
        );
        let socket = from(&[("CONSUL_HTTP_ADDR", "unix:///run/c.sock")])?.address()?;
        assert_eq!(socket.socket, Some(PathBuf::from("/run/c.sock")));
        Ok(())
    }

    #[test]
    fn what_cannot_work_is_named() {
        for (variables, named) in [
            ([("CONSUL_HTTP_ADDR", "ftp://x")], "ftp://x"),
            ([("CONSUL_HTTP_ADDR", "unix://")], "names no socket"),
            ([("CONSUL_HTTP_ADDR", "a b:1")], "a b:1"),
            ([("CONSUL_HTTP_ADDR", "c:1/?x=1")], "has parameters"),
            ([("CONSUL_HTTP_SSL", "yes")], "CONSUL_HTTP_SSL=yes"),
            (
                [("CONSUL_HTTP_TOKEN_FILE", "/no/such/file")],
                "CONSUL_HTTP_TOKEN_FILE=/no/such/file",
            ),
        ] {
            let error = url(&variables).expect_err("it cannot work").to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    /// As in Consul's own tools (acl.md 12).
    #[test]
    fn a_file_goes_before_a_token_unless_it_is_empty() -> Result<(), Error> {
        let folder = std::env::temp_dir();
        for (content, expected) in [(" filed\n", "filed"), ("\n", "given")] {
            let path = folder.join(format!("proconsul-token-{}", std::process::id()));
            std::fs::write(&path, content).expect("the folder for files of a moment");
            let name = path.to_string_lossy();
            let token = ("CONSUL_HTTP_TOKEN", "given");
            let settings = from(&[token, ("CONSUL_HTTP_TOKEN_FILE", &name)]);
            std::fs::remove_file(&path).expect("it was written");
            assert_eq!(settings?.token.as_deref(), Some(expected));
        }
        Ok(())
    }

    #[test]
    fn who_asks_is_read_and_not_shown() -> Result<(), Error> {
        let settings = from(&[
            ("CONSUL_HTTP_TOKEN", "secret"),
            ("CONSUL_HTTP_AUTH", "me:pass:word"),
            ("CONSUL_NAMESPACE", "team"),
        ])?;
        assert_eq!(settings.token.as_deref(), Some("secret"));
        assert_eq!(
            settings.auth,
            Some(("me".to_owned(), "pass:word".to_owned()))
        );
        assert_eq!(settings.namespace.as_deref(), Some("team"));
        let shown = format!("{settings:?}");
        assert!(
            !shown.contains("secret") && !shown.contains("pass"),
            "{shown}"
        );
        Ok(())
    }
}
