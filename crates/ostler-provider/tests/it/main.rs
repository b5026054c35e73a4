//! Vendors over real sockets: the loopback server plays scenarios, faults included.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod answers;
mod faults;

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use ostler_protocol::{Block, Message};
use ostler_provider::{
    Attempts, ModelEvent, ModelRequest, Provider, ProviderConfig, RetryPolicy, Wire, open,
    scenario::{Scenario, Vars},
};
use ostler_stdx::Cancel;
use ostler_test::ModelServer;

const WIRES: [Wire; 2] = [Wire::Messages, Wire::Chat];
const KEY: &str = "sk-secret-0123456789";

fn server(replies: &str) -> ModelServer {
    let text = format!(r#"{{"name":"test","replies":{replies}}}"#);
    ModelServer::start(Scenario::parse("test", &text, &Vars::new()).unwrap()).unwrap()
}

fn config(server: &ModelServer, wire: Wire) -> ProviderConfig {
    let url = match wire {
        Wire::Messages => server.url(),
        Wire::Chat => server.chat_url(),
    };
    let mut config = ProviderConfig::new("test", wire, url).with_key(KEY);
    config.retry = RetryPolicy {
        rate_limit: Attempts { count: 3, first_delay: Duration::from_millis(1) },
        transient: Attempts { count: 2, first_delay: Duration::from_millis(1) },
        ..RetryPolicy::default()
    };
    config.timeouts.header = Duration::from_millis(150);
    config.timeouts.idle = Duration::from_millis(150);
    config
}

fn ask(text: &str) -> ModelRequest {
    ModelRequest {
        model: "model-1".to_owned(),
        messages: vec![Message::user(vec![Block::text(text)])],
        session_id: "session".to_owned(),
        ..ModelRequest::default()
    }
}

async fn run(provider: &Arc<dyn Provider>, request: ModelRequest) -> Vec<ModelEvent> {
    provider.stream(request, Cancel::new()).collect().await
}

fn blocks(events: &[ModelEvent]) -> Vec<Block> {
    let blocks = events.iter().filter_map(|event| match event {
        ModelEvent::BlockDone { block, .. } => Some(block.clone()),
        _ => None,
    });
    blocks.collect()
}
