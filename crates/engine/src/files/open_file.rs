//! The file that a thread has open.

use std::os::fd::OwnedFd;

use plimsoll_workload::files::Passage;

use super::candidate::Taken;

/// See the module.
pub(crate) struct OpenFile {
    pub(crate) file: OwnedFd,
    pub(crate) taken: Taken,
    pub(crate) passage: Passage,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// Whether something was written to it.
    pub(crate) wrote: bool,
}

/// Memory at a page's start, as direct I/O asks for.
pub(crate) struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

const PAGE_BYTES: usize = 4096;

impl PageBuffer {
    pub(crate) fn new(len: usize) -> Self {
        let memory = vec![0u8; if len == 0 { 0 } else { len + PAGE_BYTES }];
        let start = memory.as_ptr().align_offset(PAGE_BYTES).min(memory.len() - len);
        Self { memory, start, len }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}
