//! The fields of entries: their shapes, and when they are shown.

use proconsul_version::{Behaviour, Version};

/// A field of an entry, or of a structure in one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// The name.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// When it is shown without a value.
    shown: Empty,
    /// The releases with it; `None` for all.
    since: Option<Behaviour>,
}

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A text.
    Text,
    /// A flag, whose `false` counts as unset.
    Flag,
    /// A number.
    Int,
    /// A number of 32 bits without a sign.
    Uint,
    /// A duration, shown as a text.
    Time,
    /// A duration, shown in nanoseconds.
    Nanos,
    /// A part of a hundred.
    Weight,
    /// An object of any contents, in which a list of one element is that element.
    Any,
    /// A structure that is kept as it was sent.
    Kept,
    /// A list.
    List(&'static Shape),
    /// A map.
    Map(&'static Shape),
    /// A structure with these fields.
    Struct(&'static [Field]),
    /// A structure with these fields, shown as `null` if it is unset.
    Pointer(&'static [Field]),
    /// A value of any kind, which is ignored.
    Ignored,
}

/// When a field without a value is shown.
#[derive(Clone, Copy, Debug)]
enum Empty {
    Shown,
    LeftOut,
    ShownBefore(Behaviour),
}

/// A list of texts.
pub(super) const TEXTS: Shape = Shape::List(&Shape::Text);
/// Texts by name.
pub(super) const LABELS: Shape = Shape::Map(&Shape::Text);

/// Returns a field that is always shown.
pub(super) const fn always(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        shown: Empty::Shown,
        since: None,
    }
}

/// Returns a field that is shown if it has a value.
pub(super) const fn set(name: &'static str, shape: Shape) -> Field {
    Field {
        shown: Empty::LeftOut,
        ..always(name, shape)
    }
}

impl Field {
    /// Returns a field of the same shape.
    pub(super) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Returns the field, known to the releases with this behaviour.
    pub(super) const fn since(self, behaviour: Behaviour) -> Self {
        Self {
            since: Some(behaviour),
            ..self
        }
    }

    /// Returns the field, left out without a value by the releases with this behaviour.
    pub(super) const fn left_out_since(self, behaviour: Behaviour) -> Self {
        Self {
            shown: Empty::ShownBefore(behaviour),
            ..self
        }
    }

    /// Whether a release knows the field.
    pub(super) fn is_known(&self, version: Version) -> bool {
        self.since.is_none_or(|behaviour| version.has(behaviour))
    }

    /// Whether the field is shown without a value.
    pub(crate) fn shows_empty(&self, version: Version) -> bool {
        match self.shown {
            Empty::Shown => true,
            Empty::LeftOut => false,
            Empty::ShownBefore(behaviour) => !version.has(behaviour),
        }
    }
}

/// Whether a name in a body is that of the field: in any case, and with underscores between words.
pub(super) fn is_named(field: &Field, name: &str) -> bool {
    if name.eq_ignore_ascii_case(field.name) {
        return true;
    }
    let letters = name.bytes().filter(|byte| *byte != b'_');
    let has_alias = !matches!(field.shape, Shape::Ignored);
    has_alias
        && name.contains('_')
        && letters
            .map(|byte| byte.to_ascii_lowercase())
            .eq(field.name.bytes().map(|byte| byte.to_ascii_lowercase()))
}
