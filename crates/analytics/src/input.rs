//! Files of rows that a workflow reads: made beforehand, known by what their note says.
//!
//! Model: the rows go to a file beside the final one, which then takes its name; its sums are returned, to be noted by whoever made it.
//! A file of text has the same rows, one a line.

use std::path::Path;

use crate::disk::Disk;
use crate::error::Trouble;
use crate::meter::{Meter, Silent};
use crate::row::{self, ROW_BYTES, Rows};
use crate::tally::Tally;

/// How often it is told how many rows there are.
const TOLD_EVERY: u64 = 1 << 18;

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Sums of all rows.
    pub tally: Tally,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Writes so many rows to a new file. `told` hears how many bytes of rows there are, and says whether to go on; without leave to go on
/// there is no file and no answer.
///
/// # Errors
/// When the file cannot be written.
pub fn write_input(
    path: &Path,
    rows: Rows,
    number: u64,
    mut told: impl FnMut(u64) -> bool,
) -> Result<Option<Made>, Trouble> {
    written(path, rows, number, &mut told, |row, file| file.extend_from_slice(row))
}

/// The same as lines of text.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(
    path: &Path,
    rows: Rows,
    number: u64,
    mut told: impl FnMut(u64) -> bool,
) -> Result<Option<Made>, Trouble> {
    written(path, rows, number, &mut told, row::csv_line)
}

fn written(
    path: &Path,
    rows: Rows,
    number: u64,
    told: &mut impl FnMut(u64) -> bool,
    form: impl Fn(&[u8], &mut Vec<u8>),
) -> Result<Option<Made>, Trouble> {
    let mut silent = Silent;
    let meter = Meter::new(&mut silent);
    let folder = path.parent().unwrap_or(Path::new("."));
    let disk = Disk { folder, buffer_bytes: 1 << 20, direct: false, flush_at_close: true, meter: &meter };
    let beside = format!("{}.part", path.file_name().unwrap_or_default().to_string_lossy());
    let mut file = disk.writer(&beside)?;
    let (mut tally, mut row, mut text) = (Tally::default(), row::EMPTY, Vec::new());
    for place in 0..number {
        rows.make(place, &mut row);
        tally.add(&row);
        text.clear();
        form(&row, &mut text);
        file.push(&text)?;
        if (place + 1).is_multiple_of(TOLD_EVERY) && !told((place + 1) * ROW_BYTES as u64) {
            drop(file);
            disk.remove(&beside)?;
            return Ok(None);
        }
    }
    let bytes = file.finish()?;
    std::fs::rename(disk.path(&beside), path).map_err(Trouble::io("name it", path))?;
    Ok(Some(Made { tally, bytes }))
}
