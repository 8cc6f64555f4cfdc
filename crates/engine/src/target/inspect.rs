//! What is at a target, without writing anything: for `plimsoll doctor`, for the record, and for warnings before a run.
//!
//! Limits: contents are sampled, see [`Sample`]; sizes of files that do not exist yet are those they would get now.
//!
//! ```no_run
//! let spec = "/data/scratch".parse().unwrap();
//! let found = plimsoll_engine::target::inspect(&spec).unwrap();
//! println!("{}", serde_json::to_string_pretty(&found).unwrap());
//! ```

use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::Serialize;

use super::device::{DirectIo, logical_block_bytes, rotational};
use super::error::TargetError;
use super::look::{Found, Pages, facts_in_passing};
use super::marker::Marker;
use super::open::MODELLED_BLOCK_BYTES;
use super::place::{Place, places};
use super::sample::Sample;
use super::scratch::default_size;
use super::spec::TargetSpec;
use crate::safety::device_number;
use crate::safety::{Facts, Permission, judge, path_text};
use crate::volume::Volume;

/// What is at a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// `file`, `device`, `concat`, `stripe`, `null`, `queue` or `array`.
    pub kind: &'static str,
    /// The canonical specification.
    pub spec: String,
    /// Resolved path of a target that is one file or device.
    #[serde(serialize_with = "path_text::maybe")]
    pub path: Option<PathBuf>,
    /// Every part exists.
    pub exists: bool,
    /// Numbers of it come from a model, not from hardware.
    pub modelled: bool,
    /// Size in bytes; of files that do not exist, the size they would get.
    pub size_bytes: u64,
    /// Alignment of direct I/O in bytes.
    pub logical_block_bytes: u32,
    /// Whether a part spins; `None` when no part's medium is known.
    pub rotational: Option<bool>,
    /// Every part is a scratch file of Plimsoll's.
    pub made_by_plimsoll: bool,
    /// Every part is a scratch file that a run left behind when it was killed.
    pub left_behind: bool,
    /// Why a workload that writes would be refused without further words, with what to type; `None` if it would not.
    pub write_refusal: Option<String>,
    /// The files and devices.
    pub parts: Vec<PartInspection>,
}

/// What is at one part of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartInspection {
    /// `file` or `device`; `file` also for what does not exist yet.
    pub kind: &'static str,
    /// Resolved path.
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    /// Whether it exists.
    pub exists: bool,
    /// Size in bytes; of a file that does not exist, the size it would get.
    pub size_bytes: u64,
    /// Alignment of direct I/O in bytes.
    pub logical_block_bytes: u32,
    /// Whether direct I/O is possible; `None` when the kernel does not say.
    pub direct: Option<bool>,
    /// Whether its medium spins.
    pub rotational: Option<bool>,
    /// It is a scratch file of Plimsoll's.
    pub made_by_plimsoll: bool,
    /// A run that was killed left it behind: whoever uses it next removes it.
    pub left_behind: bool,
    /// What a file is made of; `None` for devices and unreadable files.
    pub sample: Option<Sample>,
    /// What the safety rules go by; `None` for what does not exist.
    pub facts: Option<Facts>,
}

/// Looks at a target.
///
/// # Errors
/// A [`TargetError`] for what can be no target: a directory, a missing directory, a part given twice.
pub fn inspect(spec: &TargetSpec) -> Result<Inspection, TargetError> {
    let places = places(spec.parts())?;
    let count = places.len() as u64;
    let found: Vec<_> = spec.parts().iter().zip(&places).collect();
    let facts = facts_in_passing(&found, Pages::Kept);
    let parts: Vec<_> =
        found.into_iter().zip(facts).map(|(part, facts)| look(part, facts, count)).collect::<Result<_, _>>()?;
    let facts: Vec<_> = parts.iter().filter_map(|part| part.facts.clone()).collect();
    let block_bytes = parts.iter().map(|part| part.logical_block_bytes).max().unwrap_or(MODELLED_BLOCK_BYTES);
    let whole_blocks = |size: u64| size - size % u64::from(block_bytes);
    let sizes: Vec<_> = parts.iter().map(|part| whole_blocks(part.size_bytes)).collect();
    let (kind, volume) = match spec {
        TargetSpec::Part(_) => (parts[0].kind, Volume::concat(&sizes)),
        TargetSpec::Concat(_) => (spec.kind(), Volume::concat(&sizes)),
        TargetSpec::Stripe { unit_bytes, .. } => (spec.kind(), Volume::stripe(*unit_bytes, &sizes)),
        TargetSpec::Null { size_bytes } => (spec.kind(), Volume::Single { size_bytes: *size_bytes }),
        TargetSpec::Queue(queue) => (spec.kind(), Volume::Single { size_bytes: queue.size_bytes }),
        TargetSpec::Array(array) => (spec.kind(), Volume::Single { size_bytes: array.size_bytes }),
    };
    let media: Vec<bool> = parts.iter().filter_map(|part| part.rotational).collect();
    Ok(Inspection {
        kind,
        spec: spec.to_string(),
        path: if let [part] = parts.as_slice() { Some(part.path.clone()) } else { None },
        exists: parts.iter().all(|part| part.exists),
        modelled: parts.is_empty(),
        size_bytes: volume.size(),
        logical_block_bytes: block_bytes,
        rotational: if media.is_empty() { None } else { Some(media.contains(&true)) },
        made_by_plimsoll: !parts.is_empty() && parts.iter().all(|part| part.made_by_plimsoll),
        left_behind: !parts.is_empty() && parts.iter().all(|part| part.left_behind),
        write_refusal: judge(&facts, &Permission::default()).err().map(|refusal| refusal.to_string()),
        parts,
    })
}

impl Inspection {
    /// Why a workload that writes would be refused with this permission, as far as looking tells: the opener, which also takes the kernel's
    /// claim, judges once more.
    pub fn write_refusal_with(&self, permission: &Permission) -> Option<String> {
        let facts: Vec<_> = self.parts.iter().filter_map(|part| part.facts.clone()).collect();
        judge(&facts, permission).err().map(|refusal| refusal.to_string())
    }
}

fn look((part, place): Found<'_>, facts: Option<Facts>, parts: u64) -> Result<PartInspection, TargetError> {
    let path = place.path().to_owned();
    match place {
        Place::Missing { path: missing } => Ok(PartInspection {
            kind: "file",
            size_bytes: part.size_bytes.map_or_else(|| default_size(missing, parts), Ok)?,
            logical_block_bytes: block_of_directory(missing),
            direct: None,
            rotational: missing.parent().and_then(|directory| std::fs::metadata(directory).ok()).and_then(below),
            exists: false,
            made_by_plimsoll: false,
            left_behind: false,
            sample: None,
            path,
            facts,
        }),
        Place::File { metadata, handle, .. } => {
            let file = handle.open_for_reading().ok();
            let marker = Marker::of(&path, metadata);
            let direct = file.as_ref().map_or(DirectIo::Unknown, |file| DirectIo::of(file.as_fd()));
            Ok(PartInspection {
                kind: "file",
                exists: true,
                size_bytes: metadata.len(),
                logical_block_bytes: direct.block_bytes(device_number(metadata.dev())),
                direct: direct.is_possible(),
                rotational: below(metadata.clone()),
                made_by_plimsoll: marker.is_some(),
                left_behind: marker.is_some_and(|marker| marker.is_left_behind()),
                sample: file.and_then(|file| Sample::of(&file).ok()),
                path,
                facts,
            })
        }
        Place::Device { number, handle, .. } => {
            let block = handle.open_for_reading().and_then(|file| logical_block_bytes(file.as_fd()));
            Ok(PartInspection {
                kind: "device",
                exists: true,
                size_bytes: size_of(facts.as_ref()),
                logical_block_bytes: block.unwrap_or_else(|_| DirectIo::Unknown.block_bytes(*number)),
                direct: Some(true),
                rotational: rotational(*number),
                made_by_plimsoll: false,
                left_behind: false,
                sample: None,
                path,
                facts,
            })
        }
    }
}

/// Whether the medium below a file or directory spins.
fn below(metadata: std::fs::Metadata) -> Option<bool> {
    rotational(device_number(metadata.dev()))
}

/// The block a file would have that is made at `path`.
fn block_of_directory(path: &std::path::Path) -> u32 {
    let directory = path.parent().and_then(|directory| std::fs::metadata(directory).ok());
    DirectIo::Unknown.block_bytes(directory.map_or((0, 0), |metadata| device_number(metadata.dev())))
}

const fn size_of(facts: Option<&Facts>) -> u64 {
    match facts {
        Some(Facts::Device(device)) => device.size_bytes,
        _ => 0,
    }
}
