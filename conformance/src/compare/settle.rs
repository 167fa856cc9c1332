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
    lines.iter().map(|line| settled_line(line)).collect()
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
    without_runs(&last_index(&line))
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

/// How much a server has written in its life.
fn last_index(line: &str) -> String {
    const NAME: &str = "\"LastIndex\":";
    let Some((before, after)) = line.split_once(NAME) else {
        return line.to_owned();
    };
    let number = after.trim_start();
    let gap = &after[..after.len() - number.len()];
    let rest = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.len() == number.len() {
        return line.to_owned();
    }
    format!("{before}{NAME}{gap}<last-index>{rest}")
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
            "> GET /v1/kv/conformance/<run>/",
            &run(RUN - 1),
        ] {
            assert_eq!(settled(&[line.to_owned()]), [line]);
        }
    }
}
