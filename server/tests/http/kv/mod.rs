//! Keys (kv.md 1 to 3).

mod delete;
mod get;
mod keys;
mod lock;
mod path;
mod put;
mod raw;
mod rules;
