//! Compares the registry with a plain list of waiters.

use proptest::collection::vec;
use proptest::prelude::*;

use super::Registry;
use crate::{Key, SessionId, Touched, Tree, Watch};
use proconsul_testing::random_cases;

/// Whether a change wakes waiters on `watch`.
fn concerns(watch: &Watch, touched: &Touched) -> bool {
    match (watch, touched) {
        (Watch::Key(key), Touched::Key(touched)) => key == touched,
        (Watch::KeyPrefix(prefix), Touched::Key(key)) => {
            key.as_bytes().starts_with(prefix.as_bytes())
        }
        (Watch::Key(key), Touched::Keys(deleted)) => deleted.iter().any(|other| key == other),
        (Watch::KeyPrefix(prefix), Touched::Keys(deleted)) => {
            let mut deleted = deleted.iter();
            deleted.any(|key| key.as_bytes().starts_with(prefix.as_bytes()))
        }
        (Watch::KeyPrefix(path), Touched::MergedKeys(merged)) => path == merged,
        (Watch::Session(session), Touched::Session { id, .. }) => session == id,
        (Watch::NodeSessions(node), Touched::Session { node: touched, .. }) => node == touched,
        (Watch::AnySession, Touched::Session { .. }) => true,
        (Watch::Node(node), Touched::Node(touched)) => node == touched,
        (Watch::Nodes, Touched::Node(_)) => true,
        (Watch::NodesOfService(service), Touched::NodeOfService(touched))
        | (Watch::ServiceIndex(service), Touched::ServiceIndex(touched)) => service == touched,
        (Watch::Branch(tree, prefix), Touched::Entry(touched, key)) => {
            tree == touched && key.as_bytes().starts_with(prefix.as_bytes())
        }
        (Watch::Branch(tree, path), Touched::Merged(touched, merged)) => {
            tree == touched && path == merged
        }
        (Watch::PreparedQueries, Touched::PreparedQuery(_)) => true,
        (Watch::PreparedQuery(id), Touched::PreparedQuery(touched)) => id == touched,
        (Watch::Events, Touched::Event) => true,
        _ => false,
    }
}

fn key() -> impl Strategy<Value = Key> {
    vec(prop_oneof![Just(b'a'), Just(b'/'), Just(0xff)], 0..4).prop_map(Key::new)
}

fn session() -> impl Strategy<Value = SessionId> {
    (0..3u8).prop_map(|number| SessionId::from_bytes([number; 16]))
}

fn node() -> impl Strategy<Value = String> {
    prop_oneof![Just("n1".to_owned()), Just("n2".to_owned())]
}

fn service() -> impl Strategy<Value = String> {
    prop_oneof![Just("web".to_owned()), Just("db".to_owned())]
}

fn tree() -> impl Strategy<Value = Tree> {
    prop_oneof![Just(Tree::Services), Just(Tree::Checks)]
}

fn watch() -> impl Strategy<Value = Watch> {
    prop_oneof![
        key().prop_map(Watch::Key),
        key().prop_map(Watch::KeyPrefix),
        session().prop_map(Watch::Session),
        node().prop_map(Watch::NodeSessions),
        node().prop_map(Watch::Node),
        service().prop_map(Watch::NodesOfService),
        service().prop_map(Watch::ServiceIndex),
        (tree(), key()).prop_map(|(tree, prefix)| Watch::Branch(tree, prefix)),
        Just(Watch::AnySession),
        Just(Watch::Nodes),
        Just(Watch::PreparedQueries),
        session().prop_map(Watch::PreparedQuery),
        Just(Watch::Events),
    ]
}

fn touched() -> impl Strategy<Value = Touched> {
    prop_oneof![
        key().prop_map(Touched::Key),
        vec(key(), 1..15).prop_map(|keys| Touched::Keys(keys.into_iter().collect())),
        key().prop_map(Touched::MergedKeys),
        (session(), node()).prop_map(|(id, node)| Touched::Session { id, node }),
        node().prop_map(Touched::Node),
        (node(), service()).prop_map(|(node, name)| Touched::Service { node, name }),
        service().prop_map(Touched::NodeOfService),
        service().prop_map(Touched::ServiceIndex),
        (tree(), key()).prop_map(|(tree, key)| Touched::Entry(tree, key)),
        (tree(), key()).prop_map(|(tree, path)| Touched::Merged(tree, path)),
        session().prop_map(Touched::PreparedQuery),
        Just(Touched::Event),
        (node(), service()).prop_map(|(node, service_name)| Touched::Check { node, service_name }),
    ]
}

proptest! {
    #![proptest_config(random_cases(256))]

    #[test]
    fn those_are_found_whom_a_change_concerns_oldest_first_and_once(
        waiters in vec((vec(watch(), 1..3), any::<bool>()), 0..12),
        touched in vec(touched(), 1..4),
    ) {
        let mut registry = Registry::default();
        let mut admitted = Vec::new();
        for (number, (reads, _)) in waiters.iter().enumerate() {
            let id = registry.admit();
            registry.register(id, &number, reads);
            admitted.push(id);
        }
        for (id, (reads, goes)) in admitted.iter().zip(&waiters) {
            if *goes {
                registry.deregister(*id, reads);
            }
        }
        let concerned = |reads: &[Watch]| {
            reads.iter().any(|watch| touched.iter().any(|touched| concerns(watch, touched)))
        };
        let numbered = waiters.iter().enumerate();
        let stayed = numbered.filter(|(_, (reads, goes))| !goes && concerned(reads));
        let expected: Vec<usize> = stayed.map(|(number, _)| number).collect();
        prop_assert_eq!(registry.concerned(&touched), expected);

        for (id, (reads, _)) in admitted.iter().zip(&waiters) {
            registry.deregister(*id, reads);
        }
        prop_assert!(registry.is_empty());
        let mut prefixes = registry.trees.iter().chain([&registry.prefixes]);
        prop_assert!(prefixes.all(|prefixes| prefixes.lengths.is_empty()));
    }
}
