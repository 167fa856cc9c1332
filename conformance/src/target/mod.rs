//! What a run is held against: an address, a server of the suite's own, or a fresh server for every case.

pub mod built;
pub mod consul;
pub mod site;
pub mod starter;
pub mod time;

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::case::Case;
use crate::case::feature::{self, Facts, Feature};
use crate::case::version::Version;
use crate::target::site::{Site, ToolError};
use crate::time::{Deadline, pause};
use crate::wire::{self, Address, Outcome, Request};

/// Between two looks at a server that is starting.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

type Open = dyn Fn() -> Result<Site, ToolError> + Send + Sync;
/// The argument is [`Case::settings`].
type OpenWith = dyn Fn(&str) -> Result<Site, ToolError> + Send + Sync;

enum Sites {
    Shared(Site),
    Fresh(Arc<Open>),
    Pool(Arc<Pool>),
}

/// Servers that are used by one trial at a time.
struct Pool {
    size: usize,
    free: Mutex<Vec<Site>>,
    returned: Condvar,
}

/// A site for one trial; dropping it gives it back.
pub(crate) struct Lease<'t> {
    site: Site,
    pool: Option<&'t Pool>,
}

impl Lease<'_> {
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.pool {
            let mut free = pool.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(self.site.clone());
            pool.returned.notify_one();
        }
    }
}

impl Pool {
    fn take(&self) -> Site {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match free.pop() {
                Some(site) => return site,
                None => {
                    free = self
                        .returned
                        .wait(free)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// What cases run against, with what was found out about it.
pub struct Target {
    name: String,
    sites: Sites,
    /// Starts a server for a case that needs one of its own; servers for every case are that already.
    own: Option<Arc<OpenWith>>,
    facts: Arc<Facts>,
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Target({}, {:?})", self.name, self.facts)
    }
}

impl Target {
    /// Any server that listens on `host:port` (a scheme `http://` may stand before it). Cases share it and leave nothing behind.
    ///
    /// # Errors
    /// When nobody listens there, or something that is not a Consul.
    pub fn address(address: &str) -> Result<Self, ToolError> {
        let address = Address::parse(address).map_err(ToolError)?;
        Self::shared(&address.to_string(), Site::new(address))
    }

    /// [`Self::address`] for a double that need not say what it is: then it is held to this release.
    ///
    /// # Errors
    /// When nobody listens there, or nobody who speaks HTTP.
    pub fn address_held_to(address: &str, release: Version) -> Result<Self, ToolError> {
        let address = Address::parse(address).map_err(ToolError)?;
        Self::shared(&address.to_string(), Site::new(address).held_to(release))
    }

    /// [`Self::address`] for a server that is starting: asks again for so long until it answers as a Consul with a leader does.
    ///
    /// # Errors
    /// What was wrong at the last look.
    pub fn address_within(address: &str, patience: Duration) -> Result<Self, ToolError> {
        let deadline = Deadline::after(patience);
        loop {
            match Self::address(address) {
                Err(_) if deadline.left().is_some() => pause(BETWEEN_LOOKS),
                found => return found,
            }
        }
    }

    /// One server for all cases.
    ///
    /// # Errors
    /// When it is not a Consul.
    pub fn shared(name: &str, site: Site) -> Result<Self, ToolError> {
        Ok(Self {
            name: name.to_owned(),
            facts: Arc::new(probe(&site)?),
            sites: Sites::Shared(site),
            own: None,
        })
    }

    /// The same target, which can also start another server of its kind for a case that needs one of its own
    /// ([`Feature::OwnServer`], [`Feature::OwnSettings`]); `open` is given the case's settings, or nothing.
    #[must_use]
    pub fn with_own_servers(
        mut self,
        open: impl Fn(&str) -> Result<Site, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.own = Some(Arc::new(open));
        Arc::make_mut(&mut self.facts)
            .features
            .extend([Feature::OwnServer, Feature::OwnSettings]);
        self
    }

    /// A server for each case: for doubles that start in a millisecond, and whose clock one case may advance alone.
    ///
    /// # Errors
    /// When the first one does not open or is not a Consul.
    pub fn fresh(
        name: &str,
        open: impl Fn() -> Result<Site, ToolError> + Send + Sync + 'static,
    ) -> Result<Self, ToolError> {
        let mut facts = probe(&open()?)?;
        facts.features.push(Feature::OwnServer);
        Ok(Self {
            name: name.to_owned(),
            facts: Arc::new(facts),
            sites: Sites::Fresh(Arc::new(open)),
            own: None,
        })
    }

    /// Servers of one kind, each used by one trial at a time: for comparing what trials say, which must not disturb each other.
    ///
    /// # Errors
    /// When there is none, or the first one is not a Consul.
    pub fn pool(name: &str, sites: Vec<Site>) -> Result<Self, ToolError> {
        let first = sites
            .first()
            .ok_or_else(|| ToolError(format!("{name}: a pool of no servers")))?;
        Ok(Self {
            name: name.to_owned(),
            facts: Arc::new(probe(first)?),
            sites: Sites::Pool(Arc::new(Pool {
                size: sites.len(),
                free: Mutex::new(sites),
                returned: Condvar::new(),
            })),
            own: None,
        })
    }

    /// One server for every case, of which nothing is found out: it is said what it is.
    #[cfg(test)]
    pub(crate) fn said_to_be(name: &str, site: Site, facts: Facts) -> Self {
        Self {
            name: name.to_owned(),
            facts: Arc::new(facts),
            sites: Sites::Fresh(Arc::new(move || Ok(site.clone()))),
            own: None,
        }
    }

    /// The same servers, but none for a case alone: cases that need one are skipped.
    #[must_use]
    pub fn without_own_servers(&self) -> Self {
        let mut facts = Facts::clone(&self.facts);
        if self.own.is_some() {
            let of_own = [Feature::OwnServer, Feature::OwnSettings];
            facts.features.retain(|feature| !of_own.contains(feature));
        }
        Self {
            name: self.name.clone(),
            sites: match &self.sites {
                Sites::Shared(site) => Sites::Shared(site.clone()),
                Sites::Fresh(open) => Sites::Fresh(Arc::clone(open)),
                Sites::Pool(pool) => Sites::Pool(Arc::clone(pool)),
            },
            own: None,
            facts: Arc::new(facts),
        }
    }

    /// The same target with something before each of its servers: `wrap` gives the site behind which a server stands. What was found out
    /// about the target is not asked again.
    ///
    /// # Errors
    /// What `wrap` says, and that the servers of a pool cannot be wrapped.
    pub fn behind(
        &self,
        name: &str,
        wrap: impl Fn(Site) -> Result<Site, ToolError> + Clone + Send + Sync + 'static,
    ) -> Result<Self, ToolError> {
        let sites = match &self.sites {
            Sites::Shared(site) => Sites::Shared(wrap(site.clone())?),
            Sites::Fresh(open) => {
                let (open, wrap) = (Arc::clone(open), wrap.clone());
                Sites::Fresh(Arc::new(move || wrap(open()?)))
            }
            Sites::Pool(_) => {
                return Err(ToolError(format!("{name}: nothing stands before a pool")));
            }
        };
        let own = self.own.clone().map(|own| {
            let open = move |settings: &str| wrap(own(settings)?);
            Arc::new(open) as Arc<OpenWith>
        });
        Ok(Self {
            name: name.to_owned(),
            sites,
            own,
            facts: Arc::clone(&self.facts),
        })
    }

    /// How many trials may run at once without seeing each other's writes; at least 1.
    #[must_use]
    pub fn undisturbed(&self) -> usize {
        match &self.sites {
            Sites::Shared(_) => 1,
            Sites::Fresh(_) => 8,
            Sites::Pool(pool) => pool.size,
        }
    }

    /// Where the one server listens that all cases share; `None` where they do not.
    #[must_use]
    pub fn shared_address(&self) -> Option<&Address> {
        match &self.sites {
            Sites::Shared(site) => Some(site.address()),
            Sites::Fresh(_) | Sites::Pool(_) => None,
        }
    }

    /// What reports call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was found out about it.
    #[must_use]
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// The place for one trial of a case.
    pub(crate) fn open(&self, case: &Case) -> Result<Lease<'_>, ToolError> {
        let (site, pool) = match (&self.sites, self.own_for(case)) {
            (_, Some(open)) => (open(case.settings)?, None),
            (Sites::Fresh(open), None) => (open()?, None),
            (Sites::Shared(site), None) => (site.clone(), None),
            (Sites::Pool(pool), None) => (pool.take(), Some(pool.as_ref())),
        };
        Ok(Lease { site, pool })
    }

    /// How to start another server, if this case gets one.
    fn own_for(&self, case: &Case) -> Option<&OpenWith> {
        self.own.as_deref().filter(|_| case.is_alone())
    }

    /// Whether the server at `address` still answers; one that was opened for this case alone is nobody's loss.
    pub(crate) fn is_alive(&self, case: &Case, address: &str) -> bool {
        let Ok(address) = Address::parse(address) else {
            return true;
        };
        match (&self.sites, self.own_for(case)) {
            (Sites::Fresh(_), _) | (_, Some(_)) => true,
            (Sites::Shared(_) | Sites::Pool(_), None) => {
                let request = Request::get("/v1/status/leader").patience(Duration::from_secs(5));
                matches!(wire::exchange(&address, &request), Outcome::Reply(_))
            }
        }
    }
}

/// What is found out over the wire, and what the site itself says.
fn probe(site: &Site) -> Result<Facts, ToolError> {
    let mut facts = feature::probe(site.address(), site.release())?;
    if site.clock().is_virtual() {
        facts.features.push(Feature::MovableClock);
    }
    Ok(facts)
}
