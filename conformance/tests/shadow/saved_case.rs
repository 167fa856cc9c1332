// A difference that shadow saw (- the real server, + the emulator):
//   ...
//   < Date: <date>
//   < Content-Length: <length>
//   <
// - < false
// + < true
//   <
// Finish it: an id, a claim, a source; take out what does not belong to it; take indexes from answers (`.index()`).
Case {
    id: "topic/area/what-it-claims",
    claim: "PUT /v1/kv …",
    source: "…",
    run: |t| {
        let k1 = t.key("k");
        let s1 = t.session(r#"{"LockDelay":"0s"}"#);
        let s2 = t.session(r#"{"LockDelay":"0s"}"#);
        t.put(&k1, &format!("acquire={s1}"), r#"a "b""#).is(200, "true");
        t.put(&k1, &format!("acquire={s2}"), "c").is(200, "false");
    },
    ..Case::REAL
}
