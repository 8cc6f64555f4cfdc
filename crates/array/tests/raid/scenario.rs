//! A life of a group: random writes, reads, failures within its redundancy, replacements and rebuilds, all checked.

use plimsoll_array::raid::{
    Extent, Geometry, GroupSpec, Layout, Level, MemberState, Rebuild, RebuildChunk, WriteChoice,
};
use plimsoll_workload::rng::Draws;

use super::mapping::Mapping;
use super::oracle::Oracle;
use super::reference::Reference;

/// Numbers in turn.
pub struct Dice {
    draws: Draws,
    index: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self { draws: Draws::new(seed, &[5]), index: 0 }
    }

    /// In `0..bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.index += 1;
        ((u128::from(self.draws.at(self.index)) * u128::from(bound)) >> 64) as u64
    }

    /// A third each: a few sectors, about a strip or a row, anything up to several rows.
    pub fn extent(&mut self, reference: &Reference) -> Extent {
        let row = reference.strip * u64::from(reference.data);
        let limit = [3, 2 * row, 5 * row * u64::from(reference.groups)][self.below(3) as usize];
        let (mut lba, mut sectors) = (self.below(reference.data_sectors), 1 + self.below(limit));
        if self.below(4) == 0 {
            (lba, sectors) = (lba / row * row, sectors.div_ceil(row) * row);
        }
        Extent { lba, sectors: sectors.min(reference.data_sectors - lba) as u32 }
    }
}

/// Which of these things may happen in a life.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Healthy,
    Failing,
}

pub const DEVICE_SECTORS: u64 = 67;

/// Lives `steps` steps; the first rule broken, with the step.
pub fn live<M: Mapping>(mapping: &M, spec: &GroupSpec, life: Life, seed: u64, steps: u64) -> Result<(), String> {
    let mut oracle = Oracle::new(mapping, Reference::new(spec, DEVICE_SECTORS));
    let mut dice = Dice::new(seed);
    let mut rebuilds: Vec<Rebuild> = Vec::new();
    let mut chunk = RebuildChunk::default();
    for step in 0..steps {
        let done = match dice.below(if life == Life::Healthy { 8 } else { 12 }) {
            0..5 => oracle.write(dice.extent(&oracle.reference)),
            5..8 => oracle.read(dice.extent(&oracle.reference)),
            8 => {
                fail_one(&mut oracle, &mut rebuilds, &mut dice);
                Ok(())
            }
            9 => {
                replace_one(&mut oracle, &mut rebuilds, &mut dice);
                Ok(())
            }
            _ => rebuild_one(&mut oracle, &mut rebuilds, &mut chunk, &mut dice),
        };
        done.map_err(|sentence| format!("{spec:?}, seed {seed}, step {step}: {sentence}"))?;
    }
    oracle.check_all().map_err(|sentence| format!("{spec:?}, seed {seed}, at the end: {sentence}"))
}

/// A member fails whose group can bear it.
fn fail_one<M: Mapping>(oracle: &mut Oracle<M>, rebuilds: &mut Vec<Rebuild>, dice: &mut Dice) {
    let reference = &oracle.reference;
    let redundancy = if reference.parities > 0 { reference.parities } else { u32::from(reference.members) - 1 };
    let device = dice.below(u64::from(reference.spec.devices)) as u16;
    let group = device / reference.members;
    let missing = (group * reference.members..(group + 1) * reference.members)
        .filter(|&other| other != device && oracle.members.state(other) != MemberState::Present)
        .count();
    if (missing as u32) < redundancy {
        rebuilds.retain(|rebuild| rebuild.device() != device);
        oracle.fail(device);
    }
}

fn replace_one<M: Mapping>(oracle: &mut Oracle<M>, rebuilds: &mut Vec<Rebuild>, dice: &mut Dice) {
    let device = dice.below(u64::from(oracle.reference.spec.devices)) as u16;
    let failed = (0..oracle.reference.spec.devices).find(|&other| {
        let device = (device + other) % oracle.reference.spec.devices;
        oracle.members.state(device) == MemberState::Failed
    });
    if let Some(device) = failed.map(|other| (device + other) % oracle.reference.spec.devices) {
        oracle.replace(device);
        rebuilds.push(Rebuild::new(device, 1 + dice.below(20) as u32, &geometry(&oracle.reference.spec)));
    }
}

fn rebuild_one<M: Mapping>(
    oracle: &mut Oracle<M>,
    rebuilds: &mut Vec<Rebuild>,
    chunk: &mut RebuildChunk,
    dice: &mut Dice,
) -> Result<(), String> {
    if rebuilds.is_empty() {
        return Ok(());
    }
    let index = dice.below(rebuilds.len() as u64) as usize;
    if !oracle.rebuild(&mut rebuilds[index], chunk)? {
        rebuilds.swap_remove(index);
    }
    Ok(())
}

pub fn geometry(spec: &GroupSpec) -> Geometry {
    Geometry::new(spec, DEVICE_SECTORS).unwrap()
}

/// Groups of every level, layout and choice, with strips of odd and even lengths and outer strips below and above a row.
pub fn groups() -> Vec<GroupSpec> {
    use Level::{Erasure, Raid0, Raid1, Raid5, Raid6, Raid10, Raid50, Raid60};
    let mut groups: Vec<GroupSpec> =
        [(Raid0, 1, 4), (Raid0, 5, 3), (Raid1, 2, 4), (Raid1, 3, 5), (Raid10, 6, 4), (Raid10, 10, 1)]
            .map(|(level, devices, strip)| GroupSpec::new(level, devices, strip))
            .to_vec();
    groups.push(GroupSpec { groups: Some(2), ..GroupSpec::new(Raid10, 6, 4) });
    let layouts =
        [Layout::LeftSymmetric, Layout::LeftAsymmetric, Layout::RightSymmetric, Layout::RightAsymmetric].map(Some);
    let choices = [WriteChoice::FewestIos, WriteChoice::ReadModifyWrite, WriteChoice::Reconstruct].map(Some);
    for (level, devices, strip) in
        [(Raid5, 3, 1), (Raid5, 4, 4), (Raid5, 7, 3), (Raid6, 4, 4), (Raid6, 5, 3), (Raid6, 9, 2)]
    {
        for layout in layouts {
            for write_choice in choices {
                groups.push(GroupSpec { layout, write_choice, ..GroupSpec::new(level, devices, strip) });
            }
        }
    }
    for (level, devices, count, outer) in
        [(Raid50, 8, 2, None), (Raid50, 9, 3, Some(4)), (Raid60, 10, 2, None), (Raid60, 12, 2, Some(20))]
    {
        let nested = GroupSpec::new(level, devices, 4);
        groups.push(GroupSpec { groups: Some(count), outer_strip_sectors: outer, ..nested });
    }
    for (parities, devices, count, strip) in
        [(1, 2, 1, 4), (3, 7, 1, 3), (4, 9, 1, 2), (3, 4, 1, 5), (2, 12, 2, 4), (3, 10, 2, 3)]
    {
        for write_choice in choices {
            let coded = GroupSpec { write_choice, ..GroupSpec::new(Erasure, devices, strip) };
            groups.push(GroupSpec { parities: Some(parities), groups: Some(count), ..coded });
        }
    }
    groups
}
