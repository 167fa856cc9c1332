//! The clients, behind the three calls that are compared.

use std::time::Duration;

use hyper_util::client::legacy::Builder;
use hyper_util::rt::TokioExecutor;
use rs_consul::{Config, Consul, CreateOrUpdateKeyRequest, ReadKeyRequest};

/// How long a watcher lets itself be held.
const WAIT: Duration = Duration::from_secs(60);

/// One of those who are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// proconsul-client.
    Ours,
    /// rs-consul as it comes: a connection for each request.
    AsItComes,
    /// rs-consul, told to keep its connections.
    Kept,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Ours, Self::AsItComes, Self::Kept];

    /// A client of the server at an address.
    pub(crate) fn connect(self, address: &str) -> Client {
        let config = Config {
            address: address.to_owned(),
            ..Config::default()
        };
        match self {
            Self::Ours => {
                Client::Ours(proconsul_client::Client::new(address).expect("the address is one"))
            }
            Self::AsItComes => Client::Theirs(Consul::new(config)),
            Self::Kept => Client::Theirs(Consul::new(Config {
                hyper_builder: Builder::new(TokioExecutor::new()),
                ..config
            })),
        }
    }
}

/// A client with its connections.
pub(crate) enum Client {
    Ours(proconsul_client::Client),
    Theirs(Consul),
}

impl Client {
    /// Reads a key that exists; the length of its value.
    pub(crate) async fn get(&self, key: &str) -> usize {
        match self {
            Self::Ours(client) => {
                let pair = client.kv().get(key).await.expect("it is answered").value;
                pair.expect("the key exists").value.len()
            }
            Self::Theirs(consul) => {
                let request = ReadKeyRequest::builder().key(key).build();
                let pairs = consul.read_key(request).await.expect("it is answered");
                let value = pairs.response[0].value.as_ref();
                value.expect("it has a value").len()
            }
        }
    }

    /// Writes a key.
    pub(crate) async fn put(&self, key: &str, value: Vec<u8>) {
        match self {
            Self::Ours(client) => {
                let kv = client.kv();
                kv.put(key, value).await.expect("it is answered");
            }
            Self::Theirs(consul) => {
                let request = CreateOrUpdateKeyRequest::builder().key(key).build();
                let put = consul.create_or_update_key(request, value);
                assert!(put.await.expect("it is answered").0);
            }
        }
    }

    /// Follows a key: calls `waiting` with each change that it sees, before it waits for the next one, until that
    /// says that it is enough. In the way that the client has for it.
    pub(crate) async fn follow(&self, key: &str, mut waiting: impl FnMut() -> bool) {
        match self {
            Self::Ours(client) => {
                let mut watch = client.watch_key(key);
                watch.next().await.expect("it is answered");
                while waiting() {
                    watch.next().await.expect("it is answered");
                }
            }
            Self::Theirs(consul) => {
                let request = ReadKeyRequest::builder().key(key);
                let request = request.build();
                let first = consul.read_key(request.clone()).await;
                let mut index = first.expect("it is answered").index;
                while waiting() {
                    let request = ReadKeyRequest {
                        index: Some(index),
                        wait: WAIT,
                        ..request.clone()
                    };
                    let changed = consul.read_key(request).await.expect("it is answered");
                    index = changed.index;
                }
            }
        }
    }
}
