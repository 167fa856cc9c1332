//! The settings of metrics (operator.md 7).

use super::{Errors, duration_of, nanoseconds};
use crate::TelemetryConfig;
use crate::settings::Settings;

/// Applies the time for which metrics are kept. One that is not positive keeps none.
pub fn take_retention(settings: &Settings, errors: &mut Errors, telemetry: &mut TelemetryConfig) {
    let text = settings.telemetry_prometheus_retention_time.as_deref();
    if let Some(time) = duration_of("prometheus_retention_time", text, errors) {
        telemetry.prometheus_retention_time = nanoseconds(time);
    }
}

/// Applies the other settings.
pub fn take_telemetry(settings: &Settings, telemetry: &mut TelemetryConfig) {
    if let Some(prefix) = &settings.telemetry_metrics_prefix {
        telemetry.metrics_prefix.clone_from(prefix);
    }
    let disable_hostname = settings.telemetry_disable_hostname;
    telemetry.disable_hostname = disable_hostname.unwrap_or(telemetry.disable_hostname);
    let filter_default = settings.telemetry_filter_default;
    telemetry.filter_default = filter_default.unwrap_or(telemetry.filter_default);
    for rule in &settings.telemetry_prefix_filter {
        if let Some(prefix) = rule.strip_prefix('+') {
            telemetry.allowed_prefixes.push(prefix.to_owned());
        } else if let Some(prefix) = rule.strip_prefix('-') {
            telemetry.blocked_prefixes.push(prefix.to_owned());
        }
    }
}

/// Returns Consul's warnings about rules that have no effect.
pub fn warnings(settings: &Settings) -> impl Iterator<Item = String> {
    let rules = settings.telemetry_prefix_filter.iter();
    let odd = rules.filter(|rule| !rule.starts_with(['+', '-']));
    odd.map(|rule| match rule.as_str() {
        "" => "Cannot have empty filter rule in prefix_filter".to_owned(),
        rule => format!("Filter rule must begin with either '+' or '-': {rule:?}"),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn taken(change: impl FnOnce(&mut Settings)) -> Result<TelemetryConfig, String> {
        let (mut settings, mut errors) = (Settings::default(), Errors::default());
        change(&mut settings);
        let mut telemetry = TelemetryConfig::default();
        take_retention(&settings, &mut errors, &mut telemetry);
        take_telemetry(&settings, &mut telemetry);
        errors.into_result().map(|()| telemetry)
    }

    #[test]
    fn rules_allow_or_block() {
        let rules = ["+a", "-b", "raft", "", "+"].map(str::to_owned);
        let telemetry = taken(|settings| settings.telemetry_prefix_filter = rules.to_vec());
        let telemetry = telemetry.expect("odd rules are only warned of");
        assert_eq!(telemetry.allowed_prefixes, ["a", ""]);
        assert_eq!(telemetry.blocked_prefixes, ["b"]);
        let settings = Settings {
            telemetry_prefix_filter: rules.to_vec(),
            ..Settings::default()
        };
        let warnings: Vec<String> = warnings(&settings).collect();
        let expected = [
            "Filter rule must begin with either '+' or '-': \"raft\"",
            "Cannot have empty filter rule in prefix_filter",
        ];
        assert_eq!(warnings, expected);
    }

    #[test]
    fn a_retention_is_a_duration() {
        let with = |text: &str| {
            let text = text.to_owned();
            taken(|settings| settings.telemetry_prometheus_retention_time = Some(text))
        };
        let kept = |text| with(text).map(|telemetry| telemetry.prometheus_retention_time);
        assert_eq!(kept("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(kept("-1s"), Ok(Duration::ZERO));
        let error = kept("x").expect_err("no duration");
        let text =
            r#"prometheus_retention_time: invalid duration: "x": time: invalid duration "x""#;
        assert!(error.contains(text), "{error}");
    }
}
