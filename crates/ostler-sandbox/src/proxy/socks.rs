//! SOCKS 5 (RFC 1928): connections only, without a name and password.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    time::timeout,
};

use super::{Gate, PATIENCE, Refusal};

/// The first byte of a connection of this kind.
pub(super) const VERSION: u8 = 5;

const CONNECT: u8 = 1;
const SUCCEEDED: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const NOT_SUPPORTED: u8 = 7;

pub(super) async fn serve<S>(mut stream: S, gate: &Gate) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (command, host, port) = timeout(PATIENCE, read(&mut stream)).await??;
    if command != CONNECT {
        return answer(&mut stream, NOT_SUPPORTED).await;
    }
    match gate.connect(&host, port).await {
        Ok(mut host) => {
            answer(&mut stream, SUCCEEDED).await?;
            copy_bidirectional(&mut stream, &mut host).await.map(drop)
        }
        Err(Refusal::Host(_) | Refusal::Private(_)) => answer(&mut stream, NOT_ALLOWED).await,
        Err(_) => answer(&mut stream, UNREACHABLE).await,
    }
}

async fn read<S>(stream: &mut S) -> io::Result<(u8, String, u16)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let methods = stream.read_u8().await?;
    let mut offered = vec![0; methods.into()];
    stream.read_exact(&mut offered).await?;
    if !offered.contains(&0) {
        stream.write_all(&[VERSION, 0xff]).await?;
        return Err(io::ErrorKind::Unsupported.into());
    }
    stream.write_all(&[VERSION, 0]).await?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let [version, command, _, kind] = head;
    if version != VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let host = match kind {
        1 => {
            let mut ip = [0; 4];
            stream.read_exact(&mut ip).await?;
            Ipv4Addr::from(ip).to_string()
        }
        3 => {
            let len = stream.read_u8().await?;
            let mut name = vec![0; len.into()];
            stream.read_exact(&mut name).await?;
            String::from_utf8(name).map_err(|_| io::ErrorKind::InvalidData)?
        }
        4 => {
            let mut ip = [0; 16];
            stream.read_exact(&mut ip).await?;
            Ipv6Addr::from(ip).to_string()
        }
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    Ok((command, host, stream.read_u16().await?))
}

async fn answer<S: AsyncWrite + Unpin>(stream: &mut S, reply: u8) -> io::Result<()> {
    stream.write_all(&[VERSION, reply, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    stream.flush().await
}
