//! Prints what a server of this machine's own code replies to the inputs of a file, in hexadecimal digits, one reply a line.
//! The module's replies are compared with them.

use std::error::Error;
use std::io::Write;

use proconsul_wasm::played;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: outputs FILE")?;
    let inputs: Vec<(u64, u32, u64, String)> = serde_json::from_slice(&std::fs::read(path)?)?;
    let mut out = std::io::stdout().lock();
    for reply in played(&inputs) {
        for byte in reply {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
