//! Small files that are there whole or not at all, and stay: written beside, made durable, renamed into place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Puts `text` and a line end into the file at `path`, in place of what it held.
///
/// # Errors
/// The operating system's; then `path` is as it was.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.sync_all()?;
    fs::rename(&temporary, path)?;
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}
