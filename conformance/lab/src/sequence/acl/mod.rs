//! Sequences on servers with ACLs: policies, roles and tokens change between requests of all kinds, each of which is made
//! with some token (acl.md).

mod call;
mod caller;
mod grammar;
mod names;
mod play;

use proptest::prelude::*;

use self::grammar::{CALLERS, SLOTS};
use super::operation::{self, Operation};

pub use self::call::Call;
pub(super) use self::caller::Acl;
pub(super) use self::play::prepare;

/// Operations in the longest sequence behind its beginning, which costs much.
const LONGEST: usize = 80;
/// Steps that make something to be read, at most.
const MADE: usize = 10;
/// Who makes what is there at the beginning.
const MANAGER: &str = "header $G";

/// Sequences that begin with the making of policies, roles, tokens, and something to be read.
pub(super) fn sequences() -> impl Strategy<Value = Vec<Operation>> {
    use prop::collection::vec;
    let seed = || any::<u64>().no_shrink();
    let parts = (
        vec(seed(), 0..=SLOTS),
        vec(seed(), 0..=2_usize),
        vec(seed(), 0..=SLOTS),
        vec(seed(), 0..=MADE),
        vec(operation(), 1..=LONGEST),
    );
    parts.prop_map(|(policies, roles, tokens, things, rest)| {
        let made = [
            ("setpolicy", policies),
            ("setrole", roles),
            ("settoken", tokens),
            ("something", things),
        ];
        let made = made.into_iter().flat_map(|(name, seeds)| {
            let calls = seeds.into_iter().enumerate();
            calls.map(move |(at, seed)| Call::drawn(name, seed, Some(at % SLOTS)))
        });
        let made = made.map(|call| Operation::As(MANAGER, Box::new(Operation::Call(call))));
        made.chain(rest).collect()
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let requests = any::<u64>().no_shrink();
    let requests = requests.prop_map(|seed| Operation::Call(Call::drawn("request", seed, None)));
    let others = operation::simple_operation()
        .prop_filter("it may wait for a write that is refused", |step| {
            !matches!(step, Operation::Watch { .. })
        });
    let operation = prop_oneof![1 => requests, 1 => others];
    let caller = prop::sample::select(CALLERS);
    (caller, operation).prop_map(|(caller, operation)| Operation::As(caller, Box::new(operation)))
}
