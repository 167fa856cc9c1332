//! What the server costs: figures beside those of another commit, of a bare hyper server and of a real Consul, measured in turns
//! on the same machine, and whether they are good enough. See `server/benches/README.md`.

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(
    clippy::print_stderr,
    reason = "what it does meanwhile is not of the table"
)]
#![expect(
    clippy::cast_precision_loss,
    reason = "figures are read by people, and have far fewer digits than a float"
)]

mod cargo;
mod figures;
mod growth;
mod load;
mod measure;
mod servers;
mod stopwatch;
mod table;

use std::path::{Path, PathBuf};

use figures::{MEASUREMENTS, Measurement};
use measure::embedded;
use servers::other::Other;
use servers::{Setting, bare, process};
use table::Row;

const USAGE: &str = "\
cargo bench -p proconsul-cli --bench figures -- [options] [part of a figure's name]...
  --quick                two minutes: fewer turns, and nothing that takes minutes
  --growth               instead of the table, what figures come to at 10, 1,000 and 100,000; writes server/benches/growth.svg
  --against COMMIT       compare with a commit, which is built the first time
  --against-binary PATH  compare with a program
  --binary PATH          measure this program in place of the one of this build";

fn main() {
    // Cargo adds `--bench`.
    let arguments = std::env::args().skip(1);
    let arguments: Vec<String> = arguments.filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [process::SERVE_BARE, port, threads] => bare::run(
            port.parse().expect("a port is a number"),
            threads.parse().expect("threads are a number"),
        ),
        [embedded::EMBED] => println!("{}", embedded::embed()),
        [embedded::EMBED_AGENTS] => println!("{}", embedded::embed_agents()),
        _ => match Options::read(&words) {
            Some(options) => run(&options),
            None => println!("{USAGE}"),
        },
    }
}

struct Options {
    setting: Setting,
    /// The name of what is measured.
    this: String,
    grows: bool,
    /// Parts of the names of the figures that are wanted; empty where all are.
    wanted: Vec<String>,
}

impl Options {
    /// `None` where the arguments are not understood.
    fn read(words: &[&str]) -> Option<Self> {
        let head = cargo::git(&["describe", "--always", "--dirty", "--exclude=*"]);
        let mut options = Self {
            setting: Setting {
                this: env!("CARGO_BIN_EXE_proconsul").into(),
                other: None,
                consul: consul_program(),
                quick: false,
            },
            this: head.unwrap_or_default(),
            grows: false,
            wanted: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => options.setting.quick = true,
                "--growth" => options.grows = true,
                "--against" => options.setting.other = Some(Other::commit(words.next()?)),
                "--against-binary" => options.setting.other = Some(Other::binary(words.next()?)),
                "--binary" => {
                    options.this = (*words.next()?).to_owned();
                    options.setting.this = PathBuf::from(&options.this);
                }
                word if word.starts_with('-') => return None,
                word => options.wanted.push(word.to_owned()),
            }
        }
        Some(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|part| name.contains(part.as_str()))
    }
}

/// A real Consul 1.8.7: what `CONSUL_BIN` names, or what the repository's script has fetched. An empty `CONSUL_BIN` leaves Consul
/// out.
fn consul_program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CONSUL_BIN") {
        return (!named.is_empty()).then(|| named.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fetched = root.join("target/consul-1.8.7/usr/bin/consul");
    fetched.is_file().then_some(fetched)
}

fn run(options: &Options) {
    process::raise_open_file_limit();
    if options.grows {
        let drawn = growth::run(&options.setting, |name| options.wants(name));
        // A picture of some lines is not the one that the README shows.
        if options.wanted.is_empty() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/growth.svg");
            std::fs::write(path, growth::plot::draw(&drawn)).expect("the sources can be written");
        }
        return;
    }
    let other = options.setting.other.as_ref();
    println!(
        "{}",
        table::head(&options.this, other.map(|other| other.name.as_str()))
    );
    let mut left_out = Vec::new();
    for measurement in MEASUREMENTS {
        print(options, measurement, &mut left_out);
    }
    if options.setting.consul.is_none() {
        println!(
            "\nConsul: there is none (conformance/fetch-consul fetches one, CONSUL_BIN names one)."
        );
    }
    if other.is_some_and(|other| other.embedder.is_none()) {
        println!(
            "\nEmbedded servers of the other commit: only its binary is known, or this program does not compile with its library."
        );
    }
    if !left_out.is_empty() {
        println!(
            "\nLeft out, for they take minutes: {}.",
            left_out.join("; ")
        );
    }
}

/// Measures, and prints the rows that are wanted.
fn print(options: &Options, measurement: &Measurement, left_out: &mut Vec<&str>) {
    let figures = measurement.figures.iter();
    let wanted: Vec<_> = figures
        .filter(|(_, figure)| options.wants(figure.name))
        .collect();
    if options.setting.quick && measurement.takes_minutes {
        left_out.extend(wanted.iter().map(|(_, figure)| figure.name));
    } else if !wanted.is_empty() {
        let turns = &(measurement.measure)(&options.setting);
        for &&(column, ref figure) in &wanted {
            println!(
                "{}",
                Row {
                    figure,
                    turns,
                    column
                }
            );
        }
    }
}
