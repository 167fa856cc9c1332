//! Verdicts over recorded runs: for each property runs that break it, and runs that nearly do.

mod beliefs;
mod known;
mod liveness;
mod locks;
mod reads;
mod requests;
mod runs;
mod words;
