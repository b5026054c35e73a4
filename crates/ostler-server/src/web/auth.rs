//! The secret of the web door, and what is derived from it (ipc.md 1.2, R-121).
//!
//! One token per home. Programs send it as a bearer; a browser gets two derived secrets, a
//! cookie and a key for its own storage, and must show both: a cookie alone goes to every port
//! of its host. Neither tells the other or the token. Nothing here is ever logged.

use std::{
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};

use super::Error;

/// Random bytes of a token, and its length as text.
const TOKEN_BYTES: usize = 32;
const TOKEN_CHARS: usize = 43;

/// How long a browser keeps the cookie, in seconds: the page keeps its key as long.
const COOKIE_SECONDS: u32 = 365 * 24 * 60 * 60;

/// The secrets of a home.
pub(crate) struct Secrets {
    token: String,
    key: String,
    cookie: String,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// Reads the token, or makes one where there is none or a damaged one.
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Token { path: path.to_path_buf(), source };
        if let Some(token) = read(path).map_err(failed)? {
            return Ok(Self::of(token));
        }
        let fresh = base64url(&random::<TOKEN_BYTES>()?);
        let name = base64url(&random::<9>()?);
        write(path, &fresh, &name).map_err(failed)?;
        // Another process may have been faster: what is in the file counts.
        let token = read(path).map_err(failed)?.unwrap_or(fresh);
        Ok(Self::of(token))
    }

    fn of(token: String) -> Self {
        let derive = |label: &str| base64url(&hmac_sha256(token.as_bytes(), label.as_bytes()));
        Self { key: derive("ostler page key"), cookie: derive("ostler page cookie"), token }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The page's key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Whether this is the token.
    pub(crate) fn is_token(&self, candidate: &str) -> bool {
        same(candidate, &self.token)
    }

    /// The header that gives a browser its cookie.
    pub(crate) fn set_cookie(&self, port: u16) -> String {
        format!(
            "{}={}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict",
            cookie_name(port),
            self.cookie
        )
    }

    /// Whether the headers show the token, or cookie and key.
    pub(crate) fn allows(&self, headers: &HeaderMap, port: u16) -> bool {
        let Some(bearer) = bearer(headers) else { return false };
        let is_token = self.is_token(bearer);
        let is_key = same(bearer, &self.key);
        is_token || is_key && self.has_cookie(headers, port)
    }

    fn has_cookie(&self, headers: &HeaderMap, port: u16) -> bool {
        let name = cookie_name(port);
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(found, value)| found == name && same(value, &self.cookie))
    }
}

/// Contains the port, because a browser shares cookies among the ports of a host.
fn cookie_name(port: u16) -> String {
    format!("ostler_{port}")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Compares in a time that depends on the lengths alone, which are no secret.
fn same(left: &str, right: &str) -> bool {
    let differing = left.bytes().zip(right.bytes()).fold(0, |acc, (l, r)| acc | (l ^ r));
    std::hint::black_box(differing) == 0 && left.len() == right.len()
}

/// The token of the file; none if there is no file or no token in it.
fn read(path: &Path) -> io::Result<Option<String>> {
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let token = text.trim();
    let is_token = token.len() == TOKEN_CHARS
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if !is_token {
        return Ok(None);
    }
    let mode = std::fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(Some(token.to_owned()))
}

/// Replaces the file by way of another one, so that no reader sees half a token.
fn write(path: &Path, token: &str, name: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let fresh = path.with_file_name(format!(".web-token-{name}"));
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let written = file
        .write_all(token.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&fresh, path));
    if written.is_err() && std::fs::remove_file(&fresh).is_err() {
        tracing::debug!("a temporary file is left behind");
    }
    written
}

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Random(io::Error::other(error)))?;
    Ok(bytes)
}

/// HMAC (RFC 2104) with SHA-256, for keys of at most 64 bytes.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// Base64 with the alphabet of RFC 4648 section 5, without padding.
pub(crate) fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..=group.len() {
            let six = word >> (18 - 6 * digit) & 63;
            text.push(char::from(ALPHABET[six as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_and_hmac_are_those_of_the_standards() {
        for (bytes, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")]
        {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
        // RFC 4231, test case 2.
        let mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_token_is_made_once_and_kept_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/web-token");
        let first = Secrets::load(&path).unwrap();
        assert_eq!(first.token.len(), TOKEN_CHARS);
        assert_eq!(Secrets::load(&path).unwrap().token, first.token);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(Secrets::load(&path).unwrap().token, first.token);
        assert_eq!(mode(&path), 0o600);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_short_or_damaged_token_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("web-token");
        for damaged in ["", "short", &"x".repeat(42), &"?".repeat(43), &"x".repeat(44)] {
            std::fs::write(&path, damaged).unwrap();
            let token = Secrets::load(&path).unwrap().token;
            assert_ne!(token, damaged);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), token);
        }
        std::fs::write(&path, [0xff; 43]).unwrap();
        assert_eq!(Secrets::load(&path).unwrap().token.len(), TOKEN_CHARS);
    }

    #[test]
    fn what_is_derived_tells_nothing_else() {
        let secrets = Secrets::of("t".repeat(43));
        assert_eq!(secrets.key.len(), 43);
        assert_ne!(secrets.key, secrets.cookie);
        assert_ne!(secrets.key, Secrets::of("u".repeat(43)).key);
        assert_eq!(format!("{secrets:?}"), "Secrets");
        assert!(!same("", "a") && !same("a", "ab") && !same("ab", "a") && !same("ab", "ac"));
        assert!(same("ab", "ab"));
    }
}
