//! `proconsul-lab sequences`: random operations on two targets.

use std::io;
use std::num::NonZero;
use std::thread;

use clap::{Args, ValueEnum};
use proconsul_conformance::command::output::say;
use proconsul_conformance::command::target::Start;
use proconsul_conformance::history::chance::new_seed;
use proconsul_conformance::{Target, ToolError};
use proconsul_lab::sequence::{self, Plan, Side};
use serde_json::json;

/// Two targets and how much to play on them.
#[derive(Debug, Args)]
pub(super) struct Sequences {
    /// One server: an address, a binary's path, or the word consul; a binary may be followed by arguments of its own, as with `diff` of the suite.
    #[arg(value_name = "TARGET")]
    left: String,
    /// The other.
    #[arg(value_name = "TARGET")]
    right: String,
    #[command(flatten)]
    start: Start,
    /// How many operations to play in all.
    #[arg(long, default_value_t = 20_000)]
    operations: usize,
    /// Plays the sequences of an earlier run again.
    #[arg(long)]
    seed: Option<u64>,
    /// Blocks reads of all kinds while some operations change something. What differs is played again with longer waits, up to 6.4 s: on a
    /// machine that is busier than that it may differ without a reason.
    #[arg(long)]
    blocked_reads: bool,
    /// How many pairs of servers to start and play on at the same time. Each has a seed of its own, counted up from the first, and its
    /// share of the operations.
    #[arg(long, default_value = "1")]
    pairs: NonZero<usize>,
    /// Plays with tokens, on binaries that are started with ACLs; servers at addresses must have them and the management token `root`.
    #[arg(long)]
    acl: Option<AclSettings>,
}

/// The settings of ACLs that sequences are played with.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum AclSettings {
    /// What no rule allows is refused.
    Deny,
    /// What no rule refuses is allowed.
    Allow,
    /// As deny, and reading keys under a prefix needs the right to list them.
    KeyList,
}

impl AclSettings {
    fn json(self) -> String {
        let default_policy = match self {
            AclSettings::Allow => "allow",
            AclSettings::Deny | AclSettings::KeyList => "deny",
        };
        json!({"acl": {
            "enabled": true, "default_policy": default_policy,
            "enable_key_list_policy": matches!(self, AclSettings::KeyList),
            "tokens": {"master": "root", "agent": "root", "default": "root"},
        }})
        .to_string()
    }
}

impl Sequences {
    pub(super) fn run(&self) -> Result<u8, ToolError> {
        let settings = self.acl.map(AclSettings::json).unwrap_or_default();
        let pairs = (0..self.pairs.get()).map(|_| {
            let left = self.start.open_single(&self.left, &settings)?;
            Ok((left, self.start.open_single(&self.right, &settings)?))
        });
        let pairs: Vec<(Target, Target)> = pairs.collect::<Result<_, ToolError>>()?;
        let pairs: Vec<(Side, Side)> = pairs
            .iter()
            .map(|(left, right)| (side(left), side(right)))
            .collect();
        if pairs.len() > 1
            && (pairs[0].0.address == pairs[1].0.address
                || pairs[0].1.address == pairs[1].1.address)
        {
            let why = "several pairs need several servers: give a binary, not an address, or leave --pairs out";
            return Err(ToolError(why.to_owned()));
        }
        let seed = self.seed.unwrap_or_else(new_seed);
        let play = |(left, right): &(Side, Side), seed| {
            say(&mut io::stdout().lock(), &format!("seed {seed}"));
            let plan = Plan {
                operations: self.operations.div_ceil(pairs.len()),
                seed,
                blocked_reads: self.blocked_reads,
                acl: self.acl.is_some(),
            };
            let outcome = sequence::compare(left, right, plan);
            if let Err(disagreement) = &outcome {
                let (left, right) = (&self.left, &self.right);
                say(
                    &mut io::stdout().lock(),
                    &format!("- {left}, + {right}\n{disagreement}"),
                );
            }
            outcome.ok()
        };
        let outcomes: Vec<Option<usize>> = thread::scope(|scope| {
            let seeds = (0..).map(|number| seed.wrapping_add(number));
            let played = pairs
                .iter()
                .zip(seeds)
                .map(|(pair, seed)| scope.spawn(move || play(pair, seed)));
            let played: Vec<_> = played.collect();
            played
                .into_iter()
                .map(|played| played.join().expect("a pair does not panic"))
                .collect()
        });
        let Some(played) = outcomes.into_iter().sum::<Option<usize>>() else {
            return Ok(1);
        };
        say(
            &mut io::stdout().lock(),
            &format!("{played} operations: the servers agree"),
        );
        Ok(0)
    }
}

fn side(target: &Target) -> Side {
    let address = target.shared_address().expect("it was opened as one");
    Side {
        address: address.clone(),
        node: target.facts().node.clone(),
    }
}
