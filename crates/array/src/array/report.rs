//! What the components of an array are called, and what they have done.

use super::Array;
use crate::cache::Cache;
use crate::controller::Destager;
use crate::device::Device;
use crate::flash_cache::FlashCache;
use crate::station::Account;
use crate::utilisation::{Component, Reading, WriteCaches};

/// Names of links and drives, with those of their sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) links: Vec<(String, String)>,
    pub(super) drives: Vec<(String, String)>,
    /// By group, what its flash cache is called if it has one.
    pub(super) flash_caches: Vec<String>,
}

impl Names {
    /// The number of a shared link; every name has been checked to name one.
    pub(super) fn link(&self, name: &str) -> u16 {
        self.links.iter().position(|(found, _)| found == name).unwrap_or(0) as u16
    }
}

impl Array {
    /// The components, from the host to the devices.
    pub fn components(&self) -> Vec<Component> {
        let topology = &self.storage.topology;
        let mut all = vec![component("host", "host", "host", self.host.cpu().servers() as u64)];
        if self.host.page_cache().is_some() {
            all.push(component("host.pages", "host.pages", "cache", 1));
        }
        for (link, (name, set)) in topology.links.iter().zip(&self.names.links) {
            all.push(component(name, set, "link", link.servers()));
        }
        for volume in topology.volumes.iter().filter(|volume| volume.limit.is_some()) {
            let set = volume.name.split('[').next().unwrap_or_default();
            all.push(component(&format!("{}.limit", volume.name), &format!("{set}.limit"), "limit", 1));
        }
        for controller in &topology.controllers {
            let (cpu, cache) = (format!("{}.cpu", controller.name), format!("{}.cache", controller.name));
            all.push(component(&cpu, &cpu, "cpu", controller.cpu.servers() as u64));
            if controller.cache.is_some() {
                all.push(component(&cache, &cache, "cache", 1));
            }
        }
        for (_, name) in self.flash_caches() {
            all.push(component(name, name, "cache", 1));
        }
        for (drive, (name, set)) in topology.drives.iter().zip(&self.names.drives) {
            let kind = if matches!(drive.device, Device::Disk(_)) { "disk" } else { "flash" };
            all.push(component(name, set, kind, 1));
        }
        all
    }

    /// What each of [`Array::components`] has done so far.
    pub fn readings(&self) -> Vec<Reading> {
        let plain = |account: Account| Reading { account, ..Reading::default() };
        let topology = &self.storage.topology;
        let mut all = vec![plain(self.host.cpu().account)];
        all.extend(self.host.page_cache().map(of_cache));
        let of_link = |[account, opposite]: [Account; 2]| Reading { account, opposite, ..Reading::default() };
        all.extend(topology.links.iter().map(|link| of_link(link.accounts)));
        all.extend(topology.volumes.iter().filter_map(|volume| Some(plain(volume.limit.as_ref()?.account))));
        for controller in &topology.controllers {
            all.push(plain(controller.cpu.account));
            all.extend(controller.cache.iter().map(of_cache));
        }
        all.extend(self.flash_caches().map(|(cache, _)| of_flash_cache(cache)));
        all.extend(topology.drives.iter().map(|drive| Reading {
            written: drive.device.written(),
            ..plain(Account { busy_ns: drive.device.busy_ns(), ..drive.account })
        }));
        all
    }

    /// The flash caches of groups, with their names.
    fn flash_caches(&self) -> impl Iterator<Item = (&FlashCache, &str)> {
        let groups = self.storage.topology.groups.iter().zip(&self.names.flash_caches);
        groups.filter_map(|(group, name)| Some((group.flash_cache.as_deref()?, name.as_str())))
    }

    /// What the caches hold that keep writes, all together; none where no cache does.
    pub fn write_caches(&self) -> Option<WriteCaches> {
        let controllers = self.storage.topology.controllers.iter();
        let kept = controllers.filter_map(|controller| Some((controller.cache.as_ref()?, &controller.destager)));
        let keeps = |(cache, _): &(&Cache, &Destager)| cache.shape().dirty_max > 0;
        let in_memory = kept.chain(self.host.write_back()).filter(keeps);
        let in_memory = in_memory.map(|(cache, destager)| (cache.dirty_pages(), cache.shape().page_sectors, destager));
        let on_flash = self.flash_caches().filter(|(cache, _)| cache.shape().dirty_max > 0);
        let on_flash =
            on_flash.map(|(cache, _)| (cache.dirty_extents(), cache.shape().extent_sectors, &cache.destager));
        let mut all = in_memory.chain(on_flash).peekable();
        all.peek()?;
        Some(all.fold(WriteCaches { destages: true, ..WriteCaches::default() }, |sum, (dirty, sectors, destager)| {
            let bytes = |count: u32| u64::from(count) * u64::from(sectors) * 512;
            WriteCaches {
                dirty_bytes: sum.dirty_bytes + bytes(dirty),
                begins_bytes: sum.begins_bytes + bytes(destager.high),
                destages: sum.destages && (destager.begun || dirty == 0),
            }
        }))
    }

    /// Of flash caches that keep writes, dirty extents from which they are written to the group, and bytes of an extent.
    pub(crate) fn flash_marks(&self) -> impl Iterator<Item = (u32, u64)> {
        let kept = self.flash_caches().filter(|(cache, _)| cache.shape().dirty_max > 0);
        kept.map(|(cache, _)| (cache.destager.high, u64::from(cache.shape().extent_sectors) * 512))
    }

    /// Names and sizes of the volumes, in sectors; those of the target first.
    pub fn volumes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.host.target().volumes().iter().map(|&number| {
            let volume = &self.storage.topology.volumes[usize::from(number)];
            (volume.name.as_str(), volume.sectors)
        })
    }
}

fn of_cache(cache: &Cache) -> Reading {
    let tally = cache.tally;
    let account = Account { operations: tally.reads, bytes: tally.bytes, ..Account::default() };
    let dirty = (u64::from(cache.dirty_pages()), u64::from(cache.shape().dirty_max));
    let ahead = (tally.ahead.read * 512, tally.ahead.wasted * 512);
    Reading { account, hits: tally.hits, ahead, dirty, ..Reading::default() }
}

fn of_flash_cache(cache: &FlashCache) -> Reading {
    let tally = cache.tally;
    let account = Account { operations: tally.reads, bytes: tally.bytes, ..Account::default() };
    let dirty = (u64::from(cache.dirty_extents()), u64::from(cache.shape().dirty_max));
    Reading { account, hits: tally.hits, dirty, ..Reading::default() }
}

fn component(name: &str, set: &str, kind: &'static str, servers: u64) -> Component {
    Component { name: name.to_owned(), set: set.to_owned(), kind, servers }
}
