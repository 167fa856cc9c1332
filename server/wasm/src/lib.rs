//! proconsul as WebAssembly. One instance is one server; `README.md` has the interface for those who host it.
//!
//! The functions can be called natively, too, one server for each thread: so the module's outputs are compared with those of
//! the same code outside it.

#![allow(
    unsafe_code,
    reason = "exported functions have names that nothing else in the module may have"
)]

mod explore;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use proconsul_config::Config;
use proconsul_core::control::Controls;
use proconsul_core::dns::Transport;
use proconsul_core::{Input, Machine, Output, head_of};
use serde_json::{Value, json};

use explore::Explore;

/// The version of the interface. It changes when a host has to.
const VERSION: u32 = 1;

/// The kinds of inputs.
mod input {
    pub(super) const CONNECT: u32 = 0;
    pub(super) const BYTES: u32 = 1;
    pub(super) const END: u32 = 2;
    pub(super) const RESET: u32 = 3;
    pub(super) const TIME: u32 = 4;
    pub(super) const REQUEST: u32 = 5;
    pub(super) const REQUEST_FROM: u32 = 6;
    pub(super) const BELIEVES: u32 = 7;
    pub(super) const ENDED: u32 = 8;
    pub(super) const DATAGRAM: u32 = 9;
    pub(super) const MESSAGE: u32 = 10;
}

/// The kinds of outputs.
mod output {
    pub(crate) const BYTES: u8 = 1;
    pub(crate) const FIN: u8 = 2;
    pub(crate) const RESET: u8 = 3;
    pub(crate) const DEADLINE: u8 = 4;
    pub(crate) const RESPONSE: u8 = 5;
    pub(crate) const CONTENDER: u8 = 6;
    pub(crate) const OVER: u8 = 7;
    pub(crate) const ANSWER: u8 = 8;
}

#[derive(Default)]
struct Instance {
    machine: Option<Machine>,
    /// What the host writes.
    given: Vec<u8>,
    /// What the host reads.
    reply: Vec<u8>,
    explore: Explore,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

#[cfg(target_family = "wasm")]
mod host {
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        /// Takes the text of a panic. The instance cannot be used any more.
        pub(super) safe fn panic(text: *const u8, length: usize);
    }

    pub(super) fn tell_panics() {
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            panic(text.as_ptr(), text.len());
        }));
    }
}

#[cfg(not(target_family = "wasm"))]
mod host {
    pub(super) fn tell_panics() {}
}

/// Returns the version of this interface.
#[unsafe(no_mangle)]
pub extern "C" fn abi_version() -> u32 {
    VERSION
}

/// Returns where the host writes `length` bytes for the next call.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(length: usize) -> *mut u8 {
    INSTANCE.with_borrow_mut(|instance| {
        instance.given.clear();
        instance.given.resize(length, 0);
        instance.given.as_mut_ptr()
    })
}

/// Returns where the reply of the last call begins.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    INSTANCE.with_borrow(|instance| instance.reply.as_ptr())
}

/// Makes the server of this instance, in place of an earlier one. The buffer has the arguments of `proconsul agent` as a JSON
/// array of strings. `seed` is the seed if they name none; `wall` is the wall clock now, in nanoseconds since the Unix epoch.
/// Returns the length of the reply: 0, or that of a sentence about an invalid argument.
#[unsafe(no_mangle)]
pub extern "C" fn create(seed: u64, wall: u64) -> usize {
    host::tell_panics();
    INSTANCE.with_borrow_mut(|instance| {
        let config = configured(&instance.given);
        instance.given.clear();
        instance.reply.clear();
        match config {
            Ok(mut config) => {
                instance.explore.configure(&mut config);
                let seed = config.seed.unwrap_or(seed);
                instance.explore.forget_run();
                instance.machine = Some(Machine::new(&config, seed, Duration::from_nanos(wall)));
            }
            Err(text) => instance.reply.extend_from_slice(text.as_bytes()),
        }
        instance.reply.len()
    })
}

fn configured(arguments: &[u8]) -> Result<Config, String> {
    let arguments: Vec<String> = serde_json::from_slice(arguments)
        .map_err(|error| format!("the arguments are no JSON array of strings: {error}"))?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let config = Config::from_arguments(&arguments).map_err(|error| error.to_string())?;
    config.check_definitions()?;
    Ok(config)
}

/// Returns how many agents the server has, those of joined datacenters counted on; 0 without a server.
#[unsafe(no_mangle)]
pub extern "C" fn agents() -> usize {
    INSTANCE.with_borrow(|instance| instance.machine.as_ref().map_or(0, Machine::agents))
}

/// Gives the server an input at `now`, in nanoseconds since it was made: of `kind` 0 a connection from the address in the
/// buffer, 1 the bytes in the buffer, 2 the end of what the client sends, 3 its reset, 4 nothing but the time, 5 a request
/// without a connection, 6 one from an address, 7 what a contender believes, 8 the end of a contender, 9 a question of DNS in a
/// datagram, 10 one on a connection. 256 times the number of an agent is added to 0, 5, 6, 9 and 10. Returns the length of the
/// reply: the outputs, and the next deadline.
///
/// # Panics
/// There is no server, or no such kind or agent, or the bytes are not what the kind has.
#[unsafe(no_mangle)]
pub extern "C" fn input(now: u64, kind: u32, connection: u64) -> usize {
    INSTANCE.with_borrow_mut(|instance| {
        let Instance {
            machine,
            given,
            reply,
            explore,
        } = instance;
        let Some(machine) = machine.as_mut() else {
            host::tell_panics();
            panic!("`create` comes first");
        };
        let now = Duration::from_nanos(now);
        let agent = (kind >> 8) as usize;
        let input = match kind & 0xFF {
            input::CONNECT => Input::Connect(connection, address(given)),
            input::BYTES => Input::Bytes(connection, given),
            input::END => Input::End(connection),
            input::RESET => Input::Reset(connection),
            input::TIME => Input::Time,
            input::REQUEST => Input::Request(connection, None, given),
            input::REQUEST_FROM => {
                let (from, request) = after_address(given);
                Input::Request(connection, from, request)
            }
            input::DATAGRAM => {
                let (from, question) = after_address(given);
                Input::Question(connection, from, Transport::Udp, question)
            }
            input::MESSAGE => {
                let (from, question) = after_address(given);
                Input::Question(connection, from, Transport::Tcp, question)
            }
            input::BELIEVES => {
                explore::believe(controls_at(machine, now), connection, given);
                Input::Time
            }
            input::ENDED => {
                explore::ended(controls_at(machine, now), connection, given);
                Input::Time
            }
            kind => panic!("there is no input of kind {kind}"),
        };
        let agent = match input {
            Input::Connect(_, peer) | Input::Request(_, peer, _) | Input::Question(_, peer, ..) => {
                peer.and_then(|peer| explore.agent_of(peer))
                    .unwrap_or(agent)
            }
            _ => 0,
        };
        reply.clear();
        for one in machine.input_to(agent, now, input) {
            match one {
                Output::Bytes(id, bytes) => push(reply, output::BYTES, id, &bytes),
                Output::Closed(id, how) => {
                    let kind = match how {
                        proconsul_core::Closed::Fin => output::FIN,
                        proconsul_core::Closed::Reset => output::RESET,
                    };
                    push(reply, kind, id, &[]);
                }
                Output::Response(id, None) | Output::Answer(id, None) => {
                    push(reply, output::RESET, id, &[]);
                }
                Output::Answer(id, Some(answer)) => push(reply, output::ANSWER, id, &answer),
                Output::Response(id, Some(response)) => {
                    let text = [&head_of(&response)[..], response.body()].concat();
                    push(reply, output::RESPONSE, id, &text);
                }
            }
        }
        given.clear();
        for (kind, number, text) in explore.orders() {
            push(reply, kind, number, text.as_bytes());
        }
        if let Some(deadline) = machine.deadline() {
            let at = u64::try_from(deadline.at.as_nanos()).unwrap_or(u64::MAX);
            let cause = deadline.cause.to_string();
            push(reply, output::DEADLINE, at, cause.as_bytes());
        }
        reply.len()
    })
}

/// Returns the address of a client and what comes behind it and a line feed.
fn after_address(given: &[u8]) -> (Option<SocketAddr>, &[u8]) {
    let end = given.iter().position(|byte| *byte == b'\n');
    let (from, rest) = given.split_at(end.expect("an address comes first"));
    (address(from), &rest[1..])
}

/// Reads the address of a client; `None` if there is none.
fn address(bytes: &[u8]) -> Option<SocketAddr> {
    let text = String::from_utf8_lossy(bytes);
    let read = || text.parse().expect("a client has an address and a port");
    (!text.is_empty()).then(read)
}

/// Moves the time of the server, and returns its controls. What comes out then is in the next reply.
fn controls_at(machine: &mut Machine, now: Duration) -> &Controls {
    drop(machine.input(now, Input::Time));
    let controls = machine.controls();
    controls.expect("the server has no controls: it wants -control")
}

/// Adds an output: its kind, its number and the length of its bytes in little-endian order, its bytes.
fn push(reply: &mut Vec<u8>, kind: u8, number: u64, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("a module has less memory");
    reply.push(kind);
    reply.extend_from_slice(&number.to_le_bytes());
    reply.extend_from_slice(&length.to_le_bytes());
    reply.extend_from_slice(bytes);
}

/// Replies with what a call returns, or with its error.
fn replied(call: impl FnOnce(&mut Instance) -> Result<Value, String>) -> usize {
    INSTANCE.with_borrow_mut(|instance| {
        let reply = call(instance).unwrap_or_else(|error| json!({ "error": error }));
        instance.given.clear();
        instance.reply = reply.to_string().into_bytes();
        instance.reply.len()
    })
}

/// Begins a search, in place of an earlier one. The buffer has what is searched, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn search_new() -> usize {
    host::tell_panics();
    replied(|instance| instance.explore.new_search(&instance.given))
}

/// Replies with the next run to make.
#[unsafe(no_mangle)]
pub extern "C" fn search_next() -> usize {
    replied(|instance| instance.explore.next())
}

/// Lets the schedule of this run direct the server of this instance, which is new.
#[unsafe(no_mangle)]
pub extern "C" fn run_begin() -> usize {
    replied(|instance| instance.explore.begin(instance.machine.as_mut()))
}

/// Replies with what the run has recorded so far.
#[unsafe(no_mangle)]
pub extern "C" fn run_recorded() -> usize {
    replied(|instance| instance.explore.recorded())
}

/// Ends the run, and replies with what it breaks.
#[unsafe(no_mangle)]
pub extern "C" fn run_done() -> usize {
    replied(|instance| instance.explore.done())
}

/// Replies with what the search has found. It took this long, and this long until something was found, in nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn search_report(took: u64, found_after: u64) -> usize {
    replied(|instance| instance.explore.report(took, found_after))
}

/// Makes a server with the seed 7 on 2026-01-01, gives it inputs (the time, the kind, the connection, the bytes), and returns
/// its replies.
#[cfg(not(target_family = "wasm"))]
#[must_use]
pub fn played(inputs: &[(u64, u32, u64, String)]) -> Vec<Vec<u8>> {
    let give = |bytes: &[u8]| INSTANCE.with_borrow_mut(|instance| instance.given = bytes.to_vec());
    // The name of the machine is nothing that the module knows.
    give(br#"["-dev", "-control", "-node=n1", "-hcl=telemetry{disable_hostname=true}"]"#);
    create(7, 1_767_225_600_000_000_000);
    let reply = |(now, kind, connection, bytes): &(u64, u32, u64, String)| {
        give(bytes.as_bytes());
        input(*now, *kind, *connection);
        INSTANCE.with_borrow(|instance| instance.reply.clone())
    };
    inputs.iter().map(reply).collect()
}

#[cfg(test)]
mod tests {
    use super::{INSTANCE, agents, buffer, create, input, output, played};

    #[test]
    fn the_inputs_come_to_what_they_are_to_show() {
        let inputs = include_str!("../inputs.json");
        let inputs: Vec<_> = serde_json::from_str(inputs).expect("they are JSON");
        let replies = played(&inputs);
        let texts: Vec<_> = replies
            .iter()
            .map(|reply| String::from_utf8_lossy(reply))
            .collect();
        let all = texts.concat();
        // A name that is found, and one that is not.
        for (reply, code) in replies[replies.len() - 2..].iter().zip([0, 3]) {
            assert_eq!(reply[0], output::ANSWER);
            assert_eq!(reply[13 + 3] & 0xf, code);
        }
        assert!(texts.iter().all(|text| !text.contains(" 400 ")), "{all}");
        for shown in [
            "\"ID\"",
            "lapses",
            "X-Consul-Index",
            "session-ended",
            "\"Gauges\"",
            "\"n1\"",
            "127.0.1.1",
            "127.0.1.2",
            "\"belief\"",
            "a ended by itself: its function has returned",
        ] {
            assert!(all.contains(shown), "no {shown} in {all}");
        }
    }

    #[test]
    fn an_input_names_its_agent() {
        let give =
            |bytes: &[u8]| INSTANCE.with_borrow_mut(|instance| instance.given = bytes.to_vec());
        give(br#"["-dev", "-node=n1", "-agents=2", "-datacenters=dc1,dc2"]"#);
        assert_eq!(create(7, 0), 0);
        assert_eq!(agents(), 4);
        for (agent, name) in ["n1", "n1-1", "dc2-n1", "dc2-n1-1"].iter().enumerate() {
            give(b"GET /v1/agent/self HTTP/1.1\r\nHost: x\r\n\r\n");
            let kind = input::REQUEST + 256 * u32::try_from(agent).expect("few");
            super::input(0, kind, 1);
            let reply = INSTANCE.with_borrow(|instance| instance.reply.clone());
            let reply = String::from_utf8_lossy(&reply);
            assert!(
                reply.contains(&format!("\"NodeName\": \"{name}\"")),
                "{reply}"
            );
        }
    }

    #[test]
    fn invalid_arguments_are_said() {
        for (arguments, said) in [
            (r#"["-dev", "-hcl=node_nam = 1"]"#, "node_nam"),
            (r#"["-dve"]"#, "flag provided but not defined: -dve"),
            ("-dev", "the arguments are no JSON array of strings"),
            (r#"["-dev", "-config-file=a.hcl"]"#, "a.hcl"),
        ] {
            buffer(0);
            INSTANCE.with_borrow_mut(|instance| instance.given = arguments.as_bytes().to_vec());
            assert!(create(7, 0) > 0, "{arguments}");
            let text = INSTANCE.with_borrow(|instance| instance.reply.clone());
            let text = String::from_utf8(text).expect("a text");
            assert!(text.contains(said), "{text}");
        }
    }
}
