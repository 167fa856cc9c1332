//! Configuration entries, in a build without the feature `mesh`: there are none.

use proconsul_store::ConfigEntry;

use proconsul_version::Version;

/// Rejects an entry of a configuration.
pub(crate) fn of_text(_: &str, _: Version) -> Result<ConfigEntry, String> {
    Err("configuration entries need the feature \"mesh\" of proconsul".to_owned())
}
