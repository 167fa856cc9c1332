//! Writing until all is written.

use std::future::poll_fn;
use std::io::{self, IoSlice};

use bytes::Buf;

use super::WriteHalf;

/// The most slices of one write: a response has a head, a piece of the body and the end of a chunk.
const SLICES: usize = 3;

/// Writes all bytes.
///
/// # Errors
/// The connection is broken.
pub(crate) async fn write_all(to: &mut impl WriteHalf, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = poll_fn(|context| to.poll_write(context, bytes)).await?;
        bytes = &bytes[some(written)?..];
    }
    Ok(())
}

/// Writes all bytes of a buffer, several of its slices at once.
///
/// # Errors
/// The connection is broken.
pub(crate) async fn write_all_buf(
    to: &mut impl WriteHalf,
    buffer: &mut impl Buf,
) -> io::Result<()> {
    while buffer.has_remaining() {
        let written = poll_fn(|context| {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = buffer.chunks_vectored(&mut slices);
            to.poll_write_vectored(context, &slices[..count])
        });
        buffer.advance(some(written.await?)?);
    }
    Ok(())
}

/// Sends what is still in a buffer of the connection.
///
/// # Errors
/// The connection is broken.
pub(crate) async fn flush(to: &mut impl WriteHalf) -> io::Result<()> {
    poll_fn(|context| to.poll_flush(context)).await
}

/// Ends the stream to the client.
///
/// # Errors
/// The connection is broken.
pub(crate) async fn shutdown(to: &mut impl WriteHalf) -> io::Result<()> {
    poll_fn(|context| to.poll_shutdown(context)).await
}

/// A connection that takes no byte and has no error would be written to forever.
fn some(written: usize) -> io::Result<usize> {
    match written {
        0 => Err(io::ErrorKind::WriteZero.into()),
        written => Ok(written),
    }
}
