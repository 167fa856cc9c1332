//! `proconsul-lab sequences`: random operations on two targets.

use std::io;
use std::num::NonZero;
use std::thread;

use clap::{Args, ValueEnum};
use proconsul_conformance::command::output::say;
use proconsul_conformance::command::target::Start;
use proconsul_conformance::history::chance::new_seed;
use proconsul_conformance::wire::{self, Address, Outcome, Request};
use proconsul_conformance::{Target, ToolError};
use proconsul_lab::sequence::{self, Agent, Plan, Side};
use serde_json::{Value, json};

/// Two targets and how much to play on them.
#[derive(Debug, Args)]
pub(super) struct Sequences {
    /// An address, the path of a binary, or the word consul. Arguments for a binary stand behind it, as with `diff` of the suite. For a
    /// cluster: the addresses of its servers, separated by commas.
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
    /// Plays mostly requests that may be wrong in any way.
    #[arg(long, conflicts_with_all = ["blocked_reads", "acl"])]
    odd_requests: bool,
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
        let pairs =
            (0..self.pairs.get()).map(|_| Ok((self.open(&self.left)?, self.open(&self.right)?)));
        let pairs: Vec<(Vec<Target>, Vec<Target>)> = pairs.collect::<Result<_, ToolError>>()?;
        let sides: Vec<(Side, Side)> = pairs
            .iter()
            .map(|(left, right)| (side(left), side(right)))
            .collect();
        self.check(&sides)?;
        let seed = self.seed.unwrap_or_else(new_seed);
        let play = |(left, right): &(Side, Side), seed| {
            say(&mut io::stdout().lock(), &format!("seed {seed}"));
            let plan = Plan {
                operations: self.operations.div_ceil(sides.len()),
                seed,
                blocked_reads: self.blocked_reads,
                odd_requests: self.odd_requests,
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
            let played = sides
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

    /// Returns the servers that some words mean, the leader first.
    fn open(&self, words: &str) -> Result<Vec<Target>, ToolError> {
        let settings = self.acl.map(AclSettings::json).unwrap_or_default();
        let opened = (words.split(',')).map(|one| self.start.open_single(one, &settings));
        let mut servers: Vec<Target> = opened.collect::<Result<_, _>>()?;
        let leader = servers.iter().position(leads);
        servers[..=leader.unwrap_or(0)].rotate_right(1);
        Ok(servers)
    }

    /// Says why these pairs cannot be played on, if so.
    fn check(&self, sides: &[(Side, Side)]) -> Result<(), ToolError> {
        let refused = |why: &str| Err(ToolError(why.to_owned()));
        let (left, right) = &sides[0];
        match (left.agents.len(), right.agents.len()) {
            (one, other) if one != other => {
                return refused("the two clusters have different numbers of servers");
            }
            (2.., _) if self.acl.is_some() => {
                return refused("--acl plays on one server of each side, not on clusters");
            }
            _ => {}
        }
        let is_same = |one: &Side, other: &Side| one.agents[0].address == other.agents[0].address;
        match sides.get(1) {
            Some((other_left, other_right))
                if is_same(left, other_left) || is_same(right, other_right) =>
            {
                refused(
                    "several pairs need several servers: give a binary, not an address, or leave --pairs out",
                )
            }
            _ => Ok(()),
        }
    }
}

fn side(agents: &[Target]) -> Side {
    let agent = |target: &Target| Agent {
        address: address(target).clone(),
        node: target.facts().node.clone(),
    };
    Side {
        agents: agents.iter().map(agent).collect(),
    }
}

fn address(target: &Target) -> &Address {
    target.shared_address().expect("it was opened as one")
}

/// Whether this agent leads its cluster, as it says itself.
fn leads(target: &Target) -> bool {
    match wire::exchange(address(target), &Request::get("/v1/agent/self")) {
        Outcome::Reply(reply) => {
            let own: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
            own.pointer("/Stats/consul/leader") == Some(&json!("true"))
        }
        _ => false,
    }
}
