//! Contenders that watch a key which the first of them writes and deletes.

use proconsul::explore::Contender;
use proconsul_client::{Client, QueryOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

use crate::contenders::{Kind, SECOND};

const WATCHED: &str = "config/value";

pub(super) async fn contend(client: &Client, contender: &Contender, kind: Kind) {
    if contender.number() == 0 {
        return write(client, kind == Kind::IgnoresDeletion).await;
    }
    match kind {
        Kind::HighestIndex => from_the_highest_index(client).await,
        Kind::WaitWithoutUnit => without_a_unit(contender).await,
        Kind::IgnoresDeletion => until_a_deletion(client).await,
        _ => by_the_client(client).await,
    }
}

async fn write(client: &Client, deletes: bool) {
    // An index that begins anew is far below what it was.
    for number in 0..30 {
        drop(client.kv().put("config/other", number.to_string()).await);
    }
    for number in 1_u32.. {
        sleep(5 * SECOND).await;
        // The next value follows soon.
        if deletes && number % 2 == 0 {
            drop(client.kv().delete(WATCHED).await);
        } else {
            drop(client.kv().put(WATCHED, number.to_string()).await);
        }
    }
}

async fn by_the_client(client: &Client) {
    let mut watch = client.watch_key(WATCHED);
    loop {
        if watch.next().await.is_err() {
            sleep(SECOND).await;
        }
    }
}

/// Keeps the highest index, also after the index was reset. After an error it reads without one.
async fn from_the_highest_index(client: &Client) {
    let (mut highest, mut known) = (0, 0);
    loop {
        let waiting = client.with(QueryOptions::new().index(known));
        match waiting.kv().get(WATCHED).await {
            Ok(answer) => {
                highest = highest.max(answer.meta.index);
                known = highest;
            }
            Err(_) => {
                sleep(SECOND).await;
                known = 0;
            }
        }
    }
}

/// Keeps the index that it has where there is no value.
async fn until_a_deletion(client: &Client) {
    let mut known = 0;
    loop {
        let waiting = client.with(QueryOptions::new().index(known));
        match waiting.kv().get(WATCHED).await {
            Ok(answer) if answer.value.is_some() => known = answer.meta.index,
            Ok(_) if known > 0 => {}
            _ => sleep(SECOND).await,
        }
    }
}

/// Asks for a wait of `10`, and takes whatever has no index for nothing new.
async fn without_a_unit(contender: &Contender) {
    let request = format!(
        "GET /v1/kv/{WATCHED}?index=1&wait=10 HTTP/1.1\r\nHost: consul\r\nConnection: close\r\n\r\n"
    );
    while let Ok(mut connection) = contender.connect() {
        let mut response = Vec::new();
        let sent = connection.write_all(request.as_bytes()).await;
        if sent.is_err() || connection.read_to_end(&mut response).await.is_err() {
            sleep(SECOND).await;
        }
    }
}
