//! Schedules: a few decisions at requests that are named, so that they mean the same in another run.
//!
//! ```
//! use proconsul_explore::Schedule;
//!
//! let text = "contenders 2\na watch 1 after acquire 1: silence a\n";
//! let schedule: Schedule = text.parse()?;
//! assert_eq!(schedule.to_string(), text);
//! # Ok::<(), proconsul_explore::ParseError>(())
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use proconsul_engine::faults::RequestKind;

use crate::action::Action;
use crate::contender::{Contender, MOST_CONTENDERS, ParseError};

/// A request, by name: the nth of its kind that a contender sends after its mth acquire that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Who sends it.
    pub contender: Contender,
    /// What it is for.
    pub kind: RequestKind,
    /// Its number, counted from 1.
    pub nth: u32,
    /// The number of acquires of this contender that have succeeded before; requests are counted anew after each.
    pub acquires: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            contender,
            kind,
            nth,
            acquires,
        } = self;
        write!(formatter, "{contender} {} {nth}", kind.name())?;
        match acquires {
            0 => Ok(()),
            acquires => write!(formatter, " after acquire {acquires}"),
        }
    }
}

impl FromStr for Place {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (contender, kind, nth, acquires) = match words[..] {
            [contender, kind, nth] => (contender, kind, nth, "0"),
            [contender, kind, nth, "after", "acquire", acquires] => {
                (contender, kind, nth, acquires)
            }
            _ => {
                return Err(ParseError::new(
                    "`CONTENDER KIND NUMBER [after acquire NUMBER]`",
                    text,
                ));
            }
        };
        let mut kinds = RequestKind::ALL.iter();
        let known = kinds.find(|known| known.name() == kind);
        Ok(Self {
            contender: contender.parse()?,
            kind: *known.ok_or_else(|| ParseError::new("a kind of request", kind))?,
            nth: number(nth)?,
            acquires: number(acquires)?,
        })
    }
}

fn number(text: &str) -> Result<u32, ParseError> {
    let number = text
        .parse()
        .map_err(|_| ParseError::new("a number", text))?;
    Ok(number)
}

/// What happens at a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The request.
    pub place: Place,
    /// What happens when it arrives.
    pub action: Action,
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.action)
    }
}

impl FromStr for Decision {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parts = text.split_once(':');
        let (place, action) = parts.ok_or_else(|| ParseError::new("`PLACE: ACTION`", text))?;
        Ok(Self {
            place: place.parse()?,
            action: action.trim().parse()?,
        })
    }
}

/// What happens in a run, apart from what the contenders do.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// How many contenders there are. Each starts when the one before has sent its first request.
    pub contenders: u8,
    /// How many agents there are, all of them servers of one datacenter: 1, which all contenders use, or at least 3, and one for
    /// each contender.
    pub agents: u8,
    /// How much longer each request of a contender is under way than one of the contender before it. Their order decides who
    /// comes first where two compete; zero for no delays.
    pub order: Vec<Contender>,
    /// The decisions. The order has no meaning: each waits for its request.
    pub decisions: Vec<Decision>,
}

impl Schedule {
    /// Returns a schedule without decisions.
    #[must_use]
    pub fn plain(contenders: u8) -> Self {
        Self {
            contenders,
            agents: 1,
            order: Vec::new(),
            decisions: Vec::new(),
        }
    }

    /// Returns the same contenders and agents without decisions.
    #[must_use]
    pub fn to_plain(&self) -> Self {
        Self {
            agents: self.agents,
            ..Self::plain(self.contenders)
        }
    }

    /// Returns the number of the agent that a contender uses.
    #[must_use]
    pub fn agent(&self, contender: Contender) -> usize {
        contender.index() % usize::from(self.agents)
    }

    /// Returns how long each request of a contender is under way before it arrives.
    #[must_use]
    pub fn latency(&self, contender: Contender) -> Duration {
        let rank = self.order.iter().position(|one| *one == contender);
        rank.map_or(Duration::ZERO, |rank| {
            STEP * u32::try_from(rank).unwrap_or(0)
        })
    }
}

/// What lies between the requests of two contenders of neighbouring rank.
const STEP: Duration = Duration::from_millis(2);

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "contenders {}", self.contenders)?;
        if self.agents > 1 {
            writeln!(formatter, "agents {}", self.agents)?;
        }
        if !self.order.is_empty() {
            let names: Vec<_> = self.order.iter().map(ToString::to_string).collect();
            writeln!(formatter, "order {}", names.join(" "))?;
        }
        self.decisions
            .iter()
            .try_for_each(|decision| writeln!(formatter, "{decision}"))
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    /// Reads a schedule: `contenders N`, `agents N`, `order a b c` and decisions, a line each. `#` begins a comment.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut schedule = Self::plain(2);
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let at = |error: ParseError| error.in_line(number + 1);
            match line.split_once(' ') {
                None if line.is_empty() => {}
                Some(("contenders", count)) => {
                    let count = count.trim();
                    let known = (1..=MOST_CONTENDERS).find(|known| known.to_string() == count);
                    let error = || at(ParseError::new("a number from 1 to 5", count));
                    schedule.contenders = known.ok_or_else(error)?;
                }
                Some(("agents", count)) => {
                    let count = count.trim();
                    let known = (1..=MOST_CONTENDERS).find(|known| known.to_string() == count);
                    schedule.agents = known.unwrap_or_default();
                    if !are_agents(schedule.agents, 1) {
                        return Err(at(ParseError::new(AGENTS, count)));
                    }
                }
                Some(("order", names)) => {
                    let names = names.split_whitespace().map(str::parse);
                    schedule.order = names.collect::<Result<_, _>>().map_err(at)?;
                }
                _ => schedule.decisions.push(line.parse().map_err(at)?),
            }
        }
        let mut actions = schedule.decisions.iter().map(|decision| &decision.action);
        match actions.find(|action| action.is_of_agent()) {
            Some(action) if schedule.agents == 1 => {
                Err(ParseError::new("`agents 3`", &action.to_string()))
            }
            _ if !are_agents(schedule.agents, schedule.contenders) => {
                Err(ParseError::new(AGENTS, &schedule.agents.to_string()))
            }
            _ => Ok(schedule),
        }
    }
}

/// What numbers of agents there may be.
pub const AGENTS: &str = "1 agent for all contenders, or 3 to 5, and one for each";

/// Returns whether so many contenders may have so many agents. Of two none could lead when it loses the other.
#[must_use]
pub fn are_agents(agents: u8, contenders: u8) -> bool {
    agents == 1 || (contenders.max(3)..=MOST_CONTENDERS).contains(&agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_it_is_printed() {
        let text = "contenders 3\norder c a b\na renew 2 after acquire 1: lose-response\nb read 1: error rate-limited\n";
        let schedule: Schedule = text.parse().expect("it is valid");
        assert_eq!(schedule.to_string(), text);
        assert_eq!(schedule.latency(Contender(0)), STEP);
        let commented: Schedule = "# ours\ncontenders 3 # three\norder c a b\n\na renew 2 after acquire 1:  lose-response\nb read 1: error rate-limited"
            .parse()
            .expect("it is valid");
        assert_eq!(commented, schedule);
    }

    #[test]
    fn contenders_have_one_agent_or_one_each() {
        let text = "contenders 2\nagents 3\nb renew 1: cut-agent b 8s\n";
        let schedule: Schedule = text.parse().expect("it is valid");
        assert_eq!(schedule.to_string(), text);
        assert_eq!(schedule.agent(Contender(1)), 1);
        let error = |text: &str| text.parse::<Schedule>().map_err(|error| error.to_string());
        let expected = |found: &str| Err(format!("expected {AGENTS}, found {found:?}"));
        assert_eq!(
            error("agents 2"),
            expected("2").map_err(|text| format!("line 1: {text}"))
        );
        assert_eq!(error("agents 3\ncontenders 4"), expected("3"));
        assert_eq!(
            error("a renew 1: lag-agent a 2s"),
            Err("expected `agents 3`, found \"lag-agent a 2s\"".to_owned())
        );
    }

    #[test]
    fn an_invalid_schedule_is_rejected_with_its_line() {
        let error = |text: &str| text.parse::<Schedule>().map_err(|error| error.to_string());
        let expected = |text: &str| Err(text.to_owned());
        assert_eq!(
            error("contenders 9"),
            expected("line 1: expected a number from 1 to 5, found \"9\"")
        );
        assert_eq!(
            error("\na renw 1: hold"),
            expected("line 2: expected a kind of request, found \"renw\"")
        );
        assert_eq!(
            error("a renew 1: explode"),
            expected("line 1: expected an action, found \"explode\"")
        );
        assert_eq!(
            error("a renew: hold"),
            expected(
                "line 1: expected `CONTENDER KIND NUMBER [after acquire NUMBER]`, found \"a renew\""
            )
        );
    }
}
