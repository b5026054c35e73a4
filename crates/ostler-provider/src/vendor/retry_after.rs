//! The pause that a vendor asks for (RFC 9110, 10.2.3, and the vendors' own header). Pure:
//! a date is compared with the answer's own date, so no clock is needed.

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The pause in milliseconds, if the headers ask for one.
pub(super) fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let text = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.trim());
    if let Some(ms) = text(HeaderName::from_static("retry-after-ms"))
        && let Some(ms) = number(ms)
    {
        return Some(whole(ms));
    }
    let after = text(RETRY_AFTER)?;
    if let Some(seconds) = number(after) {
        return Some(whole(seconds * 1000.0));
    }
    let (until, now) = (seconds(after)?, seconds(text(DATE)?)?);
    Some(u64::try_from(until - now).unwrap_or(0) * 1000)
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and `as` stops at the largest"
)]
fn whole(ms: f64) -> u64 {
    ms as u64
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds(date: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = date.split_once(", ")?.1.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = i64::try_from(MONTHS.iter().position(|month| *month == name)?).ok()? + 1;
    let year: i64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut time = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    // Days from the civil date, with years that begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(pairs: &[(&'static str, &str)]) -> Option<u64> {
        let headers = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        retry_after_ms(&headers.collect())
    }

    #[test]
    fn all_forms_are_read() {
        assert_eq!(ask(&[]), None);
        assert_eq!(ask(&[("retry-after", "2")]), Some(2000));
        assert_eq!(ask(&[("retry-after", "0.5"), ("retry-after-ms", "7")]), Some(7));
        assert_eq!(ask(&[("retry-after", "-1")]), None);
        assert_eq!(ask(&[("retry-after", "soon")]), None);
        let (now, then) = ("Wed, 31 Dec 1997 23:59:30 GMT", "Thu, 01 Jan 1998 00:00:30 GMT");
        assert_eq!(ask(&[("retry-after", then), ("date", now)]), Some(60_000));
        assert_eq!(ask(&[("retry-after", now), ("date", then)]), Some(0));
    }

    #[test]
    fn dates_count_from_1970() {
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Tue, 29 Feb 2000 12:00:00 GMT"), Some(951_825_600));
    }
}
