//! Volumes carved from groups, and the target that the host makes of them.

use super::report::Names;
use super::topology::Group;
use crate::limit::Limit;
use crate::spec::{ArraySpec, SpecError, Spread, VolumeSet};
use crate::volume::{Stretch, Target, Volume};
use plimsoll_workload::units::bytes_to_words;

/// The volumes of all sets, carved from groups in turn.
pub(super) fn volumes(spec: &ArraySpec, groups: &[Group], names: &Names) -> Result<Vec<Volume>, SpecError> {
    let mut free: Vec<(u64, u64)> = groups.iter().map(|group| (0, group.geometry.data_sectors())).collect();
    let mut volumes = Vec::new();
    for set in &spec.volumes {
        carve(spec, set, &mut free, names, &mut volumes)?;
    }
    Ok(volumes)
}

/// Volumes begin at whole MiB: a controller carves in chunks of at least that.
const CHUNK_SECTORS: u64 = 2048;

/// How the volumes of a set lie on a group, in sectors: each begins so far behind the border of a chunk.
struct Carving {
    count: u64,
    offset: u64,
    /// What is free from the first border on.
    free: u64,
}

impl Carving {
    /// The most whole chunks that fit for each.
    fn even(&self) -> u64 {
        let between = (self.count - 1) * self.offset.next_multiple_of(CHUNK_SECTORS);
        self.free.saturating_sub(between + self.offset) / self.count / CHUNK_SECTORS * CHUNK_SECTORS
    }

    /// The longest that fit; of several all but the last end where a chunk does.
    fn most(&self) -> u64 {
        if self.count == 1 { self.free.saturating_sub(self.offset) } else { self.even() }
    }

    fn fits(&self, sectors: u64) -> bool {
        let one = u128::from(self.offset) + u128::from(sectors);
        let chunks = one.next_multiple_of(u128::from(CHUNK_SECTORS));
        u128::from(self.count - 1) * chunks + one <= u128::from(self.free)
    }
}

/// Carves a set of volumes from what is free of its groups.
fn carve(
    spec: &ArraySpec,
    set: &VolumeSet,
    free: &mut [(u64, u64)],
    names: &Names,
    out: &mut Vec<Volume>,
) -> Result<(), SpecError> {
    let place = |name: &String| spec.group.iter().position(|group| group.name == *name).unwrap_or(0);
    let groups: Vec<usize> = set.groups.iter().map(place).collect();
    let pieces = if set.spread == Spread::Joined { groups.len() as u64 } else { 1 };
    let border = |(begin, end): (u64, u64)| begin.next_multiple_of(CHUNK_SECTORS).min(end);
    let least = groups.iter().map(|&group| free[group].1 - border(free[group])).min().unwrap_or(0);
    let carving = Carving { count: set.count.into(), offset: u64::from(set.offset_bytes / 512), free: least };
    let sectors = set.size_bytes.map_or(carving.even(), |bytes| bytes / 512 / pieces);
    if sectors == 0 || !carving.fits(sectors) {
        return Err(spec.refusal(format!("volumes.{}.{}", set.name, misfit(set, pieces, &carving))));
    }
    let total = if set.spread == Spread::Joined { set.count as usize } else { set.count as usize * groups.len() };
    for number in 0..total {
        let own = if set.spread == Spread::Joined { groups.clone() } else { vec![groups[number / set.count as usize]] };
        let mut path: Vec<u16> = set.links.iter().map(|link| names.link(link)).collect();
        if !set.ports.is_empty() {
            path.push(names.link(&set.ports[number % set.ports.len()]));
        }
        let mut start = 0;
        let stretches = own.iter().map(|&group| {
            let lba = border(free[group]) + carving.offset;
            let stretch = Stretch { start, sectors, group: group as u16, lba };
            free[group].0 = lba + sectors;
            start += sectors;
            stretch
        });
        let stretches: Vec<Stretch> = stretches.collect();
        let name = if total > 1 { format!("{}[{number}]", set.name) } else { set.name.clone() };
        let limit = set.limit.as_ref().map(|limit| Box::new(Limit::new(limit)));
        out.push(Volume { name, stretches, sectors: sectors * own.len() as u64, path, limit });
    }
    Ok(())
}

/// The key that keeps the volumes of a set from being carved, and why; each has `pieces`.
fn misfit(set: &VolumeSet, pieces: u64, carving: &Carving) -> String {
    let most = carving.most() * 512 * pieces;
    let (told, does) =
        if set.count == 1 { ("1 volume".into(), "does") } else { (format!("{} volumes", set.count), "do") };
    match set.size_bytes {
        None => format!(
            "count: what is free of the groups is less than 1 MiB for each of {told}; write fewer, or more devices"
        ),
        Some(bytes) if bytes < 512 * pieces => format!(
            "size_bytes: {bytes} bytes are less than a sector in each group, {} bytes; write the size in bytes, at most {most}",
            512 * pieces
        ),
        Some(bytes) => format!("size_bytes: {told} of {} {does} not fit; write at most {most}", bytes_to_words(bytes)),
    }
}

/// What requests are addressed to, of the volumes that the host uses.
pub(super) fn target(spec: &ArraySpec, volumes: &[Volume]) -> Result<Target, SpecError> {
    let mut chosen = Vec::new();
    for wanted in &spec.host.volumes {
        let is_it = |volume: &Volume| {
            volume.name == *wanted || volume.name.split_once('[').is_some_and(|(set, _)| set == wanted)
        };
        let found = (0..volumes.len() as u16).filter(|&number| is_it(&volumes[usize::from(number)]));
        let before = chosen.len();
        chosen.extend(found);
        if chosen.len() == before {
            let known: Vec<&str> = volumes.iter().map(|volume| volume.name.as_str()).collect();
            return Err(
                spec.refusal(format!("host.volumes: there is no volume `{wanted}`; there are {}", known.join(", ")))
            );
        }
    }
    if chosen.is_empty() {
        chosen = (0..volumes.len() as u16).collect();
    }
    let target = Target::new(volumes, chosen, u64::from(spec.host.stripe_bytes / 512));
    if target.sectors == 0 {
        return Err(spec.refusal("host.stripe_bytes: a volume is smaller than one unit; write less"));
    }
    Ok(target)
}
