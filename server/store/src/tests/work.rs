//! The cost of a command does not grow with unrelated rows.

use std::time::Duration;

use super::any::Command;
use super::random::agent_start;

use crate::catalog::work::looks;
use crate::timestamp::Timestamp;
use crate::{
    AgentCommand, Alias, Behavior, CheckSource, CheckSpec, ConfigEntry, ConfigMembers, ConfigValue,
    ConfigWrite, Content, Deregistration, Index, Key, KvVerb, KvWrite, NewCheck, NewNode,
    NewService, NewSession, Registration, ServiceSpec, SessionId, Store, Thresholds,
};

/// The number of the agent's services, each with a check.
const SERVICES: usize = 500;

fn agent(command: AgentCommand) -> Command {
    Command::Agent(Box::new(command))
}

fn check(id: &str, service: &str, source: CheckSource) -> CheckSpec {
    CheckSpec {
        check: NewCheck {
            check_id: id.to_owned(),
            service_id: service.to_owned(),
            status: "passing".to_owned(),
            ..NewCheck::default()
        },
        source,
        output_limit: 4096,
        deregister_after: Some(Duration::from_secs(3600)),
        thresholds: Thresholds::default(),
    }
}

fn ttl(id: &str, service: &str) -> CheckSpec {
    check(id, service, CheckSource::Ttl(Duration::from_secs(600)))
}

fn service(id: &str) -> Command {
    let spec = ServiceSpec {
        service: NewService {
            id: id.to_owned(),
            name: id.to_owned(),
            ..NewService::default()
        },
        checks: vec![ttl(&format!("of {id}"), id)],
        sidecar: None,
    };
    agent(AgentCommand::RegisterService {
        spec: Box::new(spec),
        replace_checks: true,
    })
}

/// Returns a store whose agent has many services with a check each, and an alias for every tenth.
fn crowded() -> Store {
    let mut store = Store::new(super::NEWEST, Index(9));
    let mut apply = |command| {
        let applied = Command::apply(command, &mut store, Timestamp::ZERO);
        applied.result.expect("nothing speaks against it");
    };
    apply(agent_start());
    for number in 0..SERVICES {
        apply(service(&format!("s{number}")));
        if number % 10 == 0 {
            let alias = CheckSource::Alias(Alias {
                node: String::new(),
                service: format!("s{number}"),
            });
            let alias = check(&format!("alias {number}"), "", alias);
            apply(agent(AgentCommand::RegisterCheck(Box::new(alias))));
        }
    }
    store
}

fn session(number: u8) -> Command {
    Command::SessionCreate(NewSession {
        id: SessionId::from_bytes([number; 16]),
        name: "s".to_owned(),
        node: "n1".to_owned(),
        lock_delay_ns: 0,
        behavior: Behavior::Release,
        ttl_text: String::new(),
        ttl: Duration::ZERO,
        node_checks: None,
        service_checks: None,
        checks: Vec::new(),
    })
}

fn report(id: &str, status: &'static str) -> Command {
    agent(AgentCommand::Report {
        id: id.to_owned(),
        status,
        output: status.to_owned(),
    })
}

#[test]
fn a_command_looks_at_the_checks_that_it_touches_and_no_others() {
    let mut store = crowded();
    let put = Command::Kv(KvWrite {
        key: Key::new("k"),
        verb: KvVerb::Set(Content::default()),
    });
    let elsewhere = Registration {
        node: NewNode {
            node: "elsewhere".to_owned(),
            ..NewNode::default()
        },
        checks: vec![ttl("c", "").check],
        ..Registration::default()
    };
    let elsewhere = Command::Register(Box::new(elsewhere));
    let deregister = agent(AgentCommand::DeregisterService {
        stays: false,
        id: "s20".to_owned(),
    });
    let in_catalog = Command::Deregister(Deregistration::Service {
        node: "n1".to_owned(),
        id: "s31".to_owned(),
    });
    let destroy = Command::SessionDestroy(SessionId::from_bytes([1; 16]).to_string());
    for (command, most) in [
        (put, 0),
        (session(1), 0),
        (destroy, 0),
        (elsewhere, 0),
        (report("of s7", "passing"), 0),
        (report("of s8", "critical"), 0),
        // An alias looks at all checks of the node, which are the aliases.
        (report("of s10", "critical"), SERVICES / 10 + 5),
        (service("s9"), 5),
        (service("new"), 5),
        (deregister, SERVICES / 10 + 10),
        (in_catalog, 5),
    ] {
        let name = format!("{command:?}");
        let (looked_at, applied) = looks(|| command.apply(&mut store, Timestamp::ZERO));
        applied.result.expect("nothing speaks against it");
        assert!(looked_at <= most, "{name} looked at {looked_at} checks");
    }
}

/// Writes a resolver that leads to another service. Returns how many services the chains have that this compiled.
fn resolver(store: &mut Store, name: &str, field: &str, to: ConfigValue) -> usize {
    let write = ConfigWrite {
        entry: ConfigEntry {
            kind: "service-resolver".to_owned(),
            name: name.to_owned(),
            body: ConfigValue::Members(ConfigMembers::from([(field.to_owned(), to)])),
        },
        cas: None,
        skips_identical: true,
    };
    let (services, applied) = looks(|| store.apply(Timestamp::ZERO, write));
    assert_eq!(applied.result, Ok(true));
    services
}

#[test]
fn a_resolver_compiles_the_chains_that_it_may_break_and_no_others() {
    const RESOLVERS: usize = 1000;
    let to = |name: String| {
        let members = [("Service".to_owned(), ConfigValue::Text(name))];
        ConfigValue::Members(ConfigMembers::from(members))
    };
    let mut store = Store::new(super::NEWEST, Index(9));
    let name = |number: usize| format!("s{number}");
    for number in 0..RESOLVERS {
        // All that were written before lead to this one in the end.
        let next = to(name(number + 1));
        let services = resolver(&mut store, &name(number), "Redirect", next);
        assert!(services <= 10, "resolver {number} compiled {services}");
    }
    for number in 0..RESOLVERS {
        let next = ConfigMembers::from([("*".to_owned(), to(format!("f{}", number + 1)))]);
        let next = ConfigValue::Members(next);
        let services = resolver(&mut store, &format!("f{number}"), "Failover", next);
        assert!(services <= 10, "failover {number} compiled {services}");
    }
}
