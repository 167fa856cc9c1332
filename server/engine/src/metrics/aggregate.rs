//! What is kept of the values of a metric.

/// The number of values, and what else is shown of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aggregate {
    /// How many values there were.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub sum_of_squares: f64,
    /// The least of them.
    pub min: f64,
    /// The greatest of them.
    pub max: f64,
}

impl Aggregate {
    /// Adds a value.
    pub fn add(&mut self, value: f32) {
        let value = f64::from(value);
        self.merge(&Self {
            count: 1,
            sum: value,
            sum_of_squares: value * value,
            min: value,
            max: value,
        });
    }

    /// Adds the values of another.
    pub fn merge(&mut self, other: &Self) {
        let (min, max) = match self.count {
            0 => (other.min, other.max),
            _ => (self.min.min(other.min), self.max.max(other.max)),
        };
        *self = Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
            min,
            max,
        };
    }

    /// Returns what counts each value as 1.
    pub fn as_counter(&self) -> Self {
        Self::ones(self.count)
    }

    /// Returns what is known of so many ones.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts so far")]
    pub fn ones(count: u64) -> Self {
        Self {
            count,
            sum: count as f64,
            sum_of_squares: count as f64,
            min: 1.0,
            max: 1.0,
        }
    }

    /// Returns the mean; 0 where there is no value.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts so far")]
    pub fn mean(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.sum / count as f64,
        }
    }

    /// Returns the standard deviation of a sample.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts so far")]
    pub fn deviation(&self) -> f64 {
        let count = self.count as f64;
        let spread = count * self.sum_of_squares - self.sum * self.sum;
        match self.count {
            0 | 1 => 0.0,
            _ => (spread.max(0.0) / (count * (count - 1.0))).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen on 1.8.7: two values with these sums have this deviation.
    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let mut aggregate = Aggregate::default();
        aggregate.add(0.014_449);
        assert_eq!(aggregate.deviation(), 0.0);
        aggregate.add(0.017_879);
        assert!((aggregate.deviation() - 0.002_425_376).abs() < 1e-8);
        assert!((aggregate.mean() - 0.016_164).abs() < 1e-8);
        assert_eq!(Aggregate::ones(3).deviation(), 0.0);
    }
}
