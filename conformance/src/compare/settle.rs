//! A second pass over normalized lines, taken by recordings too when they are read: what they show of the build and of chance, and are never
//! edited to lose. It changes nothing in lines that it has seen already.

/// A run of one letter behind the case's own name is shown as it is up to this length. Longer ones fill a body up to some length, and how
/// many that takes depends on how long the name is.
const RUN: usize = 200;
/// The case's own part of a key.
const OWN: &str = "<run>/";

/// Lines as they are compared.
#[must_use]
pub(super) fn settled(lines: &[String]) -> Vec<String> {
    let mut seen = Vec::new();
    let settled = lines.iter().map(|line| settled_line(line));
    settled
        .map(|line| virtual_address(&line, &mut seen))
        .collect()
}

fn settled_line(line: &str) -> String {
    // The revision that a release was built from: `1.22.0:720b1ad2`, of which Debian's build and the emulator have none.
    let line = revised(line, "\"build\":", |build| {
        let (version, revision) = build.split_once(':')?;
        is_revision(revision).then(|| format!("{version}:<revision>"))
    });
    let line = revised(&line, "\"SHA\":", |revision| {
        is_revision(revision).then(|| "<revision>".to_owned())
    });
    // How much a server has written in its life, and the sum over the contents of a configuration entry, which the emulator makes otherwise.
    let line = number_named(&line, "\"LastIndex\":", "<last-index>");
    without_runs(&number_named(&line, "\"Hash\":", "<sum>"))
}

fn is_revision(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A line with another text behind the name of a field, if it has that field.
fn revised(line: &str, name: &str, revise: impl Fn(&str) -> Option<String>) -> String {
    let revised = || {
        let (before, after) = line.split_once(name)?;
        let (gap, rest) = after.split_once('"')?;
        let (text, rest) = rest.split_once('"')?;
        Some(format!("{before}{name}{gap}\"{}\"{rest}", revise(text)?))
    };
    revised().unwrap_or_else(|| line.to_owned())
}

/// A line with a reference for the number behind the name of a field, if it has that field.
fn number_named(line: &str, name: &str, reference: &str) -> String {
    let Some((before, after)) = line.split_once(name) else {
        return line.to_owned();
    };
    let number = after.trim_start();
    let gap = &after[..after.len() - number.len()];
    let rest = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.len() == number.len() {
        return line.to_owned();
    }
    format!("{before}{name}{gap}{reference}{rest}")
}

/// A line with a reference for a virtual address, by the order of their appearance: which one a service gets depends on what else the server
/// has given out.
fn virtual_address(line: &str, seen: &mut Vec<String>) -> String {
    const FIRST: &str = "\"Address\": \"240.0.";
    let mut found = || {
        let (before, after) = line.split_once(FIRST)?;
        let (address, rest) = after.split_once('"')?;
        let known = seen.iter().position(|known| known == address);
        let place = known.unwrap_or_else(|| {
            seen.push(address.to_owned());
            seen.len() - 1
        });
        Some(format!(
            "{before}\"Address\": \"<virtual:{}>\"{rest}",
            place + 1
        ))
    };
    found().unwrap_or_else(|| line.to_owned())
}

fn without_runs(line: &str) -> String {
    let Some((before, after)) = line.split_once(OWN) else {
        return line.to_owned();
    };
    let Some(letter) = after.chars().next().filter(char::is_ascii_lowercase) else {
        return line.to_owned();
    };
    let rest = after.trim_start_matches(letter);
    if after.len() - rest.len() < RUN {
        return line.to_owned();
    }
    format!("{before}{OWN}<many {letter}>{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_addresses_are_told_apart_by_their_order() {
        let line = |address: &str| format!("<     \"Address\": \"{address}\",");
        let lines = ["240.0.0.7", "127.0.0.1", "240.0.0.3", "240.0.0.7"].map(line);
        let expected = ["<virtual:1>", "127.0.0.1", "<virtual:2>", "<virtual:1>"].map(line);
        assert_eq!(settled(&lines), expected);
    }

    #[test]
    fn the_build_the_last_index_and_fillings_are_not_told_apart() {
        let run = |letters| format!("<     \"conformance/<run>/{}\"", "a".repeat(letters));
        for (line, expected) in [
            (
                "< \"build\": \"1.22.0:720b1ad2\",",
                "< \"build\": \"1.22.0:<revision>\",",
            ),
            (
                "< \"build\": \"1.8.7:\",",
                "< \"build\": \"1.8.7:<revision>\",",
            ),
            ("< {\"SHA\":\"720b1ad2\"}", "< {\"SHA\":\"<revision>\"}"),
            (
                "<     \"LastIndex\": 1152",
                "<     \"LastIndex\": <last-index>",
            ),
            (
                "<     \"Hash\": 2487333004027416412,",
                "<     \"Hash\": <sum>,",
            ),
            (&run(RUN), "<     \"conformance/<run>/<many a>\""),
        ] {
            let once = settled(&[line.to_owned()]);
            assert_eq!(once, [expected]);
            assert_eq!(settled(&once), once, "twice is once");
        }
        for line in [
            "< \"build\": \"1.22.0\"",
            "< \"build\": \"1.22.0:dirty\"",
            "< \"LastIndex\": \"soon\"",
            "< \"Hash\": <hash:1>",
            "> GET /v1/kv/conformance/<run>/",
            &run(RUN - 1),
        ] {
            assert_eq!(settled(&[line.to_owned()]), [line]);
        }
    }
}
