//! Paths as they are shown: a byte that is no UTF-8 as `\xff`, as a shell takes it in `$'…'` and as the Python side shows it.
//!
//! ```
//! use std::os::unix::ffi::OsStrExt;
//! let name = std::ffi::OsStr::from_bytes(b"/data/\xff.img");
//! assert_eq!(plimsoll_engine::shown(name).to_string(), r"/data/\xff.img");
//! ```

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;

/// See [`shown`].
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(&'a OsStr);

/// A path or name, to be written into a sentence.
pub fn shown(name: &(impl AsRef<OsStr> + ?Sized)) -> Shown<'_> {
    Shown(name.as_ref())
}

impl Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_bytes().utf8_chunks() {
            out.write_str(chunk.valid())?;
            chunk.invalid().iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}
