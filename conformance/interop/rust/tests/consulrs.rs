//! The client `consulrs`: keys, sessions, catalog, and the agent's services and checks.

use std::collections::HashMap;

use consulrs::api::Features;
use consulrs::api::catalog::requests::RegisterEntityRequest;
use consulrs::api::check::common::AgentServiceCheck;
use consulrs::api::features::Blocking;
use consulrs::api::kv::common::KVPair;
use consulrs::api::kv::requests::{
    DeleteKeyRequest, ReadKeyRequest, ReadKeysRequest, SetKeyRequest,
};
use consulrs::api::service::common::AgentService;
use consulrs::api::service::requests::RegisterServiceRequest;
use consulrs::api::session::requests::CreateSessionRequest;
use consulrs::client::{ConsulClient, ConsulClientSettingsBuilder};
use consulrs::error::ClientError;
use consulrs::{catalog, check, kv, service, session};
use proconsul_interop::{address, own};

type Outcome = Result<(), ClientError>;

fn client() -> ConsulClient {
    let settings = ConsulClientSettingsBuilder::default()
        .address(address())
        .build();
    ConsulClient::new(settings.expect("all of them have defaults")).expect("the address is one")
}

fn text(pair: &KVPair) -> String {
    let value = pair.value.clone().expect("it has a value");
    value.try_into().expect("it is text")
}

/// The status of a refusal.
fn status<T>(refused: Result<T, ClientError>) -> u16 {
    match refused {
        Err(ClientError::APIError { code, .. }) => code,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[tokio::test]
async fn keys_are_written_read_and_deleted() -> Outcome {
    let consul = client();
    let (key, folder) = (own("keys/a"), own("keys/"));
    let mut flags = SetKeyRequest::builder();
    let written = kv::set(&consul, &key, b"hello", Some(flags.flags(u64::MAX))).await?;
    assert!(written.response);
    let read = kv::read(&consul, &key, None).await?;
    let pair = &read.response[0];
    assert_eq!((text(pair), pair.flags), ("hello".to_owned(), u64::MAX));
    assert_eq!(read.index, Some(pair.modify_index.to_string()));
    assert_eq!(read.known_leader.as_deref(), Some("true"));
    assert_eq!(kv::raw(&consul, &key, None).await?.response, b"hello");

    let value = HashMap::from([("port".to_owned(), 80)]);
    kv::set_json(&consul, &own("keys/d/b"), &value, None).await?;
    let read = kv::read_json::<HashMap<String, i32>, _>(&consul, &own("keys/d/b"), None).await?;
    assert_eq!(read.response.value, value);
    let mut separated = ReadKeysRequest::builder();
    let names = kv::keys(&consul, &folder, Some(separated.separator("/"))).await?;
    assert_eq!(names.response, [key.clone(), own("keys/d/")]);
    let mut recurse = ReadKeyRequest::builder();
    let all = kv::read(&consul, &folder, Some(recurse.recurse(true))).await?;
    assert_eq!(all.response.len(), 2);

    let mut recurse = DeleteKeyRequest::builder();
    let deleted = kv::delete(&consul, &folder, Some(recurse.recurse(true))).await?;
    assert!(deleted.response);
    assert_eq!(status(kv::read(&consul, &key, None).await), 404);
    Ok(())
}

#[tokio::test]
async fn cas_writes_only_what_was_seen() -> Outcome {
    let consul = client();
    let key = own("cas");
    let cas = async |index: u64, value: &'static [u8]| {
        let mut request = SetKeyRequest::builder();
        let written = kv::set(&consul, &key, value, Some(request.cas(index))).await?;
        Ok::<_, ClientError>(written.response)
    };
    assert!(cas(0, b"1").await?);
    assert!(!cas(0, b"2").await?);
    let seen = kv::read(&consul, &key, None).await?.response[0].modify_index;
    assert!(cas(seen, b"2").await?);
    let mut stale = DeleteKeyRequest::builder();
    let deleted = kv::delete(&consul, &key, Some(stale.cas(seen))).await?;
    assert!(!deleted.response, "a stale delete took place");
    assert!(kv::delete(&consul, &key, None).await?.response);
    Ok(())
}

#[tokio::test]
async fn a_blocking_read_sees_the_write_that_it_waits_for() -> Outcome {
    let consul = client();
    let key = own("blocking");
    kv::set(&consul, &key, b"before", None).await?;
    let index = kv::read(&consul, &key, None).await?.response[0].modify_index;
    let blocking = Blocking {
        index,
        wait: Some("60s".to_owned()),
    };
    let mut options = ReadKeyRequest::builder();
    options.features(Features {
        blocking: Some(blocking),
        ..Features::default()
    });
    let (waited, written) = tokio::join!(
        kv::read(&consul, &key, Some(&mut options)),
        kv::set(&consul, &key, b"after", None)
    );
    assert!(written?.response);
    assert_eq!(text(&waited?.response[0]), "after");
    kv::delete(&consul, &key, None).await?;
    Ok(())
}

#[tokio::test]
async fn sessions_hold_keys_and_let_them_go() -> Outcome {
    let consul = client();
    let key = own("locked");
    let create = async |name: &str, behavior: &str| {
        let mut request = CreateSessionRequest::builder();
        request.name(name).behavior(behavior).ttl("15s");
        let created = session::create(&consul, Some(&mut request)).await?;
        Ok::<_, ClientError>(created.response.id)
    };
    let (one, two) = (
        create("one", "delete").await?,
        create("two", "release").await?,
    );
    let acquire = async |id: &str| {
        let mut request = SetKeyRequest::builder();
        let written = kv::set(&consul, &key, b"held", Some(request.acquire(id))).await?;
        Ok::<_, ClientError>(written.response)
    };
    assert!(acquire(&one).await?);
    assert!(!acquire(&two).await?);
    let held = kv::read(&consul, &key, None).await?.response.remove(0);
    assert_eq!((held.session.as_ref(), held.lock_index), (Some(&one), 1));

    let info = session::read(&consul, &one, None).await?.response.remove(0);
    assert_eq!(
        (info.ttl.as_deref(), info.behavior.as_deref()),
        (Some("15s"), Some("delete"))
    );
    assert_eq!(info.lock_delay, Some(15_000_000_000));
    let renewed = session::renew(&consul, &one, None).await?.response;
    assert_eq!(renewed[0].id.as_ref(), Some(&one));
    let node = info.node.expect("a session has a node");
    for list in [
        session::list(&consul, None).await?,
        session::list_by_node(&consul, &node, None).await?,
    ] {
        assert!(
            list.response
                .iter()
                .any(|entry| entry.id.as_ref() == Some(&one))
        );
    }

    session::delete(&consul, &one, None).await?;
    assert_eq!(status(kv::read(&consul, &key, None).await), 404);
    assert!(!acquire(&two).await?, "the lock-delay of 15 s");
    assert_eq!(status(session::renew(&consul, &one, None).await), 404);
    session::delete(&consul, &two, None).await.map(|_| ())
}

#[tokio::test]
async fn the_catalog_tells_what_was_registered() -> Outcome {
    let consul = client();
    let (node, name) = (own("node"), own("web"));
    let mut request = RegisterEntityRequest::builder();
    request.service(AgentService {
        id: Some("web-1".to_owned()),
        service: Some(name.clone()),
        port: Some(8080),
        tags: Some(vec!["blue".to_owned()]),
        ..AgentService::default()
    });
    assert!(
        catalog::register(&consul, &node, "10.0.0.7", Some(&mut request))
            .await?
            .response
    );
    assert_eq!(catalog::datacenters(&consul, None).await?.response, ["dc1"]);
    let nodes = catalog::nodes(&consul, None).await?.response;
    assert!(
        nodes
            .iter()
            .any(|found| found.node == node && found.address == "10.0.0.7")
    );
    let services = catalog::services(&consul, None).await?.response;
    assert_eq!(services[&name], ["blue"]);
    let instances = catalog::nodes_with_service(&consul, &name, None)
        .await?
        .response;
    assert_eq!(
        (instances.len(), instances[0].service_port),
        (1, Some(8080))
    );
    assert!(catalog::deregister(&consul, &node, None).await?.response);
    let instances = catalog::nodes_with_service(&consul, &name, None)
        .await?
        .response;
    assert!(instances.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_agents_services_pass_and_fail_by_their_checks() -> Outcome {
    let consul = client();
    let name = own("worker");
    let check_id = format!("{name}-alive");
    let mut request = RegisterServiceRequest::builder();
    request.port(8080_u64).check(AgentServiceCheck {
        check_id: Some(check_id.clone()),
        ttl: Some("600s".to_owned()),
        ..AgentServiceCheck::default()
    });
    service::register(&consul, &name, Some(&mut request)).await?;
    let listed = service::list(&consul, None).await?.response;
    assert_eq!(listed[&name].port, Some(8080));
    // A TTL check begins critical, and the agent says so by the status of its answer.
    assert_eq!(status(service::health(&consul, &name, None).await), 503);
    check::pass(&consul, &check_id, None).await?;
    let health = service::health(&consul, &name, None).await?.response;
    assert_eq!(health[0].aggregated_status, "passing");
    check::warn(&consul, &check_id, None).await?;
    assert_eq!(status(service::health(&consul, &name, None).await), 429);
    check::set_status(&consul, &check_id, "passing", None).await?;
    let checks = check::list(&consul, None).await?.response;
    assert_eq!(checks[&check_id].status.as_deref(), Some("passing"));
    service::deregister(&consul, &name, None).await?;
    assert!(
        !service::list(&consul, None)
            .await?
            .response
            .contains_key(&name)
    );
    Ok(())
}
