//! One call, whatever door it came through.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use ostler_host::Host;
use ostler_protocol::{
    ErrorKind, RpcError,
    methods::{Caller, Handler, dispatch},
};
use serde_json::Value;

/// The call that lasts as long as a run.
pub(crate) const SEND: &str = "session.send";

/// Calls a method. A panic in it is an error of this call alone.
pub(crate) async fn call(
    host: &Host,
    caller: &Caller,
    method: &str,
    params: Option<Value>,
) -> Result<Value, RpcError> {
    call_any(host, caller, method, params).await
}

async fn call_any<H: Handler>(
    handler: &H,
    caller: &Caller,
    method: &str,
    params: Option<Value>,
) -> Result<Value, RpcError> {
    // Boxed: the table's future is as large as its largest method's.
    let answer = Box::pin(dispatch(handler, caller, method, params));
    guarded(method, answer).await
}

async fn guarded(
    method: &str,
    answer: impl Future<Output = Result<Value, RpcError>>,
) -> Result<Value, RpcError> {
    // What a panic leaves half done is in locks that are read in spite of poisoning, and in
    // the session's own task, which catches its own.
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        tracing::error!(method, text, "a method panicked");
        Err(RpcError::new(ErrorKind::Internal, format!("`{method}` failed inside: {text}"))
            .hint("this is a fault of Ostler; other requests are not affected"))
    })
}

/// The error for more calls than may be under way.
pub(crate) fn too_many(limit: usize) -> RpcError {
    RpcError::new(ErrorKind::Limit, format!("more than {limit} requests are under way"))
        .with("limit", limit)
        .hint("wait for answers before sending more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_of_its_call_alone() {
        let error = guarded("m", async { panic!("out of {}", "cheese") }).await.unwrap_err();
        assert_eq!(error.code, -32603);
        assert!(error.message.contains("out of cheese"), "{error}");
        assert_eq!(guarded("m", async { Ok(Value::Null) }).await, Ok(Value::Null));
    }
}
