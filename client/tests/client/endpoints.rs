//! Each call once, with what it sends and what it understands.

use std::time::Duration;

use proconsul_client::{
    Behavior, Consistency, Error, NewService, NewSession, QueryOptions, Registration, SessionId,
    Status, TxnOutcome,
};

use super::support::frozen;

#[tokio::test]
async fn keys_are_written_read_and_deleted() -> Result<(), Error> {
    let (_server, client) = frozen();
    let kv = client.kv();
    assert_eq!(kv.get("a/b").await?.value, None);
    kv.write("a/b", [0, 255]).flags(u64::MAX).put().await?;
    let answer = kv.get("a/b").await?;
    let pair = answer.value.expect("it was put");
    assert_eq!(
        (pair.value.as_slice(), pair.flags),
        (&[0, 255][..], u64::MAX)
    );
    assert_eq!(answer.meta.index, pair.modify_index);
    assert!(answer.meta.known_leader);

    assert!(!kv.write("a/b", "x").cas(0).await?);
    assert!(kv.write("a/b", "x").cas(pair.modify_index).await?);
    kv.put("a/c/d", "").await?;
    let listed: Vec<String> = kv
        .list("a/")
        .await?
        .value
        .into_iter()
        .map(|pair| pair.key)
        .collect();
    assert_eq!(listed, ["a/b", "a/c/d"]);
    assert_eq!(kv.keys("a/", None).await?.value, ["a/b", "a/c/d"]);
    assert_eq!(kv.keys("a/", Some("/")).await?.value, ["a/b", "a/c/"]);
    assert!(kv.list("none/").await?.value.is_empty());
    assert!(kv.keys("none/", None).await?.value.is_empty());

    assert!(!kv.delete_cas("a/b", pair.modify_index).await?);
    kv.delete("a/b").await?;
    kv.delete_tree("a/").await?;
    assert!(kv.list("").await?.value.is_empty());
    Ok(())
}

#[tokio::test]
async fn keys_with_any_characters_come_back() -> Result<(), Error> {
    let (_server, client) = frozen();
    for key in ["a b", "a+b&c=d", "ü/€", "100%/%2F", "q?#", "a/"] {
        client.kv().put(key, key).await?;
        let pair = client.kv().get(key).await?.value.expect("it was put");
        assert_eq!(
            (pair.key.as_str(), pair.text().expect("it is text")),
            (key, key)
        );
    }
    Ok(())
}

#[tokio::test]
async fn keys_that_the_api_cannot_address_are_refused_before_anything_is_sent() {
    let (_server, client) = frozen();
    for key in ["/a", "a//b", "a/../b"] {
        let refused = client
            .kv()
            .put(key, "x")
            .await
            .expect_err("it cannot be addressed");
        assert!(matches!(refused, Error::Input(_)), "{key:?}: {refused}");
    }
    let refused = client.kv().delete_cas("a", 0).await;
    assert!(matches!(refused, Err(Error::Input(_))), "{refused:?}");
    assert!(
        client
            .kv()
            .list("")
            .await
            .expect("an answer")
            .value
            .is_empty()
    );
}

#[tokio::test]
async fn sessions_live_and_end() -> Result<(), Error> {
    let (_server, client) = frozen();
    let new = NewSession::new()
        .name("me")
        .ttl(Duration::from_secs(15))
        .lock_delay(Duration::from_millis(1500))
        .behavior(Behavior::Delete);
    let id = client.sessions().create(&new).await?;
    let session = client.sessions().info(&id).await?.value.expect("it lives");
    assert_eq!(
        (session.name.as_str(), session.behavior),
        ("me", Behavior::Delete)
    );
    assert_eq!(session.ttl(), Some(Duration::from_secs(15)));
    assert_eq!(session.lock_delay, Duration::from_millis(1500));
    assert_eq!(session.node_checks, ["serfHealth"]);
    assert_eq!(client.sessions().list().await?.value, vec![session.clone()]);
    assert_eq!(client.sessions().node(&session.node).await?.value.len(), 1);
    assert!(client.sessions().node("nobody").await?.value.is_empty());
    assert_eq!(client.sessions().renew(&id).await?, Some(session));

    assert!(client.kv().write("k", "v").acquire(&id).await?);
    assert!(
        !client
            .kv()
            .write("k", "w")
            .acquire(&other(&client).await?)
            .await?
    );
    assert!(client.kv().write("k", "w").release(&id).await?);
    client.sessions().destroy(&id).await?;
    assert_eq!(client.sessions().info(&id).await?.value, None);
    assert_eq!(client.sessions().renew(&id).await?, None);
    let lost = client
        .kv()
        .write("k", "v")
        .acquire(&id)
        .await
        .expect_err("no such session");
    assert!(lost.is_session_lost(), "{lost}");
    Ok(())
}

async fn other(client: &proconsul_client::Client) -> Result<SessionId, Error> {
    client.sessions().create(&NewSession::new()).await
}

#[tokio::test]
async fn transactions_happen_whole_or_not_at_all() -> Result<(), Error> {
    let (_server, client) = frozen();
    let id = other(&client).await?;
    let done = client
        .txn()
        .check_not_exists("a")
        .set_with_flags("a", "1", 7)
        .lock("l", "", &id)
        .get("a")
        .commit()
        .await?;
    let TxnOutcome::Committed(pairs) = done else {
        panic!("{done:?}");
    };
    let read = pairs.last().expect("the read key");
    assert_eq!((read.value.as_slice(), read.flags), (&b"1"[..], 7));

    let index = read.modify_index;
    let refused = client
        .txn()
        .set("a", "2")
        .check_index("a", 1)
        .check_session("a", &id)
        .commit()
        .await?;
    let TxnOutcome::RolledBack(errors) = refused else {
        panic!("{refused:?}");
    };
    let places: Vec<usize> = errors.iter().map(|error| error.op_index).collect();
    assert_eq!(places, [1, 2]);
    let whole = client
        .txn()
        .cas("a", "3", index)
        .unlock("l", "", &id)
        .delete_cas("l", 1)
        .delete("none")
        .delete_tree("b/")
        .get_tree("a");
    assert!(
        matches!(whole.commit().await?, TxnOutcome::RolledBack(_)),
        "l is not at index 1"
    );
    assert_eq!(
        client.kv().get("a").await?.value.expect("it was set").value,
        b"1"
    );
    Ok(())
}

#[tokio::test]
async fn the_catalog_tells_what_was_registered() -> Result<(), Error> {
    let (_server, client) = frozen();
    let registration = Registration::node("far", "10.0.0.7")
        .service("web-1", "web", 80, &["blue"])
        .check("disk", Status::Passing)
        .service_check("web-1", "http", Status::Critical)
        .meta("rack", "7");
    client.catalog().register(&registration).await?;
    let nodes = client.catalog().nodes().await?.value;
    let far = nodes
        .iter()
        .find(|node| node.node == "far")
        .expect("it was registered");
    assert_eq!(
        (far.address.as_str(), far.meta["rack"].as_str()),
        ("10.0.0.7", "7")
    );
    let on = client
        .catalog()
        .node("far")
        .await?
        .value
        .expect("it was registered");
    assert_eq!(on.services["web-1"].tags, ["blue"]);
    assert_eq!(client.catalog().node("nobody").await?.value, None);
    assert_eq!(client.catalog().services().await?.value["web"], ["blue"]);
    assert_eq!(
        client.catalog().service("web").await?.value[0].service_port,
        80
    );
    assert_eq!(client.catalog().datacenters().await?, ["dc1"]);

    let entries = client.health().service("web").await?.value;
    assert_eq!(
        (entries[0].address(), entries[0].checks.len()),
        (("10.0.0.7", 80), 2)
    );
    assert!(client.health().passing("web").await?.value.is_empty());
    assert_eq!(
        client.health().checks("web").await?.value[0].status,
        Status::Critical
    );
    assert_eq!(client.health().node("far").await?.value.len(), 2);
    let critical = client.health().state(Some(Status::Critical)).await?.value;
    assert_eq!(critical[0].check_id, "http");
    assert!(client.health().state(None).await?.value.len() > critical.len());

    client.catalog().deregister_check("far", "http").await?;
    assert_eq!(client.health().passing("web").await?.value.len(), 1);
    client.catalog().deregister_service("far", "web-1").await?;
    assert!(client.catalog().service("web").await?.value.is_empty());
    client.catalog().deregister_node("far").await?;
    assert_eq!(client.catalog().node("far").await?.value, None);
    Ok(())
}

#[tokio::test]
async fn the_cluster_has_a_leader_and_the_agent_members() -> Result<(), Error> {
    let (_server, client) = frozen();
    assert!(client.leader().await?.is_some());
    assert_eq!(client.peers().await?.len(), 1);
    assert_eq!(client.agent().members().await?[0].status, 1);
    assert!(client.agent().config().await?.get("Config").is_some());
    Ok(())
}

#[tokio::test]
async fn options_are_sent_with_every_read() -> Result<(), Error> {
    let (_server, client) = frozen();
    for consistency in [Consistency::Consistent, Consistency::Stale] {
        let client = client.with(QueryOptions::new().consistency(consistency));
        client.kv().get("k").await?;
    }
    let elsewhere = client.with(QueryOptions::new().datacenter("dc9"));
    let refused = elsewhere.kv().get("k").await.expect_err("there is no dc9");
    assert_eq!(
        refused.to_string(),
        "Consul answered 500: No path to datacenter"
    );
    let refused = elsewhere
        .kv()
        .put("k", "v")
        .await
        .expect_err("there is no dc9");
    assert_eq!(refused.status(), Some(500));
    Ok(())
}

#[tokio::test]
async fn a_read_that_blocks_ends_with_its_wait() -> Result<(), Error> {
    let (server, client) = frozen();
    client.kv().put("k", "v").await?;
    let index = client.kv().get("k").await?.meta.index;
    let wait = Duration::from_secs(60);
    let waiting = client.with(QueryOptions::new().index(index).wait(wait));
    let reader = tokio::spawn(async move { waiting.kv().get("k").await });
    // Time moves until the read has come in and is over.
    while !reader.is_finished() {
        server.advance(wait);
        tokio::task::yield_now().await;
    }
    let answer = reader.await.expect("the reader does not panic")?;
    assert_eq!(answer.meta.index, index);
    Ok(())
}

#[tokio::test]
async fn a_service_with_several_ports_is_understood() -> Result<(), Error> {
    let (_server, client) = frozen();
    let service = NewService::new("web").named_port("http", 80);
    let service = service.named_port("admin", 81).socket_path("/run/web");
    client.agent().register_service(&service).await?;
    let rows = client.catalog().service("web").await?.value;
    let row = rows.first().expect("it was registered");
    let names: Vec<_> = row.service_ports.iter().map(|port| &*port.name).collect();
    assert_eq!((row.service_port, names), (80, vec!["http", "admin"]));
    assert_eq!(row.service_socket_path, "/run/web");
    let entries = client.health().service("web").await?.value;
    let entry = entries.first().expect("it was registered");
    assert_eq!(entry.service.ports, row.service_ports);
    assert_eq!(entry.address(), ("127.0.0.1", 80));
    Ok(())
}

/// Endpoints without a method of their own, by POST and DELETE.
#[tokio::test]
async fn other_endpoints_are_asked_to_create_and_to_delete() -> Result<(), Error> {
    let (_server, client) = frozen();
    let intention = r#"{"SourceName":"web","DestinationName":"db","Action":"allow"}"#;
    let created = client.create("v1/connect/intentions", &[], intention);
    assert!(created.await?.starts_with("{\"ID\":"));
    let entry = "v1/config/service-intentions/db";
    let refused = client.delete(entry, &[("cas", "1")]).await?;
    assert_eq!(refused, "false");
    let deleted = client.delete(entry, &[]).await?;
    assert_eq!(deleted, "{}");
    let missing = client.read(entry, &[]).await;
    assert!(matches!(missing, Err(Error::Status { status: 404, .. })));
    Ok(())
}
