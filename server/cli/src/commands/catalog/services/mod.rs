//! The verbs `services register` and `services deregister`.

mod files;

use proconsul_client::Client;
use serde_json::{Map, Value, json};

use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because};
use crate::output;
use proconsul_gocompat::number::parse_int_of_any_base;

commands! {
    "services deregister" "[FILE...]" deregister "Takes services away" {
        Text "id" "The id of the service";
    }
    "services register" "[FILE...]" register "Gives the agent services to look after" {
        Text "address" "Where it listens";
        Text "id" "The id of this instance (default: the name)";
        Text "kind" "The kind of a proxy or gateway";
        Pair "meta" "key=value; may be repeated";
        Text "name" "Its name";
        Integer "port" "Its port";
        Text "tag" "A tag; may be repeated";
        Pair "tagged-address" "tag=address:port; may be repeated";
    }
}

/// The services to register or deregister: files, or the flag that names one service.
enum What<'g> {
    Files(&'g [String]),
    One(&'g str),
}

/// Returns the services of a command. `deed` and `instead` are words of its errors.
fn what<'g>(given: &'g Given, deed: &str, flag: &str, instead: &str) -> Result<What<'g>, Failure> {
    let one = given.text(flag).filter(|text| !text.is_empty());
    match (one, given.rest()) {
        (None, []) => {
            Err(format!("Service {deed} requires at least one argument or {instead}.").into())
        }
        (None, files) => Ok(What::Files(files)),
        (Some(one), []) => Ok(What::One(one)),
        // Consul's words for both verbs.
        (Some(_), _) => Err(format!("Service {deed} requires arguments or -id, not both.").into()),
    }
}

fn read(paths: &[String]) -> Result<Vec<files::Service>, Failure> {
    files::read(paths).map_err(|error| format!("Error: {error}").into())
}

async fn register(given: Given) -> Outcome {
    let services = match what(&given, "registration", "name", "flags")? {
        What::Files(paths) => read(paths)?,
        What::One(name) => vec![files::Service {
            id: String::new(),
            name: name.to_owned(),
            body: body(&given, name)?,
        }],
    };
    let client = given.client()?;
    for files::Service { name, body, .. } in services {
        let failed = because(&format!("Error registering service {name:?}"));
        let registered = client.write("v1/agent/service/register", &[], body).await;
        registered.map_err(failed)?;
        output::out(&format!("Registered service: {name}\n"));
    }
    Ok(String::new())
}

/// Returns the body of a registration of the service that the flags describe.
fn body(given: &Given, name: &str) -> Result<String, Failure> {
    let mut body = Map::new();
    body.insert("Name".to_owned(), name.into());
    for (flag, field) in [("id", "ID"), ("address", "Address"), ("kind", "Kind")] {
        body.insert(
            field.to_owned(),
            given.text(flag).unwrap_or_default().into(),
        );
    }
    let port = given
        .text("port")
        .and_then(|text| parse_int_of_any_base(text).ok());
    body.insert("Port".to_owned(), port.unwrap_or(0).into());
    body.insert("Tags".to_owned(), given.texts("tag").into());
    let pairs = |flag: &str| {
        given
            .texts(flag)
            .into_iter()
            .filter_map(|pair| pair.split_once('='))
    };
    let meta: Map<String, Value> = pairs("meta")
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    if !meta.is_empty() {
        body.insert("Meta".to_owned(), meta.into());
    }
    let mut addresses = Map::new();
    for (tag, text) in pairs("tagged-address") {
        let wrong = |why: String| format!("Invalid Tagged Address: {why}");
        let (address, port) = text
            .rsplit_once(':')
            .ok_or_else(|| wrong(format!("address {text}: missing port in address")))?;
        let port: i64 = port
            .parse()
            .map_err(|_| wrong(format!("strconv.Atoi: parsing {port:?}: invalid syntax")))?;
        addresses.insert(tag.to_owned(), json!({"Address": address, "Port": port}));
    }
    if !addresses.is_empty() {
        body.insert("TaggedAddresses".to_owned(), addresses.into());
    }
    Ok(Value::Object(body).to_string())
}

async fn deregister(given: Given) -> Outcome {
    let ids: Vec<String> = match what(&given, "deregistration", "id", "-id")? {
        What::One(id) => vec![id.to_owned()],
        What::Files(paths) => {
            let services = read(paths)?.into_iter();
            let ids = services.map(|service| {
                if service.id.is_empty() {
                    service.name
                } else {
                    service.id
                }
            });
            // A service without id and name cannot have been registered.
            ids.filter(|id| !id.is_empty()).collect()
        }
    };
    let client = given.client()?;
    for id in ids {
        output::out(&deregister_one(&client, &id).await?);
    }
    Ok(String::new())
}

async fn deregister_one(client: &Client, id: &str) -> Outcome {
    let gone = client.agent().deregister_service(id).await;
    // Consul's text, seen on 1.8.7.
    gone.map_err(because("Error registering service \"\""))?;
    Ok(format!("Deregistered service: {id}\n"))
}
