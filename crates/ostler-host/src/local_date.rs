//! Today's date where the person is. The zone is read from the one file that names it: asking for
//! it by name walks the whole time zone database, which costs a new process milliseconds.

use jiff::{Timestamp, tz::TimeZone};

/// The system's own zone.
const LOCALTIME: &str = "/etc/localtime";

/// The date at this time, ms since the epoch, in the zone of `TZ` or the system: `2026-01-31`.
pub(crate) fn local_date(now_ms: i64, tz: Option<&str>) -> String {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    now.to_zoned_datetime(zone(tz)).strftime("%Y-%m-%d").to_string()
}

fn zone(tz: Option<&str>) -> TimeZone {
    let own = || TimeZone::tzif("local", &std::fs::read(LOCALTIME).ok()?).ok();
    // A zone that is named must be looked up.
    if tz.is_some() { None } else { own() }.unwrap_or_else(TimeZone::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_file_says_what_the_system_says() {
        for now_ms in [0, 1_700_000_000_000, 1_782_864_000_000] {
            let now = Timestamp::from_millisecond(now_ms).unwrap();
            let there = now.to_zoned_datetime(TimeZone::system()).date().to_string();
            assert_eq!(local_date(now_ms, Some("as the system says")), there);
            if TimeZone::tzif("local", &std::fs::read(LOCALTIME).unwrap_or_default()).is_ok() {
                let zone = zone(None);
                assert_eq!(zone.iana_name(), Some("local"));
            }
        }
    }

    #[test]
    fn date_is_year_month_day() {
        let date = local_date(1_700_000_000_000, None);
        assert!(date.starts_with("2023-11-1") && date.len() == 10, "{date}");
    }
}
