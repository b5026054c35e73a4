//! Today's date where the person is. The zone is read from the one file that names it: asking for
//! it by name walks the whole time zone database, which costs a new process milliseconds.

use std::path::Path;

use jiff::{Timestamp, tz::TimeZone};

/// The system's own zone.
const LOCALTIME: &str = "/etc/localtime";

/// The date at this time, ms since the epoch, in the zone of `TZ` or the system: `2026-01-31`.
pub(crate) fn local_date(now_ms: i64, tz: Option<&str>) -> String {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    let zone = if tz.is_some() { None } else { zone_of(Path::new(LOCALTIME)) };
    // A zone that is named must be looked up.
    let zone = zone.unwrap_or_else(TimeZone::system);
    now.to_zoned_datetime(zone).strftime("%Y-%m-%d").to_string()
}

/// The zone that a file describes.
fn zone_of(file: &Path) -> Option<TimeZone> {
    TimeZone::tzif("local", &std::fs::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone of one offset: the shortest file that RFC 8536 allows.
    fn file_of(hours: i32) -> Vec<u8> {
        let block = |version: u8| {
            let mut bytes = b"TZif".to_vec();
            bytes.push(version);
            bytes.extend([0; 15]);
            // Counts: UT, standard, leap, transitions, types, characters of names.
            bytes.extend([0_u32, 0, 0, 0, 1, 4].map(u32::to_be_bytes).concat());
            bytes.extend((hours * 3600).to_be_bytes());
            bytes.extend([0, 0]);
            bytes.extend(b"XYZ\0");
            bytes
        };
        let rule = format!("\nXYZ{}\n", -hours);
        [block(b'2'), block(b'2'), rule.into_bytes()].concat()
    }

    #[test]
    fn file_gives_the_offset() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("localtime");
        for (hours, date) in [(-12, "2023-11-14"), (9, "2023-11-15")] {
            std::fs::write(&file, file_of(hours)).unwrap();
            let there = Timestamp::from_second(1_700_000_000).unwrap();
            let there = there.to_zoned_datetime(zone_of(&file).unwrap());
            assert_eq!(there.date().to_string(), date);
        }
    }

    #[test]
    fn file_that_is_no_zone_gives_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("localtime");
        assert!(zone_of(&file).is_none());
        std::fs::write(&file, "Europe").unwrap();
        assert!(zone_of(&file).is_none());
    }

    #[test]
    fn date_is_year_month_day() {
        let date = local_date(1_700_000_000_000, None);
        assert!(date.starts_with("2023-11-1") && date.len() == 10, "{date}");
    }
}
