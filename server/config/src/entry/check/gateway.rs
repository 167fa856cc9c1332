//! Ingress gateways: their listeners and the hosts of services; terminating gateways: the files for TLS.

use super::{Checked, check_tls, lower};
use proconsul_store::ConfigValue;

pub(super) fn check_ingress(body: &mut ConfigValue, is_late: bool) -> Checked {
    for listener in body.list_mut("Listeners") {
        lower(listener, "Protocol");
        if listener.text("Protocol").is_empty() {
            listener.set("Protocol", ConfigValue::Text("tcp".to_owned()));
        }
    }
    let has_tls = body.get("TLS").is_some_and(|tls| tls.flag("Enabled"));
    let mut ports = Vec::new();
    for listener in body.list("Listeners") {
        let port = listener.number("Port");
        if ports.contains(&port) {
            return Err(format!("port {port} declared on two listeners"));
        }
        ports.push(port);
        let protocol = listener.text("Protocol");
        if !matches!(protocol, "tcp" | "http" | "http2" | "grpc") {
            return Err(format!(
                "protocol must be 'tcp', 'http', 'http2', or 'grpc'. '{protocol}' is an unsupported protocol"
            ));
        }
        check_listener(listener, has_tls, is_late)
            .map_err(|flaw| flaw.replace("{port}", &format!("(listener on port {port})")))?;
    }
    let of_listeners = body.list("Listeners").iter();
    let of_listeners = of_listeners.filter_map(|listener| listener.get("TLS"));
    for tls in body.get("TLS").into_iter().chain(of_listeners) {
        check_tls(tls.text("TLSMinVersion"), tls.text("TLSMaxVersion"))?;
    }
    Ok(())
}

/// Checks the services of a listener. In the text of a flaw `{port}` stands for the words that name the listener.
fn check_listener(listener: &ConfigValue, has_tls: bool, is_late: bool) -> Checked {
    let services = listener.list("Services");
    let protocol = listener.text("Protocol");
    let takes_many = protocol == "http" || (is_late && protocol != "tcp");
    if services.is_empty() {
        let port = listener.number("Port");
        return Err(format!("No service declared for listener with port {port}"));
    }
    if services.len() > 1 && !takes_many {
        let which = if is_late {
            "L7 protocols, 'http', 'grpc' and 'http2'"
        } else {
            "protocol = 'http'"
        };
        return Err(format!(
            "Multiple services per listener are only supported for {which} {{port}}"
        ));
    }
    let mut hosts = Vec::new();
    for (at, service) in services.iter().enumerate() {
        let name = service.text("Name");
        let mut own = service.texts("Hosts").peekable();
        if is_late
            && services[..at]
                .iter()
                .any(|other| other.text("Name") == name)
        {
            return Err(format!(
                "Service {name} cannot be added multiple times {{port}}"
            ));
        }
        let sds = service.get("TLS").and_then(|tls| tls.get("SDS"));
        let has_certificate = sds.is_some_and(|sds| !sds.text("CertResource").is_empty());
        if is_late && has_certificate && own.peek().is_none() {
            let port = listener.number("Port");
            return Err(format!(
                "A service specifying TLS.SDS.CertResource must have at least one item in Hosts (service \"{name}\" on listener on port {port})"
            ));
        }
        if name == "*" && protocol == "tcp" {
            return Err(
                "Wildcard service name is only valid for protocol = 'http' {port}".to_owned(),
            );
        }
        if name.is_empty() {
            return Err("Service name cannot be blank {port}".to_owned());
        }
        if own.peek().is_some() && name == "*" {
            return Err(
                "Associating hosts to a wildcard service is not supported {port}".to_owned(),
            );
        }
        if own.peek().is_some() && protocol == "tcp" {
            return Err(
                "Associating hosts to a service is not supported for the tcp protocol {port}"
                    .to_owned(),
            );
        }
        for host in own {
            if hosts.contains(&host) {
                return Err("Hosts must be unique within a specific listener {port}".to_owned());
            }
            hosts.push(host);
            check_host(host, has_tls)?;
        }
    }
    Ok(())
}

fn check_host(host: &str, has_tls: bool) -> Checked {
    if host == "*" {
        return if has_tls {
            Err("Host '*' is not allowed when TLS is enabled, all hosts must be valid DNS records to add as a DNSSAN".to_owned())
        } else {
            Ok(())
        };
    }
    if host.is_empty() {
        return Err("Host \"\" must be a valid DNS hostname".to_owned());
    }
    if host.strip_prefix("*.").unwrap_or(host).contains('*') {
        return Err(format!(
            "Host \"{host}\" is not valid, a wildcard specifier is only allowed as the leftmost label"
        ));
    }
    Ok(())
}

pub(super) fn check_terminating(body: &ConfigValue) -> Checked {
    let mut seen = Vec::new();
    for service in body.list("Services") {
        let name = service.text("Name");
        if name.is_empty() {
            return Err("Service name cannot be blank.".to_owned());
        }
        if seen.contains(&name) {
            return Err(format!(
                "Service \"{name}\" was specified more than once within a namespace"
            ));
        }
        seen.push(name);
        let is_set = |field| !service.text(field).is_empty();
        let own = [is_set("CertFile"), is_set("KeyFile")];
        if own.contains(&true) && !(own == [true, true] && is_set("CAFile")) {
            return Err(format!(
                "Service \"{name}\" must have a CertFile, CAFile, and KeyFile specified for TLS origination"
            ));
        }
    }
    Ok(())
}
