//! The client and how it is made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{self, Clock};
use crate::error::Error;
use crate::query::QueryOptions;
use crate::settings::{Over, Settings};
use crate::transport::address::Address;
use crate::transport::connector::Connector;

/// A client of one Consul agent. Cheap to clone; clones share their connections.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let address = server.url();
/// use proconsul_client::Client;
///
/// let client = Client::new(&address)?; // or Client::from_env()?
/// client.kv().put("greeting", "hello").await?;
/// let pair = client.kv().get("greeting").await?.value.expect("it was just written");
/// assert_eq!(pair.value, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) options: QueryOptions,
}

pub(crate) struct Shared {
    pub(crate) http: reqwest::Client,
    /// In place of `http`, which makes the requests then and does not send them.
    pub(crate) over: Option<Over>,
    pub(crate) address: Address,
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Client {
    /// A client of the agent at an address: `host:port`, `http://...`, `https://...` (feature `tls`) or
    /// `unix:///path`.
    ///
    /// # Errors
    /// [`Error::Settings`] when it is no address. Nothing is sent yet.
    pub fn new(address: &str) -> Result<Self, Error> {
        Self::builder().address(address).build()
    }

    /// A client as the `CONSUL_...` variables say ([`Builder::from_env`]).
    ///
    /// # Errors
    /// [`Error::Settings`] names the variable that cannot be used.
    pub fn from_env() -> Result<Self, Error> {
        Builder::from_env()?.build()
    }

    /// All that can be set.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            settings: Settings::default(),
            clock: None,
            connector: None,
        }
    }

    /// The same client with these options for every call.
    ///
    /// ```no_run
    /// # async fn read(client: proconsul_client::Client) -> Result<(), proconsul_client::Error> {
    /// use proconsul_client::{Consistency, QueryOptions};
    ///
    /// let fresh = client.with(QueryOptions::new().consistency(Consistency::Consistent));
    /// let pair = fresh.kv().get("config").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with(&self, options: QueryOptions) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            options,
        }
    }

    /// The options of every call.
    #[must_use]
    pub fn options(&self) -> &QueryOptions {
        &self.options
    }

    /// Where the agent is, as it was set.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.shared.address.shown
    }

    /// The same client, with its options changed.
    pub(crate) fn but(&self, change: impl FnOnce(QueryOptions) -> QueryOptions) -> Self {
        self.with(change(self.options.clone()))
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The token stays out of logs.
        f.debug_struct("Client")
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}

/// Makes a [`Client`].
#[derive(Debug)]
pub struct Builder {
    settings: Settings,
    clock: Option<Arc<dyn Clock>>,
    connector: Option<Connector>,
}

impl Builder {
    /// Everything from the variables that Consul's own tools read: `CONSUL_HTTP_ADDR` (default `127.0.0.1:8500`),
    /// `CONSUL_HTTP_TOKEN`, `CONSUL_HTTP_TOKEN_FILE`, `CONSUL_HTTP_AUTH` (`user:password`), `CONSUL_HTTP_SSL`,
    /// `CONSUL_HTTP_SSL_VERIFY`, `CONSUL_CACERT`, `CONSUL_CLIENT_CERT`, `CONSUL_CLIENT_KEY`, `CONSUL_TLS_SERVER_NAME`,
    /// `CONSUL_NAMESPACE`.
    ///
    /// # Errors
    /// [`Error::Settings`] names the variable that cannot be used.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same, with the variables' values from elsewhere than the environment. An empty one counts as absent.
    ///
    /// # Errors
    /// [`Error::Settings`] names the variable that cannot be used.
    pub fn from_variables(read: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        Ok(Self {
            settings: Settings::from_variables(read)?,
            clock: None,
            connector: None,
        })
    }

    /// The agent's address; see [`Client::new`].
    #[must_use]
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.settings.address = address.into();
        self
    }

    /// The ACL token sent with every call.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.settings.token = Some(token.into());
        self
    }

    /// How long a call may take, beside the time for which Consul holds a blocking read (default 10 s). For a
    /// write that Consul cannot commit, this is how long you wait to learn it.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// User and password for a proxy in front of Consul.
    #[must_use]
    pub fn basic_auth(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.settings.auth = Some((user.into(), password.into()));
        self
    }

    /// A file of PEM certificates to trust in place of the system's (feature `tls`).
    #[must_use]
    pub fn ca_file(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.settings.tls.ca_file = Some(path.into());
        self
    }

    /// PEM files of the certificate and key that the client shows (feature `tls`).
    #[must_use]
    pub fn client_certificate(
        mut self,
        certificate: impl Into<std::path::PathBuf>,
        key: impl Into<std::path::PathBuf>,
    ) -> Self {
        self.settings.tls.certificate = Some(certificate.into());
        self.settings.tls.key = Some(key.into());
        self
    }

    /// Trusts any certificate when `false` (feature `tls`).
    #[must_use]
    pub fn verify_certificates(mut self, verify: bool) -> Self {
        self.settings.tls.verify = verify;
        self
    }

    /// The name that the agent's certificate must be for, when that is not the address' host (feature `tls`).
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.settings.tls.server_name = Some(name.into());
        self
    }

    /// What timeouts, renewals, back-offs and retries are timed by (default: tokio's clock). See [`Clock`].
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// How connections are made (default: TCP, or the Unix socket of a `unix://` address). See [`Connector`].
    #[must_use]
    pub fn connector(mut self, connector: Connector) -> Self {
        self.connector = Some(connector);
        self
    }

    /// Options of every call, e.g. a datacenter or a namespace, are set on the client: [`Client::with`].
    ///
    /// # Errors
    /// [`Error::Settings`] when the address or a certificate cannot be used.
    pub fn build(self) -> Result<Client, Error> {
        let address = self.settings.address()?;
        let http = self.settings.http_client(&address)?;
        let connector = self.connector;
        let over = connector.map(|connector| Settings::over(connector, &address));
        let options = QueryOptions {
            namespace: self.settings.namespace.clone(),
            ..QueryOptions::default()
        };
        let shared = Shared {
            http,
            over: over.transpose()?,
            address,
            settings: self.settings,
            clock: self.clock.unwrap_or_else(clock::of_tokio),
        };
        Ok(Client {
            shared: Arc::new(shared),
            options,
        })
    }
}
