//! Takes the test in Rust out of the README.

use std::path::Path;
use std::{env, fs};

fn main() {
    const README: &str = "../README.md";
    println!("cargo::rerun-if-changed={README}");
    let page = fs::read_to_string(README).expect("the README is beside this crate");
    let (_, rest) = page.split_once("```rust\n").expect("it has a test in Rust");
    let (test, _) = rest.split_once("```").expect("the test ends");
    let folder = env::var("OUT_DIR").expect("Cargo names a folder");
    fs::write(Path::new(&folder).join("readme.rs"), test).expect("the folder can be written");
}
