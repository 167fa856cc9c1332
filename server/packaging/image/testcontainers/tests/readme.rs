//! The README's test, which a machine with Docker can run.

include!(concat!(env!("OUT_DIR"), "/readme.rs"));
