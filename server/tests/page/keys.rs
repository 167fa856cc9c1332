//! Keys: finding, reading, changing and deleting them.

use serde_json::json;

use crate::support::{Page, js, send};

/// Text that would run as a script if anything took it for HTML.
const MARKUP: &str = "<img src=x onerror=\"window.owned=1\"><script>window.owned=1</script>";

#[test]
fn folders_open_and_a_key_shows_its_value_in_every_form() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    for number in 0..12 {
        page.server.kv().put(format!("app/part{number}"), "x");
    }
    page.server
        .kv()
        .put("app/config", r#"{"limits":{"cpu":3},"names":["a","b"]}"#);
    page.server.kv().put("top", "plain text");
    page.until("row('app/')?.textContent.includes('13') && row('top')");
    page.click_row("app/");
    page.click_row("config");
    page.until("document.querySelector('.json-name')?.textContent === '\"limits\"'");
    assert_eq!(
        page.eval("location.pathname + location.search"),
        json!("/ui/dc1/kv?key=app%2Fconfig")
    );
    page.press("Text");
    page.sees("{\"limits\":{\"cpu\":3},\"names\":[\"a\",\"b\"]}");
    page.press("Hex");
    page.sees("7b 22 6c 69 6d 69 74 73");
    page.enter("Filter keys", "part1");
    page.sees("3 of 14 keys");
    page.is_clean();
}

#[test]
fn the_tree_is_used_by_the_keyboard() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    page.server.kv().put("a/b", "found");
    page.until("row('a/')");
    page.eval("document.querySelector('[role=treegrid]').focus()");
    for key in ["ArrowDown", "ArrowRight", "ArrowDown", "Enter"] {
        page.tab.press(key);
        page.until("true");
    }
    page.sees("found");
    let active = "document.querySelector('[role=treegrid]').getAttribute('aria-activedescendant')";
    page.until(&format!(
        "document.getElementById({active})?.textContent.includes('b')"
    ));
    page.is_clean();
}

#[test]
fn a_write_loses_no_other_write() {
    let Some(mut page) = Page::frozen("dc1/kv/app/x/edit") else {
        return;
    };
    page.sees("There is no such key.");
    page.press("Create");
    page.enter("Value", "first");
    page.press("Write");
    page.until("!button('Write') && document.querySelector('.value pre')?.textContent === 'first'");
    page.press("Edit");
    page.enter("Value", "mine");
    page.server.kv().put("app/x", "theirs");
    page.sees("The key has changed meanwhile (ModifyIndex");
    page.press("Write");
    page.sees("The key has changed meanwhile, and was not written.");
    assert_eq!(
        page.eval("[...document.querySelectorAll('.both pre')].map((one) => one.textContent)"),
        json!(["theirs", "mine"])
    );
    let value = |page: &Page| page.server.kv().get("app/x").map(|row| row.value.to_vec());
    assert_eq!(value(&page).as_deref(), Some(&b"theirs"[..]));
    page.press("Write yours over it");
    page.until("!button('Write')");
    assert_eq!(value(&page).as_deref(), Some(&b"mine"[..]));
    page.is_clean();
}

#[test]
fn keys_are_created_and_deleted_one_by_one_and_as_a_tree() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    page.server.kv().put("old", "x");
    page.press("New key");
    page.enter("Key", "old");
    page.press("Create");
    page.sees("There is such a key already.");
    page.enter("Key", "fresh/one");
    page.enter("Show as", "hex");
    page.enter("Value", "00 ff");
    page.enter("Flags", "7");
    page.press("Create");
    page.sees("00 ff");
    let row = page.server.kv().get("fresh/one").expect("it was created");
    assert_eq!((row.value.as_ref(), row.flags()), (&[0, 255][..], 7));
    page.server.kv().put("fresh/two", "x");
    page.press("Delete");
    page.sees("“fresh/one” will be deleted.");
    page.confirm();
    page.sees("There is no such key.");
    page.until("row('fresh/')?.textContent.includes('1')");
    page.press("Delete the tree fresh/");
    page.sees("1 key under “fresh/” will be deleted.");
    page.confirm();
    page.until("!row('fresh/')");
    assert_eq!(page.server.kv().list("").len(), 1);
    page.is_clean();
}

#[test]
fn odd_keys_and_values_are_data() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    let odd = [
        MARKUP,
        "/lead",
        "a//b",
        "..",
        "x/../y",
        "a b?c=d&e#f",
        "100%",
        "%2F",
        "ключ/日本",
        "new\nline",
        "quote\"'`",
        "tail/",
    ];
    for key in odd {
        page.server.kv().put(key, MARKUP);
    }
    page.until("document.querySelector('.quiet[role=status]').textContent === '12 keys'");
    for key in odd {
        page.open(&format!("dc1/kv?key={}", urlencoded(key)));
        page.until(&format!(
            "document.querySelector('.pane h2').textContent === {}",
            js(key)
        ));
        page.until(&format!(
            "document.querySelector('.value pre')?.textContent === {}",
            js(MARKUP)
        ));
        page.press("Edit");
        page.enter("Value", "changed");
        page.press("Write");
        page.until("document.querySelector('.value pre')?.textContent === 'changed'");
        let value = page
            .server
            .kv()
            .get(key)
            .expect("it is there")
            .value
            .clone();
        assert_eq!(value.as_ref(), b"changed", "{key:?}");
    }
    page.is_clean();
}

#[test]
fn an_edit_keeps_flags_and_line_ends() {
    // The flags of each lock of Consul's Go client, which no number of JavaScript can be.
    const LOCK: u64 = 0x2ddc_cbc0_58a5_0c18;
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    // The last is read and written by a transaction.
    for key in ["plain", "grün", "a//b"] {
        let set = format!(
            r#"[{{"KV": {{"Verb": "set", "Key": "{key}", "Value": "b25lDQp0d28=", "Flags": {LOCK}}}}}]"#
        );
        send(&page.server, "PUT", "/v1/txn", &set);
        page.open(&format!("dc1/kv?key={}", urlencoded(key)));
        page.sees(&LOCK.to_string());
        page.press("Edit");
        page.press("Write");
        page.until("!button('Write')");
        let row = page.server.kv().get(key).expect("it is there");
        assert_eq!(
            (row.value.as_ref(), row.flags()),
            (&b"one\r\ntwo"[..], LOCK),
            "{key}"
        );
    }
    page.server.kv().put("mixed", "one\r\ntwo\n");
    page.open("dc1/kv?key=mixed");
    page.press("Edit");
    page.press("Write");
    page.until("!button('Write')");
    let row = page.server.kv().get("mixed").expect("it is there");
    assert_eq!(row.value.as_ref(), b"one\r\ntwo\n");
    page.is_clean();
}

#[test]
fn json_is_shown_as_it_was_written() {
    let Some(mut page) = Page::frozen("dc1/kv?key=ids") else {
        return;
    };
    let written = r#"{"2":12345678901234567890,"1":1.0,"1":[true,null,"a\"b"]}"#;
    page.server.kv().put("ids", written);
    page.until("document.querySelectorAll('.json-line').length === 5");
    assert_eq!(
        page.eval("[...document.querySelectorAll('.json-line')].map((one) => one.textContent)"),
        json!([
            r#""2": 12345678901234567890"#,
            r#""1": 1.0"#,
            "0: true",
            "1: null",
            r#"2: "a\"b""#
        ])
    );
    page.is_clean();
}

#[test]
fn looking_at_a_key_is_not_observed() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    for key in ["plain", "grün", "a//b"] {
        page.server.kv().put(key, "the value");
        let before = page.server.history_text();
        page.open(&format!("dc1/kv?key={}", urlencoded(key)));
        page.sees("the value");
        assert_eq!(page.server.history_text(), before, "{key}");
    }
    page.is_clean();
}

/// Every byte but letters and digits as `%XX`.
fn urlencoded(text: &str) -> String {
    let bytes = text.bytes();
    bytes
        .map(|byte| match byte {
            b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[test]
fn half_a_mebibyte_is_shown() {
    let Some(mut page) = Page::frozen("dc1/kv?key=large") else {
        return;
    };
    let text: String = (0..)
        .map(|line| format!("line {line}\n"))
        .take(60_000)
        .collect();
    let text = &text[..512 * 1024];
    page.server.kv().put("large", text);
    page.sees("512.0 KiB");
    page.sees("line 17");
    page.press("Hex");
    page.sees("6c 69 6e 65 20 30 0a");
    page.server.kv().put("large", [0xffu8; 4096]);
    page.sees("ff ff ff ff");
    page.until("!button('Text')");
    page.is_clean();
}

#[test]
fn consuls_own_addresses_lead_to_the_view() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    page.server.kv().put("a/b/c", "the value");
    for (address, title, text) in [
        ("", "Keys", "a/"),
        ("dc1/kv", "Keys", "a/"),
        ("dc1/kv/a/b/", "Keys", "c"),
        ("dc1/kv/a/b/c/edit", "Keys", "the value"),
        ("kv/a/b/c/edit", "Keys", "the value"),
        ("dc1/services", "Services", "consul"),
        ("dc1/nodes", "Nodes", "proconsul"),
        ("dc1/nodes/proconsul", "Nodes", "Serf Health Status"),
        ("dc1/services/consul", "Services", "consul"),
        ("dc1", "Keys", "a/"),
        ("dc1/acls/policies", "ACLs, queries", "ACL support disabled"),
        (
            "dc1/intentions",
            "ACLs, queries",
            "There is no list of “intentions”",
        ),
        (
            "elsewhere/kv",
            "Not found",
            "There is no datacenter elsewhere here: this server’s is dc1",
        ),
        (
            "dc1/servces",
            "Not found",
            "There is nothing at /ui/dc1/servces.",
        ),
        ("dc1/constructor", "Not found", "There is nothing at"),
    ] {
        page.open(address);
        page.until(&format!("document.title.endsWith('{title} · proconsul')"));
        page.until(&format!(
            "document.querySelector('main').innerText.includes({})",
            js(text)
        ));
    }
    page.is_clean();
}

#[test]
fn a_link_to_a_key_shows_its_row() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    for number in 100..300 {
        page.server
            .kv()
            .put(format!("app/settings/{number}"), "the value");
    }
    page.open("dc1/kv/app/settings/250/edit");
    page.until("row('250')?.getAttribute('aria-selected') === 'true'");
    page.until("document.title === 'app/settings/250 · Keys · proconsul'");
    page.is_clean();
}

#[test]
fn an_unsaved_edit_is_not_left_without_a_question() {
    let Some(mut page) = Page::frozen("dc1/sessions") else {
        return;
    };
    page.server.kv().put("one", "x");
    page.server.kv().put("two", "x");
    page.eval("named('nav a', 'Keys').click()");
    page.click_row("one");
    page.until("document.querySelector('.value pre')");
    page.press("Edit");
    let unload = "dispatchEvent(new Event('beforeunload', { cancelable: true }))";
    assert_eq!(page.eval(unload), json!(true), "nothing was typed");
    page.enter("Value", "typed");
    assert_eq!(page.eval(unload), json!(false));
    for leave in [
        "history.back()",
        "row('two').querySelector('.cell').click()",
        "named('nav a', 'Sessions').click()",
    ] {
        page.eval(leave);
        page.sees("What you have typed was not written.");
        page.eval("named('dialog button', 'Cancel').click()");
        page.until("!document.querySelector('dialog')");
        assert_eq!(
            page.eval("[location.search, fieldOf('Value').value]"),
            json!(["?key=one", "typed"]),
            "{leave}"
        );
    }
    page.eval("history.back()");
    page.confirm();
    page.sees("Choose a key, or create one.");
    page.eval("history.forward()");
    page.until("document.querySelector('.value pre')?.textContent === 'x'");
    assert_eq!(page.eval(unload), json!(true));
    page.is_clean();
}
