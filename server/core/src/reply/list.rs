//! Lists of keys, which are rendered piece by piece while they are sent, or once for all who read the same.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::Mutex;

use crate::body::kv::KvEntry;
use proconsul_engine::aside;
use proconsul_engine::host::Host;
use proconsul_gocompat::json::encode::{ListWriter, Style};
use proconsul_store::Entry;

/// The least size of a rendered piece of a list.
const PIECE_BYTES: usize = 64 * 1024;
/// How many short lists are kept as they were rendered.
const KEPT_LISTS: usize = 4;

/// A JSON array of the entries of a recursive read, which may be too large to render in memory.
pub(crate) struct JsonList {
    host: Arc<dyn Host>,
    entries: Vec<Entry>,
    /// How many entries are rendered.
    rendered: usize,
    style: Style,
    /// `None` once the end of the array is written.
    writer: Option<ListWriter>,
    /// The rendered bytes that are not sent yet.
    ready: Bytes,
    /// `None` without compression, and once the end of the compressed stream is written.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl fmt::Debug for JsonList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.entries.len() - self.rendered;
        write!(formatter, "a list with {left} entries left")
    }
}

impl JsonList {
    /// Returns the list of these entries.
    pub(crate) fn new(host: &Arc<dyn Host>, entries: Vec<Entry>, style: Style) -> Self {
        Self {
            host: Arc::clone(host),
            entries,
            rendered: 0,
            style,
            writer: Some(ListWriter::new(style)),
            ready: Bytes::new(),
            encoder: None,
        }
    }

    /// Returns the list with compression.
    pub(crate) fn compressed(mut self: Box<Self>) -> Box<Self> {
        self.encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
        self
    }

    pub(super) fn is_over(&self) -> bool {
        self.ready.is_empty() && self.writer.is_none() && self.encoder.is_none()
    }

    /// Returns the next bytes; empty at the end, and where compression keeps what it was given for now. However long the list
    /// and its values are, no more than two pieces are compressed, or the entries of one rendered.
    pub(super) fn next_piece(&mut self) -> Bytes {
        if self.ready.is_empty() {
            self.ready = self.render();
        }
        let Some(mut encoder) = self.encoder.take() else {
            return std::mem::take(&mut self.ready);
        };
        if self.ready.is_empty() {
            let rest = encoder.finish();
            return rest.expect("memory takes every body").into();
        }
        let plain = self.ready.split_to(self.ready.len().min(2 * PIECE_BYTES));
        encoder.write_all(&plain).expect("memory takes every body");
        let piece = std::mem::take(encoder.get_mut());
        self.encoder = Some(encoder);
        piece.into()
    }

    /// Renders the next entries; empty at the end.
    fn render(&mut self) -> Bytes {
        let Some(mut writer) = self.writer.take() else {
            return Bytes::new();
        };
        while writer.rendered().len() < PIECE_BYTES {
            let Some((key, row)) = self.entries.get(self.rendered) else {
                return writer.finish().into();
            };
            writer.push(&KvEntry::new(key, row, true));
            self.rendered += 1;
        }
        let piece = std::mem::take(writer.rendered());
        self.writer = Some(writer);
        piece.into()
    }
}

impl Drop for JsonList {
    fn drop(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        aside::free(&self.host, entries.len(), entries);
    }
}

/// The short lists that were rendered last. A change wakes all watchers of a prefix, and each gets the same list; a client
/// that polls mostly gets the list of its last request. Such a list is rendered once.
#[derive(Debug, Default)]
pub(crate) struct LastLists(Mutex<VecDeque<RenderedList>>);

#[derive(Debug)]
struct RenderedList {
    entries: Vec<Entry>,
    style: Style,
    text: Bytes,
}

impl RenderedList {
    /// Whether this is the text of these entries. A row never changes and belongs to one key, so the same rows are the
    /// same list, whatever has happened since.
    fn is_of(&self, entries: &[Entry], style: Style) -> bool {
        let is_same = |((_, own), (_, row)): (&Entry, &Entry)| Arc::ptr_eq(own, row);
        self.style == style
            && self.entries.len() == entries.len()
            && self.entries.iter().zip(entries).all(is_same)
    }
}

impl LastLists {
    /// Renders a list as a whole if it fits into one piece.
    ///
    /// # Errors
    /// The list itself if it is longer.
    pub(super) fn whole_if_short(&self, mut list: Box<JsonList>) -> Result<Bytes, Box<JsonList>> {
        let is_this = |kept: &&RenderedList| kept.is_of(&list.entries, list.style);
        if let Some(kept) = self.0.lock().iter().find(is_this) {
            return Ok(kept.text.clone());
        }
        list.ready = list.render();
        if list.writer.is_some() {
            return Err(list);
        }
        let text = std::mem::take(&mut list.ready);
        let rendered = RenderedList {
            entries: std::mem::take(&mut list.entries),
            style: list.style,
            text: text.clone(),
        };
        let mut kept = self.0.lock();
        kept.truncate(KEPT_LISTS - 1);
        kept.push_front(rendered);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use proconsul_engine::host::ManualHost;
    use proconsul_gocompat::json::encode::ControlEscapes;
    use proconsul_store::{Key, KvRow};

    fn host() -> Arc<dyn Host> {
        Arc::new(ManualHost::new(Duration::ZERO))
    }

    const STYLE: Style = Style {
        pretty: false,
        newline: false,
        control_escapes: ControlEscapes::Short,
    };

    fn entry(value: &'static str) -> Entry {
        let mut row = KvRow::default();
        row.value = Bytes::from_static(value.as_bytes());
        (Key::new(value), Arc::new(row))
    }

    fn text(lists: &LastLists, entries: &[Entry], style: Style) -> Bytes {
        let list = Box::new(JsonList::new(&host(), entries.to_vec(), style));
        lists.whole_if_short(list).expect("the list is short")
    }

    #[test]
    fn a_list_is_rendered_once() {
        let lists = LastLists::default();
        let entries = [entry("a"), entry("b")];
        let first = text(&lists, &entries, STYLE);
        let second = text(&lists, &entries, STYLE);
        assert_eq!(first.as_ptr(), second.as_ptr());
    }

    #[test]
    fn other_rows_are_another_list_even_with_the_same_contents() {
        let lists = LastLists::default();
        let [a, b] = [entry("a"), entry("b")];
        let both = text(&lists, &[a.clone(), b.clone()], STYLE);
        let [only_a, only_b] = [&a, &b].map(|row| text(&lists, std::slice::from_ref(row), STYLE));
        assert!(only_a.len() < both.len() && only_a != only_b);
        let pretty = Style {
            pretty: true,
            ..STYLE
        };
        assert!(text(&lists, &[a, b], pretty).len() > both.len());
        let again = text(&lists, &[entry("a")], STYLE);
        assert_eq!(again, only_a);
        assert_ne!(again.as_ptr(), only_a.as_ptr());
    }

    #[test]
    fn few_lists_are_kept_and_no_long_ones() {
        let lists = LastLists::default();
        for _ in 0..2 * KEPT_LISTS {
            text(&lists, &[entry("a")], STYLE);
        }
        assert_eq!(lists.0.lock().len(), KEPT_LISTS);
        let long: Vec<_> = (0..PIECE_BYTES).map(|_| entry("a")).collect();
        let long = Box::new(JsonList::new(&host(), long, STYLE));
        assert!(LastLists::default().whole_if_short(long).is_err());
    }
}
