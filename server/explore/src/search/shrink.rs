//! Makes a schedule small that breaks something: fewer decisions, shorter lengths, fewer contenders.

use std::time::Duration;

use crate::action::Action;
use crate::contender::Contender;
use crate::schedule::{Decision, Schedule};

/// The shrinking of one schedule. Candidates are tried one after another; each that still breaks it takes the place of the
/// best one.
#[derive(Debug)]
pub(super) struct Shrink {
    best: Schedule,
    ttl: Duration,
    /// The candidates that are left, the next one last.
    left: Vec<Schedule>,
    /// How often a candidate is tried.
    tries: u32,
    current: Option<Tried>,
    /// Whether what was found has shown again; always where runs are exact.
    is_confirmed: bool,
    /// In how many of how many tries it did, where that was too seldom.
    unconfirmed: Option<(u32, u32)>,
}

/// A candidate: how often it was handed out, and what came back.
#[derive(Debug)]
struct Tried {
    schedule: Schedule,
    given: u32,
    broken: u32,
    whole: u32,
}

impl Shrink {
    /// Begins with a schedule, of which these decisions were met. `ttl` is that of the contenders' sessions.
    pub(super) fn new(found: &Schedule, met: &[Decision], ttl: Duration, tries: u32) -> Self {
        let mut shrink = Self {
            best: found.clone(),
            ttl,
            left: Vec::new(),
            tries,
            current: None,
            is_confirmed: tries == 1,
            unconfirmed: None,
        };
        shrink.left = shrink.candidates();
        // What was never met has done nothing.
        let mut only_met = found.clone();
        only_met.decisions = met.to_vec();
        if only_met.decisions.len() < found.decisions.len() {
            shrink.left.push(only_met);
        }
        if !shrink.is_confirmed {
            shrink.left.push(found.clone());
        }
        shrink.take();
        shrink
    }

    /// Returns the smallest schedule so far.
    pub(super) fn best(&self) -> &Schedule {
        &self.best
    }

    /// Returns in how many of how many tries what was found has shown again, if that was too seldom to go on.
    pub(super) fn unconfirmed(&self) -> Option<(u32, u32)> {
        self.unconfirmed
    }

    /// Returns whether no candidate is left.
    pub(super) fn is_over(&self) -> bool {
        self.current.is_none()
    }

    /// Returns the next schedule to run; `None` while outcomes are needed.
    pub(super) fn next(&mut self) -> Option<Schedule> {
        let tries = self.tries;
        let tried = self.current.as_mut()?;
        if tried.given == tries {
            return None;
        }
        tried.given += 1;
        Some(tried.schedule.clone())
    }

    /// Takes the outcome of a run. A candidate is taken when most of its tries break it.
    pub(super) fn done(&mut self, schedule: &Schedule, is_broken: bool) {
        let majority = self.tries / 2 + 1;
        let Some(tried) = self
            .current
            .as_mut()
            .filter(|tried| tried.schedule == *schedule)
        else {
            return;
        };
        tried.broken += u32::from(is_broken);
        tried.whole += u32::from(!is_broken);
        if tried.broken >= majority && !self.is_confirmed {
            self.is_confirmed = true;
            self.take();
        } else if tried.broken >= majority {
            self.best = tried.schedule.clone();
            self.left = self.candidates();
            self.take();
        } else if tried.whole >= majority && self.is_confirmed {
            self.take();
        } else if tried.whole >= majority {
            self.unconfirmed = Some((tried.broken, tried.broken + tried.whole));
            self.current = None;
        }
    }

    fn take(&mut self) {
        self.current = self.left.pop().map(|schedule| Tried {
            schedule,
            given: 0,
            broken: 0,
            whole: 0,
        });
    }

    /// Returns the schedules that are smaller than the best one by one step, the smallest last.
    fn candidates(&self) -> Vec<Schedule> {
        let best = &self.best;
        let mut smaller = Vec::new();
        if best.contenders > 2 {
            let last = Contender(best.contenders - 1);
            let mut fewer = best.clone();
            fewer.contenders -= 1;
            fewer.order.retain(|one| *one != last);
            let of_others = |decision: &Decision| {
                decision.place.contender != last && decision.action.contender() != Some(last)
            };
            fewer.decisions.retain(of_others);
            smaller.push(fewer);
        }
        for (place, decision) in best.decisions.iter().enumerate() {
            for shorter in shorter(decision, self.ttl) {
                let mut with = best.clone();
                with.decisions[place] = shorter;
                smaller.push(with);
            }
        }
        let mut actions = best.decisions.iter().map(|decision| &decision.action);
        if best.agents > 1 && !actions.any(Action::is_of_agent) {
            let mut with_one = best.clone();
            with_one.agents = 1;
            smaller.push(with_one);
        }
        if !best.order.is_empty() {
            let mut without = best.clone();
            without.order.clear();
            smaller.push(without);
        }
        for place in 0..best.decisions.len() {
            let mut without = best.clone();
            without.decisions.remove(place);
            smaller.push(without);
        }
        smaller
    }
}

/// Returns the decision with shorter lengths, the shortest last.
fn shorter(decision: &Decision, ttl: Duration) -> Vec<Decision> {
    let Some(lasts) = decision.action.lasts() else {
        return Vec::new();
    };
    let shorter = [ttl * 4, ttl * 2, ttl].into_iter();
    let shorter = shorter.filter(|shorter| *shorter < lasts && !shorter.is_zero());
    let actions = shorter.filter_map(|shorter| decision.action.for_this_long(shorter));
    let place = decision.place;
    actions.map(|action| Decision { place, action }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shrinks a schedule for as long as `breaks` says that it still breaks.
    fn shrunk(text: &str, breaks: impl Fn(&Schedule) -> bool) -> String {
        let found: Schedule = text.parse().expect("it is valid");
        let met = found.decisions.clone();
        let mut shrink = Shrink::new(&found, &met, Duration::from_secs(1), 1);
        while let Some(schedule) = shrink.next() {
            let broken = breaks(&schedule);
            shrink.done(&schedule, broken);
        }
        assert!(shrink.is_over());
        shrink.best().to_string()
    }

    #[test]
    fn what_does_not_matter_goes() {
        let text =
            "contenders 3\norder b a c\na renew 1: hold\nc read 1: wake\nb watch 1: pause b 30s\n";
        let breaks = |schedule: &Schedule| {
            let long =
                |decision: &Decision| decision.action.lasts() >= Some(Duration::from_secs(2));
            schedule.decisions.iter().any(long)
        };
        let expected = "contenders 2\nb watch 1: pause b 2s\n";
        assert_eq!(shrunk(text, breaks), expected);
    }

    #[test]
    fn a_flaky_candidate_is_taken_when_most_tries_break() {
        let found: Schedule = "a renew 1: hold\nb read 1: lose-request"
            .parse()
            .expect("valid");
        let met = found.decisions.clone();
        let mut shrink = Shrink::new(&found, &met, Duration::from_secs(1), 5);
        assert_eq!(shrink.next(), Some(found.clone()), "first it is confirmed");
        for _ in 0..3 {
            shrink.done(&found, true);
        }
        let first = shrink.next().expect("a candidate");
        let outcomes = [true, false, true, false, true];
        for is_broken in outcomes {
            shrink.done(&first, is_broken);
        }
        assert_eq!(*shrink.best(), first);
        assert_eq!(first.decisions.len(), 1);
    }

    #[test]
    fn what_does_not_show_again_is_not_confirmed() {
        let found: Schedule = "a renew 1: hold".parse().expect("valid");
        let mut shrink = Shrink::new(&found, &found.decisions, Duration::from_secs(1), 5);
        for is_broken in [true, false, false, false] {
            shrink.done(&found, is_broken);
        }
        assert_eq!(shrink.unconfirmed(), Some((1, 4)));
        assert!(shrink.is_over());
    }
}
