//! What differs between Consul versions inside the store.

/// The version-dependent rules of the store, resolved once from the emulated version.
///
/// The store knows no version numbers: the table of what each release does is the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Session ids are looked up as UUIDs, so a malformed one is an error of its own, and destroying an
    /// unknown session writes a raft entry (`sess.malformed_id`, `kv.session_lookup`: until 1.11.0).
    pub session_ids_are_uuids: bool,
    /// A wait on a missing key or session goes on through unrelated writes (`kv.missing_block`,
    /// `sess.info_block`: since 1.10.9, 1.11.4, 1.12.0). Before, it may end early (kv.md 5.4).
    pub missing_keeps_blocking: bool,
    /// An unknown transaction verb is refused before anything runs (`txn.unknown_verb`: since 1.19.1).
    pub unknown_verb_fails_pre_check: bool,
    /// Writing an identical check moves the index of the checks table (`cat.check_noop_index`: until 1.9.0).
    pub identical_check_moves_index: bool,
    /// Checks of type `session` follow the sessions of their name (`sess.session_checks`: since 1.21.0).
    pub session_checks: bool,
    /// A service with neither id nor name is refused in a transaction before anything runs, whatever is done with it
    /// (`cat.svc_empty_text`: since 1.21.2). Before, only where it is written.
    pub empty_service_fails_pre_check: bool,
    /// Each node has an index of its own, and writing a service moves the index of the nodes table
    /// (`cat.node_index`: since 1.13.0).
    pub index_per_node: bool,
}
