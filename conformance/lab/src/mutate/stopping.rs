//! The clock of a target behind a proxy.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::shared::Scene;
use proconsul_conformance::time::{Clock, pause};

/// What was sent before time passes has come through the proxy after so long.
const ON_ITS_WAY: Duration = Duration::from_millis(25);

/// The clock of a target behind a proxy: on the way it stops at whatever the mutant has put off.
pub(super) struct Stopping {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) scene: Arc<Scene>,
}

impl fmt::Debug for Stopping {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stopping({:?})", self.clock)
    }
}

impl Clock for Stopping {
    fn pass(&self, duration: Duration) -> Result<(), String> {
        if !self.clock.is_virtual() {
            return self.clock.pass(duration);
        }
        pause(ON_ITS_WAY);
        let agenda = &self.scene.agenda;
        let end = agenda.now() + duration;
        while let Some((step, act)) = agenda.next(end) {
            self.clock.pass(step)?;
            act(&self.scene);
        }
        self.clock.pass(agenda.pass_to(end))
    }

    fn is_virtual(&self) -> bool {
        self.clock.is_virtual()
    }
}
