//! Checks in the bodies of the catalog and of transactions.

use std::borrow::Cow;

use super::durations::AnyDuration;
use proconsul_config::schema::body::Part;
use proconsul_config::schema::{At, On};
use proconsul_gocompat::json::context::DecodeContext;
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::value::Value;
use proconsul_store::{CheckRow, HealthCheckDefinition, NewCheck};

/// The default status of a check (session.md trap 26).
const CRITICAL: &str = "critical";

/// A decoded check of a body, whichever of Go's types the body has.
#[derive(Default)]
pub(crate) struct CheckBody {
    pub(crate) row: CheckRow,
    pub(crate) peer_name: String,
    /// The durations of the definition, until the whole definition has been decoded.
    pub(crate) interval: AnyDuration,
    pub(crate) timeout: AnyDuration,
    pub(crate) deregister_after: AnyDuration,
    pub(crate) ttl: AnyDuration,
}

impl CheckBody {
    /// The fields of a check in a kind of body.
    pub(crate) const fn fields(on: On) -> Part<Self, CheckRow> {
        let at = At {
            get: |body: &Self| &body.row,
            place: |body: &mut Self| &mut body.row,
        };
        Part { at, on }
    }

    /// The fields of its definition.
    pub(crate) const fn definition(on: On) -> Part<Self, HealthCheckDefinition> {
        let at = At {
            get: |body: &Self| &body.row.check.definition,
            place: |body: &mut Self| &mut body.row.check.definition,
        };
        Part { at, on }
    }

    /// Moves the durations into the definition.
    ///
    /// # Errors
    /// Go's text about an invalid duration.
    pub(crate) fn settle_durations(&mut self) -> Result<(), String> {
        let definition = &mut self.row.check.definition;
        self.interval.settle(&mut definition.interval_ns)?;
        self.timeout.settle(&mut definition.timeout_ns)?;
        let deregister_after = &mut definition.deregister_critical_service_after_ns;
        self.deregister_after.settle(deregister_after)?;
        self.ttl.settle(&mut definition.ttl_ns)
    }

    /// Returns the check with defaults for missing fields.
    ///
    /// A check of a service gets the name and tags of its service; a check of a node keeps those of the body (seen on
    /// 1.8.7).
    pub(crate) fn into_check(self) -> NewCheck {
        let mut check = NewCheck {
            named_service: self.row.service_name,
            named_tags: self.row.service_tags,
            ..self.row.check
        };
        if check.check_id.is_empty() {
            check.check_id.clone_from(&check.name);
        }
        if check.status.is_empty() {
            check.status = CRITICAL.to_owned();
        }
        check
    }
}

/// The id of a check. Its Go type has a name, which type errors show.
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
