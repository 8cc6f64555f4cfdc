//! One reading of the kernel's tables, by which all parts of a target are judged.
//!
//! Purpose: a target of hundreds of files costs one walk over all processes, not hundreds. Model: mounts, swap spaces,
//! loop devices and the descriptors of other processes, as they are when the survey is taken. Who judges what it holds
//! claims all of it first and takes the survey then, so that nobody can come in between unseen.
//!
//! Limits: programs that open a part after that are not seen, as with any look at the host.

use super::kernel_tables::{Mounts, Swaps};
use super::openers::Descriptors;
use super::stack::Stack;
use super::system::System;

/// See the module.
#[derive(Debug)]
pub struct Survey {
    pub(super) system: System,
    pub(super) mounts: Mounts,
    pub(super) swaps: Swaps,
    pub(super) stack: Stack,
    pub(super) descriptors: Descriptors,
}

impl Survey {
    /// What the tables say now.
    pub fn of(system: System) -> Self {
        Self {
            mounts: Mounts::of(&system),
            swaps: Swaps::of(&system),
            stack: Stack::of(&system),
            descriptors: Descriptors::of_others(&system),
            system,
        }
    }
}
