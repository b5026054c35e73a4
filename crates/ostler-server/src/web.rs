//! Ostler's own protocol over HTTP, and the web page (ipc.md 1.2): `ostler web`.
//!
//! Every request is checked for Host and Origin before anything else is looked at, and all
//! but the page's static files need a secret (R-17c, R-20, R-121). Query strings are never logged.

mod api;
mod auth;
mod door;
mod events;
mod guard;
mod page;

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt as _};
use ostler_host::Host;
use ostler_stdx::Cancel;
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};

use self::{auth::Secrets, door::Door, guard::Guard};

/// The port that is tried first, and how many are tried (design.md 8 (d)).
const FIRST_PORT: u16 = 4096;
const PORTS: u16 = 16;

/// How long requests may take to end once the door closes.
const GRACE: Duration = Duration::from_secs(4);

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOptions {
    /// A name or address of this machine; a wildcard address means every one.
    pub host: String,
    /// The port, 0 for any; without one, 4096 or the next free of 16.
    pub port: Option<u16>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self { host: "127.0.0.1".to_owned(), port: None }
    }
}

/// Why the door did not open.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port that was asked for is in use.
    #[error("port {0} is in use")]
    PortTaken(u16),
    /// None of the usual ports is free.
    #[error("no port from {FIRST_PORT} to {} is free", FIRST_PORT + PORTS - 1)]
    NoPort,
    /// The machine does not let us listen there.
    #[error("cannot listen on `{host}`: {source}")]
    Listen {
        /// Where.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file with the secret can be neither read nor written.
    #[error("cannot keep the secret of the page in `{}`: {source}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(io::Error),
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::PortTaken(_) => {
                Some("end the program that uses it, name another one, or leave `--port` out")
            }
            Self::NoPort => Some("name a free one with `--port`, or 0 for any"),
            Self::Listen { .. } => Some("name an address of this machine with `--host`"),
            Self::Token { .. } => Some("`OSTLER_HOME` names the folder; it must be writable"),
            Self::Random(_) => None,
        }
    }
}

/// An open door. Dropping it closes it at once.
#[derive(Debug)]
pub struct Web {
    door: Arc<Door>,
    address: SocketAddr,
    url: String,
    opening_link: String,
    server: Option<JoinHandle<io::Result<()>>>,
}

impl Web {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page, such as `http://127.0.0.1:4096`. It holds no secret.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The link that lets a browser in. It holds the secret: show it, never log it.
    #[must_use]
    pub fn opening_link(&self) -> &str {
        &self.opening_link
    }

    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Whether the page is the real one, and not the one that says how to build it.
    #[must_use]
    pub fn has_page(&self) -> bool {
        page::IS_BUILT
    }

    /// Closes the door: takes no more connections, ends event streams and the host's runs,
    /// and lets requests end. Takes at most a few seconds.
    pub async fn stop(mut self) {
        self.door.stop.cancel();
        let ended = async {
            self.door.host.shutdown().await;
            self.door.finish().await;
            if let Some(server) = &mut self.server
                && let Err(error) = server.await
            {
                tracing::warn!(%error, "the server did not end well");
            }
        };
        if timeout(GRACE, ended).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.door.stop.cancel();
        if let Some(server) = self.server.take() {
            server.abort();
        }
    }
}

/// Opens the door and serves in the background. Needs a tokio runtime.
///
/// # Errors
/// If the port is taken, or the secret cannot be kept.
pub async fn serve_web(host: Host, options: WebOptions) -> Result<Web, Error> {
    let bind = options.host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let secrets = Secrets::load(host.env().roots.home.join("web-token").as_path())?;
    let listener = listen(&bind, options.port).await?;
    let address =
        listener.local_addr().map_err(|source| Error::Listen { host: bind.clone(), source })?;
    let url = url(&bind, address);
    let opening_link = format!("{url}/open?token={}", secrets.token());
    let guard = Guard::new(&bind, address.port());
    let door = Arc::new(Door::new(host, guard, secrets, address.port()));
    let stop = door.stop.clone();
    let routes = Router::new().fallback(door::handle).with_state(Arc::clone(&door));
    let listener = listener.tap_io(|stream| {
        // Events are small and should not wait for one another.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
    });
    let server = axum::serve(listener, routes).with_graceful_shutdown(stopped(stop));
    let server = Some(tokio::spawn(server.into_future()));
    Ok(Web { door, address, url, opening_link, server })
}

async fn stopped(stop: Cancel) {
    stop.cancelled().await;
}

async fn listen(host: &str, port: Option<u16>) -> Result<TcpListener, Error> {
    let candidates = match port {
        Some(port) => port..=port,
        None => FIRST_PORT..=FIRST_PORT + PORTS - 1,
    };
    for candidate in candidates {
        match TcpListener::bind((host, candidate)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(source) => return Err(Error::Listen { host: host.to_owned(), source }),
        }
    }
    Err(port.map_or(Error::NoPort, Error::PortTaken))
}

/// The address as a browser on this machine writes it.
fn url(bind: &str, address: SocketAddr) -> String {
    let port = address.port();
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => format!("http://127.0.0.1:{port}"),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => format!("http://[::1]:{port}"),
        _ if bind.contains(':') => format!("http://[{bind}]:{port}"),
        _ => format!("http://{bind}:{port}"),
    }
}
