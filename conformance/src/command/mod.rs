//! Parts of command lines on which `proconsul-conformance` and `proconsul-lab` agree: which server is meant, and where reports go.

pub mod output;
pub mod target;
