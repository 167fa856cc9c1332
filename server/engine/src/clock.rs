//! The only file that reads the machine's time or sleeps (design rule 1).
//!
//! A [`Clock`] is the machine's time plus an offset, at a rate: at rate 1 it runs like the machine's, at rate 0 it is
//! frozen and only [`Clock::advance_to`] moves it. Its epoch is its own creation, so a frozen clock starts at the same
//! [`Timestamp`] in every run. It never goes back, and reading it changes nothing. A server's wall clock is the machine's,
//! unless the wall clock at the epoch is set: then it follows the clock.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one file that may read the machine's time and sleep"
)]

use std::cell::RefCell;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::Notify;

use proconsul_store::timestamp::Timestamp;

/// The time of one server.
#[derive(Debug)]
pub struct Clock {
    setting: Mutex<Setting>,
    /// The wall clock at the epoch, as the time since the Unix epoch.
    began: Duration,
    /// Whether that was set, so that the wall clock follows this clock and not the machine's.
    is_set: bool,
    /// Notified whenever the setting changes, so that sleepers look again.
    changed: Notify,
}

/// The clock's time at a moment of the machine's time, and its rate since.
#[derive(Clone, Copy, Debug)]
struct Setting {
    machine: Instant,
    stood_at: Timestamp,
    rate: Rate,
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

impl Setting {
    fn now(&self) -> Timestamp {
        if self.rate == Rate::REAL {
            self.stood_at.plus(self.machine.elapsed())
        } else if self.rate.is_frozen() {
            self.stood_at
        } else {
            let elapsed = self.machine.elapsed().mul_f64(self.rate.factor());
            self.stood_at.plus(elapsed)
        }
    }
}

impl Clock {
    /// Returns a clock that runs like the machine's, from its own epoch on.
    #[must_use]
    pub fn running() -> Self {
        Self::new(Rate::REAL, None)
    }

    /// Returns a clock that stands at its epoch until it is advanced.
    #[must_use]
    pub fn frozen() -> Self {
        Self::new(Rate::FROZEN, None)
    }

    /// Returns a clock at its epoch with this rate. `epoch` is the wall clock then, as the time since the Unix epoch;
    /// the machine's if it is left out.
    pub fn new(rate: Rate, epoch: Option<Duration>) -> Self {
        Self {
            setting: Mutex::new(Setting {
                machine: Instant::now(),
                stood_at: Timestamp::ZERO,
                rate,
            }),
            began: epoch.unwrap_or_else(wall_clock),
            is_set: epoch.is_some(),
            changed: Notify::new(),
        }
    }

    /// Returns the nanoseconds from the Unix epoch to this clock's: to the one that was set, or by the machine's wall clock
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
            wall_clock()
        }
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.setting.lock().now()
    }

    /// Moves the clock to `target`, or leaves it where it is when it is already later.
    pub fn advance_to(&self, target: Timestamp) {
        {
            let mut setting = self.setting.lock();
            setting.stood_at = setting.now().max(target);
            setting.machine = Instant::now();
        }
        self.changed.notify_waiters();
    }

    /// Lets the clock run at this rate from now on.
    pub fn set_rate(&self, rate: Rate) {
        {
            let mut setting = self.setting.lock();
            *setting = Setting {
                machine: Instant::now(),
                stood_at: setting.now(),
                rate,
            };
        }
        self.changed.notify_waiters();
    }

    /// Returns how fast the clock runs.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.setting.lock().rate
    }

    /// Sleeps until the clock stands at `deadline` or later.
    pub async fn sleep_until(&self, deadline: Timestamp) {
        loop {
            // Armed before the look, or a change in between would be missed.
            let changed = self.changed.notified();
            let setting = *self.setting.lock();
            let now = setting.now();
            if now >= deadline {
                return;
            }
            if setting.rate.is_frozen() {
                changed.await;
            } else {
                let left = deadline.since(now).div_f64(setting.rate.factor());
                tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep(left) => {}
                }
            }
        }
    }
}

/// A time limit of a wait in this process, in the machine's time.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    until: Instant,
}

impl Patience {
    /// Returns a limit of `duration`, at most a day.
    #[must_use]
    pub fn of(duration: Duration) -> Self {
        const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            until: Instant::now() + duration.min(LONGEST),
        }
    }

    /// Returns the time that is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Waits until the time is over, with or without a runtime: the timer is not the runtime's, which may be disabled
    /// or paused.
    pub async fn over(&self) {
        futures_timer::Delay::new(self.left()).await;
    }
}

/// Measures a duration in the machine's time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Lets the machine's time pass, for tests against a real Consul, whose clock cannot be moved.
pub fn pass_for_real(duration: Duration) {
    std::thread::sleep(duration);
}

/// Lets the machine's time pass as [`pass_for_real`] does, on any runtime, without holding a thread.
pub async fn pass_for_real_async(duration: Duration) {
    futures_timer::Delay::new(duration).await;
}

/// Returns the machine's wall clock, which the log shows: the time since the Unix epoch, or zero on a machine whose clock
/// is set to before it.
#[must_use]
pub fn wall_clock() -> Duration {
    since_epoch(SystemTime::now())
}

fn since_epoch(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
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

/// Sleeps in the machine's time, for what a server's clock does not drive.
pub async fn machine_sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_moves_only_when_told() {
        let clock = Clock::frozen();
        assert_eq!(clock.now(), Timestamp::ZERO);
        let later = Timestamp::ZERO.plus(Duration::from_secs(20));
        clock.advance_to(later);
        assert_eq!(clock.now(), later);
        clock.advance_to(Timestamp::ZERO);
        assert_eq!(clock.now(), later, "a clock never goes back");
    }

    #[test]
    fn a_wall_clock_follows_the_clock_if_its_epoch_is_set() {
        let (day, second) = (Duration::from_secs(86_400), Duration::from_secs(1));
        let clock = Clock::new(Rate::FROZEN, Some(day));
        assert_eq!(clock.wall(), day);
        clock.advance_to(Timestamp::ZERO.plus(second));
        assert_eq!(clock.wall(), day + second);
        assert_eq!(http_date(clock.wall()), "Fri, 02 Jan 1970 00:00:01 GMT");
        assert!(Clock::frozen().wall() > 365 * day, "the machine's");
    }

    #[test]
    fn a_wall_clock_before_1970_stands_at_its_epoch() {
        let second = Duration::from_secs(1);
        assert_eq!(since_epoch(UNIX_EPOCH - second), Duration::ZERO);
        assert_eq!(since_epoch(UNIX_EPOCH + second), second);
    }

    #[tokio::test]
    async fn a_sleeper_wakes_when_the_clock_is_advanced() {
        let clock = Clock::frozen();
        let deadline = Timestamp::ZERO.plus(Duration::from_secs(3600));
        let sleeper = clock.sleep_until(deadline);
        tokio::pin!(sleeper);
        let early = Timestamp::ZERO.plus(Duration::from_secs(3599));
        tokio::select! {
            biased;
            () = &mut sleeper => panic!("the sleeper woke before its deadline"),
            () = async { clock.advance_to(early); } => {}
        }
        clock.advance_to(deadline);
        sleeper.await;
    }
}
