//! The figures of a run, as a table for people and as JSON for comparison. It says what machine
//! they come from and never when: the same figures give the same text.

use anyhow::{Result, ensure};
use serde_json::json;

use super::measure::Sample;
use super::stats::median;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    subject: String,
    metric: &'static str,
    value: f64,
    unit: &'static str,
}

impl Row {
    pub(super) fn new(subject: &str, metric: &'static str, value: f64, unit: &'static str) -> Self {
        Self { subject: subject.to_owned(), metric, value, unit }
    }
}

/// The medians of the samples of one process.
pub(super) fn rows_of(subject: &str, samples: &[Sample]) -> Result<Vec<Row>> {
    let wall = median(samples.iter().map(|sample| sample.wall.as_secs_f64() * 1e3))?;
    let cpu = median(samples.iter().map(|sample| sample.cpu.as_secs_f64() * 1e3))?;
    let peak = median(samples.iter().map(|sample| sample.peak_kib as f64 / 1024.0))?;
    Ok(vec![
        Row::new(subject, "wall", wall, "ms"),
        Row::new(subject, "cpu", cpu, "ms"),
        Row::new(subject, "peak memory", peak, "MiB"),
    ])
}

/// All figures of a run, and the machine.
#[derive(Debug)]
pub(super) struct Report {
    cores: usize,
    profile: &'static str,
    runs: usize,
    rows: Vec<(&'static str, Row)>,
}

impl Report {
    pub(super) fn of_this_machine(profile: &'static str, runs: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cores, profile, runs, rows: Vec::new() }
    }

    /// Adds the rows of a bench; one without a figure, or with a senseless one, is an error.
    pub(super) fn add(&mut self, bench: &'static str, rows: Vec<Row>) -> Result<()> {
        ensure!(!rows.is_empty(), "bench `{bench}` gave no figure");
        for row in rows {
            let sensible = row.value.is_finite() && row.value >= 0.0;
            ensure!(sensible, "bench `{bench}`: `{}` is {}", row.metric, row.value);
            self.rows.push((bench, row));
        }
        Ok(())
    }

    pub(super) fn table(&self) -> String {
        let Self { cores, profile, runs, .. } = self;
        let mut text = format!("{cores} cores, {profile} build, medians of {runs} runs\n");
        let head = ["bench", "subject", "metric"];
        let width = |column: usize| {
            let cells = self.rows.iter().map(|(bench, row)| cells(bench, row)[column].len());
            cells.chain([head[column].len()]).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let mut line = |cells: [&str; 3], value: &str| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
            text.push_str(&padded.collect::<String>());
            text.push_str(&format!("{value}\n"));
        };
        line(head, "     value");
        for (bench, row) in &self.rows {
            line(cells(bench, row), &format!("{:>10.3} {}", row.value, row.unit));
        }
        text
    }

    pub(super) fn json(&self) -> Result<String> {
        let row = |(bench, row): &(&str, Row)| {
            json!({
                "bench": bench, "subject": row.subject, "metric": row.metric,
                "value": row.value, "unit": row.unit,
            })
        };
        let report = json!({
            "machine": {
                "cores": self.cores, "os": std::env::consts::OS, "arch": std::env::consts::ARCH,
            },
            "profile": self.profile,
            "runs": self.runs,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        });
        Ok(format!("{}\n", serde_json::to_string_pretty(&report)?))
    }
}

fn cells<'a>(bench: &'a str, row: &'a Row) -> [&'a str; 3] {
    [bench, &row.subject, row.metric]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn report() -> Report {
        let mut report = Report { cores: 2, profile: "release", runs: 2, rows: Vec::new() };
        let sample = |ms| Sample {
            wall: Duration::from_millis(ms),
            cpu: Duration::from_millis(1),
            peak_kib: 2048,
            first: Duration::from_millis(1),
            lines: 1,
        };
        report.add("start", rows_of("ostler", &[sample(2), sample(4)]).unwrap()).unwrap();
        report
    }

    #[test]
    fn table_is_aligned() {
        assert_eq!(
            report().table(),
            "2 cores, release build, medians of 2 runs\n\
             bench  subject  metric            value\n\
             start  ostler   wall              3.000 ms\n\
             start  ostler   cpu               1.000 ms\n\
             start  ostler   peak memory       2.000 MiB\n"
        );
    }

    #[test]
    fn json_names_the_machine_and_every_figure() {
        let json: serde_json::Value = serde_json::from_str(&report().json().unwrap()).unwrap();
        assert_eq!(json["machine"]["cores"], 2);
        assert_eq!(json["rows"].as_array().unwrap().len(), 3);
        assert_eq!(json["rows"][0]["value"], 3.0);
        assert_eq!(json["rows"][2]["metric"], "peak memory");
    }

    #[test]
    fn bench_without_a_sensible_figure_is_refused() {
        let mut report = report();
        assert!(report.add("empty", Vec::new()).is_err());
        let error = report.add("odd", vec![Row::new("a", "ratio", f64::NAN, "x")]).unwrap_err();
        assert_eq!(error.to_string(), "bench `odd`: `ratio` is NaN");
    }
}
