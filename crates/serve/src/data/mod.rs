//! The bytes of a served array: the model has times only.
//!
//! Model: a range of bytes that reads as zeros until it is written; [`memory`] and [`file`] keep what was written, [`derived`]
//! keeps nothing because every byte follows from its address. Calls come from several threads at once; two that touch the
//! same bytes at the same time may take turns in any order, as on a device.
//!
//! Limits: nothing here is durable before [`Data::finish`]; a flush is modelled, not carried out.

pub mod derived;
pub mod file;
pub mod memory;

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::ServeError;

/// Where the bytes are, as a request to serve says it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Keeping {
    /// In memory, as far as they were written.
    Memory {
        /// How many bytes may be kept.
        bound_bytes: u64,
    },
    /// In a sparse file.
    File {
        /// Which.
        path: PathBuf,
    },
    /// Nowhere: they follow from their addresses.
    Derived,
}

/// What a report says of the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// `memory`, `file` or `derived`.
    pub kind: &'static str,
    /// Bytes held in memory.
    pub kept_bytes: u64,
    /// How many there may be; 0 without a bound.
    pub bound_bytes: u64,
    /// Writes that were refused for want of room.
    pub refused_writes: u64,
    /// Writes of other bytes than an address has, which were dropped.
    pub differing_writes: u64,
}

/// See the module. Ranges lie inside the array; the server checks.
pub trait Data: Send + Sync + std::fmt::Debug {
    /// Fills a buffer.
    ///
    /// # Errors
    /// Those of the file.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Takes bytes.
    ///
    /// # Errors
    /// ENOSPC when there is no room for more; those of the file.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes bytes zero and frees their room.
    ///
    /// # Errors
    /// As `write`.
    fn clear(&self, offset: u64, len: u64) -> io::Result<()>;

    /// What is to be said of them.
    fn kept(&self) -> Kept;

    /// Makes durable what is to stay.
    ///
    /// # Errors
    /// Those of the file.
    fn finish(&self) -> io::Result<()>;
}

/// Opens what was asked for.
///
/// # Errors
/// When the file cannot be used.
pub fn open(keeping: &Keeping, size_bytes: u64) -> Result<Box<dyn Data>, ServeError> {
    Ok(match keeping {
        Keeping::Memory { bound_bytes } => Box::new(memory::Memory::new(*bound_bytes)),
        Keeping::File { path } => Box::new(file::SparseFile::open(path, size_bytes)?),
        Keeping::Derived => Box::new(derived::Derived::default()),
    })
}
