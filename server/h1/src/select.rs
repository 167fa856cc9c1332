//! The first of two futures.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// What the first of two futures returned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Either<Left, Right> {
    /// The left one was first.
    Left(Left),
    /// The right one was first.
    Right(Right),
}

/// Waits for the first of two futures. The left one is asked first, and wins where both are done. A timer stands on
/// the left of what never stops by itself: with tokio a future that uses up what its task may do in one poll leaves nothing
/// for the timer behind it.
pub(crate) fn select<Left: Future + ?Sized, Right: Future + ?Sized>(
    mut left: Pin<&mut Left>,
    mut right: Pin<&mut Right>,
) -> impl Future<Output = Either<Left::Output, Right::Output>> {
    poll_fn(move |context| {
        if let Poll::Ready(output) = left.as_mut().poll(context) {
            return Poll::Ready(Either::Left(output));
        }
        right.as_mut().poll(context).map(Either::Right)
    })
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::{Either, select};

    #[test]
    fn the_left_one_wins_where_both_are_done() {
        let context = &mut Context::from_waker(Waker::noop());
        let both = pin!(select(pin!(ready(1)), pin!(ready(2)))).poll(context);
        assert_eq!(both, Poll::Ready(Either::Left(1)));
        let right = pin!(select(pin!(pending::<()>()), pin!(ready(2)))).poll(context);
        assert_eq!(right, Poll::Ready(Either::Right(2)));
        let neither = pin!(select(pin!(pending::<()>()), pin!(pending::<()>()))).poll(context);
        assert_eq!(neither, Poll::Pending);
    }
}
