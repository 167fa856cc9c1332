//! A check in the bodies of the catalog and of transactions.

use std::borrow::Cow;

use super::durations::AnyDuration;
use crate::go::json::context::DecodeContext;
use crate::go::json::decode::Decode;
use crate::go::json::value::Value;
use crate::store::NewCheck;

/// The status of a check that is registered without one (session.md trap 26).
const CRITICAL: &str = "critical";

/// A check as it is decoded, whichever of Go's types the body has.
#[derive(Default)]
pub(crate) struct CheckBody {
    pub(crate) node: String,
    pub(crate) check: NewCheck,
    pub(crate) peer_name: String,
    pub(crate) modify_index: u64,
    /// The durations of its definition, until the whole definition was read.
    pub(crate) interval: AnyDuration,
    pub(crate) timeout: AnyDuration,
    pub(crate) deregister_after: AnyDuration,
    pub(crate) ttl: AnyDuration,
}

impl CheckBody {
    /// Puts the durations into the definition.
    pub(crate) fn settle_durations(&mut self) -> Result<(), String> {
        let definition = &mut self.check.definition;
        self.interval.settle(&mut definition.interval_ns)?;
        self.timeout.settle(&mut definition.timeout_ns)?;
        let deregister_after = &mut definition.deregister_critical_service_after_ns;
        self.deregister_after.settle(deregister_after)?;
        self.ttl.settle(&mut definition.ttl_ns)
    }

    /// The check, with what holds where the body says nothing.
    ///
    /// Consul takes the name and the tags of a service from the service where it is given one, and keeps those of the
    /// body for a check of the node (seen on 1.8.7).
    pub(crate) fn into_check(self) -> NewCheck {
        let mut check = self.check;
        if check.check_id.is_empty() {
            check.check_id.clone_from(&check.name);
        }
        if check.status.is_empty() {
            check.status = CRITICAL.to_owned();
        }
        if !check.service_id.is_empty() {
            check.named_service = String::new();
            check.named_tags = None;
        }
        check
    }
}

/// The id of a check: Go's type for it has a name of its own, which type errors show.
pub(crate) struct CheckId;

impl Decode for CheckId {
    type Place = String;

    fn decode(place: &mut String, value: Value<'_>, context: &mut DecodeContext) {
        String::decode(place, value.of_type("types.CheckID"), context);
    }

    fn go_type() -> Cow<'static, str> {
        "types.CheckID".into()
    }
}
