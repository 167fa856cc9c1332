//! The verbs of what a service mesh is told: `config`, and `intention` (operator.md 4.6, 4.7).

pub(super) mod config;
pub(super) mod intention;
