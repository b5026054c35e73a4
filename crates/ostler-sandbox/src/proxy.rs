//! A proxy on this machine that lets confined commands reach chosen hosts: HTTP, HTTP
//! CONNECT and SOCKS 5 on one port and one socket of the file system.
//!
//! It connects to exactly the addresses that it checked, and never to those of private
//! networks, so that a name cannot lead a command back into this machine.

mod domains;
mod http;
mod socks;

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_stdx::{AbsPath, public_address};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};

pub use domains::Domains;

/// Connections at a time; more wait.
const CONNECTIONS: usize = 256;
/// How long a request may take to say where it wants to go, and a host to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Decides whether a host is reached.
#[derive(Clone)]
pub struct Decide(Arc<Judge>);

type Judge = dyn Fn(&str, u16) -> bool + Send + Sync;

impl Decide {
    /// Asks `judge` for each host, in lower case and without a trailing dot, and port.
    pub fn new(judge: impl Fn(&str, u16) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    fn ask(&self, host: &str, port: u16) -> bool {
        (self.0)(host, port)
    }
}

impl fmt::Debug for Decide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decide")
    }
}

/// Why a connection is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "the sandbox does not let commands reach `{0}`: `sandbox.network.allowedDomains` lists what they reach"
    )]
    Host(String),
    #[error("`{0}` leads into a private network, which the sandbox does not let commands reach")]
    Private(String),
    #[error("`{host}` is not reached: {why}")]
    Unreachable { host: String, why: String },
    #[error("the request makes no sense: {0}")]
    Malformed(&'static str),
}

/// The proxy of a session; ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    socket: PathBuf,
    _tasks: JoinSet<()>,
}

/// What every connection needs.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    decide: Decide,
    local: bool,
}

impl Proxy {
    /// Starts it on a free port of the loopback address and on a socket in `folder`.
    /// With `local`, addresses of private networks are reached if their host may be.
    ///
    /// # Errors
    /// Port or socket cannot be had.
    pub async fn start(decide: Decide, folder: &AbsPath, local: bool) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let socket = folder.join(".proxy").to_path_buf();
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let unix = UnixListener::bind(&socket)?;
        let gate = Gate { decide, local };
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let mut tasks = JoinSet::new();
        let (inner_gate, inner_room) = (gate.clone(), Arc::clone(&room));
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                serve(&mut connections, stream, &inner_gate, &inner_room).await;
            }
        });
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = unix.accept().await {
                serve(&mut connections, stream, &gate, &room).await;
            }
        });
        Ok(Self { port, socket, _tasks: tasks })
    }

    /// The port on the loopback address.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The socket in the file system.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A socket that is left over harms nobody.
        drop(std::fs::remove_file(&self.socket));
    }
}

async fn serve<S>(connections: &mut JoinSet<()>, mut stream: S, gate: &Gate, room: &Arc<Semaphore>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    while connections.try_join_next().is_some() {}
    let Ok(permit) = Arc::clone(room).acquire_owned().await else { return };
    let gate = gate.clone();
    connections.spawn(async move {
        let _permit = permit;
        let first = timeout(PATIENCE, stream.read_u8()).await;
        // Whoever says nothing, or goes away, has nothing to be told.
        if let Ok(Ok(first)) = first {
            let done = match first {
                socks::VERSION => socks::serve(stream, &gate).await,
                first => http::serve(stream, first, &gate).await,
            };
            done.unwrap_or_default();
        }
    });
}

impl Gate {
    /// Connects to a host that may be reached, at an address that was checked.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if !self.decide.ask(&host, port) {
            return Err(Refusal::Host(host));
        }
        let unreachable = |why: String| Refusal::Unreachable { host: host.clone(), why };
        let found = timeout(PATIENCE, tokio::net::lookup_host((host.as_str(), port))).await;
        let found = found.map_err(|_| unreachable("its name is not answered".to_owned()))?;
        let found: Vec<SocketAddr> =
            found.map_err(|error| unreachable(error.to_string()))?.collect();
        // One address of a private network makes the whole name suspect.
        if !self.local && found.iter().any(|address| !is_public(address.ip())) {
            return Err(Refusal::Private(host));
        }
        let mut why = "its name has no address".to_owned();
        for address in found {
            match timeout(PATIENCE, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => why = error.to_string(),
                Err(_) => why = "it does not answer".to_owned(),
            }
        }
        Err(unreachable(why))
    }
}

fn is_public(ip: IpAddr) -> bool {
    public_address(ip).is_ok()
}
