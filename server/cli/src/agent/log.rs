//! The log in the form of Consul's.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::output;
use crate::output::writer::Importance;
use proconsul::log::Lines;
use proconsul_config::{Config, LogLevel};
use proconsul_gocompat::json::encode;
use proconsul_os::time::wall_clock;
use proconsul_version::Behaviour;

/// Prints the events of this crate as lines. The target of an event is the name of Consul's logger, such as
/// `agent.http`; events with other targets are ignored.
pub(super) struct Log {
    level: LevelFilter,
    form: Form,
}

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    json: bool,
    /// The indentation of every line: early releases print the log like the output of commands.
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

    /// Returns a function that makes a line about a number of dropped lines.
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
                let mut scratch = Scratch {
                    words: Words {
                        message: message.to_owned(),
                        values: format!(" {name}={number}"),
                    },
                    ..Scratch::default()
                };
                form.write_text(now, level, logger, &mut scratch);
                scratch.line
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
        *metadata.level() <= self.level.max(proconsul::log::level())
            && metadata.target().starts_with("agent")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level.max(proconsul::log::level()))
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let now = wall_clock();
        proconsul::log::publish(*metadata.level(), |lines| {
            let form = Form {
                json: lines == Lines::Json,
                indentation: "",
            };
            let mut scratch = Scratch::default();
            form.write(now, event, &mut scratch);
            scratch.line
        });
        if *metadata.level() > self.level {
            return;
        }
        let importance = if metadata.target() == "agent.http" && *metadata.level() != Level::WARN {
            // There is one such line per request.
            Importance::Droppable
        } else {
            Importance::Awaited
        };
        SCRATCH.with_borrow_mut(|scratch| {
            self.form.write(now, event, scratch);
            output::line(&scratch.line, importance);
        });
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

thread_local! {
    /// The buffers of a line, which are reused because each request makes a line.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A line and its parts.
#[derive(Debug, Default)]
struct Scratch {
    line: String,
    words: Words,
    date: Date,
}

/// The date and time of the last line, without the fraction of its second.
#[derive(Debug, Default)]
struct Date {
    /// The seconds since the Unix epoch; `None` before the first line.
    second: Option<u64>,
    text: String,
}

impl Date {
    fn at(&mut self, now: Duration) -> &str {
        if self.second != Some(now.as_secs()) {
            self.second = Some(now.as_secs());
            let second = UNIX_EPOCH + Duration::from_secs(now.as_secs());
            self.text = humantime::format_rfc3339_seconds(second).to_string();
            // The fraction comes before the zone.
            self.text.pop();
        }
        &self.text
    }
}

impl Form {
    /// Writes the line of an event.
    fn write(self, now: Duration, event: &Event<'_>, scratch: &mut Scratch) {
        let metadata = event.metadata();
        let (level, logger) = (*metadata.level(), metadata.target());
        scratch.line.clear();
        if self.json {
            let mut members = Members::default();
            event.record(&mut members);
            let line = self.json_line(now, level, logger, members);
            scratch.line.push_str(&line);
            return;
        }
        scratch.words.message.clear();
        scratch.words.values.clear();
        event.record(&mut scratch.words);
        self.write_text(now, level, logger, scratch);
    }

    fn write_text(self, now: Duration, level: Level, logger: &str, scratch: &mut Scratch) {
        let level = level.as_str();
        // The names of levels have four or five letters.
        let blank = if level.len() == 4 { " " } else { "" };
        let Scratch { line, words, date } = scratch;
        let colon = if words.values.is_empty() { "" } else { ":" };
        let millis = now.subsec_millis();
        let digits = [millis / 100, millis / 10 % 10, millis % 10];
        line.push_str(self.indentation);
        line.push_str(date.at(now));
        line.push('.');
        line.extend(
            digits
                .iter()
                .filter_map(|digit| char::from_digit(*digit, 10)),
        );
        for part in [
            "Z [",
            level,
            "]",
            blank,
            " ",
            logger,
            ": ",
            &words.message,
            colon,
            &words.values,
            "\n",
        ] {
            line.push_str(part);
        }
    }

    fn json_line(self, now: Duration, level: Level, logger: &str, members: Members) -> String {
        let now = humantime::format_rfc3339_micros(UNIX_EPOCH + now).to_string();
        let Members { message, values } = members;
        let mut members: BTreeMap<&str, Value> = values.into_iter().collect();
        members.insert("@level", level.as_str().to_lowercase().into());
        members.insert("@message", message.into());
        members.insert("@module", logger.into());
        members.insert("@timestamp", now.into());
        format!("{}{}\n", self.indentation, encode::to_text(&members))
    }
}

/// The message of an event and its values, in their order.
#[derive(Debug, Default)]
struct Words {
    message: String,
    values: String,
}

impl Words {
    /// Adds a value, which `write` writes, with quotes if it is not one word.
    fn push(&mut self, field: &Field, write: impl FnOnce(&mut String) -> fmt::Result) {
        const WRITTEN: &str = "a string takes any text";
        if field.name() == "message" {
            return write(&mut self.message).expect(WRITTEN);
        }
        let values = &mut self.values;
        values.push(' ');
        values.push_str(field.name());
        values.push('=');
        let start = values.len();
        write(values).expect(WRITTEN);
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let value = &values.as_bytes()[start..];
        // The first test is vectorized, and nearly all values have no such byte.
        if value.iter().any(|byte| *byte <= b' ') && value.iter().any(is_space) {
            values.insert(start, '"');
            values.push('"');
        }
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, |text| write!(text, "{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, |text| text.write_str(value));
    }
}

/// The message and values of an event for JSON, where numbers stay numbers.
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

    use super::*;
    use parking_lot::Mutex;

    const NOW: Duration = Duration::from_micros(1_795_273_090_004_250);

    fn form(json: bool, indentation: &'static str) -> Form {
        Form { json, indentation }
    }

    /// Returns the lines of the events of `work`, without the time.
    fn lines(form: Form, work: impl FnOnce()) -> Vec<String> {
        struct Keeping(Form, Mutex<Vec<String>>);

        impl Subscriber for Keeping {
            fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
                true
            }

            fn event(&self, event: &Event<'_>) {
                let mut scratch = Scratch::default();
                self.0.write(NOW, event, &mut scratch);
                self.1.lock().push(scratch.line);
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
