//! A real browser, driven over its own protocol: Chromium without a window, and tabs of it.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use proconsul_conformance::report::left_out;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// Nothing here takes as long; what would hang fails instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// A Chromium that ends when the last tab of it is dropped.
#[derive(Debug)]
struct Browser {
    process: Child,
    port: u16,
    /// Where it is told what concerns no single tab.
    path: String,
    profile: PathBuf,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It has ended already if these fail, and the system clears its temporary directory in the end. Debian's program is a
        // script that starts the browser: the whole group ends.
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

impl Browser {
    /// Returns the browser that other tests use now, or a new one; `None` without Chromium.
    fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<(u32, Weak<Browser>)> = Mutex::new((0, Weak::new()));
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(browser) = shared.1.upgrade() {
            return Some(browser);
        }
        let browser = Arc::new(Self::start(shared.0)?);
        shared.0 += 1;
        shared.1 = Arc::downgrade(&browser);
        Some(browser)
    }

    fn start(number: u32) -> Option<Self> {
        let name = left_out::browser()?;
        let folder = format!("proconsul-page-{}-{number}", std::process::id());
        let profile = std::env::temp_dir().join(folder);
        let mut process = Command::new(name)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .arg("--remote-debugging-port=0")
            // All tabs count as looked at.
            .args([
                "--disable-background-timer-throttling",
                "--disable-renderer-backgrounding",
            ])
            .arg("--disable-backgrounding-occluded-windows")
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the browser runs");
        let errors = process.stderr.take().expect("it is piped");
        let mut lines = BufReader::new(errors).lines().map_while(Result::ok);
        let said = lines.find_map(|line| {
            let (_, url) = line.split_once("DevTools listening on ws://127.0.0.1:")?;
            let (port, path) = url.split_once('/')?;
            Some((port.parse().ok()?, format!("/{path}")))
        });
        let (port, path) = said.expect("the browser says where it listens");
        // What else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self {
            process,
            port,
            path,
            profile,
        })
    }

    fn connect(&self, path: &str) -> WebSocket<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the browser listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a timeout can be set");
        let url = format!("ws://127.0.0.1:{}{path}", self.port);
        let (socket, _) = tungstenite::client(url, stream).expect("the browser answers");
        socket
    }
}

/// A tab. It is closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Tab {
    socket: WebSocket<TcpStream>,
    last_call: u64,
    target: String,
    /// What the browser has reported as an error.
    pub(crate) errors: Vec<String>,
    /// What streams have brought since [`Tab::listen`]: the kinds of records, and the names of other events.
    pub(crate) heard: Vec<String>,
    browser: Arc<Browser>,
}

impl Drop for Tab {
    fn drop(&mut self) {
        let mut control = self.browser.connect(&self.browser.path);
        let close = json!({ "id": 1, "method": "Target.closeTarget", "params": { "targetId": self.target } });
        // A browser that has gone has no tabs.
        let _ = control.send(Message::text(close.to_string()));
        let _ = control.read();
    }
}

impl Tab {
    /// Opens an empty tab of 1280 by 800 pixels; `None` without a browser.
    pub(crate) fn open() -> Option<Self> {
        let browser = Browser::shared()?;
        let mut control = browser.connect(&browser.path);
        let create = json!({ "id": 1, "method": "Target.createTarget", "params": { "url": "about:blank", "newWindow": true } });
        control
            .send(Message::text(create.to_string()))
            .expect("the browser listens");
        let target = loop {
            let said = read(&mut control);
            if said["id"] == 1 {
                break said["result"]["targetId"]
                    .as_str()
                    .expect("an id")
                    .to_owned();
            }
        };
        let mut tab = Self {
            socket: browser.connect(&format!("/devtools/page/{target}")),
            last_call: 0,
            target,
            errors: Vec::new(),
            heard: Vec::new(),
            browser,
        };
        for domain in ["Page", "Runtime", "Log", "DOM"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.size(1280, 800);
        Some(tab)
    }

    /// Calls a method of the browser's protocol.
    #[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.try_call(method, &parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        self.last_call += 1;
        let call = json!({ "id": self.last_call, "method": method, "params": parameters });
        self.socket
            .send(Message::text(call.to_string()))
            .expect("the browser listens");
        loop {
            let mut said = read(&mut self.socket);
            if said["id"] != self.last_call {
                self.note(&said);
            } else if said["error"].is_null() {
                return Ok(said["result"].take());
            } else {
                return Err(said["error"].to_string());
            }
        }
    }

    /// Notes errors of scripts, of the console, and of what the page's security policy forbids. That a read was answered
    /// with 404 is none: it is how Consul says that there is no such key.
    fn note(&mut self, said: &Value) {
        let parameters = &said["params"];
        if said["method"] == "Network.eventSourceMessageReceived" {
            let data = parameters["data"].as_str().unwrap_or_default();
            let data: Value = serde_json::from_str(data).expect("events are JSON");
            let name = data["kind"].as_str().or(parameters["eventName"].as_str());
            self.heard
                .push(name.expect("an event has a name").to_owned());
        }
        let is_error = match said["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => parameters["type"] == "error",
            Some("Log.entryAdded") => {
                let entry = &parameters["entry"];
                entry["level"] == "error" && entry["source"] != "network"
            }
            _ => false,
        };
        if is_error {
            self.errors.push(parameters.to_string());
        }
    }

    /// Notes what server-sent events bring from now on.
    pub(crate) fn listen(&mut self) {
        self.call("Network.enable", json!({}));
        self.heard.clear();
    }

    /// Waits until a stream has brought something.
    #[track_caller]
    pub(crate) fn until_heard(&mut self, name: &str) {
        for _ in 0..1000 {
            if self.heard.iter().any(|one| one == name) {
                return;
            }
            self.eval("new Promise((done) => setTimeout(done, 20))");
        }
        panic!("{name} never came: {:?}", self.heard);
    }

    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Prefers the theme `light` or `dark`.
    pub(crate) fn theme(&mut self, name: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": name }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    pub(crate) fn go(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Evaluates an expression, and waits for it if it is a promise.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        match self.try_eval(expression) {
            Ok(value) => value,
            Err(error) => panic!("{expression}: {error}"),
        }
    }

    fn try_eval(&mut self, expression: &str) -> Result<Value, String> {
        let parameters = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let mut evaluated = self.try_call("Runtime.evaluate", &parameters)?;
        if evaluated["exceptionDetails"].is_null() {
            Ok(evaluated["result"]["value"].take())
        } else {
            Err(evaluated["exceptionDetails"].to_string())
        }
    }

    /// Waits until an expression is true. One that cannot be evaluated yet is false.
    #[track_caller]
    pub(crate) fn until(&mut self, expression: &str) {
        let wait = format!(
            "new Promise((done) => {{
                const end = performance.now() + 20000;
                const look = () => {{
                    let found = false;
                    try {{ found = Boolean({expression}); }} catch {{ /* Not yet. */ }}
                    if (found || performance.now() > end) done(found);
                    else setTimeout(look, 20);
                }};
                look();
            }})"
        );
        // A page that is being loaded forgets what was asked of the one before.
        for _ in 0..3 {
            match self.try_eval(&wait) {
                Ok(Value::Bool(true)) => return,
                Ok(_) => break,
                Err(_) => {}
            }
        }
        let text = self.try_eval("location.href + '\\n' + document.body.innerText");
        panic!("never true: {expression}\n{text:?}\n{:?}", self.errors);
    }

    /// Presses a key of the keyboard.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if key == "Enter" { "\r" } else { "" };
            let event = json!({ "type": kind, "key": key, "code": key, "text": text });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Returns a picture as PNG in base64.
    pub(crate) fn picture(&mut self) -> String {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        shot["data"].as_str().unwrap_or_default().to_owned()
    }
}

fn read(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().expect("the browser answers") {
            return serde_json::from_str(&text).expect("it speaks JSON");
        }
    }
}
