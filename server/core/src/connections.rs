//! The limit of connections per client (`limits.http_max_conns_per_client`).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

/// The number of connections of each client address, over all sockets of an agent.
#[derive(Debug, Default)]
pub struct OpenConnections(Mutex<HashMap<IpAddr, usize>>);

/// A connection that is counted. Dropping it decrements the count.
#[derive(Debug)]
pub struct Place {
    open: Arc<OpenConnections>,
    peer: IpAddr,
}

impl OpenConnections {
    /// Counts one more connection of `peer`; `None` if it already has `limit`. 0 means no limit.
    pub fn admit(self: &Arc<Self>, peer: IpAddr, limit: usize) -> Option<Place> {
        let mut open = self.0.lock();
        let count = open.entry(peer).or_default();
        if limit > 0 && *count >= limit {
            return None;
        }
        *count += 1;
        drop(open);
        Some(Place {
            open: Arc::clone(self),
            peer,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.0.lock();
        if let Some(count) = open.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_its_place_back() {
        let open = Arc::new(OpenConnections::default());
        let peer = IpAddr::from([127, 0, 0, 1]);
        let first = open.admit(peer, 2);
        let second = open.admit(peer, 2);
        assert!(first.is_some() && second.is_some());
        assert!(open.admit(peer, 2).is_none());
        assert!(open.admit(IpAddr::from([127, 0, 0, 2]), 2).is_some());
        drop(first);
        assert!(open.admit(peer, 2).is_some());
    }
}
