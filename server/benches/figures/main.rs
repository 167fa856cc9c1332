//! What the server costs: figures beside those of a bare hyper server and of a real Consul, measured in turns on the
//! same machine, and whether they are good enough. See `server/benches/README.md`.

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(
    clippy::cast_precision_loss,
    reason = "figures are read by people, and have far fewer digits than a float"
)]

mod acl;
mod blocking;
mod embedded;
mod load;
mod scale;
mod servers;
mod services;
mod start;
mod stopwatch;
mod table;
mod throughput;

use table::Row;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [servers::process::SERVE_BARE, port] => {
            let port = port.parse().expect("a port is a number");
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build();
            let runtime = runtime.expect("the system gives threads");
            let served = runtime.block_on(servers::bare::serve(port));
            served.expect("the bare server serves");
        }
        _ => {
            // Cargo adds `--bench`.
            let filter = arguments
                .iter()
                .find(|argument| !argument.starts_with("--"));
            compare(filter.unwrap_or(&""));
        }
    }
}

fn compare(filter: &str) {
    servers::process::raise_open_file_limit();
    if servers::process::consul_program().is_none() {
        println!(
            "Consul: skipped, there is none (conformance/fetch-consul fetches one, CONSUL_BIN names one)"
        );
    }
    println!("{}", table::HEAD);
    let mut print = |row: Row| println!("{row}");
    throughput::rows(filter, &mut print);
    acl::rows(filter, &mut print);
    if "start".contains(filter) {
        start::rows(&mut print);
    }
    if "embedded".contains(filter) {
        embedded::rows(&mut print);
    }
    if "blocking".contains(filter) {
        blocking::rows(&mut print);
    }
    if "services".contains(filter) {
        services::rows(&mut print);
    }
    if "scale".contains(filter) {
        scale::rows(&mut print);
    }
}
