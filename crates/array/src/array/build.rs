//! An array from its specification: names become numbers, groups are carved into volumes.

use std::collections::VecDeque;

use super::faults::{Faults, HORIZON_NS};
use super::further::Stretches;
use super::gathering::Gathering;
use super::host::{Host, PageCache};
use super::precedence::Precedence;
use super::report::Names;
use super::{Array, Drive, Group, Issued, Job, Operation, Pending, Scratch, Waiter};
use crate::cache::read_ahead::ReadAhead;
use crate::cache::{Cache, Shape, Space};
use crate::calendar::Calendar;
use crate::controller::{Controller, Destager, Mirror};
use crate::device::DeviceModel;
use crate::link::{Direction, Link};
use crate::raid::{Extent, FailureSpec, Gaps, Geometry, RowLocks, SpareSpec, Spares, Throttle, failures, replacements};
use crate::slab::{NONE, Slab};
use crate::spec::{
    ArraySpec, ControllerSpec, GroupEntry, HostMode, HostSpec, PageCacheSpec, Sharing, SpecError, Spread, VolumeSet,
};
use crate::station::{Account, Station};
use crate::volume::{Stretch, Target, Volume};
use plimsoll_workload::rng::Draws;
use plimsoll_workload::units::bytes_to_words;

/// Rows that a group has room to lock before anything grows: as many as are locked at once, so that the table stays near the
/// processor.
const LOCKS: usize = 128;

impl Array {
    /// An array at rest at instant 0; equal specifications and seeds behave alike.
    ///
    /// # Errors
    /// One sentence about what cannot be built.
    pub fn new(spec: &ArraySpec, seed: u64) -> Result<Self, SpecError> {
        let mut names = Names::default();
        let mut links = Vec::new();
        for link in spec.link.iter().filter(|link| link.sharing == Sharing::Shared) {
            links.push(Link::new(link));
            names.links.push((link.name.clone(), link.name.clone()));
        }
        let drives = drives(spec, seed, &mut links, &mut names)?;
        let groups = groups(spec, &drives)?;
        let volumes = volumes(spec, &groups, &names)?;
        let controllers = controllers(spec, &groups, &names)?;
        let target = target(spec, &volumes)?;
        let reads_ahead = |volume: &Volume| {
            let group = &groups[usize::from(volume.stretches.first()?.group)];
            let spec = &spec.controller[usize::from(group.controller)];
            spec.read_ahead.as_ref().filter(|_| spec.cache.is_some()).map(ReadAhead::new)
        };
        let mut array = Self {
            now_ns: 0,
            calendar: Calendar::default(),
            host: host(&spec.host, target.sectors),
            links,
            has_cache: controllers.iter().any(|controller| controller.cache.is_some()),
            further: Stretches::new(&groups, &controllers),
            controllers,
            read_ahead: volumes.iter().map(reads_ahead).collect(),
            groups,
            drives,
            volumes,
            target,
            requests: Slab::new(Pending::BLANK),
            jobs: Slab::new(Job::BLANK),
            operations: Slab::new(Operation::BLANK),
            commands: Slab::new(Issued::BLANK),
            waiters: Slab::new(Waiter { who: NONE, next: NONE }),
            faults: faults(spec, seed)?,
            finished: Vec::new(),
            names,
            scratch: Scratch::default(),
        };
        array.expect_failure();
        array.expect_drives();
        Ok(array)
    }
}

fn host(spec: &HostSpec, sectors: u64) -> Host {
    let page_sectors = (spec.page_bytes / 512).max(1);
    let pages = spec.page_cache.as_ref().filter(|_| spec.mode == HostMode::Buffered);
    Host {
        cpu: Station::new(spec.cores),
        request_ns: spec.request_ns,
        page_ns: spec.page_ns,
        page_sectors,
        sectors_max: (spec.request_bytes_max / 512).max(1),
        chunk_sectors: if pages.is_none() && spec.chunk_bytes > 0 { spec.chunk_bytes / 512 } else { u32::MAX },
        pages: pages.map(|pages| page_cache(spec, pages, sectors)),
    }
}

fn page_cache(host: &HostSpec, spec: &PageCacheSpec, sectors: u64) -> PageCache {
    let pages = (spec.size_bytes / u64::from(host.page_bytes)) as u32;
    let share = |percent: u32| (u64::from(pages) * u64::from(percent.min(100)) / 100) as u32;
    let row_sectors = u64::from(host.request_bytes_max.min(512 << 10) / 512).max(1);
    let shape =
        Shape { page_sectors: host.page_bytes / 512, pages, clean_max: pages, dirty_max: share(spec.dirty_percent) };
    let spaces = [Space { row_sectors, rows: sectors.div_ceil(row_sectors), undivided: false }];
    let background = share(spec.dirty_background_percent.min(spec.dirty_percent));
    let mut cache = Cache::new(shape, &spaces);
    warm(&mut cache, (spec.warm_range_bytes / 512).min(sectors), spec.warm_block_bytes / 512);
    PageCache {
        cache,
        destager: Destager::new((background, background), spec.idle_ns, vec![spec.writes_max], row_sectors as u32),
        moved_page_ns: spec.moved_page_ns,
        first_fetch_sectors: spec.first_fetch_bytes / 512,
        fetch_growth: spec.fetch_growth,
        read_ahead: spec.read_ahead.as_ref().map(ReadAhead::new),
        flushes: VecDeque::new(),
    }
}

/// Fills a cache with blocks from all over a range, as uniform requests leave it: every part of the range has its share, and no
/// part was used later than another.
fn warm(cache: &mut Cache, range: u64, block: u32) {
    let blocks = range / u64::from(block);
    if blocks == 0 {
        return;
    }
    let room = u64::from(cache.shape().clean_max) * u64::from(cache.shape().page_sectors) / u64::from(block);
    // Steps of the golden section leave gaps of like size wherever they stop; with no common divisor they come everywhere.
    let step = (blocks * 618 / 1000..).find(|step| common_divisor(*step, blocks) == 1).unwrap_or(1);
    for number in 0..room.min(blocks) {
        let place = (u128::from(number) * u128::from(step) % u128::from(blocks)) as u64;
        let extent = Extent { lba: place * u64::from(block), sectors: block };
        let page = cache.fetch(0, extent, 0);
        cache.fetched(0, extent, 0, page);
    }
}

const fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

fn drives(spec: &ArraySpec, seed: u64, links: &mut Vec<Link>, names: &mut Names) -> Result<Vec<Drive>, SpecError> {
    let mut drives = Vec::new();
    for set in &spec.devices {
        let refused = |error| spec.refusal(format!("devices.{}.model.{error}", set.name));
        let model = DeviceModel::new(&set.model).map_err(refused)?;
        for number in 0..set.count {
            let name = format!("{}[{number}]", set.name);
            let mut path = Vec::new();
            for link in &set.links {
                let Some(found) = spec.link.iter().find(|found| found.name == *link) else { continue };
                if found.sharing == Sharing::Shared {
                    path.push(names.link(link));
                } else {
                    path.push(links.len() as u16);
                    links.push(Link::new(found));
                    names.links.push((format!("{link}[{name}]"), link.clone()));
                }
            }
            let device = model.device(seed, drives.len() as u32);
            names.drives.push((name, set.name.clone()));
            drives.push(Drive { device, path, account: Account::default(), precedence: Precedence::NONE, sent_lba: 0 });
        }
    }
    Ok(drives)
}

fn groups(spec: &ArraySpec, drives: &[Drive]) -> Result<Vec<Group>, SpecError> {
    let mut spaces = vec![0; spec.controller.len()];
    let mut groups = Vec::new();
    for group in &spec.group {
        let refused = |problem: String| spec.refusal(format!("group.{}.{problem}", group.name));
        let members = group.members.numbers(&spec.devices).map_err(|error| refused(format!("members: {error}")))?;
        let sectors = members.iter().map(|&drive| drives[usize::from(drive)].device.sectors()).min().unwrap_or(0);
        let geometry = Geometry::new(&group.raid, sectors).map_err(|error| refused(format!("raid: {error}")))?;
        let controller = controller_of(spec, group);
        let space = &mut spaces[usize::from(controller)];
        let owner = &spec.controller[usize::from(controller)];
        let (rebuild, at) = match (&group.rebuild, &owner.rebuild) {
            (None, Some(common)) => (common.clone(), format!("controller.{}", owner.name)),
            (own, _) => (own.clone().unwrap_or_default(), format!("group.{}", group.name)),
        };
        groups.push(Group {
            chunk_sectors: rebuild.chunk_sectors,
            throttle: Throttle::new(&rebuild, &geometry)
                .map_err(|error| spec.refusal(format!("{at}.rebuild: {error}")))?,
            jobs: 0,
            last_request_ns: 0,
            operations: 0,
            rested_ns: 0,
            members: geometry.members(),
            gaps: gaps(drives, &members),
            geometry,
            locks: RowLocks::new(LOCKS),
            gathering: Gathering::default(),
            own: owner.copy_back.then(|| members.clone()),
            copies: Vec::new(),
            drives: members,
            controller,
            space: *space,
        });
        *space += 1;
    }
    Ok(groups)
}

/// Failures of all groups in order of time, new drives that are written down, and the spares.
fn faults(spec: &ArraySpec, seed: u64) -> Result<Faults, SpecError> {
    let (mut due, mut written, mut spares, mut replaced_after_ns) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, group) in spec.group.iter().enumerate() {
        let refused = |problem: String| spec.refusal(format!("group.{}.{problem}", group.name));
        replaced_after_ns.push(group.failures.as_ref().and_then(FailureSpec::replaced_after_ns));
        if let Some(failing) = &group.failures {
            let own = Draws::new(seed, &[u64::MAX, number as u64]).at(0);
            let found = failures(failing, group.raid.devices, HORIZON_NS, own);
            let found = found.map_err(|error| refused(format!("failures: {error}")))?;
            due.extend(found.into_iter().map(|failure| (failure, number as u16)));
            written.extend(replacements(failing, HORIZON_NS).into_iter().map(|coming| (coming, number as u16)));
        }
        let dedicated = group.spares.numbers(&spec.devices).map_err(|error| refused(format!("spares: {error}")))?;
        spares.extend(dedicated.into_iter().map(|device| SpareSpec { device, group: Some(number as u16) }));
    }
    let global = spec.spares.numbers(&spec.devices).map_err(|error| spec.refusal(format!("spares: {error}")))?;
    spares.extend(global.into_iter().map(|device| SpareSpec { device, group: None }));
    due.sort_unstable();
    Ok(Faults { due, written, spares: Spares::new(&spares), replaced_after_ns, ..Faults::default() })
}

fn controller_of(spec: &ArraySpec, group: &GroupEntry) -> u16 {
    spec.controller.iter().position(|controller| controller.name == group.controller).unwrap_or(0) as u16
}

fn controllers(spec: &ArraySpec, groups: &[Group], names: &Names) -> Result<Vec<Controller>, SpecError> {
    let one = |(number, controller): (usize, &ControllerSpec)| {
        let own: Vec<u16> = (0..groups.len() as u16)
            .filter(|&group| usize::from(groups[usize::from(group)].controller) == number)
            .collect();
        let spaces: Vec<Space> = own.iter().map(|&group| space(&groups[usize::from(group)].geometry)).collect();
        let devices: Vec<u32> = own.iter().map(|&group| groups[usize::from(group)].drives.len() as u32).collect();
        let mirror = mirror_link(controller).map(|link| {
            // Those that name one link take its directions in turn: a copies down to b, b up to a.
            let before = spec.controller[..number].iter().filter(|other| mirror_link(other) == Some(link)).count();
            let direction = if before % 2 == 0 { Direction::Down } else { Direction::Up };
            Mirror { link: names.link(link), direction }
        });
        Controller::new(controller, own, &spaces, &devices, mirror)
    };
    Ok(spec.controller.iter().enumerate().map(one).collect())
}

fn mirror_link(controller: &ControllerSpec) -> Option<&str> {
    controller.cache.as_ref()?.mirror_link.as_deref()
}

/// What is destaged together: a row of parity; without parity, a strip on every device.
fn space(geometry: &Geometry) -> Space {
    let strips = if geometry.has_parity() { 1 } else { u64::from(geometry.groups()) };
    let row_sectors = geometry.row_sectors() * strips;
    Space { row_sectors, rows: geometry.data_sectors().div_ceil(row_sectors), undivided: geometry.has_parity() }
}

/// A disk passes a gap anyway; flash wears by what is written.
fn gaps(drives: &[Drive], members: &[u16]) -> Gaps {
    let wears = |&member: &u16| drives[usize::from(member)].device.written().is_some();
    if members.iter().any(wears) { Gaps::Left } else { Gaps::Written }
}

fn volumes(spec: &ArraySpec, groups: &[Group], names: &Names) -> Result<Vec<Volume>, SpecError> {
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
        out.push(Volume { name, stretches, sectors: sectors * own.len() as u64, path });
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

fn target(spec: &ArraySpec, volumes: &[Volume]) -> Result<Target, SpecError> {
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
