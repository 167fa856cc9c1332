//! Faults and the state: causing trouble, and going back.

use serde_json::json;

use crate::support::{Page, send};

#[test]
fn a_fault_is_made_by_the_form_hits_and_is_removed() {
    let Some(mut page) = Page::frozen("dc1/faults") else {
        return;
    };
    page.sees("No fault is in force.");
    page.enter("effect", "error");
    page.enter("error", "rpc-eof");
    page.enter("after", "0s");
    page.enter("key_prefix", "app/");
    page.enter("times", "2");
    page.eval("document.querySelector('.schema button[type=submit]').click()");
    page.sees("0 of 2 hits");
    page.sees("key \"app/\"");
    for hits in ["1 of 2 hits", "used up: 2 of 2 hits"] {
        assert!(send(&page.server, "GET", "/v1/kv/app/x", "").contains(" 500 "));
        page.sees(hits);
    }
    page.press("Remove fault 1");
    page.sees("No fault is in force.");
    assert!(page.server.faults().is_empty());
    page.is_clean();
}

/// What the form gives is what the call takes, whichever effect is chosen.
#[test]
fn every_effect_has_a_form() {
    let Some(mut page) = Page::frozen("dc1/faults") else {
        return;
    };
    page.until("fieldOf('effect')");
    page.server.checkpoint("before");
    let effects = page.eval("[...fieldOf('effect').options].map((one) => one.value)");
    let effects: Vec<String> = serde_json::from_value(effects).expect("texts");
    assert!(effects.len() > 10, "{effects:?}");
    for effect in &effects {
        page.enter("effect", effect);
        // One condition that no other rule has, of a request or of a question of DNS.
        let (key, name) = match effect.starts_with("dns-") {
            true => (String::new(), format!("{effect}.consul")),
            false => (format!("{effect}/"), String::new()),
        };
        page.enter("key_prefix", &key);
        page.enter("question", &name);
        page.eval(
            "for (const field of document.querySelectorAll('.nested input')) {
                const value = { by: '1s', last_contact: '1s', status: '502', bytes: '3', index: '3', checkpoint: 'before' }[field.name] ?? '';
                if (value && !(field.name === 'by' && field.type === 'number')) field.value = value;
                else if (field.type === 'number') field.value = '3';
            }",
        );
        page.eval("document.querySelector('.schema button[type=submit]').click()");
        page.until(
            "document.querySelector('.notice.good') || document.querySelector('.notice.bad')",
        );
        page.eval("(async () => { const told = document.querySelector('.notice'); told.querySelector('button').click(); })()");
        page.until("!document.querySelector('.notice')");
    }
    // Effects on ACLs are refused by a server without ACLs, with a sentence.
    assert!(
        page.server.faults().len() + 2 >= effects.len(),
        "{:?}",
        page.server.faults()
    );
    page.is_clean();
}

#[test]
fn the_leader_is_lost_and_found() {
    let Some(mut page) = Page::frozen("dc1/faults") else {
        return;
    };
    page.press("Lose the leader");
    page.enter("scenario", "never-elected");
    page.eval("document.querySelector('form[aria-label=\"Lose the leader\"] button[type=submit]').click()");
    page.sees("Consul answers “No cluster leader”.");
    page.press("Restore the leader");
    page.sees("there is a leader");
    page.until("document.querySelector('.banner').hidden");
    page.is_clean();
}

#[test]
fn the_state_is_kept_and_rolled_back() {
    let Some(mut page) = Page::frozen("dc1/state") else {
        return;
    };
    page.sees("There are no checkpoints.");
    page.server.kv().put("a", "before");
    page.enter("Checkpoint name", "here");
    page.press("Checkpoint");
    page.sees("Made checkpoint here.");
    page.server.kv().put("a", "after");
    page.press("Roll back to here");
    page.sees("All that happened since “here” will be gone.");
    page.confirm();
    page.sees("Rolled back to here.");
    let value = |page: &Page| page.server.kv().get("a").map(|row| row.value.to_vec());
    assert_eq!(value(&page).as_deref(), Some(&b"before"[..]));
    page.press("Delete checkpoint here");
    page.sees("There are no checkpoints.");
    page.press("Reset to the start");
    page.confirm();
    page.sees("The state is that of the start.");
    assert_eq!(value(&page), None);
    page.is_clean();
}

#[test]
fn the_state_is_downloaded_and_loaded() {
    let Some(mut page) = Page::frozen("dc1/state") else {
        return;
    };
    page.server.kv().put("a", "kept");
    let state = page.eval(
        "fetch(button('Download the state').getAttribute('href')).then((answer) => answer.text())",
    );
    let state = state.as_str().expect("a text").to_owned();
    assert_eq!(state, page.server.dump());
    page.server.kv().put("a", "changed");
    let file = std::env::temp_dir().join(format!("proconsul-state-{}.json", std::process::id()));
    std::fs::write(&file, state).expect("the temporary directory is there");
    let document = page.tab.call("DOM.getDocument", json!({}));
    let input = page.tab.call(
        "DOM.querySelector",
        json!({ "nodeId": document["root"]["nodeId"], "selector": "input[type=file]" }),
    );
    page.tab.call(
        "DOM.setFileInputFiles",
        json!({ "nodeId": input["nodeId"], "files": [file] }),
    );
    page.press("Load");
    page.sees("The state was loaded.");
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(
        page.server
            .kv()
            .get("a")
            .map(|row| row.value.to_vec())
            .as_deref(),
        Some(&b"kept"[..])
    );
    page.press("Lower");
    page.sees("All indexes were lowered.");
    page.is_clean();
}

#[test]
fn faults_are_ready_at_a_press() {
    let Some(mut page) = Page::frozen("dc1/faults") else {
        return;
    };
    page.enter("Of keys that begin with", "app/");
    page.press("500 on the next PUT");
    page.sees("0 of 1 hit");
    assert!(!send(&page.server, "PUT", "/v1/kv/x", "").contains(" 500 "));
    assert!(send(&page.server, "PUT", "/v1/kv/app/x", "").contains(" 500 "));
    page.sees("used up: 1 of 1 hit");
    let ready = "document.querySelectorAll('section[aria-label=\"Ready faults\"] button')";
    page.eval(&format!("for (const one of {ready}) one.click()"));
    page.sees("The cluster has lost its leader");
    page.until("document.querySelectorAll('.rules li').length === 12");
    page.until("!document.querySelector('.notice.bad')");
    page.is_clean();
}
