//! Enums whose values have names, under which the control plane over HTTP reads and shows them.

/// A value with a name.
pub trait Named: Clone + 'static {
    /// All values.
    const ALL: &[Self];

    /// Returns the name, as the control plane spells it.
    fn name(&self) -> &'static str;

    /// Returns what the value means, in a sentence or more.
    fn meaning(&self) -> &'static str;
}

/// Declares an enum of named values: each row has a value, its name and its meaning.
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* $visible:vis enum $enum:ident { $($(#[$kept:meta])* $value:ident $name:literal $meaning:literal,)+ }) => {
        $(#[$attribute])*
        $visible enum $enum {
            $($(#[$kept])* #[doc = $meaning] $value,)+
        }

        impl $enum {
            /// All values.
            $visible const ALL: &[Self] = &[$(Self::$value),+];

            /// Returns the name, as the control plane spells it.
            #[must_use]
            $visible fn name(&self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }

            /// Returns what the value means, in a sentence or more.
            #[must_use]
            $visible fn meaning(&self) -> &'static str {
                match self {
                    $(Self::$value => $meaning,)+
                }
            }
        }

        impl $crate::named::Named for $enum {
            const ALL: &[Self] = $enum::ALL;

            fn name(&self) -> &'static str {
                $enum::name(self)
            }

            fn meaning(&self) -> &'static str {
                $enum::meaning(self)
            }
        }
    };
}
