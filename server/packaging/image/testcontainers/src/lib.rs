//! Nothing: see `tests/`.
