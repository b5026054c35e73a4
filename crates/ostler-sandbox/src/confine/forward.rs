//! Inside a name space without a network: a port on the loopback address whose
//! connections are carried to a socket of the proxy outside. A process of its own, which
//! ends with the command's tree.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    thread,
};

use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout};

use super::inner::Forward;
use crate::sys;

/// Starts the forwarding; this process goes on without it.
pub(super) fn start(forward: &Forward) -> io::Result<()> {
    // Before the fork, so that the port is there when the command runs.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, forward.port))?;
    match sys::fork_single_threaded()? {
        ForkResult::Parent { .. } => Ok(()),
        ForkResult::Child => {
            // Not to hold the command's pipes open.
            let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
            dup2_stdin(&null)?;
            dup2_stdout(&null)?;
            dup2_stderr(&null)?;
            serve(&listener, &forward.socket)
        }
    }
}

/// Carries connections until this process is killed.
fn serve(listener: &TcpListener, socket: &Path) -> ! {
    loop {
        // Out of descriptors or memory: whoever connected tries again.
        let Ok((inside, _)) = listener.accept() else { continue };
        let Ok(outside) = UnixStream::connect(socket) else { continue };
        carry(inside, outside);
    }
}

fn carry(inside: TcpStream, outside: UnixStream) {
    let (Ok(inside_too), Ok(outside_too)) = (inside.try_clone(), outside.try_clone()) else {
        return;
    };
    thread::spawn(move || {
        copy(&inside, &outside_too);
        drop(outside_too.shutdown(Shutdown::Write));
    });
    thread::spawn(move || {
        copy(&outside, &inside_too);
        drop(inside_too.shutdown(Shutdown::Write));
    });
}

/// Until one end closes; what goes wrong looks like that.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut chunk = vec![0; 32 << 10];
    while let Ok(len @ 1..) = from.read(&mut chunk) {
        if to.write_all(&chunk[..len]).is_err() {
            return;
        }
    }
}
