//! The client `rs-consul`: keys, blocking reads, its lock, catalog and health. It has no calls for sessions and agents.

use std::collections::HashMap;
use std::time::Duration;

use proconsul_interop::{address, own};
use rs_consul::{
    Config, Consul, ConsulError, CreateOrUpdateKeyRequest, DeleteKeyRequest,
    DeregisterEntityPayload, GetNodesRequest, GetServiceNodesRequest, LockExpirationBehavior,
    LockRequest, LockWatchRequest, ReadKeyRequest, RegisterEntityCheck, RegisterEntityPayload,
    RegisterEntityService,
};

type Outcome = Result<(), ConsulError>;

fn client() -> Consul {
    Consul::new(Config {
        address: address(),
        ..Config::default()
    })
}

async fn put(consul: &Consul, key: &str, value: &str) -> Result<bool, ConsulError> {
    let request = CreateOrUpdateKeyRequest::builder().key(key).build();
    let (written, _) = consul.create_or_update_key(request, value.into()).await?;
    Ok(written)
}

async fn delete(consul: &Consul, key: &str, recurse: bool) -> Result<bool, ConsulError> {
    let request = DeleteKeyRequest::builder().key(key).recurse(recurse);
    consul.delete_key(request.build()).await
}

#[tokio::test]
async fn keys_are_written_read_and_deleted() -> Outcome {
    let consul = client();
    let key = own("keys/a");
    let request = CreateOrUpdateKeyRequest::builder()
        .key(&key)
        .flags(u64::MAX);
    let (written, _) = consul
        .create_or_update_key(request.build(), "grüße".into())
        .await?;
    assert!(written);
    let read = consul
        .read_key(ReadKeyRequest::builder().key(&key).build())
        .await?;
    let pair = &read.response[0];
    assert_eq!((pair.key.as_str(), pair.flags), (key.as_str(), u64::MAX));
    assert_eq!(pair.value.as_deref(), Some("grüße"));
    assert_eq!(i64::try_from(read.index), Ok(pair.modify_index));

    put(&consul, &own("keys/b"), "").await?;
    let folder = own("keys/");
    let all = ReadKeyRequest::builder().key(&folder).recurse(true).build();
    let all = consul.read_key(all).await?.response;
    let names: Vec<String> = all.into_iter().map(|pair| pair.key).collect();
    assert_eq!(names, [own("keys/a"), own("keys/b")]);

    assert!(delete(&consul, &folder, true).await?);
    let gone = consul
        .read_key(ReadKeyRequest::builder().key(&key).build())
        .await
        .expect_err("it was deleted");
    let ConsulError::UnexpectedResponseCode(status, _) = gone else {
        panic!("{gone:?}");
    };
    assert_eq!(status, 404);
    Ok(())
}

#[tokio::test]
async fn cas_writes_only_what_was_seen() -> Outcome {
    let consul = client();
    let key = own("cas");
    let cas = async |index, value: &str| {
        let request = CreateOrUpdateKeyRequest::builder().key(&key);
        let request = request.check_and_set(index).build();
        consul.create_or_update_key(request, value.into()).await
    };
    assert!(cas(0, "1").await?.0);
    assert!(!cas(0, "2").await?.0);
    let read = ReadKeyRequest::builder().key(&key).build();
    let seen = consul.read_key(read).await?.response[0].modify_index;
    assert!(cas(seen, "2").await?.0);
    assert!(!cas(seen, "3").await?.0);
    assert!(delete(&consul, &key, false).await?);
    Ok(())
}

#[tokio::test]
async fn a_blocking_read_sees_the_write_that_it_waits_for() -> Outcome {
    let consul = client();
    let key = own("blocking");
    put(&consul, &key, "before").await?;
    let read = |index| {
        let request = ReadKeyRequest::builder().key(&key).maybe_index(index);
        consul.read_key(request.wait(Duration::from_secs(60)).build())
    };
    let index = read(None).await?.index;
    let (waited, written) = tokio::join!(read(Some(index)), put(&consul, &key, "after"));
    assert!(written?);
    let waited = waited?;
    assert!(waited.index > index);
    assert_eq!(waited.response[0].value.as_deref(), Some("after"));
    assert!(delete(&consul, &key, false).await?);
    Ok(())
}

/// Several threads: its lock is released by a call that blocks.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_excludes_and_is_given_back_when_it_is_dropped() -> Outcome {
    let consul = client();
    let key = own("lock");
    let request = LockRequest {
        key: &key,
        timeout: Duration::from_secs(10),
        behavior: LockExpirationBehavior::Release,
        ..LockRequest::default()
    };
    let held = consul.get_lock(request, b"one").await?;
    let refused = consul
        .get_lock(request, b"two")
        .await
        .expect_err("it is held");
    let ConsulError::LockAcquisitionFailure(index) = refused else {
        panic!("{refused:?}");
    };
    let watch = LockWatchRequest::builder().key(&key).index(index);
    let watch = consul.watch_lock(watch.wait(Duration::from_secs(60)).build());
    let released = tokio::task::spawn_blocking({
        let consul = client();
        let session = held.session_id.clone();
        let key = key.clone();
        move || {
            let request = CreateOrUpdateKeyRequest::builder().key(&key);
            consul.create_or_update_key_sync(request.release(&session).build(), b"one".into())
        }
    });
    let (seen, released) = tokio::join!(watch, released);
    assert!(released.expect("it does not panic")?);
    assert_eq!(seen?.response[0].session, None);
    // It does not know yet that it was released behind its back, and a release that is late does no harm.
    drop(held);
    let next = consul.get_lock(request, b"two").await?;
    let read = ReadKeyRequest::builder().key(&key).build();
    let pair = consul.read_key(read.clone()).await?.response.remove(0);
    assert_eq!(pair.session.as_ref(), Some(&next.session_id));
    assert_eq!((pair.value.as_deref(), pair.lock_index), (Some("two"), 2));
    drop(next);
    assert_eq!(consul.read_key(read).await?.response[0].session, None);
    assert!(delete(&consul, &key, false).await?);
    Ok(())
}

#[tokio::test]
async fn the_catalog_tells_what_was_registered_and_health_what_passes() -> Outcome {
    let consul = client();
    let (node, service) = (own("node"), own("web"));
    let check = |status: &str| {
        let check = RegisterEntityCheck::builder().CheckID("http".to_owned());
        let check = check.Name("http".to_owned()).ServiceID("web-1".to_owned());
        check.Status(status.to_owned()).build()
    };
    let register = async |status| {
        let instance = RegisterEntityService::builder().ID("web-1".to_owned());
        let instance = instance.Service(service.clone()).Port(8080);
        let payload = RegisterEntityPayload::builder().Node(node.clone());
        let payload = payload
            .Address("10.0.0.7".to_owned())
            .NodeMeta(HashMap::from([("rack".to_owned(), "7".to_owned())]))
            .Service(instance.Tags(vec!["blue".to_owned()]).build())
            .Checks(vec![check(status)]);
        consul.register_entity(&payload.build()).await
    };
    register("passing").await?;
    let names = consul.get_all_registered_service_names(None).await?;
    assert!(names.response.contains(&service), "{:?}", names.response);
    let nodes = consul.get_nodes(GetNodesRequest::default(), None).await?;
    let own_node = nodes.response.iter().find(|found| found.node == node);
    let own_node = own_node.expect("it is registered");
    let meta = own_node.Meta.as_ref().and_then(|meta| meta.get("rack"));
    assert_eq!(meta.map(String::as_str), Some("7"));
    let addresses = consul.get_service_addresses_and_ports(&service, None);
    assert_eq!(addresses.await?, [("10.0.0.7".to_owned(), 8080)]);

    register("critical").await?;
    let instances = async |passing| {
        let request = GetServiceNodesRequest::builder().service(&service);
        let found = consul.get_service_nodes(request.passing(passing).build(), None);
        Ok::<_, ConsulError>(found.await?.response)
    };
    let all = instances(false).await?;
    assert_eq!(all[0].service.tags, ["blue"]);
    assert!(instances(true).await?.is_empty());
    consul
        .deregister_entity(
            &DeregisterEntityPayload::builder()
                .Node(node.clone())
                .build(),
        )
        .await?;
    assert!(instances(false).await?.is_empty());
    Ok(())
}
