//! The state as plain data, and its replacement by another one.

use crate::engine::Engine;
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Flaw, Image};

impl Engine {
    /// Returns the whole state as plain data.
    #[must_use]
    pub fn image(&self) -> Image {
        let (store, now) = self.with_store(|store, now| (store.clone(), now));
        store.image(now)
    }

    /// Replaces the state by that of an image. Blocked requests are answered with the new state. The token with the
    /// secret `management` stays, and all of ACLs do if the image has nothing of them.
    ///
    /// # Errors
    /// The image contradicts itself. Nothing has changed.
    pub fn load(&self, image: Image, management: &str) -> Result<(), Flaw> {
        // Made before the lock is taken. All that it has of this store is how the server was set up.
        let loaded = self.snapshot().with_image(image, Timestamp::ZERO)?;
        let at = Timestamp::ZERO;
        self.mutate(|mutation| {
            mutation.note("state loaded");
            mutation.replace(|store, now| {
                let own = std::mem::replace(store, loaded);
                store.carry(at, now);
                store.keep_acls(&own, management);
            });
        });
        Ok(())
    }

    /// Restores a snapshot, as a client asks for it: see [`proconsul_store::Store::restored_over`]. Blocked requests are
    /// answered with what they have read before (operator.md 6.r8).
    ///
    /// # Errors
    /// The image contradicts itself. Nothing has changed.
    pub fn restore(&self, image: Image, management: &str) -> Result<(), Flaw> {
        let restored = self.snapshot().with_image(image, Timestamp::ZERO)?;
        self.mutate(|mutation| {
            mutation.note("snapshot restored");
            mutation.supersede(|store, now| {
                let own = std::mem::replace(store, restored);
                store.carry(Timestamp::ZERO, now);
                store.restored_over(&own, management, now);
            });
        });
        Ok(())
    }
}
