//! Filter expressions, as `?filter=` takes them: `Service.Meta.env == "prod" and not ("old" in Service.Tags)`.
//!
//! ```text
//! static FIELDS: Listed<NodeRow> = Listed(&[
//!     Field::text("Node", |row| &row.node.node),
//!     Field::labels("Meta", |row| row.node.meta.as_ref()),
//! ]);
//! let filter = Filter::new(b"Meta.env == prod", &FIELDS, version)?;
//! rows.retain(|row| filter.keeps(row));
//! ```
//!
//! Each endpoint declares the fields of its rows. Errors are Consul's, without the endpoint's prefix. The
//! parser is our own, because these errors list the grammar's rules and expected terminals.

mod expression;
mod field;
mod grammar;
mod peg;
mod value;

pub use expression::{Expression, Match};
pub use field::{Each, Field, Fields, Keyed, Listed, Within};
pub use value::{MapTest, Predicate};

use proconsul_version::Version;

/// Returns the test for a claim, or Consul's error for one that does not fit the rows.
type Test<'a, T> = dyn Fn(&Match) -> Result<Predicate<T>, String> + 'a;

/// A filter for rows of one type.
pub struct Filter<T> {
    keeps: Predicate<T>,
}

impl<T: 'static> Filter<T> {
    /// Parses a filter for rows with these fields. An empty one keeps every row.
    ///
    /// # Errors
    /// Consul's error for an invalid expression, or one that does not fit the fields.
    pub fn new(
        text: &[u8],
        fields: &'static dyn Fields<T>,
        version: Version,
    ) -> Result<Self, String> {
        Self::of(text, &|claim| fields.test(claim, &claim.selector, version))
    }

    /// Parses a filter for rows about which `test` knows what is claimed of them. An empty one keeps every row.
    ///
    /// # Errors
    /// Consul's error for an invalid expression, or that of `test`.
    pub fn of(text: &[u8], test: &Test<'_, T>) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self {
                keeps: Box::new(|_| true),
            });
        }
        let expression = Expression::parse(text)?;
        Ok(Self {
            keeps: predicate(&expression, test)?,
        })
    }

    /// Whether the filter keeps a row.
    pub fn keeps(&self, row: &T) -> bool {
        (self.keeps)(row)
    }
}

impl<T> std::fmt::Debug for Filter<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a filter")
    }
}

fn predicate<T: 'static>(
    expression: &Expression,
    test: &Test<'_, T>,
) -> Result<Predicate<T>, String> {
    let all = |parts: &[Expression]| -> Result<Vec<Predicate<T>>, String> {
        let parts = parts.iter();
        parts.map(|part| predicate(part, test)).collect()
    };
    Ok(match expression {
        Expression::All(parts) => {
            let parts = all(parts)?;
            Box::new(move |row| parts.iter().all(|part| part(row)))
        }
        Expression::Any(parts) => {
            let parts = all(parts)?;
            Box::new(move |row| parts.iter().any(|part| part(row)))
        }
        Expression::Not(negated) => {
            let negated = predicate(negated, test)?;
            Box::new(move |row| !negated(row))
        }
        Expression::Match(claim) => test(claim)?,
    })
}

#[cfg(test)]
mod tests;
