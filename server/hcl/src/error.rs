//! Places in a document, and why a text is rejected.

use std::fmt;

use proconsul_gocompat::quote::Quoted;

/// The deepest nesting of a document, because each level takes stack. Consul allows more levels in HCL, and 10,000 in
/// JSON; nothing that it reads needs a tenth of this.
pub const MAX_DEPTH: usize = 64;
/// The error about deeper nesting, in the words of Go's JSON.
pub const TOO_DEEP: &str = "exceeded max depth";

/// A place in a document; both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// Why a text is not valid HCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HclError {
    /// An error at a position.
    At {
        /// The place in the document.
        position: Position,
        /// The message of Consul's parser.
        message: String,
    },
    /// An error of the scanner of JSON.
    Scanned {
        /// The place in the document.
        position: Position,
        /// The message of Consul's parser.
        message: String,
    },
    /// An error of the parser of JSON, which keeps no positions.
    Plain(String),
    /// An argument that has been given already, where each may be given [once](crate::Arguments::Once).
    Repeated {
        /// Its name.
        argument: String,
        /// Where it is given again.
        position: Position,
    },
}

impl fmt::Display for HclError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HclError::At { position, message } => write!(formatter, "At {position}: {message}"),
            HclError::Scanned { position, message } => write!(formatter, "{position}: {message}"),
            HclError::Plain(message) => formatter.write_str(message),
            HclError::Repeated { argument, position } => write!(
                formatter,
                "The argument {} at {position} was already set. Each argument can only be defined once",
                Quoted(argument.as_bytes())
            ),
        }
    }
}
