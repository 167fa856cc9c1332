//! The server that all clients talk to: a process of its own, so that its memory and time are not counted as theirs.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::stopwatch::pause;

/// A server, stopped when it is dropped if it was started here.
pub(crate) struct Server {
    pub(crate) address: String,
    child: Option<Child>,
}

impl Server {
    /// The server at `CONSUL_HTTP_ADDR`, or a proconsul that is built and started.
    ///
    /// # Panics
    /// When there is none and none can be started.
    pub(crate) fn find() -> Self {
        if std::env::var_os("CONSUL_HTTP_ADDR").is_some() {
            return Self {
                address: proconsul_interop::address(),
                child: None,
            };
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--release", "--package", "proconsul"])
            .current_dir(&root)
            .status();
        assert!(built.expect("cargo runs").success(), "proconsul is built");
        let address = free_address();
        let port = format!("-http-port={}", address.port());
        let child = Command::new(root.join("target/release/proconsul"))
            .args(["agent", "-dev", "-log-level=err", &port])
            .stdout(Stdio::null())
            .spawn()
            .expect("it was built");
        // Stopped also when it does not come up.
        let server = Self {
            address: format!("http://{address}"),
            child: Some(child),
        };
        let up = (0..500).any(|_| {
            let accepted = TcpStream::connect(address).is_ok();
            if !accepted {
                pause(Duration::from_millis(10));
            }
            accepted
        });
        assert!(up, "proconsul listens on {address}");
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may be gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where nobody listens at the moment.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound")
}
