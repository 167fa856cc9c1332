//! The datacenters that are joined: what happens between them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Controls;
use proconsul_store::ClusterCommand;

/// Returns the controls of a datacenter; `None` when the process ends.
type Find = Box<dyn Fn() -> Option<Controls> + Send + Sync>;

/// The datacenters that one of them knows, itself among them; none before it is joined. They are found when they are asked
/// for, since each knows all.
#[derive(Clone, Default)]
pub(super) struct Joined(Arc<OnceLock<Vec<(String, Find)>>>);

impl fmt::Debug for Joined {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.get().into_iter().flatten();
        formatter
            .debug_list()
            .entries(all.map(|(name, _)| name))
            .finish()
    }
}

/// # Datacenters
impl Controls {
    /// Makes these datacenters known.
    pub(crate) fn join<F: Fn() -> Option<Controls> + Send + Sync + 'static>(
        &self,
        all: impl Iterator<Item = (String, F)>,
    ) {
        // Its agents share it.
        let _ = self.joined.0.set(
            all.map(|(name, find)| (name, Box::new(find) as Find))
                .collect(),
        );
    }

    /// Returns the names of all datacenters, in the order in which they were given: one, unless `Builder::datacenters` or
    /// `--datacenters` says otherwise.
    #[must_use]
    pub fn datacenters(&self) -> Vec<String> {
        match self.joined.0.get() {
            Some(all) => all.iter().map(|(name, _)| name.clone()).collect(),
            None => vec![self.datacenter.clone()],
        }
    }

    /// Returns the controls of a datacenter: each has its own agents, state, history and faults. The time of all is one.
    ///
    /// # Panics
    /// There is no datacenter with this name, or the server has stopped.
    #[must_use]
    pub fn datacenter(&self, name: &str) -> Controls {
        let found = self.find_datacenter(name);
        found.unwrap_or_else(|| {
            panic!(
                "there is no datacenter {name}, only {:?}",
                self.datacenters()
            )
        })
    }

    /// Returns the controls of a datacenter; `None` if there is none with this name, or the server has stopped.
    pub(crate) fn find_datacenter(&self, name: &str) -> Option<Controls> {
        if name == self.datacenter {
            return Some(self.clone());
        }
        let mut all = self.joined.0.get()?.iter();
        let (_, find) = all.find(|(other, _)| other == name)?;
        find()
    }

    /// Cuts the datacenter off from all others, whose requests about it, and its own about them, get no response: they fail
    /// after 40 s, unless [`heal_datacenter`](Self::heal_datacenter) comes before (cluster.md 5.26). Within it all goes on.
    pub fn cut_datacenter(&self) {
        self.engine.change_cluster(
            "the datacenter is cut off from the others",
            ClusterCommand::Part(true),
        );
    }

    /// Ends what [`cut_datacenter`](Self::cut_datacenter) began.
    pub fn heal_datacenter(&self) {
        self.engine.change_cluster(
            "the datacenter reaches the others",
            ClusterCommand::Part(false),
        );
    }
}
