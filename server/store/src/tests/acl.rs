//! Policies, roles and tokens: hashes as a real 1.8.7 gives them, indexes, expiry, and images.

use std::time::Duration;

use super::OLDEST;
use crate::timestamp::Timestamp;
use crate::{
    AclDelete, AclId, AclIdentity, AclInfo, AclKind, AclRefusal, AclStart, AclTarget, Index,
    MadeIds, NewAclLink, NewGrants, NewPolicy, NewToken, NodeIdentity, PolicyRow, PolicyWrite,
    Read, RoleRow, RoleWrite, ServiceIdentity, Store, TokenCreate, TokenList, TokenRefusal,
    TokenRow, Touched, Watch,
};

/// The rules of the policy whose hash was taken.
const RULES: &str = r#"key "a" { policy = "read" }"#;

fn hex(hash: [u8; 32]) -> String {
    hash[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn id(number: u8) -> AclId {
    AclId::from_bytes([number; 16])
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_nanos(seconds * 1_000_000_000)
}

fn started() -> Store {
    let mut store = Store::new(OLDEST, Index(10));
    let start = AclStart {
        first: Index(4),
        policies: vec![(AclId::GLOBAL_MANAGEMENT, NewPolicy::default())],
        management: None,
    };
    store
        .apply(at(0), start)
        .result
        .expect("it is never refused");
    store
}

fn create(store: &mut Store, number: u8, token: NewToken) -> Result<TokenRow, AclRefusal> {
    let made = MadeIds {
        accessor: id(number),
        secret: id(number + 100),
    };
    let now = store.next_deadline().map_or(at(1), |next| next.min(at(1)));
    let created = store.apply(now, TokenCreate { token, made }).result;
    created.map(|shown| TokenRow::clone(&shown.row))
}

fn policy(name: &str) -> NewPolicy {
    NewPolicy {
        name: name.to_owned(),
        ..NewPolicy::default()
    }
}

fn put_policy(store: &mut Store, number: u8, policy: NewPolicy) -> PolicyRow {
    let write = PolicyWrite {
        target: AclTarget::New(id(number)),
        policy,
        flaw: None,
    };
    let written = store.apply(at(1), write).result.expect("it is in order");
    PolicyRow::clone(&written.row)
}

fn named(name: &str) -> NewAclLink {
    NewAclLink {
        name: name.to_owned(),
        ..NewAclLink::default()
    }
}

fn service(name: &str, datacenters: &[&str]) -> ServiceIdentity {
    ServiceIdentity {
        service_name: name.to_owned(),
        datacenters: datacenters.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn node(name: &str) -> NodeIdentity {
    NodeIdentity {
        node_name: name.to_owned(),
        datacenter: "dc1".to_owned(),
    }
}

/// The first bytes of hashes that a real 1.8.7 showed, in hexadecimal digits.
#[test]
fn hashes_are_those_of_a_real_server() {
    let mut store = started();
    let list = TokenList.look(&store).expect("it is never refused").rows;
    assert_eq!(hex(list[0].row.hash()), "44d54549", "the anonymous token");
    let row = put_policy(
        &mut store,
        1,
        NewPolicy {
            description: "d".to_owned(),
            rules: RULES.to_owned(),
            datacenters: Some(["dc2", "dc1", "dc2"].map(str::to_owned).to_vec()),
            ..policy("p1")
        },
    );
    assert_eq!(hex(row.hash()), "b3dcb3e3", "a policy");
    let empty = create(&mut store, 2, NewToken::default()).expect("it is in order");
    assert_eq!(hex(empty.hash()), "34b3a857", "a token of nothing");
    let grants = NewGrants {
        service_identities: vec![service("web", &[]), service("api", &["b", "a"])],
        node_identities: vec![node("n2"), node("n1")],
        ..NewGrants::default()
    };
    let token = NewToken {
        grants,
        ..NewToken::default()
    };
    let token = create(&mut store, 3, token).expect("it is in order");
    assert_eq!(hex(token.hash()), "55c6a074", "a token with identities");
    assert_eq!(token.grants.service_identities[0].service_name, "api");
}

#[test]
fn identities_of_one_service_become_one() {
    let mut store = started();
    let grants = NewGrants {
        service_identities: vec![
            service("web", &["b", "a", "b"]),
            service("api", &[]),
            service("web", &["c"]),
            service("api", &["d"]),
        ],
        ..NewGrants::default()
    };
    let token = NewToken {
        grants,
        ..NewToken::default()
    };
    let row = create(&mut store, 1, token).expect("it is in order");
    let expected = [service("api", &[]), service("web", &["a", "b", "c"])];
    assert_eq!(row.grants.service_identities, expected);
}

#[test]
fn refused_writes_take_no_index_and_roles_with_unknown_policies_take_one() {
    let mut store = started();
    let before = store.applied();
    let write = PolicyWrite {
        target: AclTarget::New(id(1)),
        policy: policy("a b"),
        flaw: None,
    };
    assert!(store.apply(at(1), write).result.is_err());
    let gone = store.apply(at(1), AclDelete::<PolicyRow>::new(id(9).to_string()));
    assert_eq!(gone.result, Ok(false));
    assert_eq!(store.applied(), before);
    let write = RoleWrite {
        target: AclTarget::New(id(2)),
        name: "r".to_owned(),
        description: String::new(),
        grants: NewGrants {
            policies: vec![NewAclLink {
                id: id(9).to_string(),
                ..NewAclLink::default()
            }],
            ..NewGrants::default()
        },
    };
    let refused = store.apply(at(1), write).result.map(|_| ());
    assert_eq!(refused, Err(AclRefusal::NoPolicyOfRole(id(9).to_string())));
    assert_eq!(store.applied(), Index(before.0 + 1));
}

#[test]
fn links_follow_names_and_vanish_with_what_they_lead_to() {
    let mut store = started();
    put_policy(&mut store, 1, policy("p1"));
    let token = NewToken {
        grants: NewGrants {
            policies: vec![named("P1"), named("p1")],
            ..NewGrants::default()
        },
        ..NewToken::default()
    };
    let row = create(&mut store, 2, token).expect("it is in order");
    let shown = |store: &Store| {
        let read = AclInfo::<TokenRow>::new(row.accessor.clone());
        let answer = read.look(store).expect("the id is one");
        let shown = answer.rows.expect("the token is there");
        let names = shown.policies.into_iter().map(|link| link.name);
        (answer.index, names.collect::<Vec<_>>())
    };
    let before = shown(&store);
    assert_eq!(before.1, ["p1"]);
    let write = PolicyWrite {
        target: AclTarget::Existing(id(1).to_string()),
        policy: policy("p2"),
        flaw: None,
    };
    store.apply(at(1), write).result.expect("it is in order");
    assert_eq!(shown(&store), (before.0, vec!["p2".to_owned()]));
    let gone = store.apply(at(1), AclDelete::<PolicyRow>::new(id(1).to_string()));
    let touched = Touched::AclObject(AclKind::Policy, id(1));
    assert_eq!(gone.effects.touched, [touched]);
    assert_eq!(shown(&store), (before.0, Vec::new()));
}

#[test]
fn an_expired_token_counts_no_longer_and_goes_later() {
    let mut store = started();
    let token = |seconds: i64| NewToken {
        ttl_ns: seconds * 1_000_000_000,
        ..NewToken::default()
    };
    let soon = create(&mut store, 1, token(59));
    let expected = TokenRefusal::ExpiresTooSoon(59_000_000_000);
    assert_eq!(soon, Err(AclRefusal::Token(expected)));
    let late = create(&mut store, 1, token(90_000));
    assert!(matches!(
        late,
        Err(AclRefusal::Token(TokenRefusal::ExpiresTooLate(_)))
    ));
    let row = create(&mut store, 1, token(60)).expect("it is in order");
    let (due, deadline) = store.due(at(61)).expect("the token expires");
    assert_eq!(due, at(61));
    let index = TokenList.look(&store).expect("never refused").index;
    let effects = store.apply(due, deadline).effects;
    assert!(effects.touched.is_empty() && effects.index.is_none());
    let known = |store: &Store| {
        let identity = AclIdentity(&row.secret).look(store).expect("never refused");
        identity.rows.is_some()
    };
    assert!(!known(&store));
    let again = NewToken {
        accessor: row.accessor.clone(),
        ..NewToken::default()
    };
    let taken = create(&mut store, 2, again.clone());
    assert_eq!(taken, Err(AclRefusal::Token(TokenRefusal::AccessorTaken)));
    let image = store.clone().image(due);
    let restored = store.with_image(image, due).expect("the image is in order");
    assert!(restored.next_deadline().is_some(), "it is still to go");
    let (due, deadline) = store.due(at(62)).expect("the token goes");
    assert_eq!(due, at(61).plus(Duration::from_millis(500)));
    let effects = store.apply(due, deadline).effects;
    assert_eq!(effects.touched, [Touched::AclObject(AclKind::Token, id(1))]);
    assert!(TokenList.look(&store).expect("never refused").index > index);
    let made = MadeIds {
        accessor: id(5),
        secret: id(6),
    };
    let free = store.apply(at(62), TokenCreate { token: again, made });
    assert!(free.result.is_ok());
}

#[test]
fn an_image_brings_everything_back() {
    let mut store = started();
    put_policy(&mut store, 1, policy("p1"));
    let role = RoleWrite {
        target: AclTarget::New(id(2)),
        name: "r".to_owned(),
        description: String::new(),
        grants: NewGrants {
            policies: vec![named("p1")],
            ..NewGrants::default()
        },
    };
    store.apply(at(1), role).result.expect("it is in order");
    let token = NewToken {
        grants: NewGrants {
            roles: vec![named("r")],
            ..NewGrants::default()
        },
        ttl_ns: 60_000_000_000,
        ..NewToken::default()
    };
    let row = create(&mut store, 3, token).expect("it is in order");
    let image = store.clone().image(at(31));
    let back = store
        .with_image(image.clone(), at(131))
        .expect("it is in order");
    assert_eq!(back.clone().image(at(131)), image);
    assert_eq!(back.next_deadline(), Some(at(161)));
    let answer = AclIdentity(&row.secret).look(&back).expect("never refused");
    let identity = answer.rows.expect("the token is there");
    assert_eq!(identity.policies[0].policy.name, "p1");
    let one = AclInfo::<RoleRow>::new(id(2).to_string());
    let reads = one.look(&back).expect("the id is one").reads;
    assert_eq!(reads, [Watch::AclObject(AclKind::Role, id(2))]);
}
