//! proconsul.
