//! The flags of `agent` and `version`.
//!
//! Unknown flags are refused with Go's text. `-x v`, `-x=v`, `--x v` and `--x=v` are the same: see
//! [`go_flags`](crate::settings::go_flags).

use std::sync::LazyLock;

use crate::settings::environment::Variables;
use crate::settings::go_flags::{Flag, FlagKind};
use crate::settings::slot::Slot;
use crate::settings::{IGNORED_FLAGS, MOOT_FLAGS, SETTINGS, SettingField, Settings};

/// The effect of a flag.
#[derive(Clone, Copy)]
pub enum FlagEffect {
    /// The argument sets this field.
    Sets(SettingField),
    /// The argument sets this field, and Consul does not have the flag. The variable `PROCONSUL_` with the name in
    /// capitals also sets it, for harnesses without a choice of arguments.
    Own(SettingField),
    /// Accepted, but not emulated. The argument is not checked.
    Ignored {
        /// Whether it takes no argument.
        is_switch: bool,
    },
    /// Accepted, and changes nothing here.
    Moot {
        /// Whether it takes no argument.
        is_switch: bool,
    },
}

impl Flag<FlagEffect> {
    /// Returns the field that the flag sets, if any.
    fn field(&self) -> Option<SettingField> {
        match self.kind {
            FlagEffect::Sets(field) | FlagEffect::Own(field) => Some(field),
            FlagEffect::Ignored { .. } | FlagEffect::Moot { .. } => None,
        }
    }

    /// Returns the environment variable that sets the same, if any.
    pub fn variable(&self) -> Option<String> {
        let is_own = matches!(self.kind, FlagEffect::Own(_));
        let name = || self.name.to_uppercase().replace('-', "_");
        is_own.then(|| format!("PROCONSUL_{}", name()))
    }

    /// Sets the field of the flag.
    ///
    /// # Errors
    /// Go's text about an invalid argument.
    pub fn take(&self, argument: &str, settings: &mut Settings) -> Result<(), String> {
        let Some(field) = self.field() else {
            return Ok(());
        };
        settings.by_variable.remove(self.name);
        field(settings).take_text(self.name, argument)
    }
}

impl FlagKind for FlagEffect {
    fn is_switch(&self) -> bool {
        match *self {
            Self::Sets(field) | Self::Own(field) => field(&mut Settings::default()).is_switch(),
            Self::Ignored { is_switch } | Self::Moot { is_switch } => is_switch,
        }
    }

    fn check(&self, name: &str, argument: &str) -> Result<(), String> {
        match self {
            Self::Sets(field) | Self::Own(field) => {
                field(&mut Settings::default()).take_text(name, argument)
            }
            Self::Ignored { .. } | Self::Moot { .. } => Ok(()),
        }
    }
}

/// All flags of `agent`, in the order of their names.
static FLAGS: LazyLock<Vec<Flag<FlagEffect>>> = LazyLock::new(|| {
    let without_effect = |names: &'static str, effect: fn(bool) -> FlagEffect| {
        names.split_whitespace().map(move |name| Flag {
            name: name.trim_end_matches('='),
            kind: effect(!name.ends_with('=')),
            usage: "Accepted, without effect.",
        })
    };
    let honoured = SETTINGS.iter().flat_map(|setting| setting.flags).copied();
    let ignored = without_effect(IGNORED_FLAGS, |is_switch| FlagEffect::Ignored { is_switch });
    let moot = without_effect(MOOT_FLAGS, |is_switch| FlagEffect::Moot { is_switch });
    let mut flags: Vec<Flag<FlagEffect>> = honoured.chain(ignored).chain(moot).collect();
    flags.sort_by_key(|flag| flag.name);
    flags
});

/// All flags of `version`.
static VERSION_FLAGS: LazyLock<Vec<Flag<FlagEffect>>> = LazyLock::new(|| {
    let format = Flag {
        name: "format",
        kind: FlagEffect::Sets(|settings| Slot::Text(&mut settings.format)),
        usage: "pretty or json.",
    };
    let shared = flags().iter().find(|flag| flag.name == "as-version");
    shared.copied().into_iter().chain([format]).collect()
});

/// Returns all flags of `agent`, in the order of their names.
pub fn flags() -> &'static [Flag<FlagEffect>] {
    &FLAGS
}

/// Returns all flags of `version`.
pub fn version_flags() -> &'static [Flag<FlagEffect>] {
    &VERSION_FLAGS
}

/// Applies the environment variables of our own flags. An empty one counts as unset.
///
/// # Errors
/// Our text about an invalid value.
pub fn take_variables(
    table: &[Flag<FlagEffect>],
    variables: &Variables,
    settings: &mut Settings,
) -> Result<(), String> {
    for flag in table {
        let (Some(name), Some(field)) = (flag.variable(), flag.field()) else {
            continue;
        };
        let Some(value) = variables.get(&name) else {
            continue;
        };
        let expected = field(settings).expected();
        flag.take(value, settings)
            .map_err(|_| format!("{name}: expected {expected}, not {value:?}"))?;
        settings.by_variable.insert(flag.name);
    }
    Ok(())
}

/// Returns the name under which the user has set one of our own flags: the flag or its variable.
pub fn called(name: &str, settings: &Settings) -> String {
    let flag = flags().iter().find(|flag| flag.name == name);
    let variable = flag.and_then(Flag::variable);
    variable
        .filter(|_| settings.by_variable.contains(name))
        .unwrap_or_else(|| format!("-{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_has_one_row() {
        assert!(FLAGS.is_sorted_by(|former, latter| former.name < latter.name));
    }

    #[test]
    fn only_our_own_flags_have_variables() {
        let variables: Vec<_> = FLAGS.iter().filter_map(Flag::variable).collect();
        let expected = [
            "PROCONSUL_ACL",
            "PROCONSUL_AGENTS",
            "PROCONSUL_ALLOW_HOST",
            "PROCONSUL_AS_VERSION",
            "PROCONSUL_CONTROL",
            "PROCONSUL_CONTROL_ADDR",
            "PROCONSUL_CONTROL_PORT",
            "PROCONSUL_DATACENTERS",
            "PROCONSUL_EPOCH",
            "PROCONSUL_FROZEN",
            "PROCONSUL_HTTP_PORT_EPHEMERAL",
            "PROCONSUL_HTTPS_DEV",
            "PROCONSUL_HTTPS_DEV_DIR",
            "PROCONSUL_KV_FILE",
            "PROCONSUL_LOAD",
            "PROCONSUL_PORT_FILE",
            "PROCONSUL_SEED",
            "PROCONSUL_SERVICES",
            "PROCONSUL_STRICT",
        ];
        assert_eq!(variables, expected);
    }
}
