//! Experiments on Consuls: what the conformance suite does not claim, but what shows whether it and the emulator are right.
//!
//! * [`sequence`] plays random operations on two servers and shrinks the first sequence that tells them apart.
//! * [`shadow`] passes a program's requests on to a real Consul, does the same at the emulator and compares.
//! * [`mutate`] alters one behaviour of a good server after the other, each of which a case of the suite must find out.
//!
//! Targets, the wire, the comparison of answers and reports are those of `proconsul-conformance`.

pub mod mutate;
pub mod sequence;
pub mod shadow;
