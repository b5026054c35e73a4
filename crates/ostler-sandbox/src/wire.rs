//! The bytes between Ostler and the keeper of one command: one request with the
//! pipes attached, then `Kill` one way and events the other. Private to one build of
//! one binary: both ends are the same program, so there is no version.

use std::{
    ffi::{CString, OsString},
    io::{self, Read},
    os::unix::ffi::{OsStrExt, OsStringExt},
    time::Duration,
};

use crate::{Command, Error};

/// What a keeper starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) cwd: CString,
    pub(crate) program: CString,
    pub(crate) args: Vec<CString>,
    pub(crate) env: Vec<CString>,
    /// Whether one more descriptor comes behind those of the output.
    pub(crate) side: bool,
}

impl Request {
    pub(crate) fn new(command: &Command) -> Result<Self, Error> {
        let plain = |text: &std::ffi::OsStr| {
            CString::new(text.as_bytes()).map_err(|_| Error::Nul { what: text.to_owned() })
        };
        let variable = |(name, value): (&OsString, &OsString)| {
            let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
            CString::new(entry).map_err(|_| Error::Nul { what: name.clone() })
        };
        Ok(Self {
            cwd: plain(command.cwd.as_os_str())?,
            program: plain(&command.program)?,
            args: command.args.iter().map(|arg| plain(arg)).collect::<Result<_, _>>()?,
            env: command.env.iter().map(variable).collect::<Result<_, _>>()?,
            side: command.side.is_some(),
        })
    }

    /// The body; its length goes before it, with the file descriptors.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = (self.args.len() as u32).to_le_bytes().to_vec();
        body.push(self.side.into());
        let strings = [&self.cwd, &self.program].into_iter().chain(&self.args).chain(&self.env);
        strings.for_each(|text| body.extend_from_slice(text.as_bytes_with_nul()));
        body
    }

    pub(crate) fn decode(body: &[u8]) -> io::Result<Self> {
        let malformed = || io::Error::new(io::ErrorKind::InvalidData, "malformed request");
        let (count, strings) = body.split_first_chunk::<4>().ok_or_else(malformed)?;
        let count = u32::from_le_bytes(*count) as usize;
        let (side, strings) = strings.split_first().ok_or_else(malformed)?;
        let mut strings = strings
            .split_inclusive(|&byte| byte == 0)
            .map(|text| CString::from_vec_with_nul(text.to_vec()).map_err(|_| malformed()));
        let mut next = || strings.next().unwrap_or_else(|| Err(malformed()));
        Ok(Self {
            cwd: next()?,
            program: next()?,
            args: (0..count).map(|_| next()).collect::<io::Result<_>>()?,
            env: strings.collect::<io::Result<_>>()?,
            side: *side != 0,
        })
    }
}

/// What a keeper reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The program runs under this process id.
    Started { pid: i32 },
    /// The working folder could not be entered.
    NoFolder { errno: i32 },
    /// The program did not start.
    NotStarted { errno: i32 },
    /// The main process ended by itself with this code.
    Exited { code: i32 },
    /// The main process was ended by this signal.
    Signaled { signal: i32 },
    /// No process of the command's tree is left.
    Gone,
}

/// Bytes of one encoded [`Event`].
pub(crate) const EVENT_LEN: usize = 5;

impl Event {
    pub(crate) fn encode(self) -> [u8; EVENT_LEN] {
        let (tag, value) = match self {
            Self::Started { pid } => (b'S', pid),
            Self::NoFolder { errno } => (b'F', errno),
            Self::NotStarted { errno } => (b'N', errno),
            Self::Exited { code } => (b'E', code),
            Self::Signaled { signal } => (b'K', signal),
            Self::Gone => (b'G', 0),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [tag, a, b, c, d]
    }

    pub(crate) fn decode([tag, a, b, c, d]: [u8; EVENT_LEN]) -> Option<Self> {
        let value = i32::from_le_bytes([a, b, c, d]);
        Some(match tag {
            b'S' => Self::Started { pid: value },
            b'F' => Self::NoFolder { errno: value },
            b'N' => Self::NotStarted { errno: value },
            b'E' => Self::Exited { code: value },
            b'K' => Self::Signaled { signal: value },
            b'G' => Self::Gone,
            _ => return None,
        })
    }
}

/// Encodes the order to kill the whole tree: TERM now, KILL after `grace`.
pub(crate) fn encode_kill(grace: Duration) -> [u8; 4] {
    u32::try_from(grace.as_millis()).unwrap_or(u32::MAX).to_le_bytes()
}

/// Reads an order to kill and gives its grace.
pub(crate) fn read_kill(mut from: impl Read) -> io::Result<Duration> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(Duration::from_millis(u32::from_le_bytes(bytes).into()))
}

/// The text of a program as the user wrote it, for errors.
pub(crate) fn os_string(text: &CString) -> OsString {
    OsString::from_vec(text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use ostler_stdx::AbsPath;

    use super::*;

    #[test]
    fn a_request_survives_the_wire() {
        let env = [("A".into(), "=1".into()), ("B".into(), OsString::from_vec(vec![0xff]))];
        let command = Command::new("prog", AbsPath::root()).args(["", "x y"]).env(env.into());
        let request = Request::new(&command).unwrap();
        assert_eq!(Request::decode(&request.encode()).unwrap(), request);
        assert_eq!(request.args.len(), 2);
        assert_eq!(request.env[1].as_bytes(), b"B=\xff");
    }

    #[test]
    fn nul_bytes_and_malformed_bodies_are_refused() {
        let command = Command::new("prog", AbsPath::root()).arg("a\0b");
        assert!(matches!(Request::new(&command), Err(Error::Nul { .. })));
        for body in
            [&b""[..], b"\0\0\0\0", b"\0\0\0\0\0", b"\x02\0\0\0\0/\0p\0a\0", b"\0\0\0\0\0/\0p"]
        {
            assert!(Request::decode(body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn events_survive_the_wire() {
        let events = [
            Event::Started { pid: 70000 },
            Event::NoFolder { errno: 2 },
            Event::NotStarted { errno: 13 },
            Event::Exited { code: 255 },
            Event::Signaled { signal: 9 },
            Event::Gone,
        ];
        for event in events {
            assert_eq!(Event::decode(event.encode()), Some(event));
        }
        assert_eq!(Event::decode([0; EVENT_LEN]), None);
    }

    #[test]
    fn grace_survives_the_wire() {
        let grace = Duration::from_millis(1234);
        assert_eq!(read_kill(&encode_kill(grace)[..]).unwrap(), grace);
    }
}
