//! The log in the form of Consul's.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::output;
use crate::clock::wall_clock;
use crate::config::{Config, LogLevel};
use crate::version::Behaviour;

/// Takes the events of this crate and prints each as a line. Their target is the name of Consul's logger, such as
/// `agent.http`; what has another target is not part of the log.
pub(super) struct Log {
    level: LevelFilter,
    form: Form,
}

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    json: bool,
    /// What stands before every line: early versions print the log through the indenting printer of their commands.
    indentation: &'static str,
}

impl Log {
    pub(super) fn new(config: &Config) -> Log {
        let level = match config.log_level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        };
        let indentation = if config.version.has(Behaviour::LogRunningLine) {
            ""
        } else {
            "    "
        };
        Log {
            level,
            form: Form {
                json: config.log_json,
                indentation,
            },
        }
    }

    /// Makes this the log of the process.
    pub(super) fn install(self) {
        let installed = tracing::subscriber::set_global_default(self);
        installed.expect("a process runs one agent");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level && metadata.target().starts_with("agent")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        output::out(
            &self
                .form
                .line(wall_clock(), *metadata.level(), metadata.target(), &fields),
        );
    }

    // Spans are not shown, so they need no identity.
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

impl Form {
    fn line(self, now: Duration, level: Level, logger: &str, fields: &Fields) -> String {
        let line = if self.json {
            json_line(now, level, logger, fields)
        } else {
            text_line(now, level, logger, fields)
        };
        format!("{}{line}\n", self.indentation)
    }
}

fn text_line(now: Duration, level: Level, logger: &str, fields: &Fields) -> String {
    let level = match level {
        Level::ERROR => "[ERROR]",
        Level::WARN => "[WARN] ",
        Level::INFO => "[INFO] ",
        Level::DEBUG => "[DEBUG]",
        Level::TRACE => "[TRACE]",
    };
    let now = humantime::format_rfc3339_millis(UNIX_EPOCH + now);
    let mut line = format!("{now} {level} {logger}: {}", fields.message);
    if !fields.values.is_empty() {
        line.push(':');
    }
    for (name, value) in &fields.values {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let quote = if value.contains([' ', '\t', '\n', '\r']) {
            "\""
        } else {
            ""
        };
        write!(line, " {name}={quote}{value}{quote}").expect("a string takes any text");
    }
    line
}

fn json_line(now: Duration, level: Level, logger: &str, fields: &Fields) -> String {
    let level = match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    };
    let now = humantime::format_rfc3339_micros(UNIX_EPOCH + now).to_string();
    let mut members: BTreeMap<&str, Value> = fields
        .values
        .iter()
        .map(|(name, value)| (*name, value.clone()))
        .collect();
    members.insert("@level", level.into());
    members.insert("@message", fields.message.clone().into());
    members.insert("@module", logger.into());
    members.insert("@timestamp", now.into());
    serde_json::to_string(&members).expect("a map of texts is JSON")
}

/// The message of an event and the values that it names, in its order.
#[derive(Debug, Default)]
struct Fields {
    message: String,
    values: Vec<(&'static str, Value)>,
}

impl Fields {
    fn push(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            (name, value) => self.values.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_micros(1_795_273_090_004_250);

    fn fields(message: &str, values: &[(&'static str, Value)]) -> Fields {
        Fields {
            message: message.to_owned(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn text_lines_are_padded_after_the_level_and_quote_what_has_spaces() {
        let plain = Form {
            json: false,
            indentation: "",
        };
        let line = plain.line(NOW, Level::INFO, "agent", &fields("Synced node info", &[]));
        assert_eq!(
            line,
            "2026-11-21T14:58:10.004Z [INFO]  agent: Synced node info\n"
        );

        let old = Form {
            json: false,
            indentation: "    ",
        };
        let values = [
            ("b", "x y".into()),
            ("a", "x".into()),
            ("empty", "".into()),
            ("code", 1.into()),
            ("on", true.into()),
        ];
        let line = old.line(NOW, Level::ERROR, "agent.http", &fields("Failed", &values));
        let expected = "    2026-11-21T14:58:10.004Z [ERROR] agent.http: Failed: b=\"x y\" a=x empty= code=1 on=true\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn json_lines_have_their_members_in_order_and_keep_numbers() {
        let json = Form {
            json: true,
            indentation: "",
        };
        let values = [("signal", 2.into()), ("address", "127.0.0.1:1".into())];
        let line = json.line(NOW, Level::WARN, "agent", &fields("Caught", &values));
        let expected = "{\"@level\":\"warn\",\"@message\":\"Caught\",\"@module\":\"agent\",\
                        \"@timestamp\":\"2026-11-21T14:58:10.004250Z\",\"address\":\"127.0.0.1:1\",\"signal\":2}\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn levels_and_targets_decide_what_is_shown() {
        let shown = |level, target: &'static str, event: Level| {
            let log = Log::new(&Config {
                log_level: level,
                ..Config::default()
            });
            let enabled = std::cell::Cell::new(false);
            tracing::subscriber::with_default(log, || {
                enabled.set(match (target, event) {
                    ("agent", Level::WARN) => tracing::enabled!(target: "agent", Level::WARN),
                    ("agent", Level::INFO) => tracing::enabled!(target: "agent", Level::INFO),
                    _ => tracing::enabled!(target: "hyper", Level::WARN),
                });
            });
            enabled.get()
        };
        assert!(shown(LogLevel::Warn, "agent", Level::WARN));
        assert!(!shown(LogLevel::Warn, "agent", Level::INFO));
        assert!(shown(LogLevel::Info, "agent", Level::INFO));
        assert!(!shown(LogLevel::Trace, "hyper", Level::WARN));
    }
}
