//! The differences between releases of Go.

/// Whether the stricter rules of newer Go releases apply.
#[derive(Clone, Copy, Debug)]
pub struct Strictness {
    /// To heads. They also let a HEAD have a body.
    pub heads: bool,
    /// To chunked bodies.
    pub chunks: bool,
}
