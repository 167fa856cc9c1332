//! Does the suite bite? Altered servers, each of which a case must find out.
//!
//! A [`Mutant`] is one behaviour altered by a proxy before a good target: an index off by one, a lock given twice, a field `""` instead
//! of `null`, a blocking read that nobody wakes. [`hunt`] lets the suite loose on one: first the cases of the mutant's own topics, then
//! all others, until one fails. A mutant that lives through all of them shows a hole in the suite.

mod agenda;
mod alter;
mod campaign;
mod proxy;
mod shared;
mod stopping;

use std::fmt;
use std::sync::Arc;

pub use self::campaign::{Fate, Verdict, hunt, in_place_of, run};
use self::shared::Scene;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Outcome, Reply};

/// One altered behaviour.
pub struct Mutant {
    /// `topic/what-is-wrong`.
    pub name: &'static str,
    /// What the altered server does, in one sentence.
    pub what: &'static str,
    /// Patterns of the cases that are tried first.
    topics: &'static [&'static str],
    alter: Alter,
}

impl fmt::Debug for Mutant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mutant({}: {})", self.name, self.what)
    }
}

/// Where a mutant puts its hand.
enum Alter {
    /// On replies.
    Reply(fn(&Asked, &mut Reply)),
    /// On requests, before the target sees them.
    Request(fn(&mut Asked)),
    /// On both, with a memory and requests of its own.
    Exchange(fn(&Arc<Scene>, &Asked) -> Outcome),
}

/// All mutants, topic by topic.
#[must_use]
pub fn all() -> Vec<&'static Mutant> {
    alter::TOPICS.iter().copied().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proconsul_conformance::case::selection::Selection;
    use proconsul_conformance::cases;

    #[test]
    fn there_are_many_and_each_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = all().iter().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), all().len());
        assert!(names.len() >= 40, "only {}", names.len());
    }

    #[test]
    fn their_topics_name_cases() {
        let cases = cases::all();
        for mutant in all() {
            let topics = Selection::only(mutant.topics.iter().copied());
            topics
                .of(&cases)
                .unwrap_or_else(|error| panic!("{}: {error}", mutant.name));
            assert!(
                !mutant.topics.is_empty() && mutant.what.len() > 10,
                "{mutant:?}"
            );
        }
    }
}
