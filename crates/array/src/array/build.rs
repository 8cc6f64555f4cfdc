//! An array from its specification: names become numbers.

use std::collections::BTreeMap;

use super::Array;
use super::faults::Faults;
use super::host::Host;
use super::jobs::Jobs;
use super::operations::Operations;
use super::report::Names;
use super::storage::Storage;
use super::topology::{Drive, Group, Topology};
use super::volumes::{target, volumes};
use crate::cache::Space;
use crate::cache::read_ahead::ReadAhead;
use crate::calendar::Calendar;
use crate::controller::{CacheLinks, Controller, Destager, Mirror};
use crate::device::DeviceModel;
use crate::flash_cache::{FlashCache, FlashShape};
use crate::link::{Direction, Link};
use crate::raid::{Gaps, Geometry, RowLocks, Throttle};
use crate::spec::{ArraySpec, ControllerSpec, FlashCacheSpec, FlashWrites, GroupEntry, Sharing, SpecError};
use crate::station::Account;
use crate::volume::Volume;

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
        let mut drives = drives(spec, seed, &mut links, &mut names)?;
        let mut groups = groups(spec, &drives)?;
        put_flash_before(spec, &mut groups)?;
        names.flash_caches = spec.group.iter().map(|group| format!("{}.flash_cache", group.name)).collect();
        lead_over_copy_links(spec, &groups, &names, &mut drives);
        let volumes = volumes(spec, &groups, &names)?;
        let controllers = controllers(spec, &groups, &names)?;
        lead_out_of_memory(&groups, &controllers, &mut drives);
        let target = target(spec, &volumes)?;
        let reads_ahead = |volume: &Volume| {
            let group = &groups[usize::from(volume.stretches.first()?.group)];
            let spec = &spec.controller[usize::from(group.controller)];
            spec.read_ahead.as_ref().filter(|_| spec.cache.is_some()).map(ReadAhead::new)
        };
        let jobs = Jobs::new(volumes.iter().map(reads_ahead).collect());
        let operations = Operations::new(&groups, &controllers, &drives);
        let has_cache = controllers.iter().any(|controller| controller.cache.is_some());
        let calendar = Calendar::default();
        let faults = Faults::new(spec, seed)?;
        foresee(&mut groups, &controllers, &volumes, &faults);
        let topology = Topology { now_ns: 0, calendar, links, controllers, groups, drives, volumes };
        let storage = Storage::new(topology, jobs, operations, faults);
        Ok(Self { host: Host::new(&spec.host, target), storage, has_cache, names })
    }
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
            drives.push(Drive { device, write_path: path.clone(), path, account: Account::default(), sent_lba: 0 });
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
        let geometry = geometry.with_rebuild_step(rebuild.chunk_sectors);
        groups.push(Group {
            chunk_sectors: rebuild.chunk_sectors,
            throttle: Throttle::new(&rebuild, &geometry)
                .map_err(|error| spec.refusal(format!("{at}.rebuild: {error}")))?,
            jobs: 0,
            last_request_ns: 0,
            writes_sent: 0,
            writes_arrived: 0,
            operations: 0,
            rested_ns: 0,
            members: geometry.members(),
            gaps: gaps(drives, &members),
            geometry,
            locks: RowLocks::new(LOCKS),
            flash_cache: None,
            cached_group: None,
            own: owner.copy_back.then(|| members.clone()),
            copies: Vec::new(),
            drives: members,
            controller,
            foreseen: false,
            space: *space,
        });
        *space += 1;
    }
    Ok(groups)
}

/// The most extents that a flash cache has, whose tables take about 1 GB then.
const EXTENTS_MAX: u64 = 1 << 24;

/// Gives groups the flash caches that they have.
fn put_flash_before(spec: &ArraySpec, groups: &mut [Group]) -> Result<(), SpecError> {
    for (number, entry) in spec.group.iter().enumerate() {
        let Some(cache) = &entry.flash_cache else { continue };
        let Some(flash) = spec.group.iter().position(|other| other.name == cache.group) else { continue };
        let refused = |problem: String| spec.refusal(format!("group.{}.flash_cache.{problem}", entry.name));
        let shape = flash_shape(cache, &groups[number], &groups[flash]).map_err(refused)?;
        let part = |of: u32, percent: u32| (u64::from(of) * u64::from(percent) / 100) as u32;
        let marks = (part(shape.dirty_max, cache.high_percent), part(shape.dirty_max, cache.low_percent));
        let most = groups[number].drives.len() as u32 * cache.destage_per_device;
        let destager = Destager::new(marks, 0, vec![most], shape.extent_sectors);
        groups[number].flash_cache = Some(Box::new(FlashCache::new(flash as u16, cache.writes, shape, destager)));
        groups[flash].cached_group = Some(number as u16);
    }
    Ok(())
}

fn flash_shape(cache: &FlashCacheSpec, group: &Group, flash: &Group) -> Result<FlashShape, String> {
    let (each, there) = (u64::from(cache.extent_bytes), flash.geometry.data_sectors() * 512);
    let size = cache.size_bytes.unwrap_or(there);
    if size > there {
        return Err(format!("size_bytes: {size} bytes are more than `{}` has; write at most {there}", cache.group));
    }
    let places = size / each;
    if places == 0 {
        return Err(format!("size_bytes: holds no extent; write at least {each}"));
    }
    if places > EXTENTS_MAX {
        let least = size.div_ceil(EXTENTS_MAX).next_multiple_of(512);
        return Err(format!(
            "extent_bytes: {size} bytes are {places} extents, too many to model; write at least {least}"
        ));
    }
    let back = cache.writes == FlashWrites::Back;
    Ok(FlashShape {
        extent_sectors: cache.extent_bytes / 512,
        places: places as u32,
        dirty_max: if back { (places * u64::from(cache.write_percent) / 100) as u32 } else { 0 },
        extents: group.geometry.data_sectors() * 512 / each,
        promote_on_miss: cache.promote_on_miss,
        fills_max: cache.fills_max,
        read_sectors_max: cache.read_bytes_max.map_or(u32::MAX, |bytes| bytes / 512),
        warm: cache.warm,
    })
}

/// What is written to all copies of a mirror set but the first passes the group's links between nodes first. A spare is written as the
/// first copy is.
fn lead_over_copy_links(spec: &ArraySpec, groups: &[Group], names: &Names, drives: &mut [Drive]) {
    for (entry, group) in spec.group.iter().zip(groups) {
        let between: Vec<u16> = entry.copy_links.iter().map(|link| names.link(link)).collect();
        let copies = usize::from(entry.raid.devices / entry.raid.redundancy_groups());
        let others = group.drives.iter().enumerate().filter(|(position, _)| position % copies > 0);
        for (_, &drive) in others {
            let found = &mut drives[usize::from(drive)];
            found.write_path = between.iter().chain(&found.path).copied().collect();
        }
    }
}

/// What is written to the devices of a group passes the memory of its controller before everything else.
fn lead_out_of_memory(groups: &[Group], controllers: &[Controller], drives: &mut [Drive]) {
    for group in groups {
        let Some(memory) = controllers[usize::from(group.controller)].cache_links.memory else { continue };
        for &drive in &group.drives {
            let path = &mut drives[usize::from(drive)].write_path;
            if path.first() != Some(&memory) {
                *path = std::iter::once(memory).chain(path.iter().copied()).collect();
            }
        }
    }
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
        let memory = memory_link(controller).map(|link| names.link(link));
        Controller::new(controller, own, &spaces, &devices, CacheLinks { mirror, memory })
    };
    Ok(spec.controller.iter().enumerate().map(one).collect())
}

fn mirror_link(controller: &ControllerSpec) -> Option<&str> {
    controller.cache.as_ref()?.mirror_link.as_deref()
}

fn memory_link(controller: &ControllerSpec) -> Option<&str> {
    controller.cache.as_ref()?.memory_link.as_deref()
}

/// Notes of which groups reads can be foreseen.
fn foresee(groups: &mut [Group], controllers: &[Controller], volumes: &[Volume], faults: &Faults) {
    if faults.are_coming() || volumes.iter().any(|volume| volume.limit.is_some()) {
        return;
    }
    let mut users = BTreeMap::<u16, u32>::new();
    groups.iter().flat_map(|group| &group.drives).for_each(|&drive| *users.entry(drive).or_default() += 1);
    for group in groups {
        let controller = &controllers[usize::from(group.controller)];
        let alone = group.drives.iter().all(|drive| users[drive] == 1);
        group.foreseen = controller.foresees() && !group.geometry.chooses() && alone && group.flash_cache.is_none();
    }
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
