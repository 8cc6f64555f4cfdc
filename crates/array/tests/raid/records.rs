//! RAIDZ against a pool worked out cell by cell, that remembers which version of which record every sector holds.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_array::raid::{
    Extent, Geometry, GroupSpec, Level, MemberState, Members, Piece, Rebuild, RebuildChunk, Reliability, RowChoices,
    WritePlan,
};

use super::scenario::Dice;

const DEVICE_SECTORS: u64 = 997;

/// A cell of a pool: a member of the whole group and a unit on it.
type Cell = (u16, u64);

/// A record's columns, parity first: the cells of each, ascending.
type Columns = Vec<Vec<Cell>>;

/// Where records lie, the slow and plain way.
struct Pool {
    geometry: Geometry,
    unit: u64,
    record: u64,
    members: u16,
    groups: u16,
    parities: usize,
}

impl Pool {
    fn new(spec: &GroupSpec, device_sectors: u64) -> Self {
        Self {
            geometry: Geometry::new(spec, device_sectors).unwrap(),
            unit: spec.strip_sectors.into(),
            record: spec.record_sectors().into(),
            members: spec.devices / spec.redundancy_groups(),
            groups: spec.redundancy_groups(),
            parities: spec.parities() as usize,
        }
    }

    /// Units of a record with its parity, and with the padding: added one by one.
    fn taken(&self) -> (u64, u64) {
        let (data, wide, parities) = (self.record / self.unit, u64::from(self.members), self.parities as u64);
        let (mut all, mut left) = (0, data);
        while left > 0 {
            let row = left.min(wide - parities);
            (all, left) = (all + row + parities, left - row);
        }
        let padded = (all..).find(|units| units % (parities + 1) == 0).unwrap();
        (all, padded)
    }

    /// The cells that a record takes, in columns.
    fn columns(&self, number: u64) -> Columns {
        let (group, record) = ((number % u64::from(self.groups)) as u16, number / u64::from(self.groups));
        let ((all, padded), wide) = (self.taken(), u64::from(self.members));
        let first = record * padded;
        let mut columns: Columns = vec![Vec::new(); wide.min(all) as usize];
        for step in 0..all {
            let unit = first + step;
            columns[(step % wide) as usize].push((group * self.members + (unit % wide) as u16, unit / wide));
        }
        if self.parities == 1 && first * self.unit / 2048 % 2 == 1 {
            columns.swap(0, 1);
        }
        columns
    }

    fn records(&self) -> u64 {
        self.geometry.data_sectors() / self.record
    }

    /// Sectors of a column.
    fn sectors(&self, column: &[Cell]) -> BTreeSet<(u16, u64)> {
        column
            .iter()
            .flat_map(|&(device, unit)| (0..self.unit).map(move |step| (device, unit * self.unit + step)))
            .collect()
    }
}

fn pools() -> Vec<GroupSpec> {
    use Level::{Raidz1, Raidz2, Raidz3};
    let spec = |level, devices, unit, record, groups| GroupSpec {
        record_sectors: Some(record),
        groups,
        ..GroupSpec::new(level, devices, unit)
    };
    vec![
        spec(Raidz1, 2, 1, 1, None),
        spec(Raidz1, 3, 2, 10, None),
        spec(Raidz1, 5, 1, 7, None),
        spec(Raidz1, 10, 4, 16, Some(2)),
        spec(Raidz2, 4, 1, 6, None),
        spec(Raidz2, 6, 2, 8, None),
        spec(Raidz2, 7, 1, 64, None),
        spec(Raidz2, 12, 2, 30, Some(2)),
        spec(Raidz3, 5, 1, 1, None),
        spec(Raidz3, 8, 2, 32, None),
        spec(Raidz3, 11, 1, 19, None),
    ]
}

/// What every sector of every member holds: which version of which record.
struct Oracle {
    pool: Pool,
    members: Members,
    stored: BTreeMap<(u16, u64), (u64, u32)>,
    versions: Vec<u32>,
}

impl Oracle {
    fn new(spec: &GroupSpec) -> Self {
        let pool = Pool::new(spec, DEVICE_SECTORS);
        let (members, versions) = (pool.geometry.members(), vec![0; pool.records() as usize]);
        Self { pool, members, stored: BTreeMap::new(), versions }
    }

    fn touched(&self, extent: Extent) -> std::ops::RangeInclusive<u64> {
        extent.lba / self.pool.record..=(extent.lba + u64::from(extent.sectors) - 1) / self.pool.record
    }

    fn gather(&self, pieces: &[Piece]) -> BTreeSet<(u16, u64)> {
        let mut sectors = BTreeSet::new();
        for piece in pieces {
            assert!(!piece.write && self.members.serves(piece), "{piece:?} is read of a member that does not serve it");
            for lba in piece.lba..piece.end() {
                assert!(sectors.insert((piece.device, lba)), "{piece:?} reads a sector again");
            }
        }
        sectors
    }

    /// Whether what was read gives a record: as many of its columns, whole and of its version, as it has of data.
    fn knows(&self, read: &BTreeSet<(u16, u64)>, record: u64) -> bool {
        let columns = self.pool.columns(record);
        let own = (record, self.versions[record as usize]);
        let known = columns.iter().filter(|column| {
            let sectors = self.pool.sectors(column);
            sectors.is_subset(read) && (own.1 == 0 || sectors.iter().all(|at| self.stored.get(at) == Some(&own)))
        });
        known.count() >= columns.len() - self.pool.parities
    }

    fn read(&self, extent: Extent) {
        let mut pieces = Vec::new();
        self.pool.geometry.read(extent, &self.members, |_, _| 0, &mut pieces).unwrap();
        let read = self.gather(&pieces);
        for record in self.touched(extent) {
            assert!(self.knows(&read, record), "record {record} does not follow from what {extent:?} reads");
        }
    }

    fn write(&mut self, extent: Extent) {
        let mut plan = WritePlan::default();
        self.pool.geometry.write(extent, &self.members, &mut plan).unwrap();
        let read = self.gather(&plan.reads);
        let end = extent.lba + u64::from(extent.sectors);
        let mut owed = BTreeMap::new();
        for record in self.touched(extent) {
            let (start, group) = (record * self.pool.record, (record % u64::from(self.pool.groups)) as u16);
            let whole = extent.lba <= start && end >= start + self.pool.record;
            assert!(whole || self.knows(&read, record), "record {record} is written in part and was not read");
            let row = record / u64::from(self.pool.groups);
            let locks = |span: &&_| {
                let &&plimsoll_array::raid::RowSpan { group: of, first, count } = span;
                of == group && (first..first + u64::from(count)).contains(&row)
            };
            assert_eq!(plan.rows.iter().filter(locks).count(), 1, "record {record} is locked once");
            self.versions[record as usize] += 1;
            for column in self.pool.columns(record) {
                for at in self.pool.sectors(&column) {
                    owed.insert(at, (record, self.versions[record as usize]));
                }
            }
        }
        let mut written = BTreeSet::new();
        for piece in &plan.writes {
            assert!(piece.write && self.members.serves(piece), "{piece:?}");
            for lba in piece.lba..piece.end() {
                assert!(written.insert((piece.device, lba)), "{piece:?} writes a sector again");
            }
        }
        for (at, word) in owed {
            let piece = Piece { device: at.0, phase: 1, write: true, lba: at.1, sectors: 1 };
            assert_eq!(written.remove(&at), self.members.serves(&piece), "{at:?} of record {}", word.0);
            self.stored.insert(at, word);
        }
        // What else is written is padding, which no record has.
        let is_taken = |&(device, lba): &(u16, u64)| {
            let records = (0..self.pool.records()).map(|record| self.pool.columns(record));
            records.flatten().flatten().any(|cell| cell == (device, lba / self.pool.unit))
        };
        assert_eq!(written.iter().find(|at| is_taken(at)), None);
    }

    fn fail(&mut self, device: u16) {
        self.members.fail(device);
        self.stored.retain(|&(of, _), _| of != device);
    }

    fn rebuild(&mut self, rebuild: &mut Rebuild, chunk: &mut RebuildChunk) -> bool {
        if !rebuild.next(&self.pool.geometry, &self.members, chunk).unwrap() {
            return false;
        }
        let read = self.gather(&chunk.reads);
        let (device, group) = (chunk.write.device, chunk.write.device / self.pool.members);
        for record in (0..self.pool.records()).filter(|record| (record % u64::from(self.pool.groups)) as u16 == group) {
            let columns = self.pool.columns(record);
            let own = columns.iter().flat_map(|column| self.pool.sectors(column)).filter(|at| at.0 == device);
            let there: Vec<_> = own.filter(|at| (chunk.write.lba..chunk.write.end()).contains(&at.1)).collect();
            if there.is_empty() {
                continue;
            }
            assert!(self.knows(&read, record), "record {record} does not follow from {chunk:?}");
            let row = record / u64::from(self.pool.groups);
            assert!((chunk.rows.first..chunk.rows.first + u64::from(chunk.rows.count)).contains(&row), "{chunk:?}");
            let version = self.versions[record as usize];
            self.stored.extend(there.into_iter().map(|at| (at, (record, version))));
        }
        self.members.rebuilt(device, chunk.write.end(), &self.pool.geometry);
        true
    }
}

/// About a record, a few sectors, or several records; some of them whole.
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
fn failures_replacements_and_rebuilds_in_any_order_lose_nothing() {
    for spec in pools() {
        let (mut oracle, mut dice) = (Oracle::new(&spec), Dice::new(u64::from(spec.devices)));
        let (mut rebuilds, mut chunk): (Vec<Rebuild>, _) = (Vec::new(), RebuildChunk::default());
        for _ in 0..250 {
            let device = dice.below(spec.devices.into()) as u16;
            match dice.below(12) {
                0..5 => oracle.write(extent(&oracle.pool, &mut dice)),
                5..8 => oracle.read(extent(&oracle.pool, &mut dice)),
                8 => {
                    let first = device / oracle.pool.members * oracle.pool.members;
                    let missing = (first..first + oracle.pool.members)
                        .filter(|&other| other != device && oracle.members.state(other) != MemberState::Present);
                    if missing.count() < oracle.pool.parities {
                        rebuilds.retain(|rebuild| rebuild.device() != device);
                        oracle.fail(device);
                    }
                }
                9 if oracle.members.state(device) == MemberState::Failed => {
                    oracle.members.replace(device);
                    rebuilds.push(Rebuild::new(device, 1 + dice.below(200) as u32, &oracle.pool.geometry));
                }
                _ if !rebuilds.is_empty() => {
                    let place = dice.below(rebuilds.len() as u64) as usize;
                    if !oracle.rebuild(&mut rebuilds[place], &mut chunk) {
                        rebuilds.swap_remove(place);
                    }
                }
                _ => {}
            }
        }
        let all = oracle.pool.geometry.data_sectors() as u32;
        oracle.read(Extent { lba: 0, sectors: all });
    }
}

#[test]
fn every_cell_belongs_to_one_record_and_data_lie_in_its_data_columns_in_order() {
    for spec in pools() {
        let pool = Pool::new(&spec, DEVICE_SECTORS);
        let mut cells = BTreeSet::new();
        for record in 0..pool.records() {
            let columns = pool.columns(record);
            for cell in columns.concat() {
                assert!(cells.insert(cell), "{spec:?}: {cell:?} belongs to two records");
                assert!((cell.1 + 1) * pool.unit <= pool.geometry.member_sectors());
            }
            let data = columns[pool.parities..].concat().into_iter();
            let places: Vec<_> = data
                .flat_map(|(device, unit)| (0..pool.unit).map(move |step| (device, unit * pool.unit + step)))
                .collect();
            let found: Vec<_> =
                (0..pool.record).map(|inside| pool.geometry.locate(record_start(&pool, record) + inside)).collect();
            assert_eq!(found, places, "{spec:?}: record {record}");
        }
        // No further record fits the members.
        let (_, padded) = pool.taken();
        let units = DEVICE_SECTORS / pool.unit * u64::from(pool.members);
        assert_eq!(pool.records(), units / padded * u64::from(pool.groups));
    }
}

fn record_start(pool: &Pool, record: u64) -> u64 {
    record * pool.record
}

fn plan(spec: &GroupSpec, failed: &[u16], lba: u64, sectors: u32) -> WritePlan {
    let geometry = Geometry::new(spec, 1 << 20).unwrap();
    let (mut members, mut plan) = (geometry.members(), WritePlan::default());
    failed.iter().for_each(|&device| members.fail(device));
    geometry.write(Extent { lba, sectors }, &members, &mut plan).unwrap();
    plan
}

/// Six members in units of 4 KiB, records of so many KiB.
fn raidz2(record_kib: u32) -> GroupSpec {
    GroupSpec { record_sectors: Some(2 * record_kib), ..GroupSpec::new(Level::Raidz2, 6, 8) }
}

#[test]
fn a_record_takes_what_openzfs_gives_it() {
    // Units of 4 KiB: data, parity of each row, rounded up to a multiple of parity and one.
    for (level, devices, record_kib, units) in [
        (Level::Raidz1, 5, 4, 2),
        (Level::Raidz1, 5, 8, 4),
        (Level::Raidz1, 5, 16, 6),
        (Level::Raidz1, 5, 128, 40),
        (Level::Raidz2, 6, 4, 3),
        (Level::Raidz2, 6, 16, 6),
        (Level::Raidz2, 6, 128, 48),
        (Level::Raidz2, 10, 128, 42),
        (Level::Raidz3, 11, 128, 44),
    ] {
        let spec = GroupSpec { record_sectors: Some(2 * record_kib), ..GroupSpec::new(level, devices, 8) };
        let sectors = 8 * units * 1000;
        let geometry = Geometry::new(&spec, sectors).unwrap();
        let records = geometry.data_sectors() / u64::from(2 * record_kib);
        assert_eq!(records, u64::from(devices) * 1000, "{level:?}, {record_kib} KiB");
    }
}

#[test]
fn a_write_of_a_part_reads_the_record_and_writes_it_whole_and_never_reads_parity() {
    // 32 units on four data columns; both parities are written and not read.
    let part = plan(&raidz2(128), &[], 8, 8);
    assert_eq!((part.reads.len(), part.writes.len()), (4, 6));
    assert_eq!(part.reads.iter().map(|piece| piece.sectors).sum::<u32>(), 256);
    assert_eq!(part.choices, RowChoices { reconstructed: 1, ..RowChoices::default() });
    let whole = plan(&raidz2(128), &[], 256, 256);
    assert_eq!((whole.reads.len(), whole.writes.len()), (0, 6));
    assert_eq!(whole.writes.iter().map(|piece| piece.sectors).sum::<u32>(), 8 * 48);
    assert_eq!(whole.xor_bytes, 2 * 131_072);
}

#[test]
fn stripes_are_as_wide_as_records_are_long() {
    let cost = |record_kib| {
        let sectors = 2 * record_kib;
        let plan = plan(&raidz2(record_kib), &[], u64::from(sectors), sectors);
        (plan.reads.len(), plan.writes.len())
    };
    assert_eq!([cost(4), cost(8), cost(16), cost(128)], [(0, 3), (0, 4), (0, 6), (0, 6)]);
}

#[test]
fn several_records_are_one_command_per_member() {
    // 8 records of 16 KiB with their padding; reads go on over parity.
    let spec = GroupSpec { record_sectors: Some(32), ..GroupSpec::new(Level::Raidz1, 5, 8) };
    let many = plan(&spec, &[], 0, 8 * 32);
    assert_eq!((many.reads.len(), many.writes.len()), (0, 5));
    let geometry = Geometry::new(&spec, 1 << 20).unwrap();
    let mut pieces = Vec::new();
    geometry.read(Extent { lba: 0, sectors: 8 * 32 }, &geometry.members(), |_, _| 0, &mut pieces).unwrap();
    assert_eq!(pieces.len(), 5);
}

#[test]
fn stretches_of_one_record_are_one_write_of_it() {
    let geometry = Geometry::new(&raidz2(128), 1 << 20).unwrap();
    let (members, mut plan) = (geometry.members(), WritePlan::default());
    let parts = [Extent { lba: 0, sectors: 32 }, Extent { lba: 64, sectors: 32 }, Extent { lba: 256, sectors: 32 }];
    assert_eq!(geometry.together(&parts), 2);
    geometry.write_together(&parts[..2], plimsoll_array::raid::Gaps::Written, &members, &mut plan).unwrap();
    assert_eq!((plan.reads.len(), plan.writes.len(), plan.rows.len()), (4, 6, 1));
    let halves = [Extent { lba: 0, sectors: 128 }, Extent { lba: 128, sectors: 128 }];
    geometry.write_together(&halves, plimsoll_array::raid::Gaps::Written, &members, &mut plan).unwrap();
    assert_eq!((plan.reads.len(), plan.writes.len()), (0, 6));
}

#[test]
fn degraded_records_cost_a_parity_more_for_each_data_column_that_is_missing() {
    let geometry = Geometry::new(&raidz2(128), 1 << 20).unwrap();
    let read = |failed: &[u16]| {
        let (mut members, mut out) = (geometry.members(), Vec::new());
        failed.iter().for_each(|&device| members.fail(device));
        let xor_bytes = geometry.read(Extent { lba: 0, sectors: 8 }, &members, |_, _| 0, &mut out).unwrap();
        (out.iter().map(|piece| piece.device).collect::<Vec<_>>(), xor_bytes)
    };
    // Record 0 has its parity on members 0 and 1.
    assert_eq!(read(&[]), (vec![2, 3, 4, 5], 0));
    assert_eq!(read(&[0, 1]), (vec![2, 3, 4, 5], 0));
    assert_eq!(read(&[3]), (vec![2, 4, 5, 0], 131_072));
    assert_eq!(read(&[3, 0]), (vec![2, 4, 5, 1], 131_072));
    assert_eq!(read(&[3, 5]), (vec![2, 4, 0, 1], 2 * 131_072));
    assert_eq!(plan(&raidz2(128), &[3, 5], 0, 256).writes.len(), 4);
}

#[test]
fn the_count_of_what_is_lost_is_exact_and_reads_refuse_just_that() {
    for spec in pools() {
        let pool = Pool::new(&spec, DEVICE_SECTORS);
        let mut dice = Dice::new(u64::from(spec.devices));
        for _ in 0..20 {
            let mut members = pool.geometry.members();
            for _ in 0..1 + dice.below(5) {
                let device = dice.below(spec.devices.into()) as u16;
                members.fail(device);
                if dice.below(2) == 0 {
                    members.replace(device);
                    let step = Rebuild::chunk_sectors(1, &pool.geometry);
                    let mark = dice.below(pool.geometry.member_sectors().div_ceil(step)) * step;
                    members.rebuilt(device, mark, &pool.geometry);
                }
            }
            let gone = |column: &Vec<Cell>| {
                let serves = |&(device, lba)| members.serves(&Piece { device, lba, sectors: 1, ..Piece::default() });
                !pool.sectors(column).iter().all(serves)
            };
            let is_lost =
                |record: &u64| pool.columns(*record).iter().filter(|column| gone(column)).count() > pool.parities;
            let expected = (0..pool.records()).filter(is_lost).count() as u64;
            assert_eq!(pool.geometry.lost_sectors(&members), expected * pool.record, "{spec:?} {members:?}");
            let mut out = Vec::new();
            let mut refused = |record: &u64| {
                let extent = Extent { lba: record * pool.record, sectors: 1 };
                pool.geometry.read(extent, &members, |_, _| 0, &mut out).is_err()
            };
            assert_eq!((0..pool.records()).filter(|record| refused(record)).count() as u64, expected, "{spec:?}");
        }
    }
}

#[test]
fn a_trim_forgets_whole_records_with_their_parity() {
    let geometry = Geometry::new(&raidz2(16), 1 << 20).unwrap();
    let trimmed = |lba, sectors| {
        let mut pieces = Vec::new();
        geometry.trim(Extent { lba, sectors }, &geometry.members(), &mut pieces);
        (pieces.len(), pieces.iter().map(|piece| piece.sectors).sum::<u32>())
    };
    assert_eq!(trimmed(0, 31), (0, 0));
    assert_eq!(trimmed(0, 32), (6, 48));
    assert_eq!(trimmed(8, 64), (6, 48));
}

#[test]
fn three_parities_outlive_three_failures() {
    let spec = GroupSpec { groups: Some(2), ..GroupSpec::new(Level::Raidz3, 22, 8) };
    let reliability = Reliability::of(&Geometry::new(&spec, 1 << 20).unwrap(), 1e6, 24.0);
    assert_eq!((reliability.members, reliability.redundancy, reliability.groups), (11, 3, 2));
    let one = |level| {
        let geometry = Geometry::new(&GroupSpec { groups: Some(2), ..GroupSpec::new(level, 22, 8) }, 1 << 20).unwrap();
        Reliability::of(&geometry, 1e6, 24.0).mttdl_hours()
    };
    // MTTF / ((N − p) MTTR) for each further parity, where repair is quick.
    let step = one(Level::Raidz3) / one(Level::Raidz2);
    assert!((step / (1e6 / (8.0 * 24.0)) - 1.0).abs() < 0.01, "{step}");
}

#[test]
fn what_cannot_be_is_one_sentence() {
    let sentence = |text: &str| toml::from_str::<GroupSpec>(text).unwrap().check().unwrap_err().to_string();
    for (text, expected) in [
        (
            "level = 'raidz2'\ndevices = 6",
            "key 'strip_sectors': 128 is no sector of a pool, which raidz2 counts in; give a power of two up to 32: 8 for ashift 12",
        ),
        (
            "level = 'raidz1'\ndevices = 4\nstrip_sectors = 8\nrecord_sectors = 20",
            "key 'record_sectors': 20 is no multiple of strip_sectors; give a multiple of 8",
        ),
        ("level = 'raidz3'\ndevices = 3\nstrip_sectors = 8", "key 'devices': 3 is too few for raidz3; give at least 4"),
        (
            "level = 'raidz1'\ndevices = 4\nstrip_sectors = 8\nwrite_choice = 'reconstruct'",
            "key 'write_choice': has no meaning for raidz1; leave it out",
        ),
        (
            "level = 'raid5'\ndevices = 4\nrecord_sectors = 32",
            "key 'record_sectors': has no meaning for raid5; leave it out",
        ),
    ] {
        assert_eq!(sentence(text), expected);
    }
    let small = GroupSpec::new(Level::Raidz1, 3, 8);
    assert_eq!(Geometry::new(&small, 80).unwrap_err().key, "record_sectors");
}
