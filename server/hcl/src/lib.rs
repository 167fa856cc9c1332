//! HCL 1, the language of Consul's configuration files and ACL rules.
//!
//! The `hcl` crates read HCL 2, another language: it refuses `acl { enabled = true default_policy = "deny" }` on one
//! line and quoted names, both of which Consul's users write. Grammar and error texts were observed on 1.8.7.

mod error;
pub mod json;
mod layout;
mod parser;
pub mod syntax;
mod token;

pub use self::error::{HclError, MAX_DEPTH, Position, TOO_DEEP};
pub use self::layout::laid_out;
pub use self::parser::{Arguments, is_json, parse};
