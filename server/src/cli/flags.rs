//! The table of the flags of `agent`.
//!
//! What is not in the table is refused with Go's text. `-x v`, `-x=v`, `--x v` and `--x=v` are the same: see
//! [`go_flags`](super::go_flags).

use super::environment::Variables;
use super::go_flags::GoFlag;
use super::settings::Settings;
use super::slot::Slot;

/// One flag.
pub(super) struct Flag {
    /// Without its dashes.
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    /// A sentence for the help.
    pub(super) usage: &'static str,
}

/// What is done with a flag.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Honoured: its argument goes to this field.
    Sets(fn(&mut Settings) -> Slot<'_>),
    /// The same, and Consul does not know it. `PROCONSUL_` and the name in capitals is an environment variable that
    /// says the same, for harnesses that do not let their users choose the arguments.
    Own(fn(&mut Settings) -> Slot<'_>),
    /// Accepted, and not emulated: named at the start, and refused by `--strict`. Its argument is looked at no further.
    Ignored(Argument),
    /// Accepted and named at the start, and it would change nothing for clients of a server that has no disk and no peers.
    Moot(Argument),
}

/// Whether a flag without effect takes an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    None,
    One,
}

impl Flag {
    /// The environment variable that stands in for the flag, if there is one.
    pub(super) fn variable(&self) -> Option<String> {
        match self.effect {
            Effect::Own(_) => Some(format!(
                "PROCONSUL_{}",
                self.name.to_uppercase().replace('-', "_")
            )),
            Effect::Sets(_) | Effect::Ignored(_) | Effect::Moot(_) => None,
        }
    }

    /// Takes the argument into its field.
    ///
    /// # Errors
    /// Go's text about an argument that does not fit.
    pub(super) fn take(&self, argument: &str, settings: &mut Settings) -> Result<(), String> {
        match self.effect {
            Effect::Sets(slot) | Effect::Own(slot) => {
                settings.by_variable.remove(self.name);
                slot(settings).take_text(self.name, argument)
            }
            Effect::Ignored(_) | Effect::Moot(_) => Ok(()),
        }
    }

    /// Takes the value of the environment variable that stands in for the flag.
    ///
    /// # Errors
    /// A sentence about a value that does not fit.
    fn take_variable(
        &self,
        variable: &str,
        value: &str,
        settings: &mut Settings,
    ) -> Result<(), String> {
        let expected = match self.effect {
            Effect::Sets(slot) | Effect::Own(slot) => slot(settings).expected(),
            Effect::Ignored(_) | Effect::Moot(_) => return Ok(()),
        };
        self.take(value, settings)
            .map_err(|_| format!("{variable}: expected {expected}, not {value:?}"))?;
        settings.by_variable.insert(self.name);
        Ok(())
    }
}

impl GoFlag for Flag {
    fn name(&self) -> &'static str {
        self.name
    }

    fn usage(&self) -> &'static str {
        self.usage
    }

    fn is_switch(&self) -> bool {
        match self.effect {
            Effect::Sets(slot) | Effect::Own(slot) => slot(&mut Settings::default()).is_switch(),
            Effect::Ignored(argument) | Effect::Moot(argument) => argument == Argument::None,
        }
    }

    fn check(&self, argument: &str) -> Result<(), String> {
        self.take(argument, &mut Settings::default())
    }
}

const fn sets(
    name: &'static str,
    slot: fn(&mut Settings) -> Slot<'_>,
    usage: &'static str,
) -> Flag {
    Flag {
        name,
        effect: Effect::Sets(slot),
        usage,
    }
}

const fn own(name: &'static str, slot: fn(&mut Settings) -> Slot<'_>, usage: &'static str) -> Flag {
    Flag {
        name,
        effect: Effect::Own(slot),
        usage,
    }
}

const fn ignored(name: &'static str, argument: Argument) -> Flag {
    Flag {
        name,
        effect: Effect::Ignored(argument),
        usage: "Accepted, without effect.",
    }
}

const fn moot(name: &'static str, argument: Argument) -> Flag {
    Flag {
        name,
        effect: Effect::Moot(argument),
        usage: "Accepted, without effect.",
    }
}

/// Takes the environment variables that stand in for our own flags; an empty one counts as unset.
///
/// # Errors
/// A sentence about a value that does not fit.
pub(super) fn take_variables(
    table: &[Flag],
    variables: &Variables,
    settings: &mut Settings,
) -> Result<(), String> {
    for flag in table {
        let Some(name) = flag.variable() else {
            continue;
        };
        if let Some(value) = variables.get(&name) {
            flag.take_variable(&name, value, settings)?;
        }
    }
    Ok(())
}

/// Returns how the person who set one of our own flags has called it: by the flag, or by its variable.
pub(super) fn called(name: &str, settings: &Settings) -> String {
    let flag = FLAGS.iter().find(|flag| flag.name == name);
    let variable = flag.and_then(Flag::variable);
    variable
        .filter(|_| settings.by_variable.contains(name))
        .unwrap_or_else(|| format!("-{name}"))
}

use Argument::{None as NoArgument, One};

const AS_VERSION: Flag = own(
    "as-version",
    |settings| Slot::Text(&mut settings.as_version),
    "The release of Consul that is emulated, such as 1.8.7 (proconsul only).",
);

/// The flags of `version`.
pub(super) const VERSION_FLAGS: &[Flag] = &[
    AS_VERSION,
    sets(
        "format",
        |settings| Slot::Text(&mut settings.format),
        "pretty or json.",
    ),
];

/// All flags of `agent`, in the order of their names.
pub(super) const FLAGS: &[Flag] = &[
    sets(
        "advertise",
        |settings| Slot::Text(&mut settings.advertise_addr),
        "The address that the node is registered with.",
    ),
    ignored("advertise-wan", One),
    own(
        "allow-host",
        |settings| Slot::List(&mut settings.allow_hosts),
        "A name under which the control plane may be called; other names with a dot are refused, since a web page could \
         have chosen them. May be repeated (proconsul only).",
    ),
    sets(
        "allow-write-http-from",
        |settings| Slot::List(&mut settings.allow_write_http_from),
        "A network in CIDR form from which writing is allowed. May be repeated.",
    ),
    ignored("alt-domain", One),
    AS_VERSION,
    ignored("auto-reload-config", NoArgument),
    sets(
        "bind",
        |settings| Slot::Text(&mut settings.bind_addr),
        "The address shown as that of the cluster.",
    ),
    sets(
        "bootstrap",
        |settings| Slot::Bool(&mut settings.bootstrap),
        "A server that elects itself.",
    ),
    sets(
        "bootstrap-expect",
        |settings| Slot::Integer(&mut settings.bootstrap_expect),
        "How many servers to wait for. There is one, and it does not wait.",
    ),
    ignored("check_output_max_size", One),
    sets(
        "client",
        |settings| Slot::Text(&mut settings.client_addr),
        "The addresses at which HTTP is served.",
    ),
    sets(
        "config-dir",
        |settings| Slot::List(&mut settings.config_paths),
        "A directory whose .json and .hcl files are read in the order of their names. May be repeated.",
    ),
    sets(
        "config-file",
        |settings| Slot::List(&mut settings.config_paths),
        "A .json or .hcl file to read. May be repeated.",
    ),
    sets(
        "config-format",
        |settings| Slot::Text(&mut settings.config_format),
        "The language of all files whatever their names: hcl or json.",
    ),
    own(
        "control",
        |settings| Slot::Bool(&mut settings.control),
        "Let tests control the server under /proconsul/v1/: time, faults, history, state (proconsul only).",
    ),
    own(
        "control-addr",
        |settings| Slot::Text(&mut settings.control_addr),
        "The addresses of the control port, in place of those of -client; a free port unless -control-port gives one \
         (proconsul only).",
    ),
    own(
        "control-port",
        |settings| Slot::Unsigned(&mut settings.control_port),
        "Serve that at a port of its own, which faults never touch; 0 takes a free one (proconsul only).",
    ),
    moot("data-dir", One),
    sets(
        "datacenter",
        |settings| Slot::Text(&mut settings.datacenter),
        "The name of the datacenter.",
    ),
    sets(
        "default-query-time",
        |settings| Slot::Text(&mut settings.default_query_time),
        "How long a blocking query waits that does not say.",
    ),
    sets(
        "dev",
        |settings| Slot::Bool(&mut settings.dev),
        "Development mode: a server on 127.0.0.1 with pretty JSON, the page at /ui/ and a talkative log.",
    ),
    moot("disable-host-node-id", NoArgument),
    moot("disable-keyring-file", NoArgument),
    sets(
        "dns-port",
        |settings| Slot::Integer(&mut settings.ports.dns),
        "Accepted; DNS is not served.",
    ),
    ignored("domain", One),
    sets(
        "enable-local-script-checks",
        |settings| Slot::Bool(&mut settings.enable_local_script_checks),
        "Run the script checks of configuration files.",
    ),
    sets(
        "enable-script-checks",
        |settings| Slot::Bool(&mut settings.enable_script_checks),
        "Run script checks, also those that clients register.",
    ),
    ignored("encrypt", One),
    sets(
        "grpc-port",
        |settings| Slot::Integer(&mut settings.ports.grpc),
        "Accepted; gRPC is not served.",
    ),
    sets(
        "grpc-tls-port",
        |settings| Slot::Integer(&mut settings.ports.grpc_tls),
        "Accepted; gRPC is not served.",
    ),
    sets(
        "hcl",
        |settings| Slot::List(&mut settings.hcl),
        "A piece of configuration, which wins over all files and flags. May be repeated.",
    ),
    sets(
        "http-port",
        |settings| Slot::Integer(&mut settings.ports.http),
        "The port at which HTTP is served; 0 or less disables it.",
    ),
    own(
        "http-port-ephemeral",
        |settings| Slot::Bool(&mut settings.http_port_ephemeral),
        "Serve HTTP at a free port, and print one line of JSON that says which (proconsul only).",
    ),
    sets(
        "https-port",
        |settings| Slot::Integer(&mut settings.ports.https),
        "Accepted; HTTPS is not served.",
    ),
    moot("join", One),
    moot("join-wan", One),
    ignored("log-file", One),
    sets(
        "log-json",
        |settings| Slot::Bool(&mut settings.log_json),
        "Print the log as JSON.",
    ),
    sets(
        "log-level",
        |settings| Slot::Text(&mut settings.log_level),
        "The least important lines to print.",
    ),
    moot("log-rotate-bytes", One),
    moot("log-rotate-duration", One),
    moot("log-rotate-max-files", One),
    sets(
        "max-query-time",
        |settings| Slot::Text(&mut settings.max_query_time),
        "How long a blocking query may wait at most.",
    ),
    sets(
        "node",
        |settings| Slot::Text(&mut settings.node_name),
        "The name of the node.",
    ),
    sets(
        "node-id",
        |settings| Slot::Text(&mut settings.node_id),
        "The id of the node, a UUID.",
    ),
    sets(
        "node-meta",
        |settings| Slot::Map(&mut settings.node_meta),
        "A key:value that the node says of itself. May be repeated.",
    ),
    ignored("non-voting-server", NoArgument),
    sets(
        "pid-file",
        |settings| Slot::Text(&mut settings.pid_file),
        "A file for the id of the process.",
    ),
    own(
        "port-file",
        |settings| Slot::Text(&mut settings.port_file),
        "Serve HTTP at a free port unless one is given, and write one line of JSON into this file that says which \
         (proconsul only).",
    ),
    moot("primary-gateway", One),
    moot("protocol", One),
    moot("raft-protocol", One),
    ignored("read-replica", NoArgument),
    ignored("recursor", One),
    moot("rejoin", NoArgument),
    moot("retry-interval", One),
    moot("retry-interval-wan", One),
    moot("retry-join", One),
    moot("retry-join-wan", One),
    moot("retry-max", One),
    moot("retry-max-wan", One),
    own(
        "seed",
        |settings| Slot::Unsigned(&mut settings.seed),
        "What ids and jitter are drawn from: the same seed gives the same (proconsul only).",
    ),
    ignored("segment", One),
    moot("serf-lan-allowed-cidrs", One),
    moot("serf-lan-bind", One),
    sets(
        "serf-lan-port",
        |settings| Slot::Integer(&mut settings.ports.serf_lan),
        "Shown; nothing listens.",
    ),
    moot("serf-wan-allowed-cidrs", One),
    moot("serf-wan-bind", One),
    sets(
        "serf-wan-port",
        |settings| Slot::Integer(&mut settings.ports.serf_wan),
        "Shown; nothing listens.",
    ),
    sets(
        "server",
        |settings| Slot::Bool(&mut settings.server),
        "A server and not a client agent.",
    ),
    sets(
        "server-port",
        |settings| Slot::Integer(&mut settings.ports.server),
        "Shown, by status/leader too; nothing listens.",
    ),
    own(
        "strict",
        |settings| Slot::Bool(&mut settings.strict),
        "Answer endpoints that are not emulated as unknown paths, not with 501 (proconsul only).",
    ),
    ignored("syslog", NoArgument),
    sets(
        "ui",
        |settings| Slot::Bool(&mut settings.ui),
        "Serve the page at /ui/.",
    ),
    ignored("ui-content-path", One),
    ignored("ui-dir", One),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_names() {
        assert!(FLAGS.is_sorted_by(|former, latter| former.name < latter.name));
    }

    #[test]
    fn only_our_own_flags_have_variables() {
        let variables: Vec<_> = FLAGS.iter().filter_map(Flag::variable).collect();
        let expected = [
            "PROCONSUL_ALLOW_HOST",
            "PROCONSUL_AS_VERSION",
            "PROCONSUL_CONTROL",
            "PROCONSUL_CONTROL_ADDR",
            "PROCONSUL_CONTROL_PORT",
            "PROCONSUL_HTTP_PORT_EPHEMERAL",
            "PROCONSUL_PORT_FILE",
            "PROCONSUL_SEED",
            "PROCONSUL_STRICT",
        ];
        assert_eq!(variables, expected);
    }
}
