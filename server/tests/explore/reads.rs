//! Contenders that write a key and read it, from any server or from the leader.

use std::future::ready;

use proconsul::explore::{Contender, Explore, Property, Report};
use proconsul_client::{Client, Connector, Consistency, QueryOptions};
use tokio::time::sleep;

use crate::contenders::SECOND;

async fn write_and_read(contender: Contender, consistency: Consistency) {
    let connector = Connector::new(move |_uri| ready(contender.connect()));
    let client = Client::builder().address("consul:8500");
    let client = client.connector(connector).build().expect("an address");
    let reading = client.with(QueryOptions::new().consistency(consistency));
    for number in 1_u32.. {
        drop(client.kv().put("shared", number.to_string()).await);
        sleep(SECOND).await;
        drop(reading.kv().get("shared").await);
    }
}

fn search(explore: Explore, consistency: Consistency) -> Report {
    let explore = explore.contenders(2).runs(10);
    let report = explore.search(move |contender| write_and_read(contender, consistency));
    println!("{consistency:?}: {report}");
    report
}

fn judging() -> Explore {
    Explore::new().limits(|limits| limits.only = vec![Property::StaleRead])
}

#[test]
fn a_stale_read_is_found_by_who_asks_for_it() {
    for explore in [judging(), judging().agents(3)] {
        let broken = search(explore, Consistency::Stale)
            .broken
            .expect("it is found");
        assert_eq!(broken.finding.property, Property::StaleRead);
        assert_eq!(broken.is_repeated, Some(true));
    }
}

#[test]
fn reads_of_the_leader_are_linearizable() {
    let report = search(judging().agents(3), Consistency::Default);
    assert!(
        report.broken.is_none() && report.is_not_judged(),
        "{report}"
    );
}
