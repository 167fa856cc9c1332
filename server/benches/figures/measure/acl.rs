//! What ACLs cost: a GET with a token whose policy has ten rules, beside the same GET on a server without ACLs.

use crate::load::scripts::{Operation, prepare};
use crate::load::wire::Answer;
use crate::load::{Load, Script};
use crate::servers::process::Process;
use crate::servers::{Kind, Setting, Turns};

/// How often each server has its turn.
const ROUNDS: usize = 13;
/// How many connections ask at once.
const CONNECTIONS: usize = 8;
/// The token that may read what is asked for.
const READER: &str = "aaaaaaaa-1111-4222-8333-444444444444";
/// The name of the policy of ten rules.
const POLICY: &str = "ten-rules";
/// A server on which requests without a token may do everything until that is taken away.
const ACLS: &str =
    r#"acl { enabled = true default_policy = "deny" tokens { master = "root" default = "root" } }"#;

/// CPU per GET with ACLs divided by that without.
pub(crate) fn guarded(setting: &Setting) -> Turns {
    let start = |kind| {
        let (plain, guarded) = (
            setting.start(kind),
            setting.start_with(kind, &["-hcl", ACLS]),
        );
        prepare(&plain);
        prepare(&guarded);
        make_reader(&guarded);
        let loads = [load(&plain, false), load(&guarded, true)];
        ([plain, guarded], loads)
    };
    let rounds = setting.rounds(ROUNDS);
    setting.interleaved(&Kind::REAL, rounds, start, |(processes, loads)| {
        let [without, with] = [0, 1].map(|which: usize| {
            let (process, load) = (&processes[which], &mut loads[which]);
            let (cpu, round) = process.cpu_during(|| load.run(setting.turn()));
            cpu / round.operations as f64
        });
        vec![with / without]
    })
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
    let mut caller = process.caller();
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
