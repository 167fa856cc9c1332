//! `config` and `intention` print and exit as those of a real Consul 1.8.7, on servers of ours.

use std::path::Path;

use proconsul::Server;
use proconsul::config::Config;

use crate::verbs::commands::{Line, compare_on, line, own, run, seen, with_input};
use crate::verbs::folder;

/// Runs both commands as 1.8.7: it decides which kinds and fields ours knows.
fn compare(lines: Vec<Line>) {
    let as_1_8_7 = |line: Line| Line {
        variables: vec![("PROCONSUL_AS_VERSION".to_owned(), "1.8.7".to_owned())],
        ..line
    };
    let lines: Vec<Line> = lines.into_iter().map(as_1_8_7).collect();
    compare_on(&lines, &Config::default());
}

/// A command line in which `@name` is the path of a file.
fn on_files(folder: &Path, text: &str) -> Line {
    let mut line = line(text);
    for argument in &mut line.arguments {
        if let Some(name) = argument.strip_prefix('@') {
            *argument = folder.join(name).display().to_string();
        }
    }
    line
}

fn written(document: &'static str) -> Line {
    with_input("config write -", document)
}

#[test]
fn config_entries_are_written_read_listed_and_deleted() {
    let files = [
        (
            "web.hcl",
            "Kind = \"service-defaults\"\nName = \"web\"\nProtocol = \"http\"\n",
        ),
        (
            "api.json",
            r#"{"kind":"service-defaults","name":"api","protocol":"http"}"#,
        ),
    ];
    let folder = folder("config-verbs", &files);
    let api = r#"{"Kind":"service-defaults","Name":"api"}"#;
    let cas = |flags: &str| with_input(&format!("config write {flags} -"), api);
    let mut lines = vec![
        on_files(&folder, "config write @web.hcl"),
        on_files(&folder, "config write @api.json"),
        cas("-cas"),
        cas("-cas -modify-index=0"),
        cas("-cas -modify-index=1"),
        cas("-modify-index=1"),
        cas("-cas -modify-index=x"),
        cas("-datacenter=nope"),
        cas("-namespace=nope"),
        with_input(
            "config write -cas -modify-index=0 -",
            r#"{"Kind":"service-defaults","Name":"a/b?_c"}"#,
        ),
    ];
    for text in [
        "config write",
        "config write a b",
        "config write /no/such",
        "config write /",
        "config read",
        "config read -kind service-defaults",
        "config read -name web",
        "config read -kind service-defaults -name web",
        "config read -kind service-defaults -name WEB extra",
        "config read -kind service-defaults -name nope",
        "config read -kind service-defaults -name a/b?__c",
        "config read -kind bogus -name nope",
        "config read -kind mesh -name mesh",
        "config read -datacenter=nope -kind service-defaults -name web",
        "config read -namespace=nope -kind service-defaults -name web",
        "config list",
        "config list -kind service-defaults",
        "config list -kind proxy-defaults extra",
        "config list -kind bogus",
        "config list -kind a/b",
        "config list -datacenter=nope -kind service-defaults",
        "config delete",
        "config delete -kind service-defaults",
        "config delete -name web",
        "config delete -kind service-defaults -name nope",
        "config delete -kind service-defaults -name api extra",
        "config delete -kind service-defaults -name a/b?__c",
        "config delete -kind bogus -name web",
        "config delete -nope",
        "config list -kind service-defaults",
        "config",
        "config bogus",
    ] {
        lines.push(line(text));
    }
    compare(lines);
}

/// What is written is read back, so that both commands must have sent the same.
#[test]
fn config_entries_mean_the_same_in_both_languages() {
    let documents = [
        "Kind=\"proxy-defaults\"\nConfig { f=1.5 i=1e3 j=1.0 n=[] l=[1] m { } h=0x10 \"quo ted\"=\"a\" o \"lab\" { x = 1 } }",
        r#"{"Kind":"proxy-defaults","Name":"global","Config":{"a":[1],"b":{"c":[1]},"e":[],"f":1.5,"i":1e3,"j":1.0}}"#,
        "Kind=\"proxy-defaults\"\nmesh_gateway { mode=\"local\" }\nexpose { paths { path=\"/a\" local_path_port=5 } paths=[{path=\"/b\"}] }\nMeta { a_b=\"c\" }",
        "Kind=\"ingress-gateway\"\nName=\"ig\"\nlisteners { port=5 protocol=\"http\" services { name=\"global\" hosts=\"x\" } }",
        "Kind=\"terminating-gateway\"\nName=\"tg\"\nservices=[{name=\"a\"},{name=\"b\" sni=\"x\"}]",
        "Kind=\"service-defaults\"\nName=\"s\"\nprotocol=\"http\"",
        "Kind=\"service-router\"\nName=\"s\"\nroutes { match { http { path_prefix=\"/\" header { name=\"x\" present=true } } } destination { service=\"s\" request_timeout=\"3s\" RetryOnStatusCodes=[1,2] } }",
        "Kind=\"service-splitter\"\nName=\"s\"\nsplits { weight=50 service=\"s\" }\nsplits { weight=50 service_subset=\"v2\" }",
        "Kind=\"service-resolver\"\nName=\"s\"\nfailover { \"*\" { datacenters=[\"dc2\"] } \"v2\"={ service=\"s\" } }\nsubsets \"v2\" { filter=\"x\" }\nsubsets v3 { only_passing=true }\nconnect_timeout=\"15s\"",
        "Kind=\"service-splitter\"\nName=\"s\"\nsplits { weight=50 service=\"s\" }\nsplits { weight=50 service_subset=\"v2\" }",
        "Kind=\"service-defaults\"\nName=\"t\"\nName=\"u\"\nExpose { Checks=true }",
        r#"{"Kind":"service-defaults","Name":["v"],"Protocol":5,"Namespace":"","CreateIndex":5}"#,
        r#" {"Kind":"service-defaults","Kind":"service-resolver","Name":"x"}"#,
        // What has no value: the client leaves some of it out.
        r#"{"Kind":"service-defaults","Name":"none","Protocol":"http"}"#,
        r#"{"Kind":"service-router","Name":"none"}"#,
        r#"{"Kind":"service-resolver","Name":"none"}"#,
        r#"{"Kind":"ingress-gateway","Name":"none"}"#,
        r#"{"Kind":"terminating-gateway","Name":"none"}"#,
    ];
    let mut lines: Vec<Line> = documents.map(written).to_vec();
    // Until it is written last, each read shows another body.
    lines.insert(1, line("config read -kind proxy-defaults -name global"));
    lines.insert(3, line("config read -kind proxy-defaults -name global"));
    for (kind, name) in [
        ("proxy-defaults", "global"),
        ("ingress-gateway", "ig"),
        ("terminating-gateway", "tg"),
        ("service-defaults", "s"),
        ("service-router", "s"),
        ("service-splitter", "s"),
        ("service-resolver", "s"),
        ("service-defaults", "u"),
        ("service-defaults", "v"),
        ("service-resolver", "x"),
        ("service-router", "none"),
        ("service-resolver", "none"),
        ("ingress-gateway", "none"),
        ("terminating-gateway", "none"),
    ] {
        lines.push(line(&format!("config read -kind {kind} -name {name}")));
    }
    compare(lines);
}

#[test]
fn documents_that_are_no_entries_are_refused() {
    let documents = [
        "",
        "{",
        "Kind",
        "[]",
        "null",
        "5",
        "{}",
        "Kind=\"service-defaults\"",
        "Kind=\"service-defaults\" bad",
        "Kind=\"service-defaults",
        "kind=\"service-resolver\"\nKind=\"service-defaults\"\nName=\"ig\"",
        "KIND=\"service-resolver\"\nName=\"ig\"",
        "Kind { a = 1 }",
        r#"{"Kind":"x"}"#,
        r#"{"Kind":5}"#,
        r#"{"Kind":null}"#,
        r#"{"Kind":""}"#,
        r#"{"Kind":["service-defaults"],"Name":"x"}"#,
        r#"{"Kind":"service-intentions","Name":"x"}"#,
        r#"{"Kind":"service-defaults","Name":"ig"} x"#,
        r#"{"Kind":"service-defaults","Name":"ig","Hash":5}"#,
        r#"{"Kind":"service-defaults","Name":"a","Bogus":1,"Zork":2,"Namespace":"a","Meta":{}}"#,
        r#"{"Kind":"service-defaults","Name":"a","Protocol":["a","b"]}"#,
        r#"{"Kind":"service-defaults","Name":"a","MeshGateway":"a","Expose":7}"#,
        r#"{"Kind":"service-resolver","Name":"a","ConnectTimeout":"abc"}"#,
        r#"{"Kind":"service-resolver","Name":"a","LoadBalancer":{"Policy":"x"}}"#,
        r#"{"Kind":"service-resolver","Name":"a","Redirect":{}}"#,
        r#"{"Kind":"service-splitter","Name":"a","Splits":[{"Weight":"abc"},{"Weight":"5"}]}"#,
        r#"{"Kind":"service-router","Name":"a","Namespace":5}"#,
        r#"{"Kind":"service-splitter","Name":"a","namespace":"x"}"#,
        r#"{"Kind":"terminating-gateway","Name":"a","Services":[{"Name":"a","Namespace":"y"}]}"#,
    ];
    compare(documents.map(written).to_vec());
}

const FILES_OF_INTENTIONS: &[(&str, &str)] = &[
    ("brace", "{"),
    ("empty", "{}"),
    ("void", ""),
    (
        "ok",
        r#"{"SourceName":"f","DestinationName":"g","Action":"allow"}"#,
    ),
    ("list", r#"[{"SourceName":"f","DestinationName":"g"}]"#),
    (
        "two",
        r#"{"SourceName":"f","DestinationName":"g3","Action":"allow","Bogus":1} {"SourceName":"f"}"#,
    ),
    (
        "described",
        r#"{"SourceName":"f","DestinationName":"g","Action":"deny","Description":"d","Meta":{"x":"y","a long name":"z"}}"#,
    ),
    (
        "id",
        r#"{"ID":"5bc5b44f-53c4-dd15-5d5b-4faecb499648","SourceName":"f","DestinationName":"n","Action":"deny"}"#,
    ),
    (
        "low",
        r#"{"sourcename":"f","destinationname":"low","action":"ALLOW"}"#,
    ),
    ("five", r#"{"SourceName":5}"#),
    ("hcl", "SourceName = \"f\""),
    (
        "type",
        r#"{"SourceName":"e","DestinationName":"x","SourceNS":"n1","Action":"allow","SourceType":"zork"}"#,
    ),
    (
        "time",
        r#"{"SourceName":"e","DestinationName":"t","Action":"deny","CreatedAt":"2020-01-01T00:00:00Z"}"#,
    ),
    (
        "permissions",
        r#"{"SourceName":"f","DestinationName":"p","Permissions":[{"Action":"allow"}]}"#,
    ),
];

const INTENTIONS: &[&str] = &[
    "intention create",
    "intention create web",
    "intention create web db x",
    "intention create web db",
    "intention create web db",
    "intention create -deny web db",
    "intention create -replace -deny -meta a=b -meta a=c -meta d= web db",
    "intention create -replace -deny -meta ab web db",
    "intention create -replace new db",
    "intention create -allow -deny web x",
    "intention create -allow=x web x",
    "intention create -nope web x",
    "intention create * db",
    "intention create a* db",
    "intention create ns/web ns2/db",
    "intention create default/q1 default/q2",
    "intention create /a b",
    "intention create a/ b",
    "intention create a/b/c db",
    "intention create db a/b/c",
    "intention create -meta a=b * *",
    "intention create -datacenter=nope web db",
    "intention create -file",
    "intention create -file /no/such",
    "intention create -file /",
    "intention create -file @brace",
    "intention create -file @empty",
    "intention create -file @void",
    "intention create -file @list",
    "intention create -file @two @ok @brace",
    "intention create -file @two @ok",
    "intention create -file @ok",
    "intention create -file @id",
    "intention create -file @low",
    "intention create -file @five",
    "intention create -file @hcl",
    "intention create -file @type",
    "intention create -file @time",
    "intention create -file @permissions",
    "intention create -file -replace @described",
    "intention check",
    "intention check web",
    "intention check web db",
    "intention check web q2",
    "intention check f g",
    "intention check web db x",
    "intention check -nope",
    "intention check ns/foo bar",
    "intention check a/b/c bar",
    "intention check -datacenter=nope web db",
    "intention match",
    "intention match db",
    "intention match -source web",
    "intention match -destination db",
    "intention match -source -destination web",
    "intention match web db",
    "intention match nothing",
    "intention match a/b/c",
    "intention match ns2/db",
    "intention match -datacenter=nope db",
    "intention get",
    "intention get web",
    "intention get a%b",
    "intention get web db",
    "intention get $ID",
    "intention get web nope",
    "intention get f g",
    "intention get default/q1 q2",
    "intention get /a b",
    "intention get a/b/c db",
    "intention get * *",
    "intention get ns/web ns2/db",
    "intention get web db x",
    "intention get -datacenter=nope web db",
    "intention delete",
    "intention delete web nope",
    "intention delete web db",
    "intention delete web",
    "intention delete 5bc5b44f-53c4-dd15-5d5b-4faecb499648",
    "intention delete a b c",
    "intention delete -datacenter=nope web db",
    "intention get f g",
    "intention delete $ID",
    "intention match g",
    "intention",
    "intention bogus",
];

#[test]
fn intentions() {
    let folder = folder("intention-verbs", FILES_OF_INTENTIONS);
    compare(
        INTENTIONS
            .iter()
            .map(|text| on_files(&folder, text))
            .collect(),
    );
}

/// What each line prints on a server of the newest release, and its exit code.
fn prints(server: &Server, rows: &[(Line, &str, i32)]) {
    for (line, expected, code) in rows {
        let (out, error, exit) = seen(&run(&own(), server, line));
        assert_eq!(
            (format!("{out}{error}"), exit),
            ((*expected).to_owned(), Some(*code)),
            "{:?} {}",
            line.arguments,
            line.input
        );
    }
}

/// Later releases keep intentions as sources of entries, without ids: they are found by the names of both services.
#[test]
fn intentions_of_later_releases_are_found_by_name() {
    let server = Server::builder().start().expect("a free port");
    let entry = "Kind=\"service-intentions\" Name=\"db\"\nSources { Name=\"web\" Action=\"allow\" }\n\
                 Sources { Name=\"api\" permissions { action=\"deny\" http { path_prefix=\"/\" } } }";
    let api = "Source:       api\nDestination:  db\nPermissions:  {\"Action\":\"deny\",\"HTTP\":{\"PathPrefix\":\"/\"}}\n";
    let rows = [
        (
            written("Kind=\"service-defaults\" Name=\"db\" Protocol=\"http\""),
            "Config entry written: service-defaults/db\n",
            0,
        ),
        (
            written(entry),
            "Config entry written: service-intentions/db\n",
            0,
        ),
        (
            line("intention list"),
            "api => db (1 permission)\nweb => db (allow)\n",
            0,
        ),
        (line("intention get api db"), api, 0),
        (line("intention create -replace -deny web db"), "", 0),
        (
            line("intention match db"),
            "api => db (1 permission)\nweb => db (deny)\n",
            0,
        ),
        (line("intention check web db"), "Denied\n", 1),
        (line("intention delete web db"), "Intention deleted.\n", 0),
        (
            line("intention delete web db"),
            "Error: Intention with source \"web\" and destination \"db\" not found.",
            1,
        ),
    ];
    prints(&server, &rows);
}

#[test]
fn kinds_of_later_releases_are_written_and_deleted_by_their_index() {
    let server = Server::builder().start().expect("a free port");
    let rows = [
        (
            with_input("config write -cas -modify-index=1 -", "Kind=\"mesh\""),
            "Config entry not updated: mesh/mesh",
            1,
        ),
        (
            written("Kind=\"mesh\""),
            "Config entry written: mesh/mesh\n",
            0,
        ),
        (line("config list -kind mesh"), "mesh\n", 0),
        (
            line("config delete -cas -modify-index=1 -kind mesh -name mesh"),
            "Config entry not deleted: mesh/mesh",
            1,
        ),
        (
            line("config delete -kind mesh -name mesh"),
            "Config entry deleted: mesh/mesh\n",
            0,
        ),
    ];
    prints(&server, &rows);
}
