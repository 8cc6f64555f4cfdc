//! What stands on a device, and what it stands on, to the end of the chain and byte by byte.
//!
//! Purpose: writing to a device writes to whatever lies below it, so everything else that uses *those* bytes is harmed,
//! although it is not built on the device: a file system on the file that a second loop device shows in part. Model: from
//! the device down through its disk (partitions), the file or device behind it (loop devices) and its `slaves` (RAID, LVM,
//! encryption), with the range of bytes where the layer keeps them together; from each of those up again, through
//! partitions, `holders` and loop devices that overlap the range. A base that is reached several times, as the disk below
//! two partitions that are members of one RAID, is a layer each time, with a range each time.
//!
//! Limits: below `slaves` the range is not known. All of it counts then, but not what else is held there: other logical
//! volumes of a group share its disks without sharing a byte. Two device-mapper tables laid by hand over the same
//! sectors are therefore not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use super::loops::{Base, Loop, attached};
use super::sysfs::Node;
use super::system::{DeviceNumber, System};
use crate::display::shown;

/// How something stands on a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    Partition,
    Holder,
    Loop,
}

/// A layer below a target.
#[derive(Clone, Debug)]
pub(super) struct Below {
    pub(super) base: Base,
    /// The device, when it is one.
    pub(super) node: Option<Node>,
    /// What it is called.
    pub(super) name: String,
    /// Where it can be opened, if it is directly behind a loop device, which takes no claim on it.
    pub(super) path: Option<PathBuf>,
    /// The bytes of it that belong to the target.
    pub(super) range: Range<u64>,
    /// The target is a partition of it, or of nothing but partitions.
    pub(super) same_disk: bool,
    /// Reached through `slaves`: claimed by what is above, and shared with it in unknown parts.
    pub(super) by_slaves: bool,
}

impl Below {
    /// Whether whoever judges this layer has judged the other one as well.
    fn includes(&self, other: &Self) -> bool {
        let alike = (self.base, self.same_disk, self.by_slaves) == (other.base, other.same_disk, other.by_slaves);
        alike && self.range.start <= other.range.start && other.range.end <= self.range.end
    }
}

/// The block devices of the host and how they stand on each other.
#[derive(Debug)]
pub(super) struct Stack {
    system: System,
    loops: Vec<Loop>,
}

impl Stack {
    pub(super) fn of(system: &System) -> Self {
        Self::with(system, attached(system))
    }

    /// With these loop devices.
    pub(super) fn with(system: &System, loops: Vec<Loop>) -> Self {
        Self { system: system.clone(), loops }
    }

    /// Everything below a device, the nearest first; without itself. Layers may have one base and different ranges.
    pub(super) fn below(&self, node: &Node) -> Vec<Below> {
        let top = Below {
            base: Base::Device(node.number),
            node: Some(node.clone()),
            name: node.name.clone(),
            path: None,
            range: node.whole(),
            same_disk: true,
            by_slaves: false,
        };
        let mut found = vec![top];
        let mut next = 0;
        while let Some(layer) = found.get(next).cloned() {
            next += 1;
            for deeper in self.directly_below(&layer) {
                if !found.iter().any(|known| known.includes(&deeper)) {
                    found.push(deeper);
                }
            }
        }
        found.split_off(1)
    }

    fn directly_below(&self, layer: &Below) -> Vec<Below> {
        let Some(node) = &layer.node else { return Vec::new() };
        if let Some((disk, within)) = node.disk() {
            let range = shifted(&layer.range, within.start);
            let (base, name) = (Base::Device(disk.number), disk.name.clone());
            return vec![Below { base, node: Some(disk), name, path: None, range, ..layer.clone() }];
        }
        if let Some(upper) = self.loops.iter().find(|upper| upper.node.number == node.number) {
            return self.behind(upper, layer).into_iter().collect();
        }
        let slaves = node.linked(&self.system.sys, "slaves").into_iter();
        let below = slaves.map(|slave| Below {
            base: Base::Device(slave.number),
            name: slave.name.clone(),
            path: None,
            range: slave.whole(),
            node: Some(slave),
            same_disk: false,
            by_slaves: true,
        });
        below.collect()
    }

    /// The file or device behind a loop device.
    fn behind(&self, upper: &Loop, layer: &Below) -> Option<Below> {
        let base = upper.backing?;
        let node = match base {
            Base::Device(number) => Some(Node::of(&self.system.sys, number)?),
            Base::File(..) => None,
        };
        let device = node.as_ref().map(|node| self.system.dev.join(&node.name));
        let path = device.or_else(|| upper.backing_path.clone());
        let nameless = || format!("the file behind {}", upper.node.name);
        let name =
            node.as_ref().map(|node| node.name.clone()).or_else(|| path.as_ref().map(|path| shown(path).to_string()));
        let name = name.unwrap_or_else(nameless);
        let range = shifted(&layer.range, upper.range.start);
        Some(Below { base, node, name, path, range, same_disk: false, by_slaves: layer.by_slaves })
    }

    /// Everything that stands on these bytes of a base, directly or on top of each other, except what is in `apart`.
    pub(super) fn above(&self, base: Base, range: &Range<u64>, apart: &BTreeSet<Base>) -> BTreeMap<Node, Link> {
        let mut found = BTreeMap::new();
        let mut unvisited = vec![(base, range.clone())];
        while let Some((base, range)) = unvisited.pop() {
            for (node, link, within) in self.directly_above(base, &range) {
                let upper = Base::Device(node.number);
                if !apart.contains(&upper) && !found.contains_key(&node) {
                    found.insert(node, link);
                    unvisited.push((upper, within));
                }
            }
        }
        found
    }

    /// With the bytes of each that lie in the range.
    fn directly_above(&self, base: Base, range: &Range<u64>) -> Vec<(Node, Link, Range<u64>)> {
        let mut found = Vec::new();
        for upper in self.loops.iter().filter(|upper| upper.backing == Some(base)) {
            found.extend(overlap(range, &upper.range).map(|within| (upper.node.clone(), Link::Loop, within)));
        }
        let Base::Device(number) = base else { return found };
        let Some(node) = Node::of(&self.system.sys, number) else { return found };
        for partition in node.partitions() {
            let Some((_, stretch)) = partition.disk() else { continue };
            found.extend(overlap(range, &stretch).map(|within| (partition, Link::Partition, within)));
        }
        let holders = node.linked(&self.system.sys, "holders").into_iter();
        found.extend(holders.map(|holder| {
            let whole = holder.whole();
            (holder, Link::Holder, whole)
        }));
        found
    }
}

impl System {
    /// Devices and files whose blocks a device shows and that nothing claims for it: what loop devices stand on. Whoever
    /// writes to the device claims them as well.
    pub(crate) fn unclaimed_below(&self, number: DeviceNumber) -> Vec<(Base, PathBuf)> {
        let Some(node) = Node::of(&self.sys, number) else { return Vec::new() };
        let layers = Stack::of(self).below(&node).into_iter().filter(|layer| !layer.by_slaves);
        layers.filter_map(|layer| Some((layer.base, layer.path?))).collect()
    }
}

fn shifted(range: &Range<u64>, by: u64) -> Range<u64> {
    range.start.saturating_add(by)..range.end.saturating_add(by)
}

/// The part of `stretch` that lies in `range`, counted from the start of `stretch`; `None` when they do not meet.
fn overlap(range: &Range<u64>, stretch: &Range<u64>) -> Option<Range<u64>> {
    let (start, end) = (range.start.max(stretch.start), range.end.min(stretch.end));
    (start < end).then(|| start - stretch.start..end - stretch.start)
}
