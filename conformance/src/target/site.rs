//! Where one trial runs: a server's address and clock, and what must live as long as it does.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::case::version::Version;
use crate::time::{Clock, RealClock};
use crate::wire::Address;

/// The suite could not do its work: no server, wrong address, not a Consul, unknown case. A sentence for the user; exit status 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(pub String);

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ToolError {}

/// Where one trial runs.
#[derive(Clone)]
pub struct Site {
    address: Address,
    clock: Arc<dyn Clock>,
    /// What the server is held to if it does not say its release.
    held_to: Option<Version>,
    /// Whatever must live as long as the server does; dropping the last clone stops a server of the suite's own.
    _keep: Option<Arc<dyn Any + Send + Sync>>,
    /// Tells the server that was opened from another at the same address; `None` where only the server can have it.
    check: Option<Arc<Check>>,
}

type Check = dyn Fn() -> Result<(), ToolError> + Send + Sync;

impl fmt::Debug for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Site({}, {:?})", self.address, self.clock)
    }
}

impl Site {
    /// A server that somebody else runs; time passes for real.
    #[must_use]
    pub fn new(address: Address) -> Self {
        Self {
            address,
            clock: Arc::new(RealClock),
            held_to: None,
            _keep: None,
            check: None,
        }
    }

    /// The same site, held to this release if its server does not say one.
    #[must_use]
    pub fn held_to(mut self, release: Version) -> Self {
        self.held_to = Some(release);
        self
    }

    /// The same site with a clock of its own.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The same site, keeping `server` alive for as long as the site is.
    #[must_use]
    pub fn keeping(mut self, server: impl Any + Send + Sync) -> Self {
        self._keep = Some(Arc::new(server));
        self
    }

    /// The same site with a look at who listens there, taken before and after each trial. A process that has ended leaves its port to
    /// whoever asks next, and an answer does not say whose it is.
    #[must_use]
    pub fn checked(
        mut self,
        check: impl Fn() -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Whether the server that was opened is the one that listens at the address, as far as that is looked at.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        self.check.as_ref().map_or(Ok(()), |check| check())
    }

    /// The same site at another address, where `proxy` stands before it and lives as long as it does, under a clock that knows of it.
    #[must_use]
    pub fn behind<C: Clock + 'static>(
        self,
        address: Address,
        clock: impl FnOnce(Arc<dyn Clock>) -> C,
        proxy: impl Any + Send + Sync,
    ) -> Self {
        Self {
            address,
            clock: Arc::new(clock(Arc::clone(&self.clock))),
            held_to: self.held_to,
            check: self.check.clone(),
            _keep: Some(Arc::new((proxy, self))),
        }
    }

    /// What its server is held to if it does not say its release.
    pub(crate) fn release(&self) -> Option<Version> {
        self.held_to
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Its clock.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }
}
