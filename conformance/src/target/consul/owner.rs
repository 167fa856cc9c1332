//! Whose a listening socket is, as the system says.

use std::net::SocketAddr;

/// Whether the process holds the socket that listens at this address. Where nobody can tell, it does not.
#[cfg(target_os = "linux")]
pub(super) fn listens_at(pid: u32, address: SocketAddr) -> bool {
    use std::fs;

    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let sockets: Vec<String> = tables
        .iter()
        .flatten()
        .flat_map(|table| listening(table, address.port()))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let mut links = open.flatten().flat_map(|file| fs::read_link(file.path()));
    links.any(|link| {
        sockets
            .iter()
            .any(|socket| link.as_os_str() == socket.as_str())
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn listens_at(_: u32, _: SocketAddr) -> bool {
    false
}

/// The inodes of the sockets that listen on a port: columns 2 (address and port), 4 (state, `0A` is listening) and 10 of the table.
#[cfg(target_os = "linux")]
fn listening(table: &str, port: u16) -> impl Iterator<Item = &str> {
    let suffix = format!(":{port:04X}");
    table.lines().skip(1).filter_map(move |line| {
        let mut columns = line.split_ascii_whitespace();
        let is_there = columns.nth(1)?.ends_with(&suffix);
        let listens = columns.nth(1)? == "0A";
        columns.nth(5).filter(|_| is_there && listens)
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_listener_is_its_own_process_s_and_no_other_s() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        assert!(listens_at(std::process::id(), address));
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep runs");
        assert!(!listens_at(other.id(), address));
        other.kill().and_then(|()| other.wait()).expect("it ends");
        // A connection is no listener.
        let client = TcpStream::connect(address).expect("somebody listens");
        let client = client.local_addr().expect("it is bound");
        assert!(!listens_at(std::process::id(), client));
    }
}
