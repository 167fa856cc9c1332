//! `services register` and `deregister`, with flags and with files in both languages.

use std::path::Path;

use proconsul::Server;

use crate::verbs::commands::{Line, compare, line, own, run, seen};
use crate::verbs::folder;

const WEB: &str = r#"
    service {
      name = "web"
      id = "web-1"
      port = 80
      tags = ["a<b>"]
      meta { version = "1" Some_Name = "2" }
      tagged_addresses { lan { address = "10.1.1.1" port = 81 } }
      weights { passing = 3 warning = 1 }
      checks = [
        { id = "alive" name = "alive" ttl = "30s" status = "passing" },
        { name = "other" ttl = "30s" deregister_critical_service_after = "1h" },
      ]
    }
    services { name = "two" check { ttl = "20s" } }
    services { name = "three" address = "10.0.0.3" enable_tag_override = true }
"#;

fn on_files(verb: &str, folder: &Path, names: &[&str]) -> Line {
    let paths = names
        .iter()
        .map(|name| folder.join(name).to_string_lossy().into_owned());
    Line {
        arguments: ["services".to_owned(), verb.to_owned()]
            .into_iter()
            .chain(paths)
            .collect(),
        input: "",
        variables: Vec::new(),
    }
}

#[test]
fn files_of_both_languages_are_read_as_consul_reads_them() {
    let files = [
        ("web.hcl", WEB),
        (
            "two.json",
            r#"{"service": {"name": "j1", "port": 1}, "services": [{"ID": "k", "Name": "j2"}]}"#,
        ),
        (
            "sidecar.hcl",
            "service { name = \"sc\" port = 7 connect { sidecar_service {} } }",
        ),
        ("bad.hcl", "service {\n  name = \"web\n}"),
        ("broken.json", "{"),
        ("unknown.json", r#"{"service": {"name": "j", "nope": 2}}"#),
        ("unknown.hcl", "nope = 1"),
        (
            "duration.hcl",
            "service { name = \"b\" check { ttl = \"bad\" } }",
        ),
        (
            "check.hcl",
            "service { name = \"b\" check { interval = \"1s\" } }",
        ),
        ("nameless.json", r#"{"service": {"port": 1}}"#),
        ("other.txt", "x"),
        ("none.hcl", "datacenter = \"dc1\""),
    ];
    let folder = folder("service-files", &files);
    let mut lines = Vec::new();
    for (name, _) in files {
        lines.push(on_files("register", &folder, &[name]));
        lines.push(line("watch -type=checks"));
    }
    for service in ["web", "two", "three", "sc", "j2"] {
        lines.push(line(&format!("watch -type=service -service={service}")));
    }
    lines.push(on_files("register", &folder, &["two.json", "bad.hcl"]));
    lines.push(on_files(
        "deregister",
        &folder,
        &["two.json", "none.hcl", "web.hcl"],
    ));
    lines.push(on_files("deregister", &folder, &["nameless.json"]));
    lines.push(on_files("deregister", &folder, &["nowhere.hcl"]));
    lines.push(line("catalog services"));
    compare(&lines);
}

#[test]
fn flags_make_the_service_that_they_make_with_consul() {
    compare(&[
        line(
            "services register -name=n -id=i -port=5 -address=1.2.3.4 -tag=a -tag=b -meta=a=b=c -meta=d=",
        ),
        line("services register -name=m -port=70000 -tagged-address=lan=1.2.3.4:80"),
        line("services register -name=o -port=-5 -kind=zz"),
        line("watch -type=service -service=n"),
        line("watch -type=service -service=m"),
        line("watch -type=service -service=o"),
        line("services register -id=i"),
        line("services register -name="),
        line("services register -name=n file.hcl"),
        line("services register -name=n -meta=none"),
        line("services register -name=n -port=x"),
        line("services register -name=n -tagged-address=lan"),
        line("services register -name=n -tagged-address=lan=1.2.3.4"),
        line("services register -name=n -tagged-address=lan=1.2.3.4:x"),
        line("services deregister -id="),
        line("services deregister -id=i file.hcl"),
    ]);
}

/// Where there is no Consul to compare with, too.
#[test]
fn the_services_of_an_hcl_file_are_registered_and_taken_away() {
    let server = Server::builder().frozen().start().expect("a free port");
    let folder = folder("service-file", &[("web.hcl", WEB)]);
    let said = |line: &Line| {
        let (out, errors, code) = seen(&run(&own(), &server, line));
        assert_eq!(
            (errors.as_str(), code),
            ("", Some(0)),
            "{:?}",
            line.arguments
        );
        out
    };
    let registered = said(&on_files("register", &folder, &["web.hcl"]));
    assert_eq!(
        registered,
        "Registered service: two\nRegistered service: three\nRegistered service: web\n"
    );
    let web = said(&line("watch -type=service -service=web"));
    for part in [
        r#""ID": "web-1""#,
        r#""a\u003cb\u003e""#,
        r#""Some_Name": "2""#,
        r#""Address": "10.1.1.1""#,
        r#""Passing": 3"#,
        r#""CheckID": "alive""#,
    ] {
        assert!(web.contains(part), "{part} in {web}");
    }
    let gone = said(&on_files("deregister", &folder, &["web.hcl"]));
    assert!(gone.ends_with("Deregistered service: web-1\n"), "{gone}");
    assert_eq!(said(&line("catalog services")), "consul\n");
}

/// What releases after 1.8.7 know of a service reaches a server of 1.22.
#[test]
fn ports_places_and_modes_of_a_file_are_registered() {
    const LATER: &str = r#"
        service {
          name = "several"
          socket_path = "/run/s"
          locality { region = "r" zone = "z" }
          ports { name = "http" port = 80 default = true }
          ports { name = "admin" port = 81 }
        }
        services = [{
          name = "px" kind = "connect-proxy" port = 9
          proxy { destination_service_name = "web" mode = "transparent" transparent_proxy { outbound_listener_port = 5 } }
        }]
    "#;
    let server = Server::builder().frozen().start().expect("a free port");
    let json =
        r#"{"service": {"name": "j", "ports": [{"name": "a", "port": 1, "default": true}]}}"#;
    let wrong = r#"{"service": {"name": "w", "ports": [{"name": "a", "port": 1}]}}"#;
    let files = [
        ("later.hcl", LATER),
        ("later.json", json),
        ("wrong.json", wrong),
    ];
    let folder = folder("later-services", &files);
    let on = |names: &[&str]| seen(&run(&own(), &server, &on_files("register", &folder, names)));
    let (_, errors, code) = on(&["later.hcl", "later.json"]);
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    let watched = |service: &str| {
        let (out, ..) = seen(&run(
            &own(),
            &server,
            &line(&format!("watch -type=service -service={service}")),
        ));
        let words: String = out.split_whitespace().collect();
        words
    };
    let several = watched("several");
    for part in [
        r#""Port":80"#,
        r#""Ports":[{"Name":"http","Port":80,"Default":true},{"Name":"admin","Port":81,"Default":false}]"#,
        r#""SocketPath":"/run/s""#,
        r#""Locality":{"Region":"r","Zone":"z"}"#,
    ] {
        assert!(several.contains(part), "{part} in {several}");
    }
    let proxy = watched("px");
    for part in [r#""Mode":"transparent""#, r#""OutboundListenerPort":5"#] {
        assert!(proxy.contains(part), "{part} in {proxy}");
    }
    assert!(watched("j").contains(r#""Ports":[{"Name":"a""#));
    let (_, errors, code) = on(&["wrong.json"]);
    let refusal = "Unexpected response code: 400 (Validation failed: ";
    assert!(errors.contains(refusal) && code == Some(1), "{errors}");
}
