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
use super::writer::Importance;
use crate::clock::wall_clock;
use crate::config::{Config, LogLevel};
use crate::go::json::encode::{self, ControlEscapes, Style};
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

/// Go's JSON, on one line.
const STYLE: Style = Style {
    pretty: false,
    newline: false,
    control_escapes: ControlEscapes::Long,
};

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

    /// Returns what makes a line of a number of lines that were dropped.
    pub(super) fn line_about_dropped(&self) -> impl Fn(u64) -> String + Send + 'static {
        let form = self.form;
        move |number| {
            let (level, logger) = (Level::WARN, "agent");
            let message = "Lines of the log are missing here: nobody read standard output";
            let (name, now) = ("lines", wall_clock());
            if form.json {
                let (message, values) = (message.to_owned(), vec![(name, number.into())]);
                form.json_line(now, level, logger, Members { message, values })
            } else {
                let (message, values) = (message.to_owned(), format!(" {name}={number}"));
                form.text_line(now, level, logger, &Words { message, values })
            }
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
        let metadata = event.metadata();
        let importance = if metadata.target() == "agent.http" && *metadata.level() != Level::WARN {
            // One for each request.
            Importance::Droppable
        } else {
            Importance::Awaited
        };
        let line = self.form.line_of(wall_clock(), event);
        output::line(&line, importance);
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
    fn line_of(self, now: Duration, event: &Event<'_>) -> String {
        let metadata = event.metadata();
        let (level, logger) = (*metadata.level(), metadata.target());
        if self.json {
            let mut members = Members::default();
            event.record(&mut members);
            self.json_line(now, level, logger, members)
        } else {
            let mut words = Words::default();
            event.record(&mut words);
            self.text_line(now, level, logger, &words)
        }
    }

    fn text_line(self, now: Duration, level: Level, logger: &str, words: &Words) -> String {
        let level = match level {
            Level::ERROR => "[ERROR]",
            Level::WARN => "[WARN] ",
            Level::INFO => "[INFO] ",
            Level::DEBUG => "[DEBUG]",
            Level::TRACE => "[TRACE]",
        };
        let Words { message, values } = words;
        let mut line = String::with_capacity(64 + message.len() + values.len());
        line.push_str(self.indentation);
        let now = humantime::format_rfc3339_millis(UNIX_EPOCH + now);
        let colon = if values.is_empty() { "" } else { ":" };
        writeln!(line, "{now} {level} {logger}: {message}{colon}{values}")
            .expect("a string takes any text");
        line
    }

    fn json_line(self, now: Duration, level: Level, logger: &str, members: Members) -> String {
        let level = match level {
            Level::ERROR => "error",
            Level::WARN => "warn",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        };
        let now = humantime::format_rfc3339_micros(UNIX_EPOCH + now).to_string();
        let Members { message, values } = members;
        let mut members: BTreeMap<&str, Value> = values.into_iter().collect();
        members.insert("@level", level.into());
        members.insert("@message", message.into());
        members.insert("@module", logger.into());
        members.insert("@timestamp", now.into());
        let text = encode::to_vec(&members, STYLE);
        format!("{}{}\n", self.indentation, String::from_utf8_lossy(&text))
    }
}

/// The message of an event and, behind it, the values that it names, in its order.
#[derive(Debug, Default)]
struct Words {
    message: String,
    values: String,
}

impl Words {
    fn push(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if field.name() == "message" {
            self.message
                .write_fmt(value)
                .expect("a string takes any text");
            return;
        }
        let (name, values) = (field.name(), &mut self.values);
        let before = values.len() + name.len() + 2;
        write!(values, " {name}={value}").expect("a string takes any text");
        if values[before..].contains([' ', '\t', '\n', '\r']) {
            values.insert(before, '"');
            values.push('"');
        }
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, format_args!("{value}"));
    }
}

/// The same for JSON, in which numbers stay what they are.
#[derive(Debug, Default)]
struct Members {
    message: String,
    values: Vec<(&'static str, Value)>,
}

impl Members {
    fn push(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            (name, value) => self.values.push((name, value)),
        }
    }
}

impl Visit for Members {
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
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    const NOW: Duration = Duration::from_micros(1_795_273_090_004_250);

    fn form(json: bool, indentation: &'static str) -> Form {
        Form { json, indentation }
    }

    /// What a subscriber prints of the events of `work`, behind the time.
    fn lines(form: Form, work: impl FnOnce()) -> Vec<String> {
        struct Keeping(Form, Mutex<Vec<String>>);

        impl Subscriber for Keeping {
            fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
                true
            }

            fn event(&self, event: &Event<'_>) {
                self.1.lock().push(self.0.line_of(NOW, event));
            }

            fn new_span(&self, _span: &Attributes<'_>) -> Id {
                Id::from_u64(1)
            }

            fn record(&self, _span: &Id, _values: &Record<'_>) {}

            fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

            fn enter(&self, _span: &Id) {}

            fn exit(&self, _span: &Id) {}
        }

        let keeping = Arc::new(Keeping(form, Mutex::default()));
        tracing::subscriber::with_default(Arc::clone(&keeping), work);
        let lines = keeping.1.lock();
        lines.clone()
    }

    #[test]
    fn text_lines_are_padded_after_the_level_and_quote_what_has_spaces() {
        let found = lines(form(false, ""), || {
            tracing::info!(target: "agent", "Synced node info");
        });
        assert_eq!(
            found,
            ["2026-11-21T14:58:10.004Z [INFO]  agent: Synced node info\n"]
        );

        let found = lines(form(false, "    "), || {
            tracing::error!(target: "agent.http", b = "x y", a = "x", empty = "", code = 1, on = true, "Failed");
        });
        assert_eq!(
            found,
            [
                "    2026-11-21T14:58:10.004Z [ERROR] agent.http: Failed: b=\"x y\" a=x empty= code=1 on=true\n"
            ]
        );
    }

    #[test]
    fn json_lines_have_their_members_in_order_and_keep_numbers() {
        let found = lines(form(true, ""), || {
            tracing::warn!(target: "agent", signal = 2, address = "127.0.0.1:1", "Caught");
        });
        assert_eq!(
            found,
            [
                "{\"@level\":\"warn\",\"@message\":\"Caught\",\"@module\":\"agent\",\
              \"@timestamp\":\"2026-11-21T14:58:10.004250Z\",\"address\":\"127.0.0.1:1\",\"signal\":2}\n"
            ]
        );
    }

    /// Observed on 1.8.7.
    #[test]
    fn json_lines_escape_as_go_does() {
        let found = lines(form(true, "    "), || {
            tracing::debug!(target: "agent.http", url = "/v1/kv/a?b&token=<hidden>", latency = "82.5\u{b5}s", "Request finished");
        });
        assert_eq!(
            found,
            [
                "    {\"@level\":\"debug\",\"@message\":\"Request finished\",\"@module\":\"agent.http\",\
              \"@timestamp\":\"2026-11-21T14:58:10.004250Z\",\"latency\":\"82.5\u{b5}s\",\
              \"url\":\"/v1/kv/a?b\\u0026token=\\u003chidden\\u003e\"}\n"
            ]
        );
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
