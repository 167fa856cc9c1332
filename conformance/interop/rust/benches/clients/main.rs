//! What a request costs with proconsul-client and with rs-consul: the same requests to the same server, in turns.
//! See README.md beside this file.

mod allocations;
mod client;
mod figures;
mod raw;
mod server;
mod stopwatch;
mod table;

use std::time::Duration;

use figures::Effort;
use server::Server;

#[global_allocator]
static COUNTING: allocations::Counting = allocations::Counting;

fn main() {
    // Cargo says so when it is asked for figures; a test only wants to know that they can be had.
    let measure = std::env::args().any(|argument| argument == "--bench");
    let effort = if measure {
        Effort {
            rounds: 21,
            turn: Duration::from_millis(300),
            changes: 10,
        }
    } else {
        Effort {
            rounds: 1,
            turn: Duration::from_millis(5),
            changes: 1,
        }
    };
    let server = Server::find();
    println!("{}", table::HEAD);
    figures::print_all(&server.address, effort);
}
