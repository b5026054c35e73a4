//! The arithmetic of the benches: medians, because one slow run on a shared machine must not
//! move a figure. No I/O.

use anyhow::{Result, ensure};

/// The middle value, or the mean of the two in the middle.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Result<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    ensure!(!values.is_empty(), "there is no median of nothing: run it at least once");
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        return Ok(values[middle]);
    }
    Ok(f64::midpoint(values[middle - 1], values[middle]))
}

/// The median of `a / b` over pairs that were taken one right after the other.
pub(super) fn median_ratio(pairs: impl IntoIterator<Item = (f64, f64)>) -> Result<f64> {
    let mut ratios = Vec::new();
    for (a, b) in pairs {
        ensure!(b > 0.0, "a run took no time at all: the ratio to it means nothing");
        ratios.push(a / b);
    }
    median(ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_whatever_the_order() {
        assert_eq!(median([3.0, 1.0, 2.0]).unwrap(), 2.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]).unwrap(), 2.5);
        assert_eq!(median([7.0]).unwrap(), 7.0);
        assert!(median([]).is_err());
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(median([1.0, 1.0, 1.0, 1.0, 1000.0]).unwrap(), 1.0);
    }

    #[test]
    fn ratio_is_taken_pair_by_pair() {
        // The machine slowed down three times over; each pair still shows a factor of two.
        let pairs = [(2.0, 1.0), (6.0, 3.0), (18.0, 9.0)];
        assert_eq!(median_ratio(pairs).unwrap(), 2.0);
        assert!(median_ratio([(1.0, 0.0)]).is_err());
    }
}
