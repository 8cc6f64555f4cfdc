//! Claims that processes of one run share.
//!
//! Model: one of them lends the open files that carry lock and claim ([`Session::lend`]), and the others take them over
//! ([`Session::borrow_claims`]). What is lent stays claimed until the last of them has ended, and nobody else gets it in between.
//!
//! Where no open file can be handed over (another machine, another container) the lock itself is shared: the first process
//! of a run has it alone for a moment, so nobody else is there, makes it a shared one, and the others elsewhere take theirs
//! ([`Elsewhere`]). Whoever else wants the target has to have it alone first, and is refused as long as one of them has its.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::error::TargetError;
use super::super::holder::locked as locked_by_others;
use super::super::place::places;
use super::super::spec::TargetSpec;
use super::{Claim, Lent, Purpose, Session, lock, locked};
use crate::safety::loops::Base;

/// An open file that carries something of a claim, on its way to another process.
#[derive(Debug)]
pub struct Loan {
    /// What it carries.
    pub carries: Carried,
    /// The file: whoever has a duplicate of it has the lock or claim.
    pub file: OwnedFd,
}

/// What an open file carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// The lock of a part that others may read, too.
    SharedLock,
    /// The lock of a part.
    Lock,
    /// The kernel's claim on the part before.
    Kernels,
    /// Nothing but the word that a process elsewhere on this machine has the kernel's claim on that part.
    KernelsThere,
    /// The lock of what is below a part.
    Below,
}

/// Whether processes of the run that no open file reaches use a target, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Elsewhere {
    /// None does.
    Nobody,
    /// They will, once this process has claimed it.
    Follows,
    /// One on another machine has claimed it for all.
    Leads,
    /// One in another container of this machine has, the kernel's claim on a device among it.
    LeadsHere,
}

impl Session {
    /// Claims a target for reading or writing and lends that to other processes of this run: duplicates of the files that
    /// carry it. From now on the markers of its files say when they were last written only once they are released, by the
    /// process that claimed first.
    ///
    /// # Errors
    /// As claiming for a run of this process alone.
    pub fn lend(&self, spec: &TargetSpec, writes: bool, elsewhere: Elsewhere) -> Result<Vec<Loan>, TargetError> {
        let purpose = if writes { Purpose::Write } else { Purpose::Read };
        let mut loans = Vec::new();
        for place in &places(spec.parts())? {
            if matches!(elsewhere, Elsewhere::Leads | Elsewhere::LeadsHere) {
                self.claims.join(place, purpose, elsewhere == Elsewhere::LeadsHere)?;
            }
            self.claims.take(place, purpose)?;
            let duplicate = |file: &File| file.try_clone().map_err(TargetError::io(place.path(), "share its lock"));
            let mut parts = locked(&self.claims.parts);
            let Some(claim) = place.base().and_then(|base| parts.get_mut(&base)) else { continue };
            if elsewhere == Elsewhere::Follows && claim.exclusive {
                // Between the two locks somebody else can come, who then has it.
                lock(&claim.locked, Purpose::Read).map_err(|()| locked_by_others(place.path(), &claim.locked))?;
            }
            if claim.lent == Lent::No {
                claim.lent = Lent::Out;
            }
            let carries = if claim.exclusive { Carried::Lock } else { Carried::SharedLock };
            loans.push(Loan { carries, file: duplicate(&claim.locked)?.into() });
            if let Some(kernels) = &claim.kernels {
                loans.push(Loan { carries: Carried::Kernels, file: duplicate(kernels)?.into() });
            }
            if claim.kernels_there {
                loans.push(Loan { carries: Carried::KernelsThere, file: duplicate(&claim.locked)?.into() });
            }
        }
        for file in locked(&self.claims.below).values() {
            let duplicate = file.try_clone().map_err(TargetError::io(Path::new("/proc/self/fd"), "share a lock"))?;
            loans.push(Loan { carries: Carried::Below, file: duplicate.into() });
        }
        Ok(loans)
    }

    /// Gives up what is claimed of a target for reading alone, so that a process elsewhere can claim it for writing first.
    ///
    /// # Errors
    /// When the target cannot be looked at.
    pub fn forgo_reading(&self, spec: &TargetSpec) -> Result<(), TargetError> {
        let mut parts = locked(&self.claims.parts);
        for place in &places(spec.parts())? {
            if let Some(base) = place.base().filter(|base| parts.get(base).is_some_and(|claim| !claim.exclusive)) {
                parts.remove(&base);
            }
        }
        Ok(())
    }

    /// Takes over what another process of this run has lent; what is known of it here already stays known.
    ///
    /// # Errors
    /// When one of the files cannot be looked at.
    pub fn borrow_claims(&self, loans: Vec<Loan>) -> io::Result<()> {
        let mut last = None;
        for Loan { carries, file } in loans {
            let file = File::from(file);
            let base = Base::of(&file.metadata()?);
            match carries {
                Carried::SharedLock | Carried::Lock => {
                    let mut parts = locked(&self.claims.parts);
                    let allowed = parts.get(&base).is_some_and(|claim| claim.allowed);
                    let exclusive = carries == Carried::Lock;
                    parts.insert(
                        base,
                        Claim { locked: file, exclusive, kernels: None, kernels_there: false, allowed, lent: Lent::In },
                    );
                    last = Some(base);
                }
                Carried::Kernels => {
                    let mut parts = locked(&self.claims.parts);
                    if let Some(claim) = last.and_then(|base| parts.get_mut(&base)) {
                        claim.kernels = Some(file);
                    }
                }
                Carried::KernelsThere => {
                    let mut parts = locked(&self.claims.parts);
                    if let Some(claim) = parts.get_mut(&base) {
                        claim.kernels_there = true;
                    }
                }
                Carried::Below => {
                    locked(&self.claims.below).insert(base, file);
                }
            }
        }
        Ok(())
    }
}
