# The commands of this repository. `just` lists them; each also works as it is written here.

# Lists the commands.
default:
    @just --list

# Runs the server on port 8500.
run *ARGS:
    cargo run --release -- agent -dev {{ARGS}}

# Formats Rust and the web UI's JavaScript.
fmt:
    cargo fmt --all
    npx --yes @biomejs/biome@2.6.8 format --write

# Checks what a pull request needs before its tests.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test -p proconsul --test tidy

# Runs all tests.
test:
    cargo test --workspace

# Runs everything that CI runs, as root on Debian.
ci:
    .ci/run

# Lints the web UI's JavaScript.
ui:
    npx --yes @biomejs/biome@2.6.8 ci

# Checks spelling; `pip install typos` installs the program.
spelling:
    typos

# Checks licences, advisories and sources of dependencies.
deny:
    cargo deny check

# Checks each feature of the library alone.
features:
    for feature in $(sed -n 's/^default = \[\(.*\)\]/\1/p' server/Cargo.toml | tr -d '",'); do cargo clippy -p proconsul --lib --no-default-features --features "$feature" -- -D warnings || exit 1; done

# Checks the crates for Windows and macOS on any machine.
elsewhere:
    server/packaging/binary/check-elsewhere

# Checks with the oldest Rust that the crates promise to work with.
oldest:
    cargo "+$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)" check --workspace

# Builds the documentation of the crates and the book.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    mdbook build docs

# Runs the commands and programs of the book.
book:
    cargo test -p proconsul-cli --test book

# Downloads a real Consul on Debian and prints its path.
consul:
    conformance/fetch-consul

# Runs cases of the suite on proconsul.
cases FILTER="":
    cargo test -p proconsul-conformance --test emulator -- {{FILTER}}

# Runs cases of the suite on a real Consul.
cases-consul FILTER="":
    cargo test -p proconsul-conformance --test consul -- {{FILTER}}

# Shows how proconsul and a real Consul differ in some cases.
diff FILTER:
    cargo run -p proconsul-conformance -- diff consul 'target/debug/proconsul --as-version=1.8.7' {{FILTER}}

# Checks that the recordings still agree with the cases.
replay:
    cargo test -p proconsul-conformance --test replay

# Makes the generated tables of routes and endpoints, and the table of the suite.
tables:
    WRITE_ROUTES=1 cargo test -p proconsul --test tidy routes
    cargo run -p proconsul-conformance -- coverage

# Makes the controls of the helpers in other languages from the server's description.
controls:
    cargo build
    server/packaging/controls/generate target/debug/proconsul

# Makes the notices of third-party libraries.
notices:
    server/packaging/notices/generate

# Builds the WebAssembly module, and compares it in Node with the same code outside it.
wasm:
    server/wasm/test

# Builds the playground into target/playground, and tries it in Chromium.
playground:
    docs/playground/test

# Builds, installs and tests all packages, or those that are named.
packages *PARTS:
    server/packaging/test {{PARTS}}

# Runs the tests that take their time from a variable, for ten minutes or more.
long:
    PROCONSUL_WRITERS_SECONDS=600 cargo test -p proconsul --test control writers
    PROCONSUL_FUZZ_REQUESTS=1000000 cargo test -p proconsul-cli --test fuzz -- --nocapture
    PROCONSUL_ACL_QUESTIONS=100000 PROCONSUL_ACL_TEXTS=50000 cargo test -p proconsul --test acl
    PROCONSUL_SNAPSHOT_ARCHIVES=10000 cargo test -p proconsul --test http snapshots
    PROCONSUL_ELECTIONS=10000 cargo test --release -p proconsul --test in_runtime election
    PROCONSUL_EXPLORE_RUNS=100000 cargo test --release -p proconsul --test explore

# Searches other people's clients for their published bugs, and writes the table.
bugs:
    cargo build --release
    server/explore/bugs/run --write

# Measures the builds of the README and of an embedder, in an empty target folder.
builds *ARGS:
    .ci/builds {{ARGS}}

# Counts lines of code and tests by crate and topic.
lines *COMMIT:
    .ci/lines {{COMMIT}}
