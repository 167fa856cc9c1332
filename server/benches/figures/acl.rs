//! What ACLs cost: a GET with a token whose policy has ten rules, beside the same GET on a server without ACLs.

use std::time::Duration;

use crate::load::scripts::{Operation, prepare};
use crate::load::wire::{Answer, Caller};
use crate::load::{Load, Script};
use crate::servers::process::{Kind, Process, consul_program};
use crate::table::{Row, Target, Unit, median_ratio};

/// How often each server has its turn.
const ROUNDS: usize = 15;
/// How long a turn is.
const TURN: Duration = Duration::from_millis(300);
/// How many connections ask at once.
const CONNECTIONS: usize = 8;
const FIGURE: &str = "GET 100 B with ACLs, a policy of ten rules, against without, CPU";
/// The token that may read what is asked for.
const READER: &str = "aaaaaaaa-1111-4222-8333-444444444444";
/// The name of the policy of ten rules.
const POLICY: &str = "ten-rules";

/// The row, if its name or its group contains `filter`.
pub(crate) fn rows(filter: &str, print: &mut dyn FnMut(Row)) {
    if !FIGURE.contains(filter) && !"acl".contains(filter) {
        return;
    }
    print(Row {
        figure: FIGURE.to_owned(),
        target: Target::AtMost(1.2),
        unit: Unit::Times,
        proconsul: with_against_without(Kind::Proconsul),
        bare: None,
        consul: consul_program().map(|_| with_against_without(Kind::Consul)),
        ratio: None,
    });
}

/// CPU per GET with ACLs divided by that without: the median over turns.
fn with_against_without(kind: Kind) -> f64 {
    let (plain, guarded) = (Process::start(kind), Process::start_with_acls(kind));
    prepare(plain.address);
    prepare(guarded.address);
    make_reader(&guarded);
    let (mut without, mut with) = (load(&plain, false), load(&guarded, true));
    let turn = |process: &Process, load: &mut Load| {
        let before = process.cpu();
        let round = load.run(TURN);
        (process.cpu() - before).as_secs_f64() / round.operations as f64
    };
    let turns = (0..ROUNDS).map(|_| (turn(&guarded, &mut with), turn(&plain, &mut without)));
    median_ratio(turns)
}

fn load(process: &Process, has_token: bool) -> Load {
    let script = |connection| -> Box<dyn Script> {
        let script = Operation::Get.script(process.address, connection);
        if has_token {
            Box::new(WithToken(script))
        } else {
            script
        }
    };
    Load::connect(process.address, (0..CONNECTIONS).map(script).collect())
}

/// Makes the policy and the token, and takes away the right of requests that have no token.
fn make_reader(process: &Process) {
    let mut caller = Caller::connect(process.address).expect("the server accepts connections");
    let others = ["a", "b", "get/a", "get/kez", "put/", "tree/", "session/"];
    let others =
        others.map(|prefix| format!(r#"key_prefix \"{prefix}\" {{ policy = \"write\" }} "#));
    let rules = others.concat()
        + r#"session_prefix \"\" { policy = \"write\" } service \"web\" { policy = \"write\" } "#
        + r#"key_prefix \"get/\" { policy = \"read\" }"#;
    let policy = format!(r#"{{"Name":"{POLICY}","Rules":"{rules}"}}"#);
    caller.expect("PUT", "/v1/acl/policy", policy.as_bytes());
    let token = format!(r#"{{"SecretID":"{READER}","Policies":[{{"Name":"{POLICY}"}}]}}"#);
    caller.expect("PUT", "/v1/acl/token", token.as_bytes());
    caller.expect("PUT", "/v1/agent/token/default", br#"{"Token":""}"#);
}

/// A script that asks with the token of the reader.
struct WithToken(Box<dyn Script>);

impl Script for WithToken {
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>) {
        self.0.next_request(last, out);
        let end = out.len() - b"\r\n".len();
        out.truncate(end);
        out.extend_from_slice(format!("X-Consul-Token: {READER}\r\n\r\n").as_bytes());
    }
}
