//! Skips that nobody would notice: a probe that does not see a feature silently skips every case that needs it.

use crate::case::Case;
use crate::case::feature::{Facts, Feature};

/// What the probes have found wrongly about a target that lacks `absent` and has everything else, and the cases that are skipped there
/// for another reason than their version or one of these features; a sentence each.
#[must_use]
pub fn wrongly_skipped(facts: &Facts, cases: &[&Case], absent: &[Feature]) -> Vec<String> {
    let missed = Feature::ALL
        .iter()
        .filter(|feature| facts.has(**feature) == absent.contains(feature));
    let missed = missed.map(|feature| {
        let found = facts.has(*feature);
        format!("{feature}: found is {found}, which is wrong of this target")
    });
    let wrong = cases.iter().filter_map(|case| {
        let reason = case.skip_reason(facts)?;
        let by_feature = case.needs.iter().any(|need| absent.contains(need));
        let expected = by_feature || case.is_of_another_version(facts.version);
        (!expected).then(|| format!("{} is skipped: {reason}", case.id))
    });
    missed.chain(wrong).collect()
}
