//! The table of figures: what they are called, what is asked of them, and how they are measured.

use crate::load::fill;
use crate::load::scripts::Operation::{Folders, Get, GetAmong, Lock, Put, Recurse, Session, Txn};
use crate::measure::throughput::{measure, simple};
use crate::measure::{acl, blocking, builds, embedded, scale, start};
use crate::servers::{Setting, Turns};
use crate::table::Asked::{self, AtLeast, AtMost};
use crate::table::Of::{Bare, Consul, Itself};
use crate::table::{Figure, Unit};

/// Figures that are measured together.
pub(crate) struct Measurement {
    /// Whether it takes minutes, for which there is no time in a quick run.
    pub(crate) takes_minutes: bool,
    pub(crate) measure: fn(&Setting) -> Turns,
    /// The figures, and which number of a sample is each one's.
    pub(crate) figures: &'static [(usize, Figure)],
}

const fn figure(name: &'static str, unit: Unit, asked: Asked) -> Figure {
    Figure { name, unit, asked }
}

const fn quick(measure: fn(&Setting) -> Turns, figures: &'static [(usize, Figure)]) -> Measurement {
    Measurement {
        takes_minutes: false,
        measure,
        figures,
    }
}

const fn slow(measure: fn(&Setting) -> Turns, figures: &'static [(usize, Figure)]) -> Measurement {
    Measurement {
        takes_minutes: true,
        measure,
        figures,
    }
}

/// The numbers of `throughput`'s samples.
const RATE: usize = 0;
const CPU: usize = 1;
const HALF: usize = 2;
const SLOW: usize = 3;

/// All figures, in the order of the table.
#[rustfmt::skip]
pub(crate) const MEASUREMENTS: &[Measurement] = &[
    quick(|setting| simple(setting, Get, 64), &[
        (RATE, figure("GET of 100 B, 64 connections: rate", Unit::PerSecond, AtLeast(0.95, Bare))),
        (CPU, figure("GET of 100 B, 64 connections: CPU", Unit::Microseconds, AtMost(1.1, Bare))),
    ]),
    quick(|setting| simple(setting, Put, 64), &[
        (RATE, figure("PUT of 100 B, 64 connections: rate", Unit::PerSecond, AtLeast(0.95, Bare))),
        (CPU, figure("PUT of 100 B, 64 connections: CPU", Unit::Microseconds, AtMost(1.1, Bare))),
    ]),
    quick(|setting| simple(setting, Get, 8), &[
        (RATE, figure("GET of 100 B, 8 connections: rate", Unit::PerSecond, AtLeast(0.9, Bare))),
        (SLOW, figure("GET of 100 B, 8 connections: p99.9", Unit::Microseconds, AtMost(2.0, Bare))),
    ]),
    quick(|setting| simple(setting, Put, 8), &[
        (RATE, figure("PUT of 100 B, 8 connections: rate", Unit::PerSecond, AtLeast(0.9, Bare))),
        (SLOW, figure("PUT of 100 B, 8 connections: p99.9", Unit::Microseconds, AtMost(2.0, Bare))),
    ]),
    quick(|setting| measure(setting, GetAmong(10_000), 1, |process| fill::keys(process, 10_000)), &[
        (HALF, figure("one connection: p50 of GET, beside Consul", Unit::Microseconds, AtMost(1.0, Consul))),
    ]),
    quick(|setting| simple(setting, Txn, 64), &[
        (RATE, figure("transaction of ten sets, 64 connections", Unit::PerSecond, AtLeast(0.55, Bare))),
    ]),
    quick(|setting| simple(setting, Recurse, 8), &[
        (RATE, figure("recurse of 100 keys, 8 connections", Unit::PerSecond, AtLeast(0.7, Bare))),
    ]),
    quick(|setting| simple(setting, Recurse, 64), &[
        (RATE, figure("recurse of 100 keys, 64 connections", Unit::PerSecond, AtLeast(0.7, Bare))),
    ]),
    quick(|setting| simple(setting, Lock, 64), &[
        (RATE, figure("acquire and release, 64 connections", Unit::PerSecond, AtLeast(0.85, Bare))),
    ]),
    quick(|setting| simple(setting, Session, 64), &[
        (RATE, figure("session create and destroy, 64 connections", Unit::PerSecond, AtLeast(0.85, Bare))),
    ]),
    quick(blocking::waking, &[
        (0, figure("5,000 waiters on one key, all answered", Unit::Milliseconds, AtMost(1.15, Bare))),
        (1, figure("memory of a waiting connection", Unit::KiB, AtMost(8.0, Itself))),
    ]),
    quick(|setting| measure(setting, Folders(""), 1, |process| fill::folders(process, 100_000, 100, "")), &[
        (HALF, figure("`keys?separator=/` where 100,000 keys lie in 100 folders", Unit::Microseconds, AtMost(300.0, Itself))),
    ]),
    quick(|setting| measure(setting, Folders("app/"), 1, |process| fill::folders(process, 100_000, 100, "app/")), &[
        (HALF, figure("`app/?keys&separator=/` where 100,000 keys lie in 100 folders", Unit::Microseconds, AtMost(300.0, Itself))),
    ]),
    slow(scale::million, &[
        (1, figure("a GET among a million keys against one of the only key, CPU", Unit::Times, AtMost(1.1, Itself))),
        (0, figure("a million keys of 100 B", Unit::MiB, AtMost(260.0, Itself))),
    ]),
    quick(scale::delete_tree, &[
        (0, figure("delete-tree of 100,000 keys", Unit::Milliseconds, AtMost(25.0, Itself))),
    ]),
    slow(scale::beside_delete_tree, &[
        (0, figure("a GET beside delete-tree of 600,000 keys, longest wait", Unit::Milliseconds, AtMost(5.0, Itself))),
    ]),
    quick(start::first_put, &[
        (0, figure("start to first PUT", Unit::Milliseconds, AtMost(1.1, Bare))),
        (1, figure("CPU from exec to first PUT", Unit::Milliseconds, AtMost(1.2, Bare))),
    ]),
    quick(start::idle, &[
        (0, figure("idle agent: private memory", Unit::MiB, AtMost(0.45, Itself))),
    ]),
    quick(start::binary, &[
        (0, figure("binary without the page's files", Unit::MiB, AtMost(6.0, Itself))),
    ]),
    quick(embedded::measure, &[
        (0, figure("1,000 embedded servers: memory", Unit::MiB, AtMost(40.0, Itself))),
        (1, figure("1,000 embedded servers: start, lock, stop of all", Unit::Milliseconds, AtMost(250.0, Itself))),
        (2, figure("a test that loses a lock by TTL and lock-delay, frozen, with its server", Unit::Milliseconds, AtMost(0.4, Itself))),
    ]),
    quick(embedded::agents, &[
        (0, figure("an embedded server of three agents: start", Unit::Milliseconds, AtMost(3.0, Itself))),
        (1, figure("an embedded server of three agents: memory beyond that of one", Unit::MiB, AtMost(0.3, Itself))),
    ]),
    slow(builds::embedder, &[
        (0, figure("an embedder's clean debug build (`default-features = false`): CPU", Unit::Seconds, AtMost(30.0, Itself))),
        (1, figure("an embedder's clean debug build: packages", Unit::Count, AtMost(45.0, Itself))),
    ]),
    slow(builds::release, &[
        (0, figure("clean release build of the binary: CPU", Unit::Seconds, AtMost(110.0, Itself))),
    ]),
    quick(acl::guarded, &[
        (0, figure("GET with ACLs, a policy of ten rules, against without: CPU", Unit::Times, AtMost(1.2, Itself))),
    ]),
];
