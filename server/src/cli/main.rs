//! The command `proconsul`, which also answers to the name `consul`.

use std::process::ExitCode;

fn main() -> ExitCode {
    proconsul::cli::main()
}
