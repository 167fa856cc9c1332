//! HTTPS on the wire: a request behaves as over HTTP, and what is no TLS, or not enough of it, is refused as by Go.

mod consul;
mod raw;
mod trust;
