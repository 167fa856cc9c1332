//! Differential sequences: random operations, played on two servers, whose answers must be the same.
//!
//! What differs by nature (ids, absolute indexes, dates) is replaced by reference, as for recordings; then every
//! header and every byte counts. A sequence that tells two servers apart is shrunk to a short one.
//!
//! Both servers must be used by nobody else: sequences list all sessions, and compare which of two indexes is
//! the higher one.

mod acl;
mod blocked;
mod catalog;
mod odd;
mod operation;
mod play;
mod query;

use std::cell::Cell;
use std::fmt;
use std::thread;

use proptest::strategy::{BoxedStrategy, Strategy as _};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

pub use self::acl::Call;
pub use self::odd::OddRequest;
pub use self::operation::{
    CasIndex, CatalogRead, CatalogStep, Condition, NewQuery, Operation, Read, Registered, TxnStep,
};

use self::acl::Acl;
use self::play::Player;
use proconsul_conformance::compare::difference::difference;
use proconsul_conformance::compare::normalize::normalize;
use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::Address;

/// Operations in the longest sequence.
const LONGEST: usize = 40;
/// How often a sequence that told two servers apart has to do so again.
const RETRIES: u32 = 3;
/// Attempts to make a sequence that tells two servers apart shorter.
const SHRINKS: u32 = 400;
/// For how long such attempts are begun, in milliseconds: blocked reads wait long when a sequence is played again.
const SHRINKS_FOR: u32 = 60_000;

/// One of the two servers, or of the two clusters.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its servers, the leader first. No client agents: which server one asks is chance, and errors tell.
    pub agents: Vec<Agent>,
}

/// An agent that is asked.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Where it listens.
    pub address: Address,
    /// The name of its node.
    pub node: String,
}

/// A sequence that two servers answer differently.
#[derive(Debug)]
pub struct Disagreement {
    /// What makes the same sequences again.
    pub seed: u64,
    /// The shortest such sequence that was found.
    pub operations: Vec<Operation>,
    /// The lines in which the two transcripts differ: `-` the left server, `+` the right one.
    pub difference: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "seed {}: the servers differ after", self.seed)?;
        for operation in &self.operations {
            writeln!(formatter, "    {operation:?}")?;
        }
        write!(formatter, "{}", self.difference)
    }
}

/// What is played.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How many operations, at least.
    pub operations: usize,
    /// The seed of all chance.
    pub seed: u64,
    /// Whether some operations change something while reads are blocked. What these show depends on the speed of the
    /// machine, so that what differs is played again with longer waits.
    pub blocked_reads: bool,
    /// Whether most operations are requests that may be wrong in any way. They leave behind what they have written.
    pub odd_requests: bool,
    /// Whether both servers have ACLs and the management token `root`, and operations have tokens.
    pub acl: bool,
}

impl Plan {
    fn sequences(&self, agents: usize) -> BoxedStrategy<Vec<Operation>> {
        if self.acl {
            acl::sequences().boxed()
        } else {
            let (blocked_reads, odd) = (self.blocked_reads, self.odd_requests);
            operation::sequences(LONGEST, blocked_reads, odd, agents).boxed()
        }
    }
}

/// Plays sequences on both servers; on agents of clusters each operation asks one of them. Returns how many operations were played.
///
/// # Errors
/// The first sequence that tells the servers apart, shrunk.
pub fn compare(left: &Side, right: &Side, plan: Plan) -> Result<usize, Box<Disagreement>> {
    let seed = plan.seed;
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: SHRINKS,
        max_shrink_time: SHRINKS_FOR,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let prepared = plan
        .acl
        .then(|| acl::prepare([left, right].map(|side| &side.agents[0])));
    let sides = (left, right, prepared.as_ref());
    let played = Cell::new(0);
    let attempts = Cell::new(0);
    while played.get() < plan.operations {
        let sequence = plan.sequences(left.agents.len()).new_tree(&mut runner);
        let sequence = sequence.expect("the generator refuses nothing");
        let outcome = runner.run_one(sequence, |sequence| {
            attempts.set(attempts.get() + 1);
            played.set(played.get() + sequence.len());
            let tag = format!("s{}", attempts.get());
            // What a busy machine was late for does not differ every time.
            let mut difference = play_both(sides, &tag, 0, &sequence);
            for retry in 0..RETRIES {
                if difference.is_some() {
                    let tag = format!("{tag}r{retry}");
                    difference = play_both(sides, &tag, retry + 1, &sequence);
                }
            }
            match difference {
                None => Ok(()),
                Some(difference) => Err(TestCaseError::fail(difference)),
            }
        });
        if let Err(TestError::Fail(reason, operations)) = outcome {
            return Err(Box::new(Disagreement {
                seed,
                operations,
                difference: reason.message().to_owned(),
            }));
        }
    }
    Ok(played.get())
}

/// Plays one sequence on both servers, as the `attempt`th repetition; the difference of what they say.
fn play_both(
    (left, right, prepared): (&Side, &Side, Option<&Stopwatch>),
    tag: &str,
    attempt: u32,
    operations: &[Operation],
) -> Option<String> {
    let said = |side: &Side| match Player::new(side, tag, attempt) {
        Ok(mut player) => {
            player.acl = prepared.map(|since| Acl::new(tag, &side.agents[0].node, since));
            normalize(&player.play(operations))
        }
        Err(error) => vec![format!("{} is gone: {error}", side.agents[0].address)],
    };
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| said(left));
        let right = said(right);
        (left.join().expect("a player does not panic"), right)
    });
    difference(&left, &right)
}
