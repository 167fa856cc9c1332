//! Links the binary at a fixed address, where Linux's linkers can.
//!
//! A program that can lie anywhere first writes 35,000 addresses into its tables of pointers: 0.4 ms of its start, and 0.6 MiB of
//! memory of its own that would otherwise be shared with the file (server/benches/README.md). Libraries, heap and stacks still
//! lie elsewhere at each start. Tests and whoever embeds a server are linked as they always were.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has_binary = env::var_os("CARGO_FEATURE_CLI").is_some();
    let setting = |name| env::var(name).unwrap_or_default();
    let for_glibc =
        setting("CARGO_CFG_TARGET_OS") == "linux" && setting("CARGO_CFG_TARGET_ENV") == "gnu";
    // A static program says by itself how it is linked (server/packaging/binary).
    let is_static = setting("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    if has_binary && for_glibc && !is_static {
        println!("cargo::rustc-link-arg-bin=proconsul=-no-pie");
    }
}
