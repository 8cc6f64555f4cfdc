//! Figures of groups of rows: number, sum, mean, least, greatest and deviation of an amount by C1 and month.

use std::collections::BTreeMap;
use std::io::Write as _;

use crate::disk::Disk;
use crate::error::Trouble;
use crate::row;

/// Of one group; sums are exact, in steps of 2^-53.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    rows: u64,
    sum: u128,
    squares: f64,
    least: f64,
    greatest: f64,
}

/// By C1 and month.
#[derive(Debug, Default, PartialEq)]
pub struct Summary(BTreeMap<([u8; 8], i32), Figures>);

impl Summary {
    /// One more row.
    pub fn add(&mut self, row: &[u8]) {
        let mut class = [0; 8];
        class.copy_from_slice(&row[row::C1]);
        let figures = self.0.entry((class, row::month_of(row::date(row, 0)))).or_default();
        let value = row::number(row, 0);
        figures.least = if figures.rows == 0 { value } else { figures.least.min(value) };
        figures.greatest = figures.greatest.max(value);
        figures.rows += 1;
        figures.sum += u128::from(row::amount(row));
        figures.squares += value * value;
    }

    /// All groups together: rows and sum.
    pub fn totals(&self) -> (u64, u128) {
        self.0.values().fold((0, 0), |(rows, sum), figures| (rows + figures.rows, sum + figures.sum))
    }

    /// Writes a line for each group; the bytes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, disk: Disk<'_>, name: &str) -> Result<u64, Trouble> {
        let mut file = disk.writer(name)?;
        let mut line = Vec::new();
        for ((class, month), figures) in &self.0 {
            line.clear();
            let rows = figures.rows as f64;
            let sum = figures.sum as f64 / (1u64 << 53) as f64;
            let mean = sum / rows;
            let deviation = (figures.squares / rows - mean * mean).max(0.0).sqrt();
            let class = String::from_utf8_lossy(class);
            let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
            let figures = format!("{},{sum},{mean},{},{},{deviation}", figures.rows, figures.least, figures.greatest);
            let _ = writeln!(line, "{class},{year}-{month:02},{figures}");
            file.push(&line)?;
        }
        file.finish()
    }
}
