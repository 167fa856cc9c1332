//! The port of the control plane.

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

/// Serves the control plane at a port of its own until `end` is ready; then connections close after the answer that they are at.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()> + Send + 'static,
) {
    let listener = listener.tap_io(|stream| {
        // Latency matters more than packets. A failure does no harm.
        let _ = stream.set_nodelay(true);
    });
    // It never fails: it retries an accept that fails.
    let serving = axum::serve(listener, router);
    let _ = serving.with_graceful_shutdown(end).await;
}
