//! Runs a script on a store.

use std::collections::BTreeMap;

use super::super::any::{Answer, Command};
use super::Step;
use super::command::{Instruction, Read, parse};
use super::outcome;
use crate::blocking::WaitState;
use proconsul_store::timestamp::Timestamp;
use proconsul_store::watch::{Registry, WaiterId};
use proconsul_store::{
    Deadline, Index, NewCheck, NewNode, Registration, Store, Touched, VersionRules,
};

/// A store, the time, and the waiters.
pub(in crate::engine::tests::store) struct Run {
    store: Store,
    now: Timestamp,
    registry: Registry<String>,
    waiting: BTreeMap<String, Waiting>,
}

/// A pending blocking query.
struct Waiting {
    id: WaiterId,
    read: Read,
    looks: WaitState,
    latest: Answer,
}

impl Run {
    pub(in crate::engine::tests::store) fn new(rules: VersionRules) -> Self {
        let mut store = Store::new(rules, Index(9));
        let agent = Registration {
            node: NewNode {
                node: "n1".to_owned(),
                address: "127.0.0.1".to_owned(),
                ..NewNode::default()
            },
            checks: vec![NewCheck {
                check_id: "serfHealth".to_owned(),
                name: "serfHealth".to_owned(),
                status: "passing".to_owned(),
                ..NewCheck::default()
            }],
            ..Registration::default()
        };
        let registered = store.apply(Timestamp::ZERO, agent);
        registered.result.expect("an agent registers itself");
        Self {
            store,
            now: Timestamp::ZERO,
            registry: Registry::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// Runs all steps, up to the first with an unexpected outcome.
    pub(in crate::engine::tests::store) fn steps(&mut self, steps: &[Step]) -> Result<(), String> {
        for step in steps {
            let Step {
                line,
                command,
                expected,
                operations: _,
            } = step;
            let got = parse(step).and_then(|instruction| self.run(instruction));
            let got = got.map_err(|error| format!("line {line}: {command}: {error}"))?;
            if got != *expected {
                return Err(format!(
                    "line {line}: {command}\n  expected: {expected}\n  got:      {got}"
                ));
            }
        }
        Ok(())
    }

    fn run(&mut self, instruction: Instruction) -> Result<String, String> {
        Ok(match instruction {
            Instruction::Apply(command) => {
                let applied = command.apply(&mut self.store, self.now);
                let mut facts = vec![outcome::of_command(&applied)];
                facts.extend(self.answers(&applied.effects.touched));
                facts.join("; ")
            }
            Instruction::ReadTxn(operations) => {
                outcome::of_read_transaction(&self.store.read_transaction(self.now, operations))
            }
            Instruction::Read(read) => match read.query.look(&self.store) {
                Ok(answer) => outcome::of_read(&read, &answer),
                Err(refused) => format!("refused: {}", outcome::of_refused(&refused)),
            },
            Instruction::Wait(name, read, index) => self.wait(name, read, index)?,
            Instruction::Stop(name) => {
                let waiting = self.waiting.remove(&name);
                let waiting = waiting.ok_or_else(|| format!("{name} does not wait"))?;
                self.registry.deregister(waiting.id, &waiting.latest.reads);
                outcome::of_read(&waiting.read, &waiting.latest)
            }
            Instruction::Lower(by) => {
                self.store.lower_indexes(by);
                format!("index {}", self.store.applied())
            }
            Instruction::Tick(passed) => self.tick(self.now.plus(passed)),
        })
    }

    fn tick(&mut self, until: Timestamp) -> String {
        let mut facts = Vec::new();
        while let Some((deadline, due)) = self.store.due(until) {
            let what = match &due {
                Deadline::EndLockDelay(key) => format!("lock-delay of {key} is over"),
                Deadline::ReapTombstones(up_to) => format!("reaped up to {up_to}"),
                other => format!("{other:?}"),
            };
            let applied = Command::Due(due).apply(&mut self.store, deadline);
            facts.push(outcome::of_deadline(&what, &applied.effects));
            facts.extend(self.answers(&applied.effects.touched));
        }
        self.now = until;
        if facts.is_empty() {
            facts.push("nothing due".to_owned());
        }
        facts.join("; ")
    }

    fn wait(&mut self, name: String, read: Read, index: Index) -> Result<String, String> {
        let mut looks = WaitState::new(index);
        let latest = self.look(&read)?;
        if looks.are_over_with(&latest) {
            return Ok(outcome::of_read(&read, &latest));
        }
        let id = self.registry.admit();
        self.registry.register(id, &name, &latest.reads);
        let waiting = Waiting {
            id,
            read,
            looks,
            latest,
        };
        self.waiting.insert(name, waiting);
        Ok("waits".to_owned())
    }

    fn look(&self, read: &Read) -> Result<Answer, String> {
        let answer = read.query.look(&self.store);
        answer.map_err(|refused| outcome::of_refused(&refused))
    }

    /// Repeats the reads of woken waiters. Returns the answers that end waits.
    fn answers(&mut self, touched: &[Touched]) -> Vec<String> {
        let mut answers = Vec::new();
        for name in self.registry.concerned(touched) {
            let mut waiting = self.waiting.remove(&name).expect("who waits is registered");
            let answer = self
                .look(&waiting.read)
                .expect("a wait began with such a look");
            self.registry.deregister(waiting.id, &waiting.latest.reads);
            waiting.latest = answer;
            if waiting.looks.are_over_with(&waiting.latest) {
                let answer = outcome::of_read(&waiting.read, &waiting.latest);
                answers.push(format!("{name}: {answer}"));
            } else {
                self.registry
                    .register(waiting.id, &name, &waiting.latest.reads);
                self.waiting.insert(name, waiting);
            }
        }
        answers
    }
}
