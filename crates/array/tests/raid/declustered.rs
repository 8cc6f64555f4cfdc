//! dRAID against a pool worked out cell by cell, that remembers which version of which record every sector holds.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_array::raid::{
    Extent, Geometry, GroupSpec, Level, Lost, MemberState, Members, Piece, Rebuild, RebuildChunk, WritePlan,
};

use super::scenario::Dice;

/// A sector of a member.
type At = (u16, u64);

/// The columns of a record, parity first: first sector and member of each, while nobody is missing.
struct Pool {
    spec: GroupSpec,
    geometry: Geometry,
    record: u64,
    members: u16,
    width: u64,
    disks: u64,
    height: u64,
    row: u64,
    /// Of each slice, who takes which place: found by asking where records lie.
    places: Vec<Vec<u16>>,
    /// Of each slice, who is in the place of which spare.
    spares: Vec<Vec<u16>>,
}

impl Pool {
    /// Rows, groups and places as the documents of OpenZFS draw them: groups side by side, row after row, until a slice is full.
    fn new(spec: &GroupSpec, device_sectors: u64) -> Self {
        let geometry = Geometry::new(spec, device_sectors).unwrap().with_rebuild_step(5);
        let members = spec.devices / spec.redundancy_groups();
        let data = spec.data_members(members);
        let (record, unit) = (u64::from(spec.record_sectors()), u64::from(spec.strip_sectors));
        let mut pool = Self {
            record,
            members,
            width: u64::from(data) + u64::from(spec.parities()),
            disks: u64::from(members - spec.distributed_spares()),
            height: (record / unit).div_ceil(data.into()) * unit,
            row: spec.row_sectors().into(),
            places: Vec::new(),
            spares: Vec::new(),
            spec: spec.clone(),
            geometry,
        };
        let slices = pool.geometry.member_sectors() / (pool.row * pool.rows());
        pool.places = (0..slices).map(|slice| pool.permutation(slice)).collect();
        pool.spares = (0..slices).map(|slice| pool.spare_places(slice)).collect();
        pool
    }

    /// Rows that hold whole groups: tried one by one.
    fn rows(&self) -> u64 {
        (1..).find(|rows| (rows * self.disks).is_multiple_of(self.width)).unwrap()
    }

    fn groups(&self) -> u64 {
        self.rows() * self.disks / self.width
    }

    fn per_group(&self) -> u64 {
        self.row / self.height
    }

    /// Records of one redundancy group.
    fn count(&self) -> u64 {
        self.places.len() as u64 * self.groups() * self.per_group()
    }

    fn records(&self) -> u64 {
        self.count() * u64::from(self.spec.redundancy_groups())
    }

    /// Who takes which place in a slice, from what a write of each first record of a group touches; spare places in no order.
    fn permutation(&self, slice: u64) -> Vec<u16> {
        let mut places = vec![u16::MAX; usize::from(self.members)];
        for group in 0..self.groups() {
            let record = (slice * self.groups() + group) * self.per_group();
            let lba = record * self.record * u64::from(self.spec.redundancy_groups());
            let mut plan = WritePlan::default();
            let whole = Extent { lba, sectors: self.record as u32 };
            self.geometry.write(whole, &self.geometry.members(), &mut plan).unwrap();
            assert_eq!(plan.writes.len() as u64, self.width);
            for (column, piece) in plan.writes.iter().enumerate() {
                let place = &mut places[((group * self.width + column as u64) % self.disks) as usize];
                assert!(*place == u16::MAX || *place == piece.device, "two members in one place of slice {slice}");
                *place = piece.device;
            }
        }
        let taken: BTreeSet<u16> = places.iter().copied().filter(|&place| place != u16::MAX).collect();
        assert_eq!(taken.len() as u64, self.disks, "a member has two places in slice {slice}");
        places
    }

    /// Where spares lie in a slice, from where rebuilds of members with data there go; the others that are spared have data there, too,
    /// so that nobody stands for anybody else in it.
    fn spare_places(&self, slice: u64) -> Vec<u16> {
        let sectors = self.row * self.rows();
        (0..usize::from(self.spec.distributed_spares()))
            .map(|spare| {
                let mut members = self.geometry.members();
                let data = &self.places[slice as usize];
                for &member in &data[..=spare] {
                    members.fail(member);
                    assert!(members.replace_by_distributed(member, &self.geometry));
                    if member != data[spare] {
                        members.rebuilt(member, self.geometry.member_sectors(), &self.geometry);
                    }
                }
                let (mut rebuild, mut chunk) = (Rebuild::new(data[spare], 5, &self.geometry), RebuildChunk::default());
                let mut found = BTreeSet::new();
                let mut steps = 0..=self.geometry.member_sectors();
                while rebuild.next(&self.geometry, &members, &mut chunk).unwrap() {
                    assert!(steps.next().is_some(), "a rebuild takes more steps than it has sectors");
                    if chunk.write.sectors > 0 && chunk.write.lba / sectors == slice {
                        found.insert(chunk.write.device);
                    }
                }
                assert_eq!(found.len(), 1, "a spare lies on one member in a slice");
                let place = found.first().copied().unwrap();
                assert!(!data[..self.disks as usize].contains(&place), "a spare lies where data do");
                place
            })
            .collect()
    }

    /// Of a record, each column's member and first sector.
    fn columns(&self, number: u64) -> Vec<At> {
        let groups = u64::from(self.spec.redundancy_groups());
        let (vdev, record) = (number % groups, number / groups);
        let (group, inside) = (record / self.per_group(), record % self.per_group());
        let (slice, group) = (group / self.groups(), group % self.groups());
        (0..self.width)
            .map(|column| {
                let linear = group * self.width + column;
                let row = slice * self.rows() + linear / self.disks;
                let member = self.places[slice as usize][(linear % self.disks) as usize];
                (vdev as u16 * self.members + member, row * self.row + inside * self.height)
            })
            .collect()
    }
}

fn pools() -> Vec<GroupSpec> {
    use Level::{Draid1, Draid2, Draid3};
    let spec = |level, devices, (data, spares), (unit, record, row), groups| GroupSpec {
        record_sectors: Some(record),
        data_members: Some(data),
        distributed_spares: Some(spares),
        row_sectors: Some(row),
        groups,
        ..GroupSpec::new(level, devices, unit)
    };
    vec![
        spec(Draid1, 2, (1, 0), (1, 1, 1), None),
        spec(Draid1, 4, (2, 1), (1, 6, 9), None),
        spec(Draid1, 5, (2, 2), (2, 10, 20), None),
        spec(Draid1, 7, (3, 1), (1, 2, 5), None),
        spec(Draid1, 10, (2, 1), (2, 8, 12), Some(2)),
        spec(Draid2, 7, (3, 1), (1, 7, 12), None),
        spec(Draid2, 9, (4, 2), (1, 13, 16), None),
        spec(Draid2, 11, (8, 1), (1, 16, 6), None),
        spec(Draid2, 18, (3, 2), (1, 3, 2), Some(2)),
        spec(Draid3, 9, (3, 2), (1, 5, 7), None),
        spec(Draid3, 12, (4, 3), (1, 4, 3), None),
        spec(Draid1, 70, (4, 2), (1, 8, 4), None),
    ]
}

/// Enough for some slices.
fn device_sectors(spec: &GroupSpec) -> u64 {
    let disks = u64::from(spec.devices / spec.redundancy_groups() - spec.distributed_spares());
    let width = u64::from(spec.data_members(0)) + u64::from(spec.parities());
    let rows = (1_u64..).find(|rows| (rows * disks).is_multiple_of(width)).unwrap();
    rows * u64::from(spec.row_sectors()) * 9 + 3
}

/// What every sector of every member holds: which version of which column of which record.
struct Oracle {
    pool: Pool,
    members: Members,
    /// By member: whether its own drive is there.
    stored: BTreeMap<At, (u64, usize, u32)>,
    versions: Vec<u32>,
}

impl Oracle {
    fn new(spec: &GroupSpec) -> Self {
        let pool = Pool::new(spec, device_sectors(spec));
        let (members, versions) = (pool.geometry.members(), vec![0; pool.records() as usize]);
        Self { pool, members, stored: BTreeMap::new(), versions }
    }

    fn touched(&self, extent: Extent) -> std::ops::RangeInclusive<u64> {
        extent.lba / self.pool.record..=(extent.lba + u64::from(extent.sectors) - 1) / self.pool.record
    }

    /// How many sectors of which column of which record were read, wherever they lie.
    fn gathered(&self, reads: &[Piece]) -> BTreeMap<(u64, usize), u64> {
        let (mut sectors, mut seen) = (BTreeMap::new(), BTreeSet::new());
        for (piece, lba) in reads.iter().flat_map(|piece| (piece.lba..piece.end()).map(move |lba| (piece, lba))) {
            assert!(!piece.write);
            if let Some(&(record, column, version)) = self.stored.get(&(piece.device, lba))
                && version == self.versions[record as usize]
                && seen.insert((record, column, lba))
            // a place that once stood for somebody may still have it
            {
                *sectors.entry((record, column)).or_default() += 1;
            }
        }
        sectors
    }

    /// Whether what was gathered gives a record: all its data, or as many whole columns as it has of data.
    fn knows(&self, gathered: &BTreeMap<(u64, usize), u64>, record: u64) -> bool {
        if self.versions[record as usize] == 0 {
            return true;
        }
        let parities = self.pool.spec.parities() as usize;
        let (unit, data) = (u64::from(self.pool.spec.strip_sectors), self.pool.width as usize - parities);
        let units = self.pool.record / unit;
        let filled = |which: usize| (units / data as u64 + u64::from((which as u64) < units % data as u64)) * unit;
        let read = |column: usize| gathered.get(&(record, column)).copied().unwrap_or(0);
        let whole = (0..data + parities).filter(|&column| read(column) == self.pool.height).count();
        whole >= data || (0..data).all(|which| read(parities + which) >= filled(which))
    }

    fn read(&self, extent: Extent) -> Result<(), Lost> {
        let mut pieces = Vec::new();
        self.pool.geometry.read(extent, &self.members, |_, _| 0, &mut pieces)?;
        let gathered = self.gathered(&pieces);
        for record in self.touched(extent) {
            assert!(self.knows(&gathered, record), "record {record} does not follow from what {extent:?} reads");
        }
        Ok(())
    }

    fn write(&mut self, extent: Extent) -> Result<(), Lost> {
        let mut plan = WritePlan::default();
        self.pool.geometry.write(extent, &self.members, &mut plan)?;
        let end = extent.lba + u64::from(extent.sectors);
        let (groups, gathered) = (u64::from(self.pool.spec.redundancy_groups()), self.gathered(&plan.reads));
        for record in self.touched(extent) {
            let start = record * self.pool.record;
            let whole = extent.lba <= start && end >= start + self.pool.record;
            assert!(whole || self.knows(&gathered, record), "record {record} is written in part and was not read");
            let locked = plan.rows.iter().filter(|span| {
                u64::from(span.group) == record % groups
                    && (span.first..span.first + u64::from(span.count)).contains(&(record / groups))
            });
            assert_eq!(locked.count(), 1, "record {record} is locked once");
        }
        self.store(&plan.writes, self.touched(extent));
        Ok(())
    }

    /// Takes what is written: at the height of a column only sectors of that column are written, and every column to one place at
    /// least that the members have for it.
    fn store(&mut self, writes: &[Piece], records: std::ops::RangeInclusive<u64>) {
        let mut written = BTreeSet::new();
        for piece in writes {
            for lba in piece.lba..piece.end() {
                assert!(written.insert((lba, piece.device)), "{piece:?} writes a sector again");
            }
        }
        for record in records {
            self.versions[record as usize] += 1;
            for (column, (member, first)) in self.pool.columns(record).into_iter().enumerate() {
                for lba in first..first + self.pool.height {
                    self.take(&mut written, (member, lba), (record, column, self.versions[record as usize]));
                }
            }
        }
        assert_eq!(written.first(), None, "what belongs to no record is written");
    }

    /// A sector of a column goes to its own member, or to those that stand for it.
    fn take(&mut self, written: &mut BTreeSet<(u64, u16)>, (member, lba): At, word: (u64, usize, u32)) {
        let mut own = false;
        for holder in self.chain(member, lba) {
            if written.remove(&(lba, holder)) {
                self.stored.insert((holder, lba), word);
                own = true;
            }
        }
        let present = self.members.state(member) == MemberState::Present && !self.members.is_spared(member);
        assert!(own || !present, "{word:?} is not written to member {member}, which is there");
    }

    /// A member, who is in the place of its spare, who is in that of theirs, and so on.
    fn chain(&self, member: u16, lba: u64) -> Vec<u16> {
        let slice = (lba / self.pool.row / self.pool.rows()) as usize;
        let mut found = vec![member];
        while let Some(spare) = found.last().and_then(|&last| self.members.spare_of(last)) {
            let first = member / self.pool.members * self.pool.members;
            found.push(first + self.pool.spares[slice][usize::from(spare)]);
            let most = 1 + usize::from(self.pool.spec.distributed_spares());
            assert!(found.len() <= most, "{found:?} stand for each other in a circle at sector {lba}");
        }
        found
    }

    fn fail(&mut self, device: u16) {
        self.members.fail(device);
        self.stored.retain(|&(of, _), _| of != device);
    }

    /// One step; `false` at the end.
    fn rebuild(&mut self, rebuild: &mut Rebuild, chunk: &mut RebuildChunk) -> Result<bool, Lost> {
        if !rebuild.next(&self.pool.geometry, &self.members, chunk)? {
            return Ok(false);
        }
        let groups = u64::from(self.pool.spec.redundancy_groups());
        let writes: Vec<Piece> = std::iter::once(chunk.write).chain(chunk.further.iter().copied()).collect();
        for piece in writes.iter().filter(|piece| piece.sectors > 0) {
            for row in chunk.rows.first..chunk.rows.first + u64::from(chunk.rows.count) {
                let record = row * groups + u64::from(chunk.rows.group);
                if rebuild.is_copying() && chunk.reads.len() == 1 {
                    // A copy of the column itself.
                    let from = chunk.reads[0].device;
                    for lba in chunk.reads[0].lba..chunk.reads[0].end() {
                        if let Some(&word) = self.stored.get(&(from, lba)) {
                            self.stored.insert((piece.device, lba), word);
                        }
                    }
                    continue;
                }
                assert!(
                    self.knows(&self.gathered(&chunk.reads), record),
                    "record {record} does not follow from {chunk:?}"
                );
                let lost = self.pool.columns(record).into_iter().enumerate().find(|(_, (member, lba))| {
                    (piece.lba..piece.end()).contains(lba) && self.chain(*member, *lba).contains(&rebuild.device())
                });
                let (column, (_, first)) = lost.expect("a step is about a column that the member had");
                if self.versions[record as usize] > 0 {
                    let word = (record, column, self.versions[record as usize]);
                    self.stored.extend((first..first + self.pool.height).map(|lba| ((piece.device, lba), word)));
                }
            }
        }
        if rebuild.is_copying() {
            self.members.return_to(rebuild.device(), chunk.end, &self.pool.geometry);
        } else {
            self.members.rebuilt(rebuild.device(), chunk.end, &self.pool.geometry);
        }
        Ok(true)
    }
}

fn extent(pool: &Pool, dice: &mut Dice) -> Extent {
    let all = pool.geometry.data_sectors();
    let most = [3, 2 * pool.record, 9 * pool.record][dice.below(3) as usize];
    let (mut lba, mut sectors) = (dice.below(all), 1 + dice.below(most));
    if dice.below(3) == 0 {
        (lba, sectors) = (lba / pool.record * pool.record, sectors.next_multiple_of(pool.record));
    }
    Extent { lba, sectors: sectors.min(all - lba) as u32 }
}

#[test]
fn every_data_sector_has_one_place_and_no_two_the_same() {
    for spec in pools() {
        let pool = Pool::new(&spec, device_sectors(&spec));
        let mut places = BTreeSet::new();
        for lba in 0..pool.geometry.data_sectors() {
            let (member, sector) = pool.geometry.locate(lba);
            assert!(places.insert((member, sector)), "{spec:?}: data sector {lba} lies where another one does");
            assert!(member < spec.devices && sector < pool.geometry.member_sectors());
        }
        // Columns with their zeros overlap nowhere either, and leave out just the spare places and what is no whole record.
        let mut cells = BTreeSet::new();
        for record in 0..pool.records() {
            for (member, first) in pool.columns(record) {
                assert!(
                    (first..first + pool.height).all(|lba| cells.insert((member, lba))),
                    "{spec:?}: record {record}"
                );
            }
        }
        let rows = pool.rows() * pool.places.len() as u64;
        let taken = rows * pool.disks * pool.per_group() * pool.height * u64::from(spec.redundancy_groups());
        assert_eq!(cells.len() as u64, taken);
        assert_eq!(pool.geometry.data_sectors(), pool.records() * pool.record);
    }
}

#[test]
fn failures_spares_new_drives_and_rebuilds_in_any_order_lose_nothing() {
    for spec in pools() {
        for seed in 0..4 {
            story(&spec, seed);
        }
    }
}

/// Things that happen to a pool, within its redundancy.
fn story(spec: &GroupSpec, seed: u64) {
    let (mut oracle, mut dice) = (Oracle::new(spec), Dice::new(seed * 1000 + u64::from(spec.devices)));
    let (mut rebuilds, mut chunk): (Vec<Rebuild>, _) = (Vec::new(), RebuildChunk::default());
    for _ in 0..250 {
        let device = dice.below(spec.devices.into()) as u16;
        match dice.below(14) {
            0..5 => oracle.write(extent(&oracle.pool, &mut dice)).unwrap(),
            5..8 => oracle.read(extent(&oracle.pool, &mut dice)).unwrap(),
            8 if !oracle.members.is_spared(device) => {
                let mut after = oracle.members.clone();
                after.fail(device);
                if oracle.pool.geometry.lost_sectors(&after) == 0 {
                    rebuilds.retain(|rebuild| rebuild.device() != device);
                    oracle.fail(device);
                }
            }
            9 if oracle.members.state(device) == MemberState::Failed => {
                if dice.below(3) == 0 || !oracle.members.replace_by_distributed(device, &oracle.pool.geometry) {
                    oracle.members.replace(device);
                }
                rebuilds.push(Rebuild::new(device, 5, &oracle.pool.geometry));
            }
            10 if oracle.members.is_spared(device)
                && oracle.members.state(device) == MemberState::Present
                && rebuilds.iter().all(|rebuild| rebuild.device() != device) =>
            {
                rebuilds.push(Rebuild::copying(device, device, 5, &oracle.pool.geometry));
            }
            _ if !rebuilds.is_empty() => {
                let place = dice.below(rebuilds.len() as u64) as usize;
                if !oracle.rebuild(&mut rebuilds[place], &mut chunk).unwrap() {
                    rebuilds.swap_remove(place);
                }
            }
            _ => {}
        }
    }
    let all = oracle.pool.geometry.data_sectors() as u32;
    oracle.read(Extent { lba: 0, sectors: all }).unwrap();
}

#[test]
fn a_read_of_a_record_costs_its_data_columns_and_a_parity_for_each_that_is_missing() {
    // Sixteen units on four data columns of an eleven members wide pool.
    let spec = GroupSpec {
        record_sectors: Some(128),
        data_members: Some(4),
        distributed_spares: Some(1),
        ..GroupSpec::new(Level::Draid2, 11, 8)
    };
    let geometry = Geometry::new(&spec, 1 << 20).unwrap();
    let all = |members: &Members| {
        let mut plan = WritePlan::default();
        geometry.write(Extent { lba: 0, sectors: 128 }, members, &mut plan).unwrap();
        plan.writes
    };
    let columns: Vec<u16> = all(&geometry.members()).iter().map(|piece| piece.device).collect();
    let read = |failed: &[u16]| {
        let (mut members, mut out) = (geometry.members(), Vec::new());
        failed.iter().for_each(|&device| members.fail(device));
        let xor_bytes = geometry.read(Extent { lba: 0, sectors: 8 }, &members, |_, _| 0, &mut out).unwrap();
        (out.len(), xor_bytes)
    };
    assert_eq!((columns.len(), read(&[]), read(&columns[..2])), (6, (4, 0), (4, 0)));
    assert_eq!((read(&columns[2..3]), read(&columns[3..5])), ((4, 65_536), (4, 2 * 65_536)));
    let mut members = geometry.members();
    members.fail(columns[2]);
    assert_eq!(all(&members).len(), 5);
}

#[test]
fn capacity_is_what_openzfs_lets_a_pool_have() {
    // 8 data and 2 parities of 32 children less 2 spares: 10 of 30 places make a group, three groups a row; 16 MiB rows.
    let spec = GroupSpec {
        record_sectors: Some(256),
        data_members: Some(8),
        distributed_spares: Some(2),
        ..GroupSpec::new(Level::Draid2, 32, 8)
    };
    let geometry = Geometry::new(&spec, 1000 * 32_768 + 5).unwrap();
    assert_eq!(geometry.data_sectors(), 1000 * 32_768 * 30 * 8 / 10);
    // A record of 4 KiB takes the width of a group all the same: one unit of eight.
    let small = Geometry::new(&GroupSpec { record_sectors: Some(8), ..spec }, 1000 * 32_768).unwrap();
    assert_eq!(small.data_sectors(), 1000 * 32_768 * 30 / 10);
}

#[test]
fn what_cannot_be_is_one_sentence() {
    let sentence = |text: &str| toml::from_str::<GroupSpec>(text).unwrap().check().unwrap_err().to_string();
    for (text, expected) in [
        (
            "level = 'draid2'\ndevices = 6\nstrip_sectors = 8\ndata_members = 4\ndistributed_spares = 1",
            "key 'devices': 6 are too few for draid2 with 4 data members and 1 distributed spare; give at least 7",
        ),
        (
            "level = 'draid1'\ndevices = 4\nstrip_sectors = 8\ndistributed_spares = 3",
            "key 'devices': 4 are too few for draid1 with 1 data member and 3 distributed spares; give at least 5",
        ),
        (
            "level = 'draid1'\ndevices = 4\nstrip_sectors = 8\nrow_sectors = 12",
            "key 'row_sectors': 12 holds no record at 88 sectors of every member; give a multiple of 8 from 88 on",
        ),
        (
            "level = 'draid1'\ndevices = 300\nstrip_sectors = 8",
            "key 'devices': 300 members in one redundancy group are too many; give at most 255",
        ),
        (
            "level = 'raidz1'\ndevices = 4\nstrip_sectors = 8\ndata_members = 2",
            "key 'data_members': has no meaning for raidz1; leave it out",
        ),
        (
            "level = 'raid6'\ndevices = 8\ndistributed_spares = 1",
            "key 'distributed_spares': has no meaning for raid6; leave it out",
        ),
    ] {
        assert_eq!(sentence(text), expected);
    }
    let few = GroupSpec::new(Level::Draid1, 4, 8);
    assert_eq!(Geometry::new(&few, 100).unwrap_err().key, "row_sectors");
}
