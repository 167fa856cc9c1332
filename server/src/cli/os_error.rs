//! Errors of the operating system in Go's words.

use std::io;

/// Returns Go's text of an error of the operating system, such as `address already in use`.
pub(super) fn text(error: &io::Error) -> String {
    let text = error.to_string();
    // Rust prints `Address already in use (os error 98)`: the C library's text and a number.
    let text = match (error.raw_os_error(), text.rfind(" (os error ")) {
        (Some(_), Some(end)) => &text[..end],
        _ => &text,
    };
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
    fn errors_read_as_in_go() {
        let refused = std::fs::File::open("/does/not/exist").expect_err("there is no such file");
        assert_eq!(text(&refused), "no such file or directory");
        assert_eq!(text(&io::Error::other("Odd")), "odd");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let refused = std::net::TcpListener::bind(address).expect_err("the port is taken");
        assert_eq!(text(&refused), "address already in use");
    }
}
