//! The keeper of one command: a forked copy of the supervisor that starts the command,
//! adopts every orphan of its tree, reports how it ended, and kills what is left when
//! it is told to or when nobody listens any more. It never outlives its tree.

use std::{
    io::{Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::wait::{WaitPidFlag, WaitStatus, waitpid},
    unistd::{Pid, setsid},
};

use crate::{
    platform::{self, Wake},
    spawn::{KEEPER_NAME, Pipes, spawn},
    sys,
    tree::Ending,
    wire::{self, Event, Request},
};

/// Between TERM and KILL when Ostler is gone or the session ends.
pub(crate) const ORPHAN_GRACE: Duration = Duration::from_millis(300);

/// How often a system without a signal descriptor looks for ended children.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Runs the command asked for on `control`, to its end and that of its tree.
pub(crate) fn keep(control: OwnedFd) -> u8 {
    if setsid().is_err() || platform::become_reaper(KEEPER_NAME).is_err() {
        return 1;
    }
    let (Ok(wake), mut control) = (Wake::new(), UnixStream::from(control)) else {
        return 1;
    };
    let Ok((request, pipes)) = receive(&mut control) else { return 1 };
    match spawn(&request, &pipes) {
        Err(event) => {
            report(&control, event);
            0
        }
        Ok(main) => {
            // While these are open here, Ostler would wait for the end of the output.
            drop(pipes);
            drop(request);
            report(&control, Event::Started { pid: main.as_raw() });
            Keeper { control, wake, main, listening: true, ending: None }.watch()
        }
    }
}

fn receive(control: &mut UnixStream) -> std::io::Result<(Request, Pipes)> {
    let mut len = [0; 4];
    let (got, fds) = sys::receive(&*control, &mut len)?;
    control.read_exact(&mut len[got..])?;
    let mut fds = fds.into_iter();
    let (Some(stdout), Some(stderr)) = (fds.next(), fds.next()) else {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    };
    let mut body = vec![0; u32::from_le_bytes(len) as usize];
    control.read_exact(&mut body)?;
    let request = Request::decode(&body)?;
    let side = request.side.then(|| fds.next()).flatten();
    Ok((request, Pipes { stdout, stderr, side, stdin: fds.next() }))
}

fn report(mut control: &UnixStream, event: Event) {
    // Nobody may listen any more; poll tells of that.
    drop(control.write_all(&event.encode()));
}

#[derive(Debug)]
struct Keeper {
    control: UnixStream,
    wake: Wake,
    main: Pid,
    listening: bool,
    ending: Option<Ending>,
}

impl Keeper {
    fn watch(mut self) -> u8 {
        loop {
            if !self.reap() {
                if !platform::ADOPTS_ORPHANS && self.ending.is_some() {
                    crate::tree::kill_now(&[self.main]);
                }
                report(&self.control, Event::Gone);
                return 0;
            }
            let main = Some(self.main);
            let pause = self.ending.as_mut().map(|ending| ending.step(main));
            self.wait(pause);
        }
    }

    /// Takes the children that ended; whether there are others.
    fn reap(&self) -> bool {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) if pid == self.main => {
                    report(&self.control, Event::Exited { code });
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.main => {
                    report(&self.control, Event::Signaled { signal: signal as i32 });
                }
                Ok(WaitStatus::StillAlive) => return true,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn wait(&mut self, pause: Option<Duration>) {
        let mut fds = Vec::with_capacity(2);
        fds.extend(self.wake.fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let signals = fds.len();
        if self.listening {
            fds.push(PollFd::new(self.control.as_fd(), PollFlags::POLLIN));
        }
        if poll(&mut fds, timeout(pause, &self.wake)).is_err() {
            return;
        }
        let heard = fds.get(signals).and_then(PollFd::any).unwrap_or(false);
        if heard {
            match wire::read_kill(&self.control) {
                Ok(grace) => self.end(grace),
                Err(_) => {
                    self.listening = false;
                    self.end(ORPHAN_GRACE);
                }
            }
        }
        if self.wake.asked_to_stop() {
            self.end(ORPHAN_GRACE);
        }
    }

    fn end(&mut self, grace: Duration) {
        match &mut self.ending {
            Some(ending) => ending.hurry(grace),
            None => self.ending = Some(Ending::begin(Some(self.main), grace)),
        }
    }
}

/// How long to poll: until something is due, or for ever where signals wake us up.
pub(crate) fn timeout(pause: Option<Duration>, wake: &Wake) -> PollTimeout {
    let pause = match (pause, wake.fd()) {
        (None, Some(_)) => return PollTimeout::NONE,
        (pause, None) => pause.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN),
        (Some(pause), Some(_)) => pause,
    };
    // Rounded up, or the last fraction of a millisecond would be spent spinning.
    PollTimeout::try_from(pause + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
}
