//! The inspection page: a static file that asks the HTTP API.

/// The page at `/ui/`.
pub(crate) const PAGE: &str = include_str!("page.html");
