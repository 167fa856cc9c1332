//! What changed between releases of Go.

/// Which of Go's rules hold where newer releases are stricter.
#[derive(Clone, Copy, Debug)]
pub struct Strictness {
    /// Heads are taken as newer Go takes them.
    pub heads: bool,
    /// Chunks are taken as newer Go takes them.
    pub chunks: bool,
}
