//! Tables of fields: how a row is shown in JSON, in Consul's order of fields, and which fields `?filter=` may name.

use std::collections::BTreeMap;

pub(crate) use proconsul_config::schema::look::{Look, Surface};

/// A value that Go's `omitempty` may leave out.
pub(crate) trait Empty {
    fn is_empty(&self) -> bool;
}

impl<T: Empty + ?Sized> Empty for &T {
    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }
}

impl<T: Empty> Empty for Option<T> {
    fn is_empty(&self) -> bool {
        self.as_ref().is_none_or(Empty::is_empty)
    }
}

macro_rules! empty {
    ($([$($generics:tt)*] $type:ty, $value:ident => $is_empty:expr;)*) => {$(
        impl<$($generics)*> Empty for $type {
            fn is_empty(&self) -> bool {
                let $value = self;
                $is_empty
            }
        }
    )*};
}

empty! {
    [] bool, flag => !flag;
    [] i64, number => *number == 0;
    [] u64, number => *number == 0;
    [] str, text => text.is_empty();
    [] String, text => text.is_empty();
    [T] Vec<T>, list => list.is_empty();
    [K, V] BTreeMap<K, V>, map => map.is_empty();
}

/// Declares the fields of a row in JSON: `Name of row: Row { "Field" => kind(value), }`. Values may use `look`, a
/// [`Look`].
///
/// * `text`, `number`, `labels`: a field that filters may name.
/// * `within(Table, value)`, `each(Table, iterator)`: rows with a table of their own, whose fields filters may name.
/// * `json(value)`: a field that filters do not know.
/// * `"Field", omitempty`: left out if empty, as with Go's `omitempty`. `"Field" if condition`: shown under this condition.
/// * `"Field" since Behaviour::Name`: shown, and known to filters, in the releases with this behaviour.
/// * `as value`: the shown value, where filters see another one.
///
/// `Name of row: Row, look: Type` takes another type than [`Look`], which is converted into a [`Look`] for tables inside.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $visibility:vis $name:ident of $row:ident: $row_type:ty { $($lines:tt)* }
    ) => {
        $crate::reply::table::table! {
            $(#[$attribute])*
            $visibility $name of $row: $row_type, look: $crate::reply::table::Look<'a> { $($lines)* }
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis $name:ident of $row:ident: $row_type:ty, $look:ident: $look_type:ty {
            $(
                $field:literal $(since $since:ident::$behaviour:ident)? $(, $omit:ident)?
                $(if $condition:expr)? =>
                $kind:ident($($value:tt)*) $(as $shown:expr)?,
            )*
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name<'a> {
            row: &'a $row_type,
            look: $look_type,
        }

        impl<'a> $name<'a> {
            /// The fields that filters may name.
            #[allow(dead_code, unused_variables, reason = "not all rows are filtered, nor looked at")]
            pub(crate) const FILTER: &'static dyn proconsul_filter::Fields<$row_type> =
                $crate::reply::table::table!(@filter $row: $row_type, [] $(
                    [$($since::$behaviour)?] $field => $kind($($value)*),
                )*);

            pub(crate) fn new(row: &'a $row_type, look: impl Into<$look_type>) -> Self {
                Self {
                    row,
                    look: look.into(),
                }
            }
        }

        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                #[allow(unused_variables, reason = "not all tables look at it")]
                let ($row, $look) = (self.row, self.look);
                let mut object = serializer.serialize_struct(stringify!($name), 0)?;
                $($crate::reply::table::table!(@if [$($condition)?][$look $($since::$behaviour)?] {
                    let value = $crate::reply::table::table!(
                        @value $look, $kind($($value)*) $(as $shown)?
                    );
                    $crate::reply::table::table!(@unless [$($omit)?] value {
                        object.serialize_field($field, value)?;
                    });
                });)*
                object.end()
            }
        }
    };

    (@if [] [$look:ident] $show:block) => { $show };
    (@if [$condition:expr] [$look:ident] $show:block) => { if $condition $show };
    (@if [] [$look:ident $since:path] $show:block) => {
        if $crate::reply::table::Look::from($look).has($since) $show
    };
    (@if [$condition:expr] [$look:ident $since:path] $show:block) => {
        if $crate::reply::table::Look::from($look).has($since) && $condition $show
    };
    (@unless [] $value:ident $show:block) => { $show };
    (@unless [omitempty] $value:ident $show:block) => {
        if !$crate::reply::table::Empty::is_empty($value) $show
    };

    (@value $look:ident, $kind:ident($($value:tt)*) as $shown:expr) => { &$shown };
    (@value $look:ident, within($table:ident, $value:expr)) => { &$table::new(&$value, $look) };
    (@value $look:ident, each($table:ident, $value:expr)) => {
        &$value.map(|row| $table::new(row, $look)).collect::<Vec<_>>()
    };
    (@value $look:ident, $kind:ident($value:expr)) => { &$value };

    (@filter $row:ident: $row_type:ty, [$($fields:expr,)*]) => {
        &proconsul_filter::Listed::<$row_type>(&[$($fields,)*])
    };
    (
        @filter $row:ident: $row_type:ty, [$($fields:expr,)*]
        [$($since:path)?] $field:literal => json($($value:tt)*), $($rest:tt)*
    ) => {
        $crate::reply::table::table!(@filter $row: $row_type, [$($fields,)*] $($rest)*)
    };
    (
        @filter $row:ident: $row_type:ty, [$($fields:expr,)*]
        [$($since:path)?] $field:literal => $kind:ident($($value:tt)*), $($rest:tt)*
    ) => {
        $crate::reply::table::table!(@filter $row: $row_type, [
            $($fields,)*
            $crate::reply::table::table!(@field $row: $row_type, $field, $kind($($value)*))
                $(.since($since))?,
        ] $($rest)*)
    };
    (@field $row:ident: $row_type:ty, $field:literal, text($value:expr)) => {
        proconsul_filter::Field::<$row_type>::text($field, |$row| &$value)
    };
    (@field $row:ident: $row_type:ty, $field:literal, labels($value:expr)) => {
        proconsul_filter::Field::<$row_type>::labels($field, |$row| $value.as_ref())
    };
    (@field $row:ident: $row_type:ty, $field:literal, within($table:ident, $value:expr)) => {
        proconsul_filter::Field::<$row_type>::rows($field, &proconsul_filter::Within {
            get: |$row: &$row_type| &$value,
            fields: $table::FILTER,
        })
    };
    (@field $row:ident: $row_type:ty, $field:literal, each($table:ident, $value:expr)) => {
        proconsul_filter::Field::<$row_type>::rows($field, &proconsul_filter::Each {
            get: |$row: &$row_type| $value.collect(),
            fields: $table::FILTER,
        })
    };
    (@field $row:ident: $row_type:ty, $field:literal, $kind:ident($value:expr)) => {
        proconsul_filter::Field::<$row_type>::$kind($field, |$row| $value)
    };
}

pub(crate) use table;
