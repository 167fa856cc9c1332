//! A typed client for any Consul. Nothing of it is here yet: the server and the conformance suite come first.
