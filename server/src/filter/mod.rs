//! Filter expressions, as `?filter=` takes them: `Service.Meta.env == "prod" and not ("old" in Service.Tags)`.
//!
//! ```text
//! static FIELDS: &[Field<NodeRow>] = &[
//!     Field::text("Node", |row| &row.node.node),
//!     Field::labels("Meta", |row| row.node.meta.as_ref()),
//! ];
//! let filter = Filter::new(b"Meta.env == prod", FIELDS)?;
//! rows.retain(|row| filter.keeps(row));
//! ```
//!
//! The part knows no endpoint and no row: an endpoint says which fields its rows have. Errors are Consul's texts without what
//! an endpoint says before them. The grammar is our own, because these texts name its rules and all that could have followed.

mod expression;
mod field;
mod grammar;
mod peg;

pub(crate) use expression::Expression;
pub(crate) use field::{Each, Field, Keyed, Within};

use field::Predicate;

/// An expression that rows of one type can be held against.
pub(crate) struct Filter<T> {
    keeps: Predicate<T>,
}

impl<T: 'static> Filter<T> {
    /// Reads a filter for rows with these fields. An empty one keeps every row.
    ///
    /// # Errors
    /// What Consul says of a text that is no expression, or that claims what cannot be claimed of such rows.
    pub(crate) fn new(text: &[u8], fields: &'static [Field<T>]) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self {
                keeps: Box::new(|_| true),
            });
        }
        let expression = Expression::parse(text)?;
        Ok(Self {
            keeps: predicate(&expression, fields)?,
        })
    }

    /// Whether the filter lets a row through.
    pub(crate) fn keeps(&self, row: &T) -> bool {
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
    fields: &'static [Field<T>],
) -> Result<Predicate<T>, String> {
    let all = |parts: &[Expression]| -> Result<Vec<Predicate<T>>, String> {
        parts.iter().map(|part| predicate(part, fields)).collect()
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
            let negated = predicate(negated, fields)?;
            Box::new(move |row| !negated(row))
        }
        Expression::Match(claim) => field::predicate(claim, fields)?,
    })
}

#[cfg(test)]
mod tests;
