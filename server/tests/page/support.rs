//! A server with its page in a tab, and what a reader does there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use proconsul::control::Session;
use proconsul::{Builder, Server};
use serde_json::{Value, json};

use crate::browser::Tab;

/// Functions of the tests within the page: finding things as a reader does, by what they are called.
const FINDERS: &str = r"
window.named = (selector, name) => [...document.querySelectorAll(selector)].find((one) =>
    one.offsetParent !== null && (one.getAttribute('aria-label') ?? one.textContent.trim()) === name);
window.button = (name) => named('button, a.button, summary, select', name);
window.row = (text) => [...document.querySelectorAll('.rows > .row')].find((one) => one.textContent.includes(text));
window.fieldOf = (label) => {
    const found = [...document.querySelectorAll('label')].find((one) => one.offsetParent !== null && one.textContent === label);
    return found ? document.getElementById(found.htmlFor) : named('input, select, textarea', label);
};
window.enter = (label, value) => {
    const field = fieldOf(label);
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
};
window.seen = (text) => document.body.innerText.includes(text);
";

/// A server, and a tab that shows its page.
pub(crate) struct Page {
    pub(crate) server: Server,
    pub(crate) tab: Tab,
}

/// A text as a literal of JavaScript.
pub(crate) fn js(text: &str) -> String {
    json!(text).to_string()
}

impl Page {
    /// Starts a server with a page and opens a view of it; `None` without a browser.
    pub(crate) fn of(builder: Builder, view: &str) -> Option<Self> {
        let tab = Tab::open()?;
        let server = builder.ui(true).start().expect("a free port");
        let mut page = Self { server, tab };
        page.open(view);
        Some(page)
    }

    /// The same with a clock that stands still.
    pub(crate) fn frozen(view: &str) -> Option<Self> {
        Self::of(Server::builder().frozen(), view)
    }

    pub(crate) fn url(&self, view: &str) -> String {
        format!("{}/ui/{view}", self.server.url())
    }

    /// Opens a view as one does that types its address.
    #[track_caller]
    pub(crate) fn open(&mut self, view: &str) {
        let url = self.url(view);
        self.tab.go(&url);
        self.tab.until("document.body.dataset.status === 'live' && document.querySelector('main').childElementCount > 0");
        self.tab.eval(FINDERS);
    }

    #[track_caller]
    pub(crate) fn until(&mut self, expression: &str) {
        self.tab.until(expression);
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        self.tab.until(&format!("seen({})", js(text)));
    }

    /// Presses a button by its name.
    #[track_caller]
    pub(crate) fn press(&mut self, name: &str) {
        let name = js(name);
        self.tab
            .until(&format!("button({name}) && !button({name}).disabled"));
        self.tab.eval(&format!("button({name}).click()"));
    }

    /// Fills in a field by its label.
    #[track_caller]
    pub(crate) fn enter(&mut self, label: &str, value: &str) {
        let (label, value) = (js(label), js(value));
        self.tab.until(&format!("fieldOf({label})"));
        self.tab.eval(&format!("enter({label}, {value})"));
    }

    /// Clicks the row of a table that has a text.
    #[track_caller]
    pub(crate) fn click_row(&mut self, text: &str) {
        let text = js(text);
        self.tab.until(&format!("row({text})"));
        self.tab
            .eval(&format!("row({text}).querySelector('.cell').click()"));
    }

    /// Answers a question with yes.
    #[track_caller]
    pub(crate) fn confirm(&mut self) {
        self.tab.until("document.querySelector('dialog .danger')");
        self.tab
            .eval("document.querySelector('dialog .danger').click()");
    }

    /// Creates a session with a TTL of ten seconds.
    pub(crate) fn session(&self, name: &str) -> String {
        let session = Session::ttl(Duration::from_secs(10)).name(name);
        let created = self.server.sessions().create(session);
        created.expect("its node is there")
    }

    /// Lets a session acquire a key.
    pub(crate) fn acquire(&self, key: &str, session: &str) {
        let acquired = self.server.kv().acquire(key, "x", session);
        assert_eq!(acquired, Ok(true), "{key}");
    }

    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        self.tab.eval(expression)
    }

    /// Fails if the browser has reported an error, or if something on the page has been taken for HTML.
    #[track_caller]
    pub(crate) fn is_clean(&mut self) {
        assert_eq!(self.tab.eval("window.owned ?? null"), Value::Null);
        assert_eq!(self.tab.errors, Vec::<String>::new());
    }
}

/// Sends a request by a client of its own, and returns all that is answered.
pub(crate) fn send(server: &Server, method: &str, target: &str, body: &str) -> String {
    let mut connection = TcpStream::connect(server.addr()).expect("the server listens");
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    connection
        .write_all(request.as_bytes())
        .expect("the server reads");
    let mut answer = String::new();
    connection
        .read_to_string(&mut answer)
        .expect("the server answers");
    answer
}
