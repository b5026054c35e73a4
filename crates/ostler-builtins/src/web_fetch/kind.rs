//! What an answer is: by its content type, and by its first bytes.

use crate::read::image;

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Picture,
    /// Nothing that is shown.
    Other,
    /// Only its bytes will tell.
    Unknown,
}

impl Kind {
    /// What the content type says.
    pub(super) fn named(content_type: &str) -> Self {
        match content_type {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "" | "application/octet-stream" | "binary/octet-stream" | "application/unknown" => {
                Self::Unknown
            }
            "image/png" | "image/jpeg" | "image/jpg" | "image/gif" | "image/webp" => Self::Picture,
            "image/svg+xml" => Self::Text,
            other if is_text(other) => Self::Text,
            _ => Self::Other,
        }
    }

    /// What the bytes say: a picture or binary is one, whatever it is called.
    pub(super) fn seen(self, bytes: &[u8]) -> Self {
        let head = &bytes[..bytes.len().min(1024)];
        if image::Kind::of(head).is_some() {
            return Self::Picture;
        }
        let wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
        if head.starts_with(b"%PDF-") || head.contains(&0) && !wide {
            return Self::Other;
        }
        match self {
            Self::Picture => Self::Other,
            Self::Unknown => {
                let start = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
                let html = start.starts_with("<!doctype html") || start.starts_with("<html");
                if html { Self::Html } else { Self::Text }
            }
            other => other,
        }
    }
}

fn is_text(content_type: &str) -> bool {
    let Some((family, name)) = content_type.split_once('/') else { return false };
    let words = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "typescript",
        "yaml",
        "x-yaml",
        "toml",
        "sql",
        "graphql",
        "x-ndjson",
        "ndjson",
        "x-sh",
        "x-httpd-php",
        "x-tex",
        "rtf",
        "x-www-form-urlencoded",
    ];
    family == "text"
        || family == "application"
            && (words.contains(&name)
                || ["+json", "+xml", "+yaml", "-seq"].iter().any(|end| name.ends_with(end)))
}
