//! The programs in `examples/`, run as they are: each asserts what it shows.

/// Runs each example's `main`.
macro_rules! examples {
    ($($name:ident $path:literal)*) => {
        $(
            #[path = $path]
            mod $name;

            #[test]
            fn $name() {
                $name::main().expect("the example asserts what it shows");
            }
        )*
    };
}

examples! {
    fault_and_retry "../examples/fault_and_retry.rs"
    fifty_servers "../examples/fifty_servers.rs"
    lock_lost_by_ttl "../examples/lock_lost_by_ttl.rs"
    on_a_real_consul "../examples/on_a_real_consul.rs"
    watch_with_barrier "../examples/watch_with_barrier.rs"
}

/// An example that is not run here shows something that nobody has tried.
#[test]
fn all_examples_are_run() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    let files = folder.expect("the examples stand there").count();
    assert_eq!(files, 5);
}
