//! Planted bugs: each of them, and only it, must make the oracle complain; otherwise the oracle proves nothing.

use plimsoll_array::raid::{
    Extent, Geometry, GroupSpec, Layout, Level, Lost, MemberState, Members, Piece, Rebuild, RebuildChunk, WritePlan,
};

use super::mapping::Mapping;
use super::scenario::{Life, geometry, live};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    RotationOffByOne,
    ParityNotWritten,
    OldParityNotRead,
    OneReadMissing,
    SurvivorNotRead,
    MergedAcrossAGap,
    RebuiltPartNotWritten,
    ChunkSkipped,
    ChunkOfAnotherPlace,
    RowNotLocked,
    LastRowNotLocked,
}

struct Wrong {
    geometry: Geometry,
    bug: Bug,
}

impl Wrong {
    /// The geometry one row further, put back by a strip: every row has the rotation of the next.
    fn shifted(&self, extent: Extent) -> Option<(Extent, u64)> {
        let row = self.geometry.row_sectors();
        let fits = extent.lba + u64::from(extent.sectors) + row <= self.geometry.data_sectors();
        let strip = row / (u64::from(self.geometry.members_per_group()) - 1);
        (self.bug == Bug::RotationOffByOne && fits).then_some((Extent { lba: extent.lba + row, ..extent }, strip))
    }
}

impl Mapping for Wrong {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn read(&self, extent: Extent, members: &Members, out: &mut Vec<Piece>) -> Result<u64, Lost> {
        let xor_bytes = self.geometry.read(extent, members, |_, _| 0, out)?;
        match self.bug {
            Bug::SurvivorNotRead if xor_bytes > 0 => drop(out.pop()),
            Bug::MergedAcrossAGap if out.len() > 5 => out[0].sectors += out.pop().map_or(0, |piece| piece.sectors),
            _ => {}
        }
        Ok(xor_bytes)
    }

    fn write(&self, extent: Extent, members: &Members, plan: &mut WritePlan) -> Result<(), Lost> {
        if let Some((extent, strip)) = self.shifted(extent) {
            self.geometry.write(extent, members, plan)?;
            plan.reads.iter_mut().chain(&mut plan.writes).for_each(|piece| piece.lba -= strip);
            plan.rows.iter_mut().for_each(|span| span.first -= 1);
            return Ok(());
        }
        self.geometry.write(extent, members, plan)?;
        match self.bug {
            Bug::ParityNotWritten if plan.choices.modified > 0 => drop(plan.writes.pop()),
            Bug::OldParityNotRead if plan.choices.modified > 0 => drop(plan.reads.pop()),
            Bug::OneReadMissing if plan.choices.reconstructed + plan.choices.recovered > 0 => drop(plan.reads.pop()),
            Bug::RowNotLocked => plan.rows.clear(),
            Bug::LastRowNotLocked => plan.rows[0].count -= u32::from(plan.rows[0].count > 1),
            Bug::RebuiltPartNotWritten => {
                let present = |piece: &Piece| members.state(piece.device) == MemberState::Present;
                plan.writes.retain(present);
            }
            _ => {}
        }
        Ok(())
    }

    fn chunk(&self, rebuild: &mut Rebuild, members: &Members, chunk: &mut RebuildChunk) -> Result<bool, Lost> {
        let before = rebuild.next_lba();
        let more = rebuild.next(&self.geometry, members, chunk)?;
        match self.bug {
            Bug::ChunkSkipped if more && before > 0 => rebuild.next(&self.geometry, members, chunk),
            Bug::ChunkOfAnotherPlace if more && before > 0 => {
                chunk.reads.iter_mut().for_each(|piece| piece.lba -= 1);
                Ok(true)
            }
            _ => Ok(more),
        }
    }
}

/// What the oracle says of some lives with a bug.
fn complaint(spec: &GroupSpec, bug: Bug, life: Life) -> Option<String> {
    let wrong = Wrong { geometry: geometry(spec), bug };
    (0..20).find_map(|seed| live(&wrong, spec, life, seed, 300).err())
}

fn raid5() -> GroupSpec {
    GroupSpec::new(Level::Raid5, 5, 4)
}

#[test]
fn without_a_bug_nothing_is_complained_of() {
    assert_eq!(complaint(&raid5(), Bug::None, Life::Healthy), None);
    assert_eq!(complaint(&raid5(), Bug::None, Life::Failing), None);
}

#[test]
fn parity_that_rotates_one_row_early_is_caught() {
    for layout in [Layout::LeftSymmetric, Layout::RightAsymmetric] {
        let spec = GroupSpec { layout: Some(layout), ..raid5() };
        assert!(complaint(&spec, Bug::RotationOffByOne, Life::Healthy).is_some(), "{layout:?}");
    }
}

#[test]
fn every_other_layout_than_the_one_that_was_asked_for_is_caught() {
    let layouts = [Layout::LeftSymmetric, Layout::LeftAsymmetric, Layout::RightSymmetric, Layout::RightAsymmetric];
    for level in [Level::Raid5, Level::Raid6] {
        for asked in layouts {
            let spec = GroupSpec { layout: Some(asked), ..GroupSpec::new(level, 5, 4) };
            for built in layouts.into_iter().filter(|&built| built != asked) {
                let wrong = geometry(&GroupSpec { layout: Some(built), ..spec.clone() });
                assert!(live(&wrong, &spec, Life::Healthy, 1, 300).is_err(), "{level:?}: {built:?} for {asked:?}");
            }
        }
    }
}

#[test]
fn wrong_plans_of_healthy_groups_are_caught() {
    for bug in [
        Bug::ParityNotWritten,
        Bug::OldParityNotRead,
        Bug::OneReadMissing,
        Bug::MergedAcrossAGap,
        Bug::RowNotLocked,
        Bug::LastRowNotLocked,
    ] {
        assert!(complaint(&raid5(), bug, Life::Healthy).is_some(), "{bug:?}");
    }
}

#[test]
fn wrong_degraded_operation_and_wrong_rebuilds_are_caught() {
    let coded = GroupSpec { parities: Some(3), ..GroupSpec::new(Level::Erasure, 7, 4) };
    for spec in [raid5(), GroupSpec::new(Level::Raid6, 6, 4), coded] {
        for bug in [Bug::SurvivorNotRead, Bug::RebuiltPartNotWritten, Bug::ChunkSkipped, Bug::ChunkOfAnotherPlace] {
            assert!(complaint(&spec, bug, Life::Failing).is_some(), "{bug:?} in {:?}", spec.level);
        }
    }
}
