//! What Go's standard library shows on Consul's wire.
//!
//! Consul is a Go program, and Go packages decide much of what clients see: the error for an invalid number,
//! the cleaning of paths, escapes in JSON, the matching of field names. Each module stands for one such
//! package and knows nothing of Consul. Where Go releases differ, the caller chooses with an enum or a [`Go`].
//!
//! | module | Go package |
//! |---|---|
//! | [`duration`] | `time`: `ParseDuration`, `Duration.String` |
//! | [`number`] | `strconv`: `ParseUint`, `ParseInt`, `Atoi`, `ParseBool` |
//! | [`quote`] | `strconv`: `Quote`, which is also `%q` |
//! | [`quote::unquote`] | `strconv`: `Unquote` |
//! | [`regexp`] | `regexp` |
//! | [`quote::printable`] | `unicode`: `IsPrint` |
//! | [`url::path`] | `path`: `Clean`, and the cleaning of `net/http` |
//! | [`url`], [`url::query`] | `net/url` |
//! | [`mux`] | `net/http`: `ServeMux` redirects, `Redirect` |
//! | [`json`] | `encoding/json` |
//! | [`base64`] | `encoding/base64` |
//! | [`syscall`] | `syscall`: the texts of errors |
//! | [`gzip`] | `compress/gzip`, and the handler around it |

pub mod base64;
pub mod duration;
mod generation;
pub mod gzip;
pub mod json;
pub mod mux;
pub mod number;
pub mod quote;
pub mod regexp;
pub mod syscall;
pub mod time;
pub mod url;

pub use generation::{EmbeddedNames, Go};
