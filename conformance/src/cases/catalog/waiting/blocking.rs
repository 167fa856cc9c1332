//! What wakes a blocked read of the catalog or of health, and what it sleeps through (session.md 4.5b).

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, deregister, register, service_check};
use crate::wire::Request;
use crate::wire::waiting::Waiting;

/// A claim of this file, on a server that no other case writes to.
const SLEEPS: Case = Case {
    source: "session.md 4.5b",
    needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
    ..Case::MUST
};

/// A node with a service and checks, beside another that has one, too.
struct Scene {
    node: String,
    service: String,
    other: String,
}

impl Scene {
    #[track_caller]
    fn new(t: &Trial) -> Self {
        let (node, other) = (t.register_node("n"), t.register_node("other"));
        let service = t.node("web");
        let scene = Self {
            node,
            service,
            other,
        };
        scene.enter(t, 1);
        // Neighbours in the trees that Consul watches: without them the first one would move what a read looks at.
        service_check(t, &scene.other, "api", "of-api", "passing");
        service_check(t, &scene.other, "zoo", "of-zoo", "passing");
        check(t, &scene.other, "of-node", "passing");
        scene
    }

    /// Writes the node, the service and its check so that all three differ from what was there under another number.
    #[track_caller]
    fn enter(&self, t: &Trial, number: usize) {
        let Self { node, service, .. } = self;
        let check = json!({"CheckID": "of-web", "Name": "of-web", "ServiceID": "web",
            "Status": "passing", "Output": format!("output {number}")});
        t.register(
            &json!({"Node": node, "Address": format!("127.0.0.{number}"),
            "Service": {"ID": "web", "Service": service, "Port": number}, "Check": check}),
        );
    }

    fn path(&self, read: Read) -> String {
        let Self { node, service, .. } = self;
        match read {
            Read::Nodes => "/v1/catalog/nodes".to_owned(),
            Read::Node => format!("/v1/catalog/node/{node}"),
            Read::Services => "/v1/catalog/services".to_owned(),
            Read::Service => format!("/v1/catalog/service/{service}"),
            Read::HealthOfService => format!("/v1/health/service/{service}"),
            Read::HealthOfNode => format!("/v1/health/node/{node}"),
            Read::Checks => format!("/v1/health/checks/{service}"),
            Read::State => "/v1/health/state/any".to_owned(),
        }
    }

    /// These reads sleep through each of `writes`, and wake when what they show has changed.
    #[track_caller]
    fn sleep_through(&self, t: &Trial, reads: &[Read], writes: &[&dyn Fn()]) {
        for write in writes {
            let blocked: Vec<(u64, Waiting)> = reads
                .iter()
                .map(|read| {
                    let path = self.path(*read);
                    let index = t.api_get(&path).index();
                    let request = format!("{path}?index={index}&wait=60s");
                    (index, t.start(&Request::get(&request)))
                })
                .collect();
            write();
            t.settle();
            for (_, waiting) in &blocked {
                t.still_blocked(waiting);
            }
            self.enter(t, 2);
            for (index, waiting) in blocked {
                t.grew("the index", index, waiting.answer().status_is(200).index());
            }
            self.enter(t, 1);
        }
    }
}

/// A read that blocks.
#[derive(Clone, Copy)]
enum Read {
    Nodes,
    Node,
    Services,
    Service,
    HealthOfService,
    HealthOfNode,
    Checks,
    State,
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/blocking/changes-wake-at-once",
        claim: "Every blocked read of the catalog and of health is answered at once when what it shows has changed",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            use Read::{
                Checks, HealthOfNode, HealthOfService, Node, Nodes, Service, Services, State,
            };
            let scene = Scene::new(t);
            let mut last = 2;
            for read in [
                Nodes,
                Node,
                Services,
                Service,
                HealthOfService,
                HealthOfNode,
                Checks,
                State,
            ] {
                t.wakes_at_once(&scene.path(read), || {
                    last += 1;
                    scene.enter(t, last);
                });
            }
        },
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/sleeps-through-what-it-does-not-show",
        claim: "Blocked reads of services and of health sleep through new nodes, registrations that change nothing, sessions and keys",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let scene = Scene::new(t);
            scene.sleep_through(
                t,
                &[
                    Read::Services,
                    Read::Service,
                    Read::HealthOfService,
                    Read::HealthOfNode,
                    Read::Checks,
                    Read::State,
                ],
                &[
                    &|| drop(t.register_node("new")),
                    &|| register(t, &scene.other, &json!({})),
                    &|| drop(t.session_without_delay()),
                    &|| drop(t.put(&t.key("k"), "", "v").is(200, "true")),
                ],
            );
        },
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/sleeps-through-other-services",
        claim: "Blocked reads of one service and of the health of one node sleep through the services of another node",
        run: |t| {
            let scene = Scene::new(t);
            let service = |port: u16| {
                let service = json!({"ID": "api", "Service": "api", "Port": port});
                register(t, &scene.other, &json!({"Service": service}));
            };
            scene.sleep_through(
                t,
                &[
                    Read::Service,
                    Read::HealthOfService,
                    Read::HealthOfNode,
                    Read::Checks,
                ],
                &[&|| service(7)],
            );
        },
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/sleeps-through-other-checks",
        claim: "Blocked reads of nodes, services, one service and its health sleep through a check of another service",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let scene = Scene::new(t);
            scene.sleep_through(
                t,
                &[
                    Read::Nodes,
                    Read::Services,
                    Read::Service,
                    Read::HealthOfService,
                ],
                &[&|| service_check(t, &scene.other, "api", "of-api", "warning")],
            );
        },
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/service-sleeps-through-its-checks",
        claim: "catalog/service sleeps through a check of its service, though a later read shows a greater index",
        run: |t| {
            let scene = Scene::new(t);
            let path = scene.path(Read::Service);
            let index = t.api_get(&path).index();
            scene.sleep_through(
                t,
                &[Read::Service],
                &[&|| {
                    let check = json!({"CheckID": "of-web", "Name": "of-web",
                        "ServiceID": "web", "Status": "warning"});
                    register(t, &scene.node, &json!({"Check": check}));
                    t.grew("a later read", index, t.api_get(&path).index());
                }],
            );
        },
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/tagged-beside-another-on-its-node",
        claim: "health/service with a tag sleeps through a check of an instance without it on the same node, which moves the index, and wakes when its own instance's changes",
        source: "session.md 4.5b.r25",
        run: |t| {
            let (node, service) = (t.node("n"), t.node("web"));
            let write = |id: &str, status: &str| {
                let instance = json!({"ID": id, "Service": service, "Tags": [id]});
                let check = json!({"CheckID": id, "Name": id, "Status": status, "ServiceID": id});
                register(t, &node, &json!({"Service": instance, "Check": check}));
            };
            write("a", "passing");
            write("b", "passing");
            check(t, &node, "of-node", "passing");
            let path = format!("/v1/health/service/{service}?tag=a");
            let start = |wait: &str| {
                let index = t.api_get(&path).index();
                let waiting = t.start(&Request::get(&format!("{path}&index={index}&wait={wait}")));
                t.settle();
                (index, waiting)
            };
            let (before, waiting) = start("2s");
            write("b", "warning");
            t.grew("a later read", before, t.api_get(&path).index());
            let told = t.runs_out(&waiting, Duration::from_secs(2));
            t.same("the index", told.index(), before);
            let (before, waiting) = start("60s");
            write("a", "warning");
            t.grew("X-Consul-Index", before, waiting.answer().index());
        },
        until: Some(Version::new(1, 10, 1)),
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/tagged-without-checks",
        claim: "health/service with a tag, of an instance without checks beside a neighbour's single one, wakes when that goes",
        source: "session.md 4.5b.r25",
        run: |t| {
            let (node, other, service) = (t.node("n"), t.node("o"), t.node("web"));
            let instance = |id: &str| json!({"ID": id, "Service": service, "Tags": [id]});
            let of =
                |id: &str| json!({"CheckID": id, "Name": id, "Status": "passing", "ServiceID": id});
            register(t, &node, &json!({"Service": instance("a")}));
            check(t, &node, "of-node", "passing");
            check(t, &node, "of-node-too", "passing");
            register(
                t,
                &other,
                &json!({"Service": instance("b"), "Check": of("b")}),
            );
            let path = format!("/v1/health/service/{service}?tag=a");
            let index = t.api_get(&path).index();
            let waiting = t.start(&Request::get(&format!("{path}&index={index}&wait=60s")));
            t.still_blocked(&waiting);
            deregister(t, &other, &json!({"CheckID": "b"}));
            t.grew("X-Consul-Index", index, waiting.answer().index());
        },
        until: Some(Version::new(1, 10, 1)),
        ..SLEEPS
    },
    Case {
        id: "catalog/blocking/node-services-of-a-node-that-goes",
        claim: "catalog/node-services sleeps through the end of its node, and shows it as it was; catalog/node shows null",
        source: "session.md 4.5b.r28",
        run: |t| {
            let scene = Scene::new(t);
            let paths =
                ["node-services", "node"].map(|kind| format!("/v1/catalog/{kind}/{}", scene.node));
            let waiting = paths.each_ref().map(|path| {
                let index = t.api_get(path).index();
                t.start(&Request::get(&format!("{path}?index={index}&wait=3s")))
            });
            deregister(t, &scene.node, &json!({}));
            let wait = Duration::from_secs(3);
            let shown = t.runs_out(&waiting[0], wait).status_is(200);
            t.same("the index", shown.index(), 1);
            shown
                .field_is("/Node/Node", scene.node.as_str())
                .field_is("/Services/0/Service", scene.service.as_str());
            waiting[1].answer().is(200, "null");
            t.api_get(&paths[0])
                .is(200, "{\"Node\":null,\"Services\":null}");
        },
        until: Some(Version::V1_13),
        ..SLEEPS
    },
];
