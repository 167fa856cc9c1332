//! Reads that wait, are cached, or choose how consistent they are (kv.md 5 and 6).

mod blocking;
mod cached;
mod catalog_kept;
mod consistency;
