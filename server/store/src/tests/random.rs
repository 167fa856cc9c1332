//! Random commands on a small store, with the invariants checked after each.

mod agent_steps;
mod changes;
mod consistency;
mod steps;
mod wakes;

use std::time::Duration;

use proptest::prelude::*;

pub(super) use self::agent_steps::start as agent_start;
use self::steps::{Step, World, steps};
use self::wakes::Waiting;
use super::any::{Applied, Command};
use super::{MIDDLE, NEWER, NEWEST, OLDEST};
use proconsul_testing::random_cases;

use crate::timestamp::Timestamp;
use crate::{Index, Store, VersionRules};

/// A tombstone is reaped a quarter of an hour after the delete, at the next half minute.
const LONGEST_TOMBSTONE: Duration = Duration::from_secs(15 * 60 + 30);
/// The longest lock-delay in effect.
const LONGEST_LOCK_DELAY: Duration = Duration::from_secs(60);

/// A store, the time, and the names that steps can use.
struct Run {
    store: Store,
    now: Timestamp,
    world: World,
}

impl Run {
    fn new(rules: VersionRules) -> Self {
        let mut store = Store::new(rules, Index(9));
        let started = agent_steps::start().apply(&mut store, Timestamp::ZERO);
        started.result.expect("an agent comes up");
        Self {
            store,
            now: Timestamp::ZERO,
            world: World::default(),
        }
    }

    /// Runs a step. `look` gets the store before and after each of its commands, and the time.
    fn take(&mut self, step: &Step, mut look: impl FnMut(&Store, &Self, &Command, &Applied)) {
        if let Step::Tick(passed) = step {
            let until = self.now.plus(*passed);
            while let Some((deadline, due)) = self.store.due(until) {
                self.now = deadline;
                self.apply(&Command::Due(due), &mut look);
            }
            self.now = until;
        } else if let Some(command) = self.world.command(&self.store, step) {
            self.apply(&command, &mut look);
        }
    }

    fn apply(
        &mut self,
        command: &Command,
        look: &mut impl FnMut(&Store, &Self, &Command, &Applied),
    ) {
        let before = self.store.clone();
        let applied = command.clone().apply(&mut self.store, self.now);
        look(&before, self, command, &applied);
    }
}

fn rules() -> impl Strategy<Value = VersionRules> {
    proptest::sample::select(vec![OLDEST, MIDDLE, NEWER, NEWEST])
}

proptest! {
    #![proptest_config(random_cases(4000))]

    #[test]
    fn the_tables_agree_and_nothing_is_overdue(rules in rules(), steps in steps(40)) {
        let mut run = Run::new(rules);
        for step in &steps {
            run.take(step, |_, _, _, _| {});
            consistency::check(&run.store, run.now);
        }
    }
}

proptest! {
    #![proptest_config(random_cases(3000))]

    #[test]
    fn effects_name_the_rows_that_changed_and_no_others(rules in rules(), steps in steps(40)) {
        let mut run = Run::new(rules);
        for step in &steps {
            run.take(step, |before, run, command, applied| {
                changes::check(before, &run.store, command, applied);
            });
        }
    }
}

proptest! {
    #![proptest_config(random_cases(2000))]

    #[test]
    fn no_wake_up_is_missed(rules in rules(), steps in steps(20)) {
        let mut run = Run::new(rules);
        for step in &steps {
            run.take(step, |before, run, command, applied| {
                let waiting = Waiting::at(before, &run.world);
                waiting.check(&run.store, command, &applied.effects);
            });
        }
    }
}

proptest! {
    #![proptest_config(random_cases(1000))]

    #[test]
    fn the_same_commands_give_the_same_store_and_the_same_replies(
        rules in rules(),
        steps in steps(40),
    ) {
        let outcome = || {
            let mut run = Run::new(rules);
            let mut replies = String::new();
            for step in &steps {
                run.take(step, |_, _, _, applied| replies += &format!("{applied:?}\n"));
            }
            (format!("{:?}", run.store), replies)
        };
        prop_assert_eq!(outcome(), outcome());
    }
}

proptest! {
    #![proptest_config(random_cases(1500))]

    #[test]
    fn a_store_made_of_an_image_is_the_same_store(rules in rules(), steps in steps(40)) {
        let mut run = Run::new(rules);
        for step in &steps {
            run.take(step, |_, _, _, _| {});
            let image = run.store.clone().image(run.now);
            let again = run.store.with_image(image, run.now);
            let again = again.expect("a state of a store can be loaded");
            prop_assert_eq!(format!("{again:?}"), format!("{:?}", run.store));
        }
    }

    #[test]
    fn it_goes_on_at_another_time_as_the_first_one_does(
        rules in rules(),
        before in steps(30),
        after in steps(30),
        later in 0..4000u64,
    ) {
        let mut run = Run::new(rules);
        for step in &before {
            run.take(step, |_, _, _, _| {});
        }
        let now = Timestamp::ZERO.plus(Duration::from_secs(later));
        let image = run.store.clone().image(run.now);
        let store = run.store.with_image(image, now).expect("a state of a store");
        let mut other = Run { store, now, world: run.world.clone() };
        let outcome = |run: &mut Run| {
            let mut replies = String::new();
            for step in &after {
                run.take(step, |_, _, _, applied| replies += &format!("{applied:?}\n"));
            }
            (replies, run.store.clone().image(run.now))
        };
        prop_assert_eq!(outcome(&mut other), outcome(&mut run));
    }
}
