//! The inspection page: static files, which ask Consul's API and the control plane and nothing else.
//!
//! They are plain ES modules and style sheets, compiled into the binary as they are: there is no build step, and the page
//! loads nothing from elsewhere. `page/core` has what all views share, `page/views` one file for each view,
//! `page/widgets` what views are made of.

#[cfg(not(feature = "ui"))]
pub(crate) use absent::file;
#[cfg(feature = "ui")]
pub(crate) use present::file;

/// What the page may load and do, for `Content-Security-Policy`: its own files and requests to its own server.
pub(crate) const SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// Its `Content-Type`.
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";

#[cfg(feature = "ui")]
mod present {
    use super::{File, HTML};

    /// What the paths of scripts, styles and pictures begin with. All other paths are views, and get the document.
    const ASSETS: &[u8] = b"/ui/assets/";

    /// Lists files below `page/`.
    macro_rules! files {
        ($($name:literal)+) => {
            const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("page/", $name)))),+];
        };
    }

    files! {
        "core/clock.js"
        "core/dom.js"
        "core/format.js"
        "core/router.js"
        "core/scope.js"
        "core/signal.js"
        "data/api.js"
        "data/keys.js"
        "data/kv.js"
        "data/live.js"
        "data/locklog.js"
        "data/records.js"
        "data/resources.js"
        "data/semaphores.js"
        "data/server.js"
        "data/story.js"
        "data/wanted.js"
        "icon.svg"
        "main.js"
        "style/base.css"
        "style/views.css"
        "style/widgets.css"
        "views/agents.js"
        "views/blocked.js"
        "views/catalog.js"
        "views/edit.js"
        "views/faults.js"
        "views/history.js"
        "views/key.js"
        "views/keys.js"
        "views/locks.js"
        "views/more.js"
        "views/sessions.js"
        "views/state.js"
        "views/time.js"
        "widgets/copy.js"
        "widgets/dialog.js"
        "widgets/links.js"
        "widgets/schema.js"
        "widgets/story.js"
        "widgets/storypane.js"
        "widgets/table.js"
        "widgets/tabs.js"
        "widgets/timeline.js"
        "widgets/track.js"
        "widgets/value.js"
    }

    const DOCUMENT: File = File {
        kind: HTML,
        bytes: include_bytes!("page/index.html"),
    };

    /// Returns the file at a decoded path below `/ui/`.
    pub(crate) fn file(path: &[u8]) -> Option<File> {
        let Some(wanted) = path.strip_prefix(ASSETS) else {
            return Some(DOCUMENT);
        };
        let mut files = FILES.iter();
        let (name, bytes) = files.find(|(name, _)| name.as_bytes() == wanted)?;
        let kind = match name.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        Some(File { kind, bytes })
    }

    #[cfg(test)]
    mod tests {
        use std::path::Path;

        use super::*;
        use proconsul_engine::history::Kind;
        use proconsul_engine::named::Named;

        /// The files below a folder, by their paths from `page/`.
        fn below(folder: &Path, prefix: &str, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).expect("the page is there") {
                let entry = entry.expect("a file can be read");
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.path().is_dir() {
                    below(&entry.path(), &format!("{name}/"), found);
                } else {
                    found.push(name);
                }
            }
        }

        #[test]
        fn every_file_of_the_page_is_served_and_all_are_small() {
            let mut there = Vec::new();
            let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/extensions/ui/page");
            below(Path::new(page), "", &mut there);
            there.retain(|name| name != "index.html");
            there.sort();
            let mut served: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
            served.sort_unstable();
            assert_eq!(there, served);
            let bytes: usize = FILES.iter().map(|(_, bytes)| bytes.len()).sum();
            // The whole page in memory, as it is in the binary.
            assert!(bytes + DOCUMENT.bytes.len() <= 216 * 1024, "{bytes} bytes");
        }

        /// A kind that the page does not know would reach no view but the history.
        #[test]
        fn the_page_knows_all_kinds_of_records() {
            let script = include_str!("page/data/wanted.js");
            let list = script.split('`').nth(1).expect("there is a list");
            let known: Vec<_> = list.split_whitespace().collect();
            let kinds: Vec<_> = Kind::ALL.iter().map(Named::name).collect();
            assert_eq!(known, kinds);
        }

        #[test]
        fn views_get_the_document_and_unknown_assets_nothing() {
            let kind = |path: &str| file(path.as_bytes()).map(|file| file.kind);
            for view in ["/ui/", "/ui/dc1/kv", "/ui/dc1/kv/a/b/edit", "/ui/assets"] {
                assert_eq!(kind(view), Some(HTML), "{view}");
            }
            assert_eq!(
                kind("/ui/assets/main.js"),
                Some("text/javascript; charset=utf-8")
            );
            assert_eq!(kind("/ui/assets/none.js"), None);
        }
    }
}

/// A build without the page.
#[cfg(not(feature = "ui"))]
mod absent {
    use super::{File, HTML};

    const SENTENCE: File = File {
        kind: HTML,
        bytes: b"<!doctype html><html lang=\"en\"><title>proconsul</title><p>This build of proconsul has no page: its \
            feature <code>ui</code> is off.</html>",
    };

    /// Returns a document that says so.
    #[expect(clippy::unnecessary_wraps, reason = "the page itself lacks some files")]
    pub(crate) fn file(_: &[u8]) -> Option<File> {
        Some(SENTENCE)
    }
}
