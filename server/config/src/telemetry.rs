//! The settings of metrics.

use std::time::Duration;

/// The settings of metrics (operator.md 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryConfig {
    /// For how long metrics are kept for Prometheus (`telemetry.prometheus_retention_time`); zero refuses its format.
    /// Default: zero.
    pub prometheus_retention_time: Duration,
    /// Whether the names of gauges lack the host's (`telemetry.disable_hostname`). Default: false.
    pub disable_hostname: bool,
    /// What all names begin with (`telemetry.metrics_prefix`). Default: `consul`.
    pub metrics_prefix: String,
    /// Whether metrics are shown that no prefix decides about (`telemetry.filter_default`). Default: true.
    pub filter_default: bool,
    /// The beginnings of names that are shown (`telemetry.prefix_filter`, with `+`). Default: none.
    pub allowed_prefixes: Vec<String>,
    /// The beginnings of names that are not shown (`telemetry.prefix_filter`, with `-`). Default: none.
    pub blocked_prefixes: Vec<String>,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            prometheus_retention_time: Duration::ZERO,
            disable_hostname: false,
            metrics_prefix: "consul".to_owned(),
            filter_default: true,
            allowed_prefixes: Vec::new(),
            blocked_prefixes: Vec::new(),
        }
    }
}

impl TelemetryConfig {
    /// Whether a metric is shown: the longest prefix of its name decides.
    pub fn shows(&self, name: &str) -> bool {
        let longest = |prefixes: &[String]| {
            let fitting = prefixes.iter().filter(|prefix| name.starts_with(*prefix));
            fitting.map(String::len).max()
        };
        let (allowed, blocked) = (
            longest(&self.allowed_prefixes),
            longest(&self.blocked_prefixes),
        );
        match allowed.cmp(&blocked) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => allowed.is_none() && self.filter_default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_decides() {
        let prefixes = |list: &[&str]| list.iter().map(|&prefix| prefix.to_owned()).collect();
        let mut telemetry = TelemetryConfig {
            allowed_prefixes: prefixes(&["a.b", "a.b.c.d"]),
            blocked_prefixes: prefixes(&["a", "a.b.c"]),
            ..TelemetryConfig::default()
        };
        let shown = ["x", "a.b.x", "a.b.c.d"];
        let hidden = ["a.x", "a.b.c", "a.b.c.e"];
        assert!(shown.iter().all(|name| telemetry.shows(name)));
        assert!(!hidden.iter().any(|name| telemetry.shows(name)));
        telemetry.filter_default = false;
        assert!(!telemetry.shows("x") && telemetry.shows("a.b.x"));
    }
}
