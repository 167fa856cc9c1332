//! Many things at once, in order of the list, until one of them says that there is no point in going on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The results of `work` on each item, in the order of the items; at most `jobs` at a time.
///
/// # Errors
/// The first error ends the work; items that were begun are finished, the rest is left.
pub fn each<I: Copy + Sync, T: Send, E: Send + Sync>(
    jobs: usize,
    items: &[I],
    work: impl Fn(I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let error = OnceLock::new();
    let results = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(items.len()) {
            scope.spawn(|| {
                while error.get().is_none() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else {
                        return;
                    };
                    match work(*item) {
                        Ok(result) => results
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push((number, result)),
                        Err(why) => {
                            error.get_or_init(|| why);
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = error.into_inner() {
        return Err(error);
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = each(8, &items, |item| Ok::<_, ()>(item * 2)).expect("no error");
        assert_eq!(doubled, (0..100).map(|item| item * 2).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let items: Vec<u32> = (0..1000).collect();
        let result = each(1, &items, |item| {
            begun.fetch_add(1, Ordering::Relaxed);
            if item == 3 { Err("three") } else { Ok(item) }
        });
        assert_eq!(result, Err("three"));
        assert_eq!(begun.into_inner(), 4);
    }
}
