//! Errors of the operating system, in the words of Go's `syscall`.
//!
//! Go has a table of its own. The C libraries do not agree with it, nor with each other: glibc says `Address already in
//! use` and musl `Address in use`.

use std::io;

/// Go's texts for Linux, by number, where musl's or glibc's is another than Go's in more than its first letter.
#[cfg(target_os = "linux")]
const TEXTS: &[(i32, &str)] = &[
    (5, "input/output error"),
    (11, "resource temporarily unavailable"),
    (16, "device or resource busy"),
    (18, "invalid cross-device link"),
    (23, "too many open files in system"),
    (24, "too many open files"),
    (36, "file name too long"),
    (40, "too many levels of symbolic links"),
    (97, "address family not supported by protocol"),
    (98, "address already in use"),
    (99, "cannot assign requested address"),
    (101, "network is unreachable"),
    (110, "connection timed out"),
    (113, "no route to host"),
];
#[cfg(not(target_os = "linux"))]
const TEXTS: &[(i32, &str)] = &[];

/// Returns Go's text of an error, such as `address already in use`.
#[must_use]
pub fn error_text(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else {
        return with_small_start(&error.to_string());
    };
    if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == number) {
        return (*text).to_owned();
    }
    // Rust prints `Permission denied (os error 13)`: the C library's text and the number.
    let text = error.to_string();
    let text = &text[..text.rfind(" (os error ").unwrap_or(text.len())];
    // Go shows the texts of Windows as they are.
    if cfg!(windows) {
        return text.to_owned();
    }
    with_small_start(text)
}

fn with_small_start(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn errors_read_as_in_go_whatever_the_c_library_says() {
        let rows = [
            (2, "no such file or directory"),
            (13, "permission denied"),
            (21, "is a directory"),
            (24, "too many open files"),
            (98, "address already in use"),
            (99, "cannot assign requested address"),
            (104, "connection reset by peer"),
            (110, "connection timed out"),
            (111, "connection refused"),
            (113, "no route to host"),
        ];
        for (number, expected) in rows {
            assert_eq!(error_text(&io::Error::from_raw_os_error(number)), expected);
        }
    }

    #[test]
    fn errors_without_a_number_have_a_small_start() {
        assert_eq!(error_text(&io::Error::other("Odd")), "odd");
        assert_eq!(error_text(&io::Error::other("")), "");
    }
}
