//! The time of a server (design rule 1: nothing else reads time or sleeps).
//!
//! A [`Clock`] is its host's time plus an offset, at a rate: at rate 1 it runs like the host's, at rate 0 it is
//! frozen and only [`Clock::advance_to`] moves it. Its epoch is its own creation, so a frozen clock starts at the same
//! [`Timestamp`] in every run. It never goes back, and reading it changes nothing. A server's wall clock is the host's,
//! unless the wall clock at the epoch is set: then it follows the clock.
//!
//! Who sleeps until a time of the clock waits in its table of timers. [`Engine::run`](crate::Engine::run) wakes them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, UNIX_EPOCH};

use http::HeaderValue;
use parking_lot::Mutex;

use crate::host::{Boxed, Host};
use crate::sync::{Signal, either};
use proconsul_store::timestamp::Timestamp;

/// The time of one server.
#[derive(Debug)]
pub struct Clock {
    host: Arc<dyn Host>,
    setting: Mutex<Setting>,
    /// The wall clock at the epoch, as the time since the Unix epoch.
    began: Duration,
    /// Whether that was set, so that the wall clock follows this clock and not the host's.
    is_set: bool,
    timers: Mutex<Timers>,
    /// Set when the next timer may have changed, or when it is reached.
    pub(crate) changed: Signal,
}

/// The clock's time at a moment of the host's time, and its rate since.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// As [`Host::elapsed`] has it.
    since: Duration,
    stood_at: Timestamp,
    rate: Rate,
}

/// Those who sleep.
#[derive(Debug)]
struct Timers {
    /// The number of the last timer, which orders those of the same time.
    last: u64,
    waiting: BTreeMap<(Timestamp, u64), Waker>,
    /// The time at which the timers are looked at next without being asked to.
    armed: Timestamp,
}

/// The speed of a clock, as a multiple of the machine's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(f64);

impl Rate {
    /// The clock stands still.
    pub const FROZEN: Self = Self(0.0);
    /// The speed of the machine's clock.
    pub const REAL: Self = Self(1.0);
    /// The highest rate.
    pub const MAX: Self = Self(1_000_000.0);

    /// The lowest rate above 0: with less, the machine's time could not express a wait.
    pub const MIN: Self = Self(0.001);

    /// Returns a rate: 0, which is frozen, or from a thousandth to a million.
    ///
    /// # Errors
    /// The number is out of range.
    pub fn new(rate: f64) -> Result<Self, RateError> {
        if rate == 0.0 || (Self::MIN.0..=Self::MAX.0).contains(&rate) {
            return Ok(Self(rate));
        }
        Err(RateError(rate))
    }

    /// Returns the multiple.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0
    }

    fn is_frozen(self) -> bool {
        self.0 == 0.0
    }
}

/// A number that is no [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateError(f64);

impl Display for RateError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "a rate is 0 or from 0.001 to 1000000, not {}",
            self.0
        )
    }
}

impl Error for RateError {}

impl Timers {
    /// Returns when the first of those who sleep goes on.
    fn first(&self) -> Option<Timestamp> {
        let first = self.waiting.first_key_value();
        first.map(|((at, _), _)| *at)
    }
}

impl Setting {
    fn at(&self, elapsed: Duration) -> Timestamp {
        let passed = elapsed.saturating_sub(self.since);
        if self.rate == Rate::REAL {
            self.stood_at.plus(passed)
        } else if self.rate.is_frozen() {
            self.stood_at
        } else {
            self.stood_at.plus(passed.mul_f64(self.rate.factor()))
        }
    }
}

impl Clock {
    /// Returns a clock at its epoch with this rate. `epoch` is the wall clock then, as the time since the Unix epoch;
    /// the host's if it is left out.
    pub fn new(host: Arc<dyn Host>, rate: Rate, epoch: Option<Duration>) -> Self {
        let setting = Setting {
            since: host.elapsed(),
            stood_at: Timestamp::ZERO,
            rate,
        };
        Self {
            setting: Mutex::new(setting),
            began: epoch.unwrap_or_else(|| host.wall()),
            is_set: epoch.is_some(),
            timers: Mutex::new(Timers {
                last: 0,
                waiting: BTreeMap::new(),
                armed: Timestamp::END,
            }),
            changed: Signal::default(),
            host,
        }
    }

    /// Returns a clock that stands at its epoch until it is advanced.
    #[cfg(test)]
    pub(crate) fn frozen() -> Self {
        let host = crate::host::ManualHost::new(Duration::ZERO);
        Self::new(Arc::new(host), Rate::FROZEN, None)
    }

    /// Returns what the server runs in.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    /// Returns the nanoseconds from the Unix epoch to this clock's: to the one that was set, or by the host's wall clock
    /// when this one was made.
    #[must_use]
    pub fn unix_nanos_of_epoch(&self) -> i128 {
        i128::try_from(self.began.as_nanos()).unwrap_or(i128::MAX)
    }

    /// Returns the server's wall clock, as the time since the Unix epoch.
    #[must_use]
    pub fn wall(&self) -> Duration {
        if self.is_set {
            self.began + self.now().since(Timestamp::ZERO)
        } else {
            self.host.wall()
        }
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let setting = self.setting.lock();
        match setting.rate.is_frozen() {
            true => setting.stood_at,
            false => setting.at(self.host.elapsed()),
        }
    }

    /// Moves the clock to `target`, or leaves it where it is when it is already later.
    pub fn advance_to(&self, target: Timestamp) {
        {
            let mut setting = self.setting.lock();
            let elapsed = self.host.elapsed();
            setting.stood_at = setting.at(elapsed).max(target);
            setting.since = elapsed;
        }
        self.fire();
        self.changed.set();
    }

    /// Lets the clock run at this rate from now on.
    pub fn set_rate(&self, rate: Rate) {
        {
            let mut setting = self.setting.lock();
            let elapsed = self.host.elapsed();
            *setting = Setting {
                since: elapsed,
                stood_at: setting.at(elapsed),
                rate,
            };
        }
        self.changed.set();
    }

    /// Returns how fast the clock runs.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.setting.lock().rate
    }

    /// Sleeps until the clock stands at `deadline` or later.
    pub fn sleep_until(&self, deadline: Timestamp) -> Sleep<'_> {
        let mut timers = self.timers.lock();
        timers.last += 1;
        Sleep {
            clock: self,
            key: (deadline, timers.last),
        }
    }

    /// Wakes those whose time has come, in its order.
    pub(crate) fn fire(&self) {
        let now = self.now();
        let ended = {
            let mut timers = self.timers.lock();
            if timers.first().is_none_or(|at| at > now) {
                return;
            }
            let later = timers.waiting.split_off(&(now, u64::MAX));
            std::mem::replace(&mut timers.waiting, later)
        };
        ended.into_values().for_each(Waker::wake);
    }

    /// Sleeps until the clock stands at `deadline`, or at the first timer if that is earlier, or until either may have
    /// changed. One task does so: it is what wakes the others.
    pub(crate) async fn sleep_until_timer(&self, deadline: Option<Timestamp>) {
        let next = {
            let mut timers = self.timers.lock();
            let next = deadline.into_iter().chain(timers.first()).min();
            timers.armed = next.unwrap_or(Timestamp::END);
            next
        };
        let setting = *self.setting.lock();
        let now = setting.at(self.host.elapsed());
        match next {
            Some(next) if now >= next => {}
            Some(next) if !setting.rate.is_frozen() => {
                let left = next.since(now).div_f64(setting.rate.factor());
                either(self.host.sleep(left), self.changed.wait()).await;
            }
            _ => self.changed.wait().await,
        }
    }
}

/// Sleeps until a time of a clock.
#[derive(Debug)]
#[must_use = "a future sleeps when it is polled"]
pub struct Sleep<'a> {
    clock: &'a Clock,
    key: (Timestamp, u64),
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.clock.timers.lock();
        // Looked at under the lock: whoever moves the clock does so before the timers are looked at.
        if self.clock.now() >= self.key.0 {
            return Poll::Ready(());
        }
        timers.waiting.insert(self.key, task.waker().clone());
        let is_earlier = self.key.0 < timers.armed;
        if is_earlier {
            timers.armed = self.key.0;
        }
        drop(timers);
        if is_earlier {
            self.clock.changed.set();
        }
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        self.clock.timers.lock().waiting.remove(&self.key);
    }
}

/// A time limit of a wait in this process, in the host's time.
#[derive(Clone, Debug)]
pub struct Patience {
    host: Arc<dyn Host>,
    until: Duration,
}

impl Patience {
    /// Returns a limit of `duration`, at most a day.
    #[must_use]
    pub fn new(host: &Arc<dyn Host>, duration: Duration) -> Self {
        const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            host: Arc::clone(host),
            until: host.elapsed() + duration.min(LONGEST),
        }
    }

    /// Returns the time that is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.saturating_sub(self.host.elapsed())
    }

    /// Waits until the time is over, with or without a runtime.
    #[must_use]
    pub fn over(&self) -> Boxed<()> {
        self.host.sleep_anywhere(self.left())
    }
}

/// Returns a wall clock as the `Date` header has it. Formatted once a second and thread.
pub fn http_date(now: Duration) -> HeaderValue {
    thread_local! {
        static PRINTED: RefCell<(u64, HeaderValue)> =
            const { RefCell::new((u64::MAX, HeaderValue::from_static(""))) };
    }
    PRINTED.with_borrow_mut(|(second, value)| {
        if *second != now.as_secs() {
            let date = httpdate::fmt_http_date(UNIX_EPOCH + now);
            *value = HeaderValue::from_str(&date).expect("a date is a header value");
            *second = now.as_secs();
        }
        value.clone()
    })
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;
    use crate::host::ManualHost;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock(rate: Rate, epoch: Option<Duration>) -> (ManualHost, Clock) {
        let host = ManualHost::new(1000 * SECOND);
        let clock = Clock::new(Arc::new(host.clone()), rate, epoch);
        (host, clock)
    }

    #[test]
    fn a_frozen_clock_moves_only_when_told() {
        let (host, clock) = clock(Rate::FROZEN, None);
        assert_eq!(clock.now(), Timestamp::ZERO);
        host.advance_to(SECOND);
        assert_eq!(clock.now(), Timestamp::ZERO);
        let later = Timestamp::ZERO.plus(Duration::from_secs(20));
        clock.advance_to(later);
        assert_eq!(clock.now(), later);
        clock.advance_to(Timestamp::ZERO);
        assert_eq!(clock.now(), later, "a clock never goes back");
    }

    #[test]
    fn a_clock_runs_at_its_rate_from_when_that_is_set() {
        let (host, clock) = clock(Rate::REAL, None);
        host.advance_to(3 * SECOND);
        clock.set_rate(Rate::new(10.0).expect("in range"));
        host.advance_to(4 * SECOND);
        assert_eq!(clock.now(), Timestamp::ZERO.plus(13 * SECOND));
    }

    #[test]
    fn a_wall_clock_follows_the_clock_if_its_epoch_is_set() {
        let day = Duration::from_secs(86_400);
        let (host, clock) = clock(Rate::FROZEN, Some(day));
        assert_eq!(clock.wall(), day);
        clock.advance_to(Timestamp::ZERO.plus(SECOND));
        assert_eq!(clock.wall(), day + SECOND);
        assert_eq!(http_date(clock.wall()), "Fri, 02 Jan 1970 00:00:01 GMT");
        let clock = Clock::new(Arc::new(host), Rate::FROZEN, None);
        assert_eq!(clock.wall(), 1000 * SECOND, "the host's");
    }

    #[test]
    fn a_sleeper_wakes_when_the_clock_is_advanced() {
        let (_, clock) = clock(Rate::FROZEN, None);
        let mut sleeper = pin!(clock.sleep_until(Timestamp::ZERO.plus(3600 * SECOND)));
        let mut task = Context::from_waker(Waker::noop());
        assert!(sleeper.as_mut().poll(&mut task).is_pending());
        clock.advance_to(Timestamp::ZERO.plus(3599 * SECOND));
        assert!(sleeper.as_mut().poll(&mut task).is_pending());
        assert_eq!(
            clock.timers.lock().first(),
            Some(Timestamp::ZERO.plus(3600 * SECOND))
        );
        clock.advance_to(Timestamp::ZERO.plus(3600 * SECOND));
        assert_eq!(clock.timers.lock().first(), None);
        assert!(sleeper.as_mut().poll(&mut task).is_ready());
    }

    #[test]
    fn the_first_timer_is_what_is_slept_for() {
        let (host, clock) = clock(Rate::REAL, None);
        let mut task = Context::from_waker(Waker::noop());
        let mut runs = pin!(clock.sleep_until_timer(Some(Timestamp::ZERO.plus(9 * SECOND))));
        assert!(runs.as_mut().poll(&mut task).is_pending());
        assert_eq!(host.next(), Some(9 * SECOND));
        let mut sleeper = pin!(clock.sleep_until(Timestamp::ZERO.plus(2 * SECOND)));
        assert!(sleeper.as_mut().poll(&mut task).is_pending());
        assert!(runs.as_mut().poll(&mut task).is_ready(), "to look again");
        let mut runs = pin!(clock.sleep_until_timer(None));
        assert!(runs.as_mut().poll(&mut task).is_pending());
        assert_eq!(host.next(), Some(2 * SECOND));
    }
}
