//! What wakes a blocked read of the catalog or of health, and what only raises the index that a later read shows: the
//! table of session.md 4.5b, a case per row.
//!
//! Each case blocks one read per column, writes, and says what became of each read: `W` is answered with a greater index,
//! `i` sleeps to its end and answers the old index although a later read shows a greater one, `-` sleeps and nothing
//! else shows a greater one either. The end of the wait is the witness: whoever woke shows another index.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, deregister, register};
use crate::wire::Request;

/// How long a read sleeps that nothing wakes. On a busy machine all reads of a case must be blocked, and the write
/// made, before that.
const WAIT: Duration = Duration::from_secs(3);

const ROW: Case = Case {
    source: "session.md 4.5b",
    needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
    ..Case::MUST
};

/// A server with a node `n1` that has the service `web`, with a check of each, beside nodes and services that are their
/// neighbours in Consul's trees: without these, what a read looks at would be wider.
struct Scene<'a> {
    t: &'a Trial,
}

/// The columns of the table.
const COLUMNS: [&str; 10] = [
    "/v1/catalog/nodes",
    "/v1/catalog/node/{n1}",
    "/v1/catalog/node-services/{n1}",
    "/v1/catalog/services",
    "/v1/catalog/service/{web}",
    "/v1/health/service/{web}",
    "/v1/health/node/{n1}",
    "/v1/health/checks/{web}",
    "/v1/health/state/any",
    "/v1/health/state/critical",
];

impl<'a> Scene<'a> {
    #[track_caller]
    fn new(t: &'a Trial) -> Self {
        t.not_compared("the indexes of the agent's own rows move by themselves");
        let scene = Self { t };
        scene.service("n1", "web", 80);
        scene.check_of("web", "passing", "");
        check(t, &t.node("n1"), "cn", "passing");
        check(t, &t.node("n1"), "critical", "critical");
        scene.service("n2", "api", 1);
        scene.service("n2", "zoo", 1);
        for service in ["api", "zoo"] {
            scene.check_of_other(service, "passing");
        }
        check(t, &t.node("n2"), "of-node", "passing");
        scene.service("n3", "db", 1);
        // From now on the index of a service without instances is that of this deregistration.
        scene.service("n3", "gone", 1);
        scene.without("n3", &json!({"ServiceID": "gone"}));
        scene
    }

    /// Registers a service on a node. Its id is this name, the service's name one of this run's own.
    #[track_caller]
    fn service(&self, node: &str, name: &str, port: u16) {
        let service = json!({"ID": name, "Service": self.t.node(name), "Port": port});
        register(self.t, &self.t.node(node), &json!({"Service": service}));
    }

    /// Registers a proxy of `web` on `n3`.
    #[track_caller]
    fn proxy(&self, port: u16) {
        let t = self.t;
        let service = json!({"ID": "proxy", "Service": t.node("proxy"), "Port": port,
            "Kind": "connect-proxy", "Proxy": {"DestinationServiceName": t.node("web")}});
        register(t, &t.node("n3"), &json!({"Service": service}));
    }

    /// Writes the check of `web` on `n1`.
    #[track_caller]
    fn check_of(&self, service: &str, status: &str, output: &str) {
        let check = json!({"CheckID": "cw", "Name": "cw", "ServiceID": service, "Status": status, "Output": output});
        register(self.t, &self.t.node("n1"), &json!({"Check": check}));
    }

    /// Writes the check of a service on `n2`.
    #[track_caller]
    fn check_of_other(&self, service: &str, status: &str) {
        let id = format!("of-{service}");
        let check = json!({"CheckID": id, "Name": id, "ServiceID": service, "Status": status});
        register(self.t, &self.t.node("n2"), &json!({"Check": check}));
    }

    /// Deregisters a node or something on it.
    #[track_caller]
    fn without(&self, node: &str, what: &Value) {
        deregister(self.t, &self.t.node(node), what);
    }

    fn path(&self, column: &str) -> String {
        let mut path = column.to_owned();
        for name in ["n1", "web", "none"] {
            path = path.replace(&format!("{{{name}}}"), &self.t.node(name));
        }
        path
    }

    /// Blocks a read per column, writes, and compares what became of them with `cells`.
    #[track_caller]
    fn row(&self, cells: &str, write: impl Fn(&Self)) {
        self.reads(&COLUMNS, cells, write);
    }

    /// The same with other columns than those of the table.
    #[track_caller]
    fn reads(&self, columns: &[&str], cells: &str, write: impl Fn(&Self)) {
        let t = self.t;
        let index = |path: &str| t.api_get(path).index();
        let paths: Vec<String> = columns.iter().map(|column| self.path(column)).collect();
        let before: Vec<u64> = paths.iter().map(|path| index(path)).collect();
        let wait = WAIT.as_secs();
        let request = |(path, index): (&String, &u64)| {
            let mark = if path.contains('?') { '&' } else { '?' };
            Request::get(&format!("{path}{mark}index={index}&wait={wait}s"))
        };
        let requests: Vec<Request> = paths.iter().zip(&before).map(request).collect();
        let blocked = t.start_all(&requests);
        write(self);
        let later: Vec<u64> = paths.iter().map(|path| index(path)).collect();
        t.settle();
        let cells: Vec<&str> = cells.split_whitespace().collect();
        t.same("the number of cells", cells.len(), columns.len());
        let mut asleep = Vec::new();
        for (place, waiting) in blocked.iter().enumerate() {
            let (cell, path) = (cells[place], &paths[place]);
            let shown = later[place] > before[place];
            t.same(&format!("{path} shows a greater index"), shown, cell != "-");
            if cell == "W" {
                let told = waiting.answer().status_is(200).index();
                t.same(&format!("the index that wakes {path}"), told, later[place]);
            } else {
                // On a busy machine the wait may be over by now.
                let asleep_until = waiting.peek().map_or(WAIT, |answer| answer.took());
                t.check(asleep_until >= WAIT, format!("{path} should still block"));
                asleep.push((place, waiting));
            }
        }
        let mut wakes = asleep.iter();
        if let Some((place, first)) = wakes.next() {
            let told = t.runs_out(first, WAIT).status_is(200).index();
            t.same(
                &format!("the index of {}", paths[*place]),
                told,
                before[*place],
            );
        }
        for (place, waiting) in wakes {
            let told = waiting.answer().status_is(200).index();
            t.same(
                &format!("the index of {}", paths[*place]),
                told,
                before[*place],
            );
        }
    }

    /// The cells of this target: since `version` it is the second of each pair.
    fn cells(&self, version: Version, cells: &str) -> String {
        let later = self.t.since(version);
        let cells = cells
            .split_whitespace()
            .map(|cell| match cell.split_once('/') {
                Some((_, since)) if later => since,
                Some((until, _)) => until,
                None => cell,
            });
        cells.collect::<Vec<_>>().join(" ")
    }
}

/// The release that gave each node an index of its own, and let services move that of the nodes.
const NODE_INDEX: Version = Version::V1_13;

/// The release that streams the health of services.
const STREAMING: Version = Version::new(1, 10, 1);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/wakes/node-comes-and-goes",
        claim: "A new node, and an empty one that goes, wake catalog/nodes and nobody else",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "W i/- i/- - - - - - - -");
            scene.row(&cells, |scene| register(t, &scene.t.node("n9"), &json!({})));
            scene.row(&cells, |scene| scene.without("n9", &json!({})));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/unchanged",
        claim: "A node or service that is registered again unchanged wakes nobody and moves no index",
        run: |t| {
            let scene = Scene::new(t);
            scene.row("- - - - - - - - - -", |scene| {
                register(t, &t.node("n2"), &json!({}));
                scene.service("n1", "web", 80);
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/address-of-the-node",
        claim: "Another address of a node wakes the reads of nodes, of this node and of its services",
        run: |t| {
            let scene = Scene::new(t);
            scene.row("W W W - W W - - - -", |_| {
                register(t, &t.node("n1"), &json!({"Address": "127.0.0.9"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/service-of-another-node",
        claim: "A service of another node, new or changed, wakes catalog/services and nobody else",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "-/i i/- i/- W - - - - - -");
            scene.row(&cells, |scene| scene.service("n2", "new", 1));
            scene.row(&cells, |scene| scene.service("n2", "new", 2));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/new-service-of-the-node",
        claim: "A new service of a node wakes catalog/services and the reads of this node",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "-/i W W W - - - - - -");
            scene.row(&cells, |scene| scene.service("n1", "new", 1));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/service-changes",
        claim: "A changed instance wakes the reads of services, of its node and of its service, and none of checks",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "-/i W W W W W - - - -");
            scene.row(&cells, |scene| scene.service("n1", "web", 81));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/second-instance",
        claim: "A second instance on another node wakes the reads of services and of its service",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "-/i i/- i/- W W W - - - -");
            scene.row(&cells, |scene| scene.service("n3", "web", 80));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/check-of-the-service",
        claim: "A check of a service that becomes critical, or says something else, wakes all reads of health and not catalog/service",
        run: |t| {
            let scene = Scene::new(t);
            let cells = "- - - - i W W W W W";
            scene.row(cells, |scene| scene.check_of("web", "critical", ""));
            scene.row(cells, |scene| scene.check_of("web", "critical", "x"));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/unchanged-check",
        claim: "A critical check that is registered again unchanged wakes the reads of checks until 1.9, and nobody since",
        run: |t| {
            let scene = Scene::new(t);
            scene.check_of("web", "critical", "");
            let cells = scene.cells(Version::V1_9, "- - - - - - W/- W/- W/- W/-");
            scene.row(&cells, |scene| scene.check_of("web", "critical", ""));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/check-of-the-node",
        claim: "A check of a node wakes the health of its services and the reads of its own state, and not catalog/service",
        run: |t| {
            let scene = Scene::new(t);
            scene.row("- - - - i W W i W i", |_| {
                check(t, &t.node("n1"), "cn", "warning");
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/new-check-of-another-node",
        claim: "A new check on the node of another instance wakes the health of the service and not its checks",
        run: |t| {
            let scene = Scene::new(t);
            scene.service("n3", "web", 80);
            scene.row("- - - - i W i i W i", |_| {
                check(t, &t.node("n3"), "new", "passing");
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/check-of-another-service",
        claim: "A check of another service wakes health/state/any, and the other reads of checks show a greater index later",
        run: |t| {
            let scene = Scene::new(t);
            scene.row("- - - - - - i i W i", |scene| {
                scene.check_of_other("api", "warning");
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/check-of-the-node-goes",
        claim: "A node's check that goes moves the index of the services, and wakes none of their reads",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "- i/- i/- i i W W i W i");
            scene.row(&cells, |scene| {
                scene.without("n1", &json!({"CheckID": "cn"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/service-of-another-node-goes",
        claim: "The last instance of another service that goes wakes catalog/services, and moves the index of all checks",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "-/i i/- i/- W - - i i i i");
            scene.row(&cells, |scene| {
                scene.without("n3", &json!({"ServiceID": "db"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/one-of-two-instances-goes",
        claim: "One of two instances that goes wakes the reads of services and of its service",
        run: |t| {
            let scene = Scene::new(t);
            scene.service("n3", "web", 80);
            let cells = scene.cells(NODE_INDEX, "-/i i/- i/- W W W i i i i");
            scene.row(&cells, |scene| {
                scene.without("n3", &json!({"ServiceID": "web"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/node-with-a-check-goes",
        claim: "A node that goes with its check wakes catalog/nodes, health/state/any and its last neighbour's health/node",
        run: |t| {
            let scene = Scene::new(t);
            scene.without("n2", &json!({}));
            scene.without("n3", &json!({"ServiceID": "db"}));
            check(t, &t.node("n3"), "of-node", "passing");
            let cells = scene.cells(NODE_INDEX, "W i/- i/- i - - W i W i");
            scene.row(&cells, |scene| scene.without("n3", &json!({})));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/node-with-a-check-goes-beside-two",
        claim: "A node that goes with its check lets the health/node of others sleep while there are two of them",
        run: |t| {
            let scene = Scene::new(t);
            scene.without("n3", &json!({"ServiceID": "db"}));
            check(t, &t.node("n3"), "of-node", "passing");
            let cells = scene.cells(NODE_INDEX, "W i/- i/- i - - i i W i");
            scene.row(&cells, |scene| scene.without("n3", &json!({})));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/last-instance-goes",
        claim: "The last instance of a service that goes with its critical check wakes all but catalog/nodes",
        run: |t| {
            let scene = Scene::new(t);
            scene.check_of("web", "critical", "");
            let cells = scene.cells(NODE_INDEX, "-/i W W W W W W W W W");
            scene.row(&cells, |scene| {
                scene.without("n1", &json!({"ServiceID": "web"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/nothing-of-the-catalog",
        claim: "The deregistration of an unknown node, a session and a key wake no read of the catalog and move no index of it",
        run: |t| {
            let scene = Scene::new(t);
            scene.row("- - - - - - - - - -", |scene| {
                scene.without("unknown", &json!({}));
                t.destroy(&t.session_without_delay());
                t.put(&t.key("k"), "", "v").is(200, "true");
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/unknown-service",
        claim: "catalog/service of an unknown service wakes when the last instance of any service goes",
        source: "session.md 4.5b.r20",
        run: |t| {
            let scene = Scene::new(t);
            let columns = ["/v1/catalog/service/{none}"];
            scene.reads(&columns, "-", |scene| scene.service("n2", "new", 1));
            scene.reads(&columns, "W", |scene| {
                scene.without("n2", &json!({"ServiceID": "new"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/health-of-an-unknown-service",
        claim: "health/service of an unknown service wakes when the last instance of any service goes",
        source: "session.md 4.5b.r20",
        until: Some(STREAMING),
        run: |t| {
            let scene = Scene::new(t);
            scene.reads(&["/v1/health/service/{none}"], "W", |scene| {
                scene.without("n3", &json!({"ServiceID": "db"}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/streamed-health-of-an-unknown-service",
        claim: "health/service of an unknown service sleeps when the last instance of any service goes, and shows the index at which it began in the end",
        source: "session.md 4.5b.r20; 1.22.md B4.5",
        since: STREAMING,
        run: |t| {
            let scene = Scene::new(t);
            let path = scene.path("/v1/health/service/{none}");
            let index = t.api_get(&path).index();
            let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=3s")));
            scene.without("n3", &json!({"ServiceID": "db"}));
            t.still_blocked(&waiting);
            let told = t.runs_out(&waiting, WAIT).is(200, "[]").index();
            t.same("the index in the end", told, index);
            t.grew("the index", told, t.api_get(&path).index());
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/unknown-node",
        claim: "catalog/node of an unknown node sleeps until 1.13 when a node goes, and wakes since",
        source: "session.md 4.5b.r21",
        run: |t| {
            let scene = Scene::new(t);
            let cells = scene.cells(NODE_INDEX, "-/W");
            scene.reads(&["/v1/catalog/node/{none}"], &cells, |scene| {
                scene.without("n3", &json!({}));
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/proxies",
        claim: "catalog/connect sleeps through changes of the service and of checks, which move its index",
        source: "session.md 4.5b.r19",
        run: |t| {
            let scene = Scene::new(t);
            scene.proxy(1);
            let columns = ["/v1/catalog/connect/{web}", "/v1/health/connect/{web}"];
            scene.reads(&columns, "i -", |scene| scene.service("n1", "web", 81));
            scene.reads(&columns, "i -", |scene| {
                scene.check_of("web", "warning", "");
            });
            scene.reads(&columns, "- W", |scene| scene.proxy(2));
            scene.reads(&columns, "- W", |_| {
                check(t, &t.node("n3"), "new", "passing");
            });
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/renamed-service",
        claim: "An instance that takes another name leaves asleep who waits for its old one",
        source: "session.md 4.5b.r24",
        run: |t| {
            let scene = Scene::new(t);
            let path = scene.path("/v1/health/service/{web}");
            let index = t.api_get(&path).index();
            let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=3s")));
            register(
                t,
                &t.node("n1"),
                &json!({"Service": {"ID": "web", "Service": t.node("new")}}),
            );
            t.still_blocked(&waiting);
            let told = t.runs_out(&waiting, WAIT).status_is(200);
            t.same("the index in the end", told.index(), index);
            t.same("the instances in the end", told.list().len(), 1);
            t.api_get(&path).is(200, "[]");
        },
        until: Some(NODE_INDEX),
        ..ROW
    },
    Case {
        id: "catalog/wakes/node-meta",
        claim: "Reads of nodes with some meta data sleep through other nodes, which move their index",
        source: "session.md 4.5b.r25",
        run: |t| {
            let scene = Scene::new(t);
            let with = |node: &str, value: &str, port: u16| {
                let service = json!({"ID": "meta", "Service": t.node("meta"), "Port": port});
                let meta = json!({"role": value});
                register(
                    t,
                    &t.node(node),
                    &json!({"NodeMeta": meta, "Service": service}),
                );
            };
            with("m1", "db", 1);
            with("m2", "lb", 1);
            with("m3", "web", 1);
            let columns = [
                "/v1/catalog/nodes?node-meta=role:db",
                "/v1/catalog/services?node-meta=role:db",
            ];
            scene.reads(&columns, "i i", |_| register(t, &t.node("m4"), &json!({})));
            let cells = scene.cells(NODE_INDEX, "-/i i");
            scene.reads(&columns, &cells, |_| with("m2", "lb", 2));
            let cells = scene.cells(NODE_INDEX, "-/i W");
            scene.reads(&columns, &cells, |_| with("m1", "db", 2));
        },
        ..ROW
    },
    Case {
        id: "catalog/wakes/tags",
        claim: "Reads of the instances with a tag sleep through the nodes and checks of the others, which move the index",
        source: "session.md 4.5b.r25",
        run: |t| {
            let scene = Scene::new(t);
            let with = |node: &str, tag: &str| {
                let service = json!({"ID": "tagged", "Service": t.node("none"), "Tags": [tag]});
                register(t, &t.node(node), &json!({"Service": service}));
            };
            with("n2", "a");
            with("n3", "b");
            // Who has no checks waits for those of its neighbours in the tree.
            check(t, &t.node("n3"), "own", "passing");
            let columns = [
                "/v1/catalog/service/{none}?tag=A",
                "/v1/catalog/service/{none}?tag=b",
                "/v1/catalog/service/{none}?tag=nobody",
                "/v1/health/service/{none}?tag=A",
                "/v1/health/service/{none}?tag=b",
                "/v1/health/service/{none}?tag=nobody",
            ];
            let moved = |_: &Scene<'_>| {
                t.register(&json!({"Node": t.node("n3"), "Address": "127.0.0.9"}));
            };
            scene.reads(&columns, "i W i i W i", moved);
            scene.reads(&columns, "i i i W i i", |_| {
                check(t, &t.node("n2"), "of-node", "warning");
            });
            scene.reads(&columns, "W W W W W W", |_| with("n3", "c"));
        },
        until: Some(STREAMING),
        ..ROW
    },
];
