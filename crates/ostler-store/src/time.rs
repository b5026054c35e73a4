//! Instants as the transcript writes them: `2026-12-01T00:07:10.123Z`.

/// Milliseconds since the epoch as ISO 8601 in UTC, with three decimals.
pub(crate) fn iso(ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

/// The opposite; none if it is not an instant.
pub(crate) fn parse(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_round_trip_with_three_decimals() {
        assert_eq!(iso(1_796_083_630_120), "2026-12-01T00:07:10.120Z");
        assert_eq!(parse("2026-12-01T00:07:10.120Z"), Some(1_796_083_630_120));
        assert_eq!(parse("2026-12-01T01:07:10.12+01:00"), Some(1_796_083_630_120));
        assert_eq!(parse("yesterday"), None);
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
    }
}
