//! Tests of virtual addresses.

use super::*;
use crate::catalog::registration::{Deregistration, NewNode, Registration};
use crate::catalog::service::proxy::Proxy;
use crate::config::value::{ConfigMembers, ConfigValue};
use crate::config::{ConfigDelete, ConfigEntry, ConfigWrite};
use crate::timestamp::Timestamp;
use crate::{Index, Store, VersionRules};

fn store(rules: VersionRules) -> Store {
    Store::new(rules, Index(9))
}

fn proxy(id: &str, of: &str) -> NewService {
    NewService {
        id: id.to_owned(),
        name: id.to_owned(),
        kind: "connect-proxy".to_owned(),
        port: 7,
        proxy: Arc::new(Proxy {
            destination_name: of.to_owned(),
            ..Proxy::default()
        }),
        ..NewService::default()
    }
}

fn native(name: &str) -> NewService {
    NewService {
        connect_native: true,
        kind: String::new(),
        ..proxy(name, "")
    }
}

fn enter(store: &mut Store, service: NewService) {
    let registration = Registration {
        node: NewNode {
            node: "N".to_owned(),
            ..NewNode::default()
        },
        service: Some(service),
        ..Registration::default()
    };
    let applied = store.apply(Timestamp::ZERO, registration);
    applied.result.expect("nothing speaks against it");
}

/// The address of an instance with its port, and when it was last written.
fn shown(store: &Store, id: &str) -> (Option<String>, u64) {
    let row = store.catalog.service("n", id).expect("it was registered");
    let addresses = row.service.tagged_addresses.as_ref();
    let address = addresses.and_then(|all| all.get(TAG));
    let address = address.map(|own| format!("{}:{}", own.address, own.port));
    (address, row.modify_index.0)
}

fn leave(store: &mut Store, id: &str) {
    let gone = Deregistration::Service {
        node: "n".to_owned(),
        id: id.to_owned(),
    };
    let Ok(()) = store.apply(Timestamp::ZERO, gone).result;
}

fn write(store: &mut Store, kind: &str, name: &str, body: ConfigMembers) {
    let write = ConfigWrite {
        entry: ConfigEntry {
            kind: kind.to_owned(),
            name: name.to_owned(),
            body: ConfigValue::Members(body),
        },
        cas: None,
        skips_identical: true,
    };
    let written = store.apply(Timestamp::ZERO, write).result;
    assert_eq!(written, Ok(true));
}

fn delete(store: &mut Store, kind: &str, name: &str) {
    let delete = ConfigDelete {
        kind: kind.to_owned(),
        name: name.to_owned(),
        cas: None,
        skips_missing: true,
    };
    assert_eq!(store.apply(Timestamp::ZERO, delete).result, Ok(true));
}

fn address(store: &Store, id: &str) -> String {
    shown(store, id).0.expect("it has one")
}

#[test]
fn a_service_loses_its_address_with_its_own_last_instance_though_a_proxy_still_shows_it() {
    let mut store = store(crate::tests::NEWEST);
    enter(&mut store, native("one"));
    enter(&mut store, proxy("of-two", "two"));
    enter(&mut store, proxy("of-one", "one"));
    assert_eq!(address(&store, "one"), "240.0.0.1:7");
    assert_eq!(address(&store, "of-one"), "240.0.0.1:7");
    assert_eq!(address(&store, "of-two"), "240.0.0.2:7");
    leave(&mut store, "one");
    assert_eq!(address(&store, "of-one"), "240.0.0.1:7");
    enter(&mut store, proxy("of-three", "three"));
    assert_eq!(address(&store, "of-three"), "240.0.0.1:7");
    // The last proxy of a service without instances takes the address with it.
    leave(&mut store, "of-two");
    enter(&mut store, proxy("of-four", "four"));
    assert_eq!(address(&store, "of-four"), "240.0.0.2:7");
}

#[test]
fn entries_and_terminating_gateways_give_addresses_and_hold_them() {
    let mut store = store(crate::tests::NEWEST);
    write(&mut store, "service-resolver", "one", ConfigMembers::new());
    write(&mut store, "api-gateway", "none", ConfigMembers::new());
    let service = [("Name".to_owned(), ConfigValue::Text("two".to_owned()))];
    let services = vec![ConfigValue::Members(service.into_iter().collect())];
    let behind = [("Services".to_owned(), ConfigValue::List(services))];
    write(&mut store, TERMINATING, "out", behind.into_iter().collect());
    enter(&mut store, native("three"));
    assert_eq!(address(&store, "three"), "240.0.0.3:7");
    enter(&mut store, proxy("of-two", "two"));
    assert_eq!(address(&store, "of-two"), "240.0.0.2:7");
    let gateway = NewService {
        kind: TERMINATING.to_owned(),
        connect_native: false,
        ..native("out")
    };
    enter(&mut store, gateway);
    let row = store
        .catalog
        .service("n", "out")
        .expect("it was registered");
    let tagged = row.service.tagged_addresses.as_ref();
    let tagged = tagged.and_then(|tagged| tagged.get("consul-virtual:two"));
    assert_eq!(tagged.expect("it has one").address, "240.0.0.2");
    // The entry holds the address until it goes.
    enter(&mut store, native("one"));
    assert_eq!(address(&store, "one"), "240.0.0.1:7");
    leave(&mut store, "one");
    enter(&mut store, native("four"));
    assert_eq!(address(&store, "four"), "240.0.0.4:7");
    delete(&mut store, "service-resolver", "one");
    enter(&mut store, native("five"));
    assert_eq!(address(&store, "five"), "240.0.0.1:7");
    leave(&mut store, "of-two");
    delete(&mut store, TERMINATING, "out");
    enter(&mut store, native("six"));
    assert_eq!(address(&store, "six"), "240.0.0.2:7");
}

#[test]
fn names_and_ids_in_another_case_are_the_same() {
    let mut store = store(crate::tests::NEWEST);
    enter(&mut store, native("Web"));
    enter(&mut store, proxy("PX", "other"));
    enter(&mut store, proxy("of-web", "wEB"));
    assert_eq!(address(&store, "of-web"), "240.0.0.1:7");
    // The instance that is written frees its former address, however its id is spelled.
    enter(&mut store, proxy("px", "third"));
    assert_eq!(address(&store, "px"), "240.0.0.3:7");
    enter(&mut store, native("fourth"));
    assert_eq!(address(&store, "fourth"), "240.0.0.2:7");
}

#[test]
fn the_same_registration_is_no_change() {
    let mut store = store(crate::tests::NEWEST);
    enter(&mut store, proxy("px", "web"));
    let before = shown(&store, "px");
    enter(&mut store, proxy("px", "web"));
    assert_eq!(shown(&store, "px"), before);
}

#[test]
fn earlier_releases_and_ordinary_services_have_none() {
    let mut old = store(crate::tests::OLDEST);
    enter(&mut old, proxy("px", "web"));
    assert_eq!(shown(&old, "px").0, None);
    let mut new = store(crate::tests::NEWEST);
    let plain = NewService {
        connect_native: false,
        ..native("plain")
    };
    enter(&mut new, plain);
    assert_eq!(shown(&new, "plain").0, None);
}
