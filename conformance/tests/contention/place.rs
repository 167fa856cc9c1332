//! A place outside of Consul, where holders say that they enter and leave: who was inside when, by one clock.
//!
//! One thread listens to everybody in turn. Words are `enter <name> <pid> <session> <lock index>`, `leave` and `rest`;
//! each is answered with itself: the first when the work is done, the last when the visitor should try again.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use proconsul_conformance::time::{Clock, Deadline, RealClock, Stopwatch};

/// How long everybody works.
const WORK: Duration = Duration::from_millis(10);
/// How long everybody lets others try before it comes back.
const REST: Duration = Duration::from_millis(30);
/// Between two rounds of listening.
const ROUND: Duration = Duration::from_millis(1);

/// One time that somebody was inside.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// The contender's language.
    pub(crate) name: String,
    /// What else it said of itself: its process, its session and the lock index, as far as it knows them.
    pub(crate) who: String,
    pub(crate) from: Duration,
    /// When it left; none while it is inside.
    pub(crate) to: Option<Duration>,
    /// It went without a word: it was killed.
    pub(crate) cut_off: bool,
}

impl fmt::Display for Visit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, how) = (self.from, if self.cut_off { "cut off" } else { "left" });
        write!(formatter, "{} {} from {from:.3?} ", self.name, self.who)?;
        match self.to {
            Some(to) => write!(formatter, "to {to:.3?} ({how})"),
            None => write!(formatter, "and still inside"),
        }
    }
}

/// The place: a port. Who is cut off has left.
pub(crate) struct Place {
    address: String,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    clock: Stopwatch,
    visits: Mutex<Vec<Visit>>,
    over: AtomicBool,
}

impl Shared {
    fn visits(&self) -> MutexGuard<'_, Vec<Visit>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound").to_string();
        listener
            .set_nonblocking(true)
            .expect("a socket of this system");
        let shared = Arc::new(Shared {
            clock: Stopwatch::start(),
            visits: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let to = Arc::clone(&shared);
        let listening = std::thread::spawn(move || listen(&listener, &to));
        Self {
            address,
            shared,
            listening: Some(listening),
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The clock of all that is said here.
    pub(crate) fn clock(&self) -> Stopwatch {
        self.shared.clock
    }

    pub(crate) fn is_inside(&self, name: &str) -> bool {
        let visits = self.shared.visits();
        // Whoever is inside came a short time ago.
        let mut latest = visits.iter().rev().take(64);
        latest.any(|visit| visit.name == name && visit.to.is_none())
    }

    /// All visits so far, in the order in which they began.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        self.shared.visits().clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        if let Some(listening) = self.listening.take() {
            let ended = listening.join();
            debug_assert!(ended.is_ok(), "whoever listens does not panic");
        }
    }
}

/// Whoever has called, and what it has said so far.
struct Visitor {
    stream: TcpStream,
    heard: Vec<u8>,
    /// The place of its visit among all, while it is inside.
    inside: Option<usize>,
    /// The answer that it waits for, and when it is due.
    due: Option<(&'static str, Deadline)>,
    gone: bool,
}

impl Visitor {
    fn new(stream: TcpStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            heard: Vec::new(),
            inside: None,
            due: None,
            gone: false,
        })
    }

    /// Takes what has come.
    fn hear(&mut self) {
        let mut buffer = [0; 512];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(count) => {
                    self.heard.extend_from_slice(&buffer[..count]);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // A reset.
                Err(_) => self.gone = true,
            }
            return;
        }
    }

    /// The next whole line, if it is one of a visitor who comes (`true`) or of one who goes.
    fn next(&mut self, comes: bool) -> Option<String> {
        let end = self.heard.iter().position(|byte| *byte == b'\n')?;
        if self.heard.starts_with(b"enter ") != comes {
            return None;
        }
        let line: Vec<u8> = self.heard.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim().to_owned())
    }

    fn answer(&mut self, word: &str) {
        // Few bytes for one who waits for them; one who is gone is noticed at the next hearing.
        let _ = self.stream.write_all(format!("{word}\n").as_bytes());
    }

    fn leave(&mut self, shared: &Shared) {
        if let Some(visit) = self.inside.take() {
            let visit = &mut shared.visits()[visit];
            visit.to = Some(shared.clock.elapsed());
            visit.cut_off = self.gone;
        }
    }

    /// What was said by one who goes, and its end.
    fn goes(&mut self, shared: &Shared) {
        while let Some(word) = self.next(false) {
            self.leave(shared);
            match word.as_str() {
                "rest" => self.due = Some(("rest", Deadline::after(REST))),
                _ => {
                    self.due = self.due.take().filter(|(word, _)| *word == "rest");
                    self.answer("leave");
                }
            }
        }
        if self.gone {
            self.leave(shared);
        }
    }

    fn comes(&mut self, shared: &Shared) {
        let Some(line) = self.next(true) else { return };
        let mut words = line.splitn(3, ' ').skip(1).map(str::to_owned);
        let mut visits = shared.visits();
        self.inside = Some(visits.len());
        visits.push(Visit {
            name: words.next().unwrap_or_default(),
            who: words.next().unwrap_or_default(),
            from: shared.clock.elapsed(),
            to: None,
            cut_off: false,
        });
        self.due = Some(("enter", Deadline::after(WORK)));
    }
}

fn listen(listener: &TcpListener, shared: &Shared) {
    let mut visitors: Vec<Visitor> = Vec::new();
    while !shared.over.load(Ordering::Relaxed) {
        while let Ok((stream, _)) = listener.accept() {
            visitors.extend(Visitor::new(stream));
        }
        round(&mut visitors, shared);
        visitors.retain(|visitor| !visitor.gone);
        RealClock.pass(ROUND).expect("real time passes");
    }
}

/// Listens to everybody. Who goes is heard before who comes, and after it: a holder that died, whose lock somebody else
/// has already, was gone before that one came. A real second holder comes while the first one goes on to work.
fn round(visitors: &mut [Visitor], shared: &Shared) {
    visitors.iter_mut().for_each(Visitor::hear);
    let coming: Vec<bool> = visitors
        .iter()
        .map(|visitor| visitor.heard.starts_with(b"enter "))
        .collect();
    for visitor in &mut *visitors {
        // Again, for what has come since the first hearing of those who come now.
        visitor.hear();
        visitor.goes(shared);
    }
    for (visitor, comes) in visitors.iter_mut().zip(coming) {
        if comes && !visitor.gone {
            visitor.comes(shared);
        }
        if let Some((word, _)) = visitor.due.take_if(|(_, due)| due.left().is_none()) {
            visitor.answer(word);
        }
    }
}

/// How much later than its death the place may hear of a visitor's end: the system tells one connection of its end and opens another
/// one on two processors, of which one may be busy.
const NOTICE: Duration = Duration::from_millis(250);

/// Every moment at which somebody came and more were inside than allowed: all who were inside then. Whoever died shortly after that
/// moment may have been dead before it.
pub(crate) fn crowds(visits: &[Visit], allowed: usize) -> Vec<Vec<&Visit>> {
    let inside_with = |comer: usize| -> Vec<&Visit> {
        let moment = visits[comer].from;
        let was_inside = |visit: &&Visit| {
            let late = if visit.cut_off {
                NOTICE
            } else {
                Duration::ZERO
            };
            visit.to.is_none_or(|to| to > moment + late)
        };
        let (comer, earlier) = (&visits[comer], visits[..comer].iter());
        let earlier = earlier.filter(was_inside);
        earlier.chain([comer]).collect()
    };
    let all = (0..visits.len()).map(inside_with);
    all.filter(|inside| inside.len() > allowed).collect()
}

/// Somebody who says something, and hears the answer.
#[cfg(test)]
fn says(stream: &mut TcpStream, line: &str) -> String {
    use std::io::{BufRead, BufReader};
    stream
        .write_all(format!("{line}\n").as_bytes())
        .expect("the place hears");
    let mut answer = String::new();
    let read = BufReader::new(stream).read_line(&mut answer);
    read.expect("the place answers");
    answer
}

#[test]
fn who_is_inside_together_is_found() {
    let place = Place::open();
    let come = || TcpStream::connect(place.address()).expect("it listens");
    let (mut a, mut b) = (come(), come());
    assert_eq!(says(&mut a, "enter a 1 session 7"), "enter\n");
    assert_eq!(says(&mut a, "leave"), "leave\n");
    assert_eq!(says(&mut b, "enter b 2 - -"), "enter\n");
    let visits = place.visits();
    assert!(crowds(&visits, 1).is_empty(), "{visits:?}");
    assert_eq!(
        (visits[0].who.as_str(), visits[0].cut_off),
        ("1 session 7", false)
    );
    assert_eq!(says(&mut a, "enter a 1 session 8"), "enter\n");
    let visits = place.visits();
    let found: Vec<Vec<&str>> = crowds(&visits, 1)
        .iter()
        .map(|crowd| crowd.iter().map(|visit| visit.name.as_str()).collect())
        .collect();
    assert_eq!(found, [["b", "a"]]);
    assert!(crowds(&visits, 2).is_empty());
}

/// A death is heard of late, what somebody says is not.
#[test]
fn who_died_may_have_been_dead_for_a_moment_before_it_was_noticed() {
    let visit = |from: u64, to: u64, cut_off| Visit {
        name: "a".to_owned(),
        who: String::new(),
        from: Duration::from_millis(from),
        to: Some(Duration::from_millis(to)),
        cut_off,
    };
    let next = visit(5, 15, false);
    let is_crowd = |first: Visit| !crowds(&[first, next.clone()], 1).is_empty();
    assert!(is_crowd(visit(0, 10, false)));
    assert!(!is_crowd(visit(0, 10, true)));
    assert!(is_crowd(visit(0, 500, true)), "it worked on");
}

/// The death of a worker lets the next one in within less time than the work takes.
#[test]
fn who_is_cut_off_at_work_was_gone_before_the_next_one_came() {
    let place = Place::open();
    for _ in 0..20 {
        let mut dies = TcpStream::connect(place.address()).expect("it listens");
        dies.write_all(b"enter dies 1 - -\n").expect("it hears");
        while place.visits().last().is_none_or(|last| last.to.is_some()) {
            std::thread::yield_now();
        }
        drop(dies);
        let mut next = TcpStream::connect(place.address()).expect("it listens");
        says(&mut next, "enter next 2 - -");
        says(&mut next, "leave");
    }
    let visits = place.visits();
    assert_eq!(visits.len(), 40);
    assert!(crowds(&visits, 1).is_empty(), "{visits:?}");
    assert!(
        visits
            .iter()
            .all(|visit| visit.cut_off == (visit.name == "dies"))
    );
}
