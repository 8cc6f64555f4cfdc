//! What a load asks of the devices of an array, and of the links that lead to them.
//!
//! Model: accesses are spread evenly over the members of the groups. Random ones of a disk are at the mean rate, sequential
//! ones at the outer zone's; how they are positioned for is in [`super::positioning`]. Flash works for reads, programs and what
//! collecting costs (`flash::amplification`); its channels and its interface count as components of their own.
//!
//! Limits: sequential writes are taken to need no collection, and random ones of a drive with a page map none in the bound, since
//! a young drive has none. Where a request is commands to several devices at once, as records are, mean values take them one after
//! the other.

use super::groups::{Accesses, access_bytes, of_read, of_write};
use super::positioning::{Order, least_ms};
use super::{Demand, Load, plain};
use crate::device::DeviceSpec;
use crate::disk::{DiskModel, DiskSpec};
use crate::flash::amplification::{collecting, of_random_writes};
use crate::flash::{FlashSpec, Translation};
use crate::link::Link;
use crate::raid::{Level, ReadChoice};
use crate::spec::{ArraySpec, DeviceSet, Duplex, GroupEntry, HostMode, LinkSpec, Sharing};

/// A load with so many requests outstanding, over a part of the capacity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) load: &'a Load,
    pub(super) population: u32,
    pub(super) part: f64,
}

/// Accesses of all devices of a set per request of the array.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    read: f64,
    /// What a read waits for of these: commands to several devices pass at once.
    waited: f64,
    /// Of old data and parity.
    reread: f64,
    written: f64,
    /// Bytes of an access; of groups that differ, the fewest.
    bytes: f64,
    /// Arms that can serve a read.
    copies: u32,
    /// Whether a cache puts writes into order.
    sorted: bool,
    /// Devices that are in groups; a spare of the set does nothing.
    members: u32,
}

/// Mean and least service of an access.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    mean_ns: f64,
    least_ns: f64,
}

/// The devices of a set, and the links on their way.
pub(super) fn devices(spec: &ArraySpec, groups: &[&GroupEntry], set: &DeviceSet, asked: Asked<'_>) -> Vec<Demand> {
    let used = used(spec, groups, set, asked.load);
    let bytes = if used.members > 0 { used.bytes as u32 } else { asked.load.bytes };
    let load = Load { bytes, ..*asked.load };
    let asked = Asked { load: &load, ..asked };
    let mut all: Vec<Demand> = set
        .links
        .iter()
        .filter_map(|name| spec.link.iter().find(|link| link.name == *name))
        .map(|link| {
            let (up, down) = (used.read + used.reread, used.written);
            let equal = if link.sharing == Sharing::PerDevice { used.members.max(1) } else { 1 };
            let part = 1.0 / f64::from(equal);
            Demand { count: equal, ..crossing(link, (up * part, down * part), asked.load.bytes) }
        })
        .collect();
    match &set.model {
        DeviceSpec::Disk(disk) => all.extend(disks(set, disk, used, asked)),
        DeviceSpec::Flash(flash) => all.extend(flashes(set, flash, used, asked.load)),
    }
    all
}

/// A link that is crossed so often by transfers of `bytes`, up and down.
pub(super) fn crossing(link: &LinkSpec, (up, down): (f64, f64), bytes: u32) -> Demand {
    let service_ns = Link::new(link).service_ns(bytes.into()) as f64;
    // The busier direction limits a full-duplex link.
    let is_half = link.duplex == Duplex::Half;
    let crossed = if is_half { up + down } else { up.max(down) };
    let ways_ns = (!is_half).then_some([up * service_ns, down * service_ns]);
    // What is moved passes devices and links at once: a request need not wait for each.
    Demand { waited_ns: 0.0, ways_ns, ..plain(&link.name, "link", crossed * service_ns, 1) }
}

fn used(spec: &ArraySpec, groups: &[&GroupEntry], set: &DeviceSet, load: &Load) -> Use {
    let first: u16 = spec.devices.iter().take_while(|other| other.name != set.name).map(|other| other.count).sum();
    let mut used = Use { copies: 1, bytes: f64::INFINITY, ..Use::default() };
    for group in groups {
        let members = group.members.numbers(&spec.devices).unwrap_or_default();
        let inside = members.iter().filter(|&&number| (first..first + set.count).contains(&number)).count() as f64;
        let part = inside / members.len().max(1) as f64 / groups.len() as f64;
        if part == 0.0 {
            continue;
        }
        let Accesses { reads, writes } = of_write(group, load);
        used.members += inside as u32;
        used.bytes = used.bytes.min(access_bytes(group, load));
        used.read += part * load.read_share * of_read(group, load);
        used.waited += part * load.read_share;
        used.reread += part * (1.0 - load.read_share) * reads;
        used.written += part * (1.0 - load.read_share) * writes;
        if matches!(group.raid.level, Level::Raid1 | Level::Raid10)
            && group.raid.read_choice != Some(ReadChoice::PrimaryOnly)
        {
            used.copies = used.copies.max(u32::from(group.raid.devices / group.raid.redundancy_groups()));
        }
        let controller = spec.controller.iter().find(|controller| controller.name == group.controller);
        let cache = controller.and_then(|controller| controller.cache.as_ref());
        used.sorted |= cache.is_some_and(|cache| cache.writes_back()) || spec.host.mode == HostMode::Buffered;
    }
    used
}

fn disks(set: &DeviceSet, disk: &DiskSpec, used: Use, Asked { load, population, part }: Asked<'_>) -> Option<Demand> {
    let count = used.members.max(1);
    let model = DiskModel::new(disk).ok()?;
    let window = disk.queue.window.max(1);
    let at_once = population.saturating_mul(used.copies).min(window.saturating_mul(used.copies));
    let (policy, copies) = (disk.queue.policy, used.copies);
    let asked = Order { policy, window: at_once, copies, queued: population > 1, part, sorted: false };
    let read = service(disk, &model, load, (false, asked));
    // Old data and parity are written where they were just read; a cache keeps as much to choose from as there is room for.
    let parity = used.reread > 0.0;
    let own = Order { window, copies: 1, queued: true, sorted: used.sorted || parity, ..asked };
    // What the drive has reported, it may choose from longer.
    let held = Order { window: window.max(disk.queue.write_window.unwrap_or(0)), ..own };
    let written = service(disk, &model, load, (true, held));
    let reread = service(disk, &model, load, (false, Order { sorted: used.sorted, ..own }));
    let sum = |of: fn(Service) -> f64| used.read * of(read) + used.reread * of(reread) + used.written * of(written);
    let waited_ns = if load.sequential { 0.0 } else { used.waited * read.least_ns };
    Some(Demand {
        component: set.name.clone(),
        kind: "disk",
        count,
        demand_ns: sum(|one| one.mean_ns) / f64::from(count),
        least_ns: sum(|one| one.least_ns) / f64::from(count),
        waited_ns: waited_ns / f64::from(count),
        servers: 1,
        ways_ns: None,
    })
}

fn service(disk: &DiskSpec, model: &DiskModel, load: &Load, (write, order): (bool, Order)) -> Service {
    let bytes = f64::from(load.bytes);
    if load.sequential {
        let transfer_ns = bytes / disk.outer_rate_bytes_per_s as f64 * 1e9;
        return Service { mean_ns: transfer_ns, least_ns: transfer_ns };
    }
    let rate = (disk.outer_rate_bytes_per_s + disk.inner_rate_bytes_per_s) as f64 / 2.0;
    let transfer_ns = bytes / rate * 1e9;
    let fast_ns = if order.part < 1.0 { bytes / disk.outer_rate_bytes_per_s as f64 * 1e9 } else { transfer_ns };
    let turn_ms = 60e3 / f64::from(disk.rotation_rpm);
    let overhead_ns = f64::from(disk.command_overhead_us) * 1e3;
    let seek_us = if write { disk.write_seek.average_us } else { disk.read_seek.average_us };
    let mean_ns = overhead_ns + f64::from(seek_us) * 1e3 + turn_ms * 0.5e6 + transfer_ns;
    // A command that waits spends its overhead meanwhile, if overheads overlap.
    let own_ns = if disk.overlapped_overhead && order.queued { 0.0 } else { overhead_ns };
    let least_ns = own_ns + least_ms(model, write, turn_ms, order) * 1e6 + fast_ns;
    Service { mean_ns, least_ns: least_ns.min(mean_ns) }
}

fn flashes(set: &DeviceSet, flash: &FlashSpec, used: Use, load: &Load) -> Vec<Demand> {
    let count = used.members.max(1);
    let part = 1.0 / f64::from(count);
    let bytes = f64::from(load.bytes);
    let row_bytes = flash.row_bytes() as f64;
    let channel_ns = bytes / flash.channel_rate_bytes_per_s as f64 * 1e9;
    let (reads, writes) = (part * (used.read + used.reread), part * used.written);
    let read_ns = flash.sense_us() * 1e3 * (bytes / row_bytes).max(1.0) + channel_ns;
    // What is written goes on while data that were read leave the die.
    let least_read_ns = if writes > 0.0 { read_ns - channel_ns } else { read_ns };
    let amplified = |amplification: f64, read_ns: f64| {
        let collected = collecting(flash, amplification);
        let program_us = (f64::from(flash.page_program_us) + collected.work_us) * bytes / row_bytes;
        let moved = 1.0 + 2.0 * collected.moved_bytes / row_bytes;
        (reads * read_ns + writes * program_us * 1e3, reads * channel_ns + writes * channel_ns * moved)
    };
    let random = if load.sequential { 1.0 } else { of_random_writes(flash) };
    let young = matches!(flash.translation, Translation::PageMap(_));
    let (mean, least) = (amplified(random, read_ns), amplified(if young { 1.0 } else { random }, least_read_ns));
    let of = |component: String, (demand_ns, least_ns): (f64, f64), servers: u32| Demand {
        count,
        least_ns,
        waited_ns: 0.0,
        ..Demand { servers, kind: "flash", ..plain(&component, "flash", demand_ns, 1) }
    };
    let interface_ns = (reads + writes) * bytes / flash.interface_rate_bytes_per_s as f64 * 1e9;
    let command_ns = (reads + writes) * flash.command_ns as f64;
    let waited_ns = if load.sequential { 0.0 } else { part * used.waited * read_ns };
    vec![
        Demand { waited_ns, ..of(set.name.clone(), (mean.0, least.0), flash.dies().min(flash.commands)) },
        of(format!("{} channels", set.name), (mean.1, least.1), flash.channels),
        of(format!("{} interface", set.name), (interface_ns, interface_ns), 1),
        of(format!("{} processor", set.name), (command_ns, command_ns), 1),
    ]
}
