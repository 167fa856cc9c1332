//! The verbs of `acl`, `login` and `logout`, and how every verb is given its token, beside a real Consul's.

use std::fs;
use std::path::Path;

use proconsul::config::{AclConfig, AclTokens, Config};

use crate::verbs::commands::{Line, compare_on, line, with_input};
use crate::verbs::folder;

/// ACLs with the management token `root`.
fn with_acls() -> Config {
    guarded("root")
}

fn guarded(root: &str) -> Config {
    let tokens = AclTokens {
        initial_management: root.to_owned(),
        ..AclTokens::default()
    };
    let acl = AclConfig {
        enabled: true,
        default_policy: "deny".to_owned(),
        tokens,
        ..AclConfig::default()
    };
    Config {
        acl,
        ..Config::default()
    }
}

fn root(text: &str) -> Line {
    with("CONSUL_HTTP_TOKEN", "root", line(text))
}

fn with(name: &str, value: &str, mut line: Line) -> Line {
    line.variables.push((name.to_owned(), value.to_owned()));
    line
}

/// Puts a folder in place of `DIR`.
fn at(folder: &Path, mut line: Line) -> Line {
    for argument in &mut line.arguments {
        *argument = argument.replace("DIR", &folder.to_string_lossy());
    }
    line
}

#[test]
fn bootstrap() {
    let lines = [
        line("acl policy list"),
        line("acl bootstrap"),
        line("acl bootstrap"),
        line("acl bootstrap -format=json"),
    ];
    compare_on(&lines, &guarded(""));
    let lines = [line("acl bootstrap -format=json")];
    compare_on(&lines, &guarded(""));
    let lines = [line("acl bootstrap -format=nope"), line("acl bootstrap")];
    compare_on(&lines, &guarded(""));
    let off = [
        line("acl bootstrap"),
        line("acl token list"),
        line("acl set-agent-token default x"),
        line("logout"),
    ];
    compare_on(&off, &Config::default());
}

/// A file goes before a token, and a flag before a variable.
#[test]
fn a_token_comes_from_a_flag_a_file_or_a_variable() {
    let folder = folder(
        "acl-tokens",
        &[("root", "  root\n\n"), ("wrong", "wrong"), ("empty", "\n")],
    );
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let list = |text: &str| at(&folder, line(&format!("acl policy list {text}")));
    let token = |value: &str, line| with("CONSUL_HTTP_TOKEN", value, line);
    let file = |name: &str, line| with("CONSUL_HTTP_TOKEN_FILE", &path(name), line);
    compare_on(
        &[
            list(""),
            list("-token=root"),
            list("-token=wrong"),
            list("-token-file=DIR/root"),
            list("-token-file=DIR/empty"),
            list("-token-file=DIR/missing"),
            list("-token-file=DIR"),
            list("-token=wrong -token-file=DIR/root"),
            list("-token=root -token-file=DIR/wrong"),
            list("-token=root -token-file=DIR/missing"),
            list("-token=root -token-file=DIR/empty"),
            token("root", list("")),
            token("root", list("-token=wrong")),
            token("wrong", list("-token=root")),
            token("root", list("-token-file=DIR/wrong")),
            token("root", list("-token-file=DIR/empty")),
            file("root", list("")),
            file("empty", list("")),
            file("missing", list("")),
            file("wrong", list("-token=root")),
            file("wrong", list("-token-file=DIR/root")),
            file("root", token("wrong", list(""))),
            file("wrong", token("root", list(""))),
            at(&folder, line("kv get -token-file=DIR/missing a")),
            at(&folder, line("lock -token-file=DIR/missing a true")),
        ],
        &with_acls(),
    );
}

#[test]
fn every_verb_tells_a_refusal() {
    let verbs = [
        "kv get a",
        "kv get -keys a",
        "kv get -recurse a",
        "kv put a b",
        "kv delete a",
        "kv delete -recurse a",
        "kv delete -cas -modify-index=1 a",
        "kv export",
        r#"kv import [{"key":"a","flags":0,"value":"aGk="}]"#,
        "catalog datacenters",
        "catalog nodes",
        "catalog services",
        "event -name=x",
        "info",
        "join 127.0.0.1:1",
        "force-leave x",
        "reload",
        "leave",
        "members",
        "maint",
        "maint -enable",
        "maint -enable -service=x",
        "lock a true",
        "watch -type=key -key=a",
        "watch -type=nodes",
        "services register -name=x",
        "services deregister -id=x",
        "acl token list",
    ];
    let told = |token: &'static str| {
        let verbs = verbs.iter();
        verbs.map(move |verb| with("CONSUL_HTTP_TOKEN", token, line(verb)))
    };
    // An unknown token, and one without rights.
    let lines: Vec<Line> = told("unknown").chain(told("")).collect();
    compare_on(&lines, &with_acls());
}

#[test]
fn policies() {
    let folder = folder(
        "acl-policies",
        &[("rules.hcl", "key_prefix \"\" { policy = \"read\" }\n")],
    );
    compare_on(
        &[
            root("acl policy create"),
            root("acl policy create -name=p1"),
            root("acl policy create -name=p1"),
            at(
                &folder,
                root(
                    "acl policy create -name=p2 -rules=@DIR/rules.hcl -description=two_words -valid-datacenter=dc1 -valid-datacenter=dc2",
                ),
            ),
            with(
                "CONSUL_HTTP_TOKEN",
                "root",
                with_input(
                    "acl policy create -name=p3 -rules=- -meta",
                    "acl = \"read\"",
                ),
            ),
            root(r#"acl policy create -name=p4 -rules=key_"a"_{_policy_=_"nope"_}"#),
            root("acl policy create -name=p4 -rules=@/no/such/file"),
            at(&folder, root("acl policy create -name=p4 -rules=@DIR")),
            root("acl policy create -name=p4 -description=<x> -rules=#_<&> -format=json"),
            root("acl policy create -name=p5 -from-token=none"),
            root("acl policy create -name=p5 -from-token=none -rules=x"),
            root("acl policy create -name=p5 -from-token=anonymous"),
            root("acl policy create -name=p6 -format=nope"),
            root("acl policy create -name=p7 extra"),
            root("acl policy create -nope"),
            root("acl policy list"),
            root("acl policy list -meta"),
            root("acl policy list -format=json"),
            root("acl policy list -format=nope"),
            root("acl policy read"),
            root("acl policy read -name=p2"),
            root("acl policy read -name=P2"),
            root("acl policy read -name=p2 -meta"),
            root("acl policy read -name=p2 -id=00000000"),
            root("acl policy read -id=00000000-0000-0000-0000-000000000005"),
            root("acl policy read -id=none"),
            root("acl policy update"),
            root("acl policy update -name=none"),
            root("acl policy update -id=00000000-0000-0000-0000-000000000005"),
            root("acl policy update -id=0000"),
            root("acl policy update -name=p2 -description=new"),
            root("acl policy update -name=p2 -rules=acl_=_\"nope\""),
            root("acl policy update -name=p2 -rules=@/no/such/file"),
            root("acl policy update -name=p2 -rules=% -description=% -valid-datacenter=dc3"),
            root("acl policy update -name=p2 -no-merge -format=json"),
            root("acl policy update -name=p2"),
            root("acl policy update -id=$ID -name=p8"),
            root("acl policy update -id=$ID -no-merge"),
            root("acl policy delete"),
            root("acl policy delete -name=none"),
            root("acl policy delete -id=0000"),
            root("acl policy delete -id=$ID"),
            root("acl policy delete -id=$ID"),
            root("acl"),
            root("acl nope"),
            root("acl policy"),
            root("acl policy nope"),
        ],
        &with_acls(),
    );
}

/// The AccessorID of a token with everything that a token can have.
const OTHER: &str = "22222222-1111-1111-1111-111111111111";

/// The lines that create some tokens, before others.
fn after_some_tokens(others: Vec<Line>) -> Vec<Line> {
    let mut lines = vec![
        root("acl policy create -name=p1"),
        root("acl policy create -name=p2"),
        root("acl role create -name=r1 -policy-name=p1"),
        root("acl token create"),
        root("acl token create -description=d"),
        root(
            "acl token create -policy-name=p1 -description=hello -accessor=11111111-1111-1111-1111-111111111111 -secret=11111111-1111-1111-1111-111111111112",
        ),
        root(&format!(
            "acl token create -accessor={OTHER} -policy-id=0000 -policy-name=p2 -role-name=r1 -service-identity=web -service-identity=db:dc1,dc2 -node-identity=n1:dc1 -expires-ttl=1h -meta"
        )),
    ];
    lines.extend(others);
    lines
}

#[test]
fn tokens_are_created() {
    let lines = after_some_tokens(vec![
        root("acl token create -local -service-identity=web: -expires-ttl=-1s -format=json"),
        root(
            "acl token create -service-identity=a: -service-identity=a:, -service-identity=b:x,,y",
        ),
        root("acl token create -policy-name=p1 -expires-ttl=1s"),
        root("acl token create -policy-name=p1 -expires-ttl=x"),
        root("acl token create -policy-name=none"),
        root("acl token create -policy-id=none"),
        root("acl token create -role-name=none"),
        root("acl token create -role-id=none"),
        root("acl token create -policy-id=none -node-identity=n1 -service-identity=a:b:c"),
        root("acl token create -policy-id=none -node-identity=n1"),
        root("acl token create -policy-name=p1 -accessor=x"),
        root("acl token create -policy-name=p1 -format=nope"),
    ]);
    compare_on(&lines, &with_acls());
}

#[test]
fn tokens_are_read_changed_and_deleted() {
    let read = |text: &str| root(&format!("acl token read -id={OTHER} {text}"));
    let update = |text: &str| root(&format!("acl token update -id={OTHER} {text}"));
    let lines = after_some_tokens(vec![
        root("acl token read"),
        root("acl token read -id=111111"),
        root("acl token read -id=none"),
        root("acl token read -id=0123456789012345678901234567890123zz"),
        root("acl token read -id=33333333-1111-1111-1111-111111111111"),
        root("acl token read -id=anonymous"),
        root("acl token read -self"),
        line("acl token read -self"),
        line("acl token read -self -token=none"),
        read("-meta"),
        read("-format=json"),
        root("acl token clone"),
        root("acl token clone -id=none"),
        root("acl token clone -id=11111111 -description=cloned"),
        root("acl token clone -id=22222222 -format=json"),
        update(""),
        update("-description=% -policy-name=p1 -policy-name=p1"),
        update("-description=new -policy-name=p2 -merge-policies -role-name=r1 -merge-roles"),
        update(
            "-merge-policies -merge-roles -service-identity=web -service-identity=web:dc1 -merge-service-identities",
        ),
        update("-node-identity=n1:dc1 -merge-node-identities"),
        update("-node-identity=n1:dc2 -node-identity=n1:dc1 -merge-node-identities -format=json"),
        update("-policy-name=none"),
        update("-policy-id=none -role-id=none"),
        update("-policy-id=none -service-identity=a:b:c"),
        update("-upgrade-legacy -policy-name=p1"),
        root("acl token update"),
        root("acl token update -id=none"),
        root("acl token update -id=33333333-1111-1111-1111-111111111111"),
        root("acl token update -id=anonymous -policy-name=p1"),
        root("acl token list"),
        root("acl token list -meta"),
        root("acl token list -format=json"),
        root("acl token delete"),
        root("acl token delete -id=none"),
        root("acl token delete -id=11111111"),
        root("acl token delete -id=anonymous"),
        root("acl token delete -id=33333333-1111-1111-1111-111111111111"),
    ]);
    compare_on(&lines, &with_acls());
}

#[test]
fn roles() {
    compare_on(
        &[
            root("acl policy create -name=p1"),
            root("acl policy create -name=p2"),
            root("acl role create"),
            root("acl role create -name=r1 -description=d"),
            root(
                "acl role create -name=r1 -policy-name=p1 -description=d -policy-id=0000 -service-identity=web -node-identity=n1:dc1 -meta",
            ),
            root("acl role create -name=r1 -policy-name=p1"),
            root("acl role create -name=r2 -policy-name=none"),
            root("acl role create -name=r2 -policy-id=none -service-identity=a:b:c"),
            root("acl role create -name=r2 -service-identity=web:dc1 -format=json"),
            root("acl role read"),
            root("acl role read -name=none"),
            root("acl role read -id=none"),
            root("acl role read -id=00000000-0000-0000-0000-000000000007"),
            root("acl role read -name=r1"),
            root("acl role update"),
            root("acl role update -name=r1"),
            root("acl role update -id=$ID"),
            root("acl role update -id=$ID -name=r3 -description=new -policy-name=p2"),
            root(
                "acl role update -id=$ID -service-identity=web:dc2 -service-identity=api -node-identity=n1:dc2 -description=%",
            ),
            root("acl role update -id=$ID -policy-id=none"),
            root("acl role update -id=$ID -policy-name=none"),
            root("acl role update -id=$ID -node-identity=x"),
            root("acl role update -id=$ID -no-merge"),
            root("acl role update -id=$ID -no-merge -name=r4"),
            root("acl role update -id=$ID -no-merge -name=r4 -service-identity=api -format=json"),
            root("acl role update -id=00000000-0000-0000-0000-000000000007"),
            root("acl role list"),
            root("acl role list -meta"),
            root("acl role list -format=json"),
            root("acl role delete"),
            root("acl role delete -name=none"),
            root("acl role delete -name=r4"),
            root("acl role delete -id=none"),
            root("acl role delete -id=00000000-0000-0000-0000-000000000007"),
        ],
        &with_acls(),
    );
}

/// An auth method of this key, whose tokens are like [`BEARER`].
const METHOD: &str = "{\"BoundAudiences\":[\"a\"],\"ClaimMappings\":{\"name\":\"name\"},\"JWTValidationPubKeys\":[\"\
    -----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAk5Pd1I4IZ+x8D9DgRN4d\nT10jJK+muJN\
    VJ85FxpjTeOa4HLpjSunabNKURYwMOQj8VcklAj4d2sPa+eN5wT2t\nTXkG/4nPNM+lfrb5bDq0yj/BNvI2zEXLI2bCDjOsiWTuYVcYg7\
    UqfCHhpVEuAW7b\nC0WG9BUtQX51Nbh+7wISXokSLsai+UXYvYH+d8E3x5jhYVg8z7MmiDwdZmbsFmD7\n1nx7uf8keFw7RtD/5RqptOY\
    jbyhmIYF28tpK7dlBWcW9dnCnQpQ3dKNyAGjNo13P\nOwsPQtlubZKFFlTS+n/xW3lzRI3Ycla7o4qibsPZFnW2rkRyJeh+eXFuerSWeY\
    XP\nGQIDAQAB\n-----END PUBLIC KEY-----\n\"]}";

/// Valid until the year 2100, from `y`, for `a`, with the name `web`.
const BEARER: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJhIiwibmFtZSI6IndlYiIsImV4cCI6NDEwMjQ0NDgwMCwibmJmIjoxNjAw\
    MDAwMDAwLCJpYXQiOjE2MDAwMDAwMDAsInN1YiI6IngiLCJpc3MiOiJ5In0.D-XzqgbeLpKlbvxpx4w-WdjLtlPRug8SqKAIQxysKCnK5\
    fdWCRh0J09-ae2LYE6OWyvTTSljLe3zLATciNJS3Fb8E7smNATg1ksrC7R3R_n1lByuP4HLfuig-VK7CBH_f5qJMnnWqj_zbP9Twx0fTq\
    Z8I6R3MEsaOpD4Vngq93Extamj-p2XknS3HSmwE9lQPWaUDdDYKAeSfd70tA9FXXwPHZ6xrEHQ-0LnLwU9Q4d1xAVk7fZSKhia_uZFez2\
    7zXtP0kIkCzOLkd1N-oiswkhpkp2662iYI0Z9DQgM9pqUeUCY0h0_sRAL6vvbvEX388VEUbAhTvr16fPzpK-5_w";

#[test]
fn auth_methods() {
    let folder = folder("acl-methods", &[("jwt.json", METHOD)]);
    let method = |text: &str| at(&folder, root(&format!("acl auth-method {text}")));
    compare_on(
        &[
            method("create"),
            method("create -type=jwt"),
            method("create -type=jwt -name=m"),
            method("create -type=jwt -name=m -config=x"),
            method("create -type=jwt -name=m -config=[]"),
            method("create -type=jwt -name=m -config={}_x"),
            method("create -type=jwt -name=m -config=@/no/such/file"),
            method("create -type=jwt -name=m -config=@DIR/jwt.json -kubernetes-host=h"),
            method("create -type=jwt -name=m -config=@DIR/jwt.json -format=nope"),
            method(
                "create -type=jwt -name=j1 -config=@DIR/jwt.json -meta -description=d -display-name=D -max-token-ttl=5m -token-locality=global",
            ),
            method("create -type=jwt -name=j2 -config=@DIR/jwt.json -format=json"),
            method("create -type=jwt -name=j3 -config=@DIR/jwt.json -max-token-ttl=1s"),
            method("create -type=kubernetes -name=k"),
            method("create -type=kubernetes -name=k -kubernetes-host=h"),
            method("create -type=kubernetes -name=k -kubernetes-host=h -kubernetes-ca-cert=c"),
            method(
                "create -type=kubernetes -name=k -kubernetes-host=h -kubernetes-ca-cert=@/no/such/file",
            ),
            method(
                "create -type=kubernetes -name=k -kubernetes-host=h -kubernetes-ca-cert=c -kubernetes-service-account-jwt=j",
            ),
            method("read"),
            method("read -name=none"),
            method("read -name=j1"),
            method("read -name=j1 -format=json"),
            method("update"),
            method("update -name=none"),
            method("update -name=j1"),
            method(
                "update -name=j1 -description=% -display-name=E -max-token-ttl=0s -token-locality=local",
            ),
            method("update -name=j1 -config=x"),
            method("update -name=j1 -config={}"),
            method("update -name=j1 -no-merge"),
            method("update -name=j1 -no-merge -config=@DIR/jwt.json -format=json"),
            method("list"),
            method("list -meta"),
            method("list -format=json"),
            method("delete"),
            method("delete -name=none"),
            method("delete -name=j1"),
        ],
        &with_acls(),
    );
}

#[test]
fn binding_rules() {
    let folder = folder("acl-rules", &[("jwt.json", METHOD)]);
    let rule = |text: &str| root(&format!("acl binding-rule {text}"));
    compare_on(
        &[
            at(
                &folder,
                root("acl auth-method create -type=jwt -name=j1 -config=@DIR/jwt.json"),
            ),
            rule("create"),
            rule("create -method=j1"),
            rule("create -method=none -bind-name=x"),
            rule("create -method=j1 -bind-type=nope -bind-name=x"),
            rule("create -method=j1 -bind-name=x -format=json"),
            rule(
                "create -method=j1 -bind-type=role -bind-name=r -selector=value.name==web -description=d -meta",
            ),
            rule("read"),
            rule("read -id=none"),
            rule("read -id=00000000-0000-0000-0000-000000000007"),
            rule("read -id=$ID"),
            rule("update"),
            rule("update -id=none"),
            rule("update -id=00000000-0000-0000-0000-000000000007"),
            rule("update -id=$ID -description=new -bind-type=role"),
            rule("update -id=$ID -description=% -bind-name=%"),
            rule("update -id=$ID -bind-type=% -selector=%"),
            rule("update -id=$ID -no-merge"),
            rule("update -id=$ID -no-merge -bind-name=y -format=json"),
            rule("list"),
            rule("list -method=j1 -meta"),
            rule("list -method=none"),
            rule("list -format=json"),
            rule("delete"),
            rule("delete -id=none"),
            rule("delete -id=$ID"),
            rule("delete -id=$ID"),
        ],
        &with_acls(),
    );
}

#[test]
fn logins() {
    let files = [
        ("jwt.json", METHOD),
        ("bearer", BEARER),
        ("wrong", "x"),
        ("empty", "\n"),
    ];
    let folder = folder("acl-logins", &files);
    let _ = fs::remove_file(folder.join("sink"));
    let here = |text: &str| at(&folder, line(text));
    let sink = folder.join("sink").to_string_lossy().into_owned();
    let logged_in = |text: &str| with("CONSUL_HTTP_TOKEN_FILE", &sink, line(text));
    compare_on(
        &[
            at(
                &folder,
                root("acl auth-method create -type=jwt -name=j1 -config=@DIR/jwt.json"),
            ),
            root("acl binding-rule create -method=j1 -bind-name=web"),
            here("login"),
            here("login extra"),
            here("login -method=j1"),
            here("login -method=j1 -token-sink-file=DIR/sink"),
            here("login -method=j1 -token-sink-file=DIR/sink -bearer-token-file=DIR/none"),
            here("login -method=j1 -token-sink-file=DIR/sink -bearer-token-file=DIR/empty"),
            here("login -method=j1 -token-sink-file=DIR/sink -bearer-token-file=DIR/wrong"),
            here("login -method=none -token-sink-file=DIR/sink -bearer-token-file=DIR/bearer"),
            here(
                "login -method=j1 -token-sink-file=DIR/sink -bearer-token-file=DIR/bearer -meta=x",
            ),
            here(
                "login -method=j1 -token-sink-file=DIR/sink -bearer-token-file=DIR/bearer -meta=a=b -meta=c=d",
            ),
            logged_in("acl token read -self"),
            logged_in("logout extra"),
            logged_in("logout"),
            logged_in("logout"),
            root("logout"),
            line("logout"),
        ],
        &with_acls(),
    );
}

#[test]
fn agent_tokens() {
    compare_on(
        &[
            root("acl set-agent-token"),
            root("acl set-agent-token default"),
            root("acl set-agent-token default x y"),
            root("acl set-agent-token nope x"),
            root("acl set-agent-token agent x"),
            root("acl set-agent-token master x"),
            root("acl set-agent-token replication x"),
            line("acl set-agent-token default x"),
            root("acl set-agent-token default root"),
            line("acl token read -self"),
        ],
        &with_acls(),
    );
}

#[test]
fn rules_to_translate() {
    compare_on(
        &[
            root("acl translate-rules"),
            root("acl translate-rules x y"),
            root("acl translate-rules @/no/such/file"),
            root("acl translate-rules -token-secret -token-accessor x"),
            root("acl translate-rules -token-accessor none"),
            root("acl translate-rules -token-accessor anonymous"),
            root("acl translate-rules -token-secret root"),
            // No server is asked, so no token is needed either.
            with_input(
                "acl translate-rules -",
                "# c\nkey \"a\" { policy = \"read\" }\n",
            ),
            with_input(
                "acl translate-rules -",
                r#"{"key":{"a":{"policy":"read"}}}"#,
            ),
            with_input("acl translate-rules -", "key {"),
            with_input(
                "acl translate-rules -http-addr=127.0.0.1:1 -",
                "operator = \"read\"",
            ),
        ],
        &with_acls(),
    );
}
