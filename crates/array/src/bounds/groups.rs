//! What a RAID group makes of a request: reads and writes of its devices, and commands.
//!
//! Model: small writes go the way with the fewer commands; sequential writes fill rows; sequential commands are as long as
//! read-ahead and destaging make them, one per member.
//!
//! Limits: small requests lie within a strip.

use super::Load;
use crate::device::DeviceSpec;
use crate::raid::Level;
use crate::spec::{ArraySpec, ControllerSpec, DeviceSet, GroupEntry, Spread, VolumeSet};

/// Accesses of devices, each of the bytes that [`access_bytes`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Accesses {
    pub(super) reads: f64,
    pub(super) writes: f64,
}

/// Bytes of a record.
fn record_bytes(group: &GroupEntry) -> f64 {
    f64::from(group.raid.record_sectors()) * 512.0
}

/// Bytes of an access: those of the request, but a column where records are read and written as wholes.
pub(super) fn access_bytes(group: &GroupEntry, load: &Load) -> f64 {
    let bytes = f64::from(load.bytes);
    match group.raid.record_shape() {
        Some(shape) if !load.sequential => bytes.max(record_bytes(group)) / f64::from(shape.data_columns()),
        _ => bytes,
    }
}

/// For a read of the load.
pub(super) fn of_read(group: &GroupEntry, load: &Load) -> f64 {
    match group.raid.record_shape() {
        Some(shape) if !load.sequential => shape.data_columns().into(),
        _ => 1.0,
    }
}

/// Members of a redundancy group of a group.
fn members(group: &GroupEntry) -> f64 {
    f64::from(group.raid.devices) / f64::from(group.raid.redundancy_groups())
}

/// Bytes of data that a group holds.
fn data_bytes(group: &GroupEntry, devices: &[DeviceSet]) -> f64 {
    let members_of = group.members.numbers(devices).unwrap_or_default();
    let capacity = |number: u16| {
        let mut before = 0;
        let set = devices.iter().find(|set| {
            before += set.count;
            number < before
        });
        set.map_or(0, |set| match &set.model {
            DeviceSpec::Disk(disk) => disk.capacity_bytes,
            DeviceSpec::Flash(flash) => flash.capacity_bytes,
        })
    };
    let all: f64 = members_of.iter().map(|&number| capacity(number) as f64).sum();
    if let Some(shape) = group.raid.record_shape() {
        let spared = f64::from(group.raid.distributed_spares()) / members(group);
        return all * (1.0 - spared) * shape.data_units as f64 / shape.taken_units as f64;
    }
    match group.raid.level {
        Level::Raid0 => all,
        Level::Raid1 | Level::Raid10 => all / members(group),
        _ => all * (1.0 - f64::from(group.raid.parities()) / members(group)),
    }
}

/// How much of its groups the target takes up, at most all; less than that is at one place of each device.
pub(super) fn taken_part(spec: &ArraySpec, sets: &[&VolumeSet], groups: &[&GroupEntry]) -> f64 {
    let named = &spec.host.volumes;
    let bytes = sets.iter().map(|set| {
        let pieces = if set.spread == Spread::Joined { 1 } else { set.groups.len() };
        let all = set.count as usize * pieces;
        let own = named.iter().filter(|name| name.split('[').next() == Some(set.name.as_str())).count();
        let volumes = if named.is_empty() || (own == 1 && named.contains(&set.name)) { all } else { own };
        set.size_bytes.map_or(f64::INFINITY, |bytes| bytes as f64 * volumes as f64)
    });
    let capacity: f64 = groups.iter().map(|group| data_bytes(group, &spec.devices)).sum();
    (bytes.sum::<f64>() / capacity.max(1.0)).min(1.0)
}

/// For a write of the load.
pub(super) fn of_write(group: &GroupEntry, load: &Load) -> Accesses {
    let (members, level) = (members(group), group.raid.level);
    let parities = f64::from(group.raid.parities());
    if let Some(shape) = group.raid.record_shape() {
        if load.sequential {
            return Accesses { reads: 0.0, writes: shape.units as f64 / shape.data_units as f64 };
        }
        // The record is known only if all of it is written.
        let reads = if f64::from(load.bytes) < record_bytes(group) { shape.data_columns() } else { 0 };
        return Accesses { reads: reads.into(), writes: shape.columns.into() };
    }
    match level {
        Level::Raid0 => Accesses { reads: 0.0, writes: 1.0 },
        Level::Raid1 | Level::Raid10 => Accesses { reads: 0.0, writes: members },
        _ if load.sequential => Accesses { reads: 0.0, writes: members / (members - parities) },
        // Old data and parities, or the rest of the row.
        _ => Accesses { reads: (1.0 + parities).min(members - parities - 1.0), writes: 1.0 + parities },
    }
}

/// Commands to devices per request.
pub(super) fn commands(group: &GroupEntry, controller: &ControllerSpec, load: &Load) -> f64 {
    let write = of_write(group, load);
    if !load.sequential {
        return load.read_share * of_read(group, load) + (1.0 - load.read_share) * (write.reads + write.writes);
    }
    let strip_bytes = f64::from(group.raid.strip_sectors) * 512.0;
    let ahead = controller.read_ahead.as_ref().map_or(0.0, |ahead| ahead.max_bytes.into());
    // Of a row of parity nothing is divided.
    let parities = f64::from(group.raid.parities());
    let row = if group.raid.level.has_records() {
        record_bytes(group)
    } else if parities > 0.0 {
        strip_bytes * (members(group) - parities)
    } else {
        0.0
    };
    let destaged = controller.cache.as_ref().map_or(0.0, |cache| f64::from(cache.destage_bytes_max).max(row));
    let per_request = |longest: f64, accesses: f64| {
        let extent = longest.max(load.bytes.into());
        let pieces = (extent / strip_bytes).ceil().min(f64::from(group.raid.devices));
        pieces * accesses * f64::from(load.bytes) / extent
    };
    load.read_share * per_request(ahead, 1.0) + (1.0 - load.read_share) * per_request(destaged, write.writes)
}
