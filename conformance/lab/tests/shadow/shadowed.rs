//! Shadow in a test: a program's requests on a good server and on an emulator beside it, in this process.

use std::net::TcpListener;
use std::sync::Arc;

use proconsul::config::{Config, LogLevel};
use proconsul_conformance::target::site::Site;
use proconsul_conformance::wire::Address;
use proconsul_lab::mutate::{self, Mutant};
use proconsul_lab::shadow::{Findings, Place, Shadow};

/// An emulator that is as a server says of itself, as `shadow` would start it.
pub(crate) fn emulator_like(place: &Place) -> Site {
    let real = &place.real[0];
    let mode = if real.is_pretty() { "-dev" } else { "-server" };
    let (arguments, settings) = (place.arguments(), real.settings());
    let mut all = vec![mode, "-data-dir=unused", "-dns-port=-1", "-hcl", &settings];
    all.extend(arguments.iter().map(String::as_str));
    let config = Config::from_arguments(&all).expect("the emulator knows these settings");
    let config = Config {
        listeners: Config::default().listeners,
        log_level: LogLevel::Error,
        ..config
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let builder = proconsul::Server::builder().config(config);
    let server = builder.listener(listener).start();
    let server = Arc::new(server.expect("the emulator starts"));
    Site::new(address(&server.addr().to_string())).keeping(server)
}

pub(crate) fn address(text: &str) -> Address {
    Address::parse(text).expect("it is one")
}

/// The mutant of that name.
pub(crate) fn mutant(name: &str) -> &'static Mutant {
    let mut all = mutate::all().into_iter();
    all.find(|mutant| mutant.name == name).expect(name)
}

/// A shadow before a real server, with what must live as long as it does.
pub(crate) struct Shadowed {
    pub(crate) shadow: Shadow,
    pub(crate) _emulator: Site,
}

/// Starts a shadow with a good emulator, or with one that is altered.
pub(crate) fn shadowed(real: &Address, altered: Option<&str>) -> Shadowed {
    shadowed_with("", real, altered)
}

/// The same with a management token.
pub(crate) fn shadowed_with(token: &str, real: &Address, altered: Option<&str>) -> Shadowed {
    let place = Place::new(&[("127.0.0.1:0", &real.host)], token).expect("the real server answers");
    let mut emulator = emulator_like(&place);
    if let Some(name) = altered {
        let site = mutate::in_place_of(emulator, mutant(name));
        emulator = site.expect("a proxy listens");
    }
    let shadow = place.start(&[emulator.address().clone()], Box::new(|_| {}));
    Shadowed {
        shadow: shadow.expect("the emulator is empty"),
        _emulator: emulator,
    }
}

impl Shadowed {
    /// Where programs connect.
    pub(crate) fn address(&self) -> Address {
        address(&self.shadow.addresses()[0].to_string())
    }

    pub(crate) fn finish(self) -> Findings {
        self.shadow.finish().0
    }
}

/// All that differs, for a message.
pub(crate) fn lines(findings: &Findings) -> String {
    let lines = findings.differences().iter();
    let lines = lines.map(|difference| format!("{}\n{}", difference.line(), difference.lines));
    lines.collect::<Vec<_>>().join("\n")
}
