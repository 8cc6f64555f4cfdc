//! What an array can give at most, and what limits it, from its specification alone.
//!
//! Model: a load is a mix of reads and writes of one size, random or sequential, spread evenly, that the cache neither
//! answers nor absorbs. Of each component it needs a *demand* per request: `X ≤ 1 / demand` of the component with the largest
//! (the bound that limits), and `X ≤ N / Σ demands` of those that a request waits for. Exact mean values lie between.
//!
//! Limits: disks are taken at their mean seek and half a turn, or at their mean rate; what reordering gains is not in it, so a
//! simulation at high queue depth can lie above the bound of the disks. Sequential loads are taken as read ahead and written
//! by full stripes.

use serde::Serialize;

use crate::device::DeviceSpec;
use crate::link::Link;
use crate::mva::{Solved, Station, solve};
use crate::raid::Level;
use crate::spec::{ArraySpec, ControllerSpec, DeviceSet, Duplex, GroupEntry, HostMode, Sharing};

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// What it is called.
    pub name: &'static str,
    /// Share of reads.
    pub read_share: f64,
    /// Size of every request.
    pub bytes: u32,
    /// One address after the other, or anywhere.
    pub sequential: bool,
}

/// Loads by which arrays are shown.
pub const LOADS: [Load; 4] = [
    Load { name: "random 8 KiB reads", read_share: 1.0, bytes: 8 << 10, sequential: false },
    Load { name: "random 8 KiB, 70 % reads", read_share: 0.7, bytes: 8 << 10, sequential: false },
    Load { name: "sequential 1 MiB reads", read_share: 1.0, bytes: 1 << 20, sequential: true },
    Load { name: "sequential 1 MiB writes", read_share: 0.0, bytes: 1 << 20, sequential: true },
];

/// What a request needs of a component (of equal ones, of each).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Demand {
    /// The component, or the set of equal ones.
    pub component: String,
    /// Its kind, as in [`crate::utilisation::Component`].
    pub kind: &'static str,
    /// How many equal ones share what the set is asked for.
    pub count: u32,
    /// Service per request at each of them.
    pub demand_ns: f64,
    /// How much of it a request waits for.
    pub waited_ns: f64,
    /// Servers of each.
    pub servers: u32,
}

impl Demand {
    /// Requests per second at which it is always busy.
    pub fn limit_per_s(&self) -> f64 {
        f64::from(self.servers) * 1e9 / self.demand_ns.max(1e-3)
    }
}

/// The demands of a load, from the host to the devices; components that are not needed are left out.
pub fn demands(spec: &ArraySpec, load: &Load) -> Vec<Demand> {
    let mut all = Vec::new();
    let host = &spec.host;
    let pages = f64::from(load.bytes.div_ceil(host.page_bytes));
    let moved_page_ns = match (&host.page_cache, host.mode) {
        (Some(cache), HostMode::Buffered) => cache.moved_page_ns,
        _ => 0,
    };
    let host_ns = host.request_ns as f64 + pages * (host.page_ns + moved_page_ns) as f64;
    all.push(plain("host", "host", host_ns, host.cores));
    let volumes: usize = spec.volumes.iter().map(|set| set.count as usize * set.groups.len()).sum();
    for link in spec.link.iter().filter(|link| link.sharing == Sharing::Shared) {
        let on_the_way = spec.volumes.iter().filter(|set| set.links.contains(&link.name));
        let whole: usize = on_the_way.map(|set| set.count as usize * set.groups.len()).sum();
        let dealt = spec.volumes.iter().filter(|set| set.ports.contains(&link.name));
        let part: f64 = dealt.map(|set| (set.count as usize * set.groups.len()) as f64 / set.ports.len() as f64).sum();
        let share = (whole as f64 + part) / volumes.max(1) as f64;
        all.push(crossing(link, share, load, load.bytes));
    }
    let groups = spec.group.len().max(1) as f64;
    for controller in &spec.controller {
        let own: Vec<_> = spec.group.iter().filter(|group| group.controller == controller.name).collect();
        all.push(processor(controller, &own, groups, load));
    }
    for set in &spec.devices {
        all.extend(devices(spec, set, load));
    }
    all.retain(|demand| demand.demand_ns > 0.0);
    all
}

/// The component that limits a load, and the load that it allows.
pub fn limit(demands: &[Demand]) -> Option<(&Demand, f64)> {
    let each = demands.iter().map(|demand| (demand, demand.limit_per_s()));
    each.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// Throughput of `population` requests by mean value analysis.
pub fn expected(demands: &[Demand], population: u32) -> Solved {
    let stations = demands.iter().flat_map(|demand| {
        std::iter::repeat_n(Station::new(demand.demand_ns, demand.servers), demand.count.max(1) as usize)
    });
    solve(&stations.collect::<Vec<_>>(), 0.0, population)
}

fn plain(name: &str, kind: &'static str, demand_ns: f64, servers: u32) -> Demand {
    Demand { component: name.to_owned(), kind, count: 1, demand_ns, waited_ns: demand_ns, servers }
}

/// A link that `share` of the load crosses in transfers of `bytes`.
fn crossing(link: &crate::spec::LinkSpec, share: f64, load: &Load, bytes: u32) -> Demand {
    let service_ns = Link::new(link).service_ns(bytes.into()) as f64;
    // The busier direction limits a full-duplex link.
    let busiest = match link.duplex {
        Duplex::Half => 1.0,
        Duplex::Full => load.read_share.max(1.0 - load.read_share),
    };
    let demand_ns = share * service_ns * busiest;
    Demand { waited_ns: share * service_ns, ..plain(&link.name, "link", demand_ns, 1) }
}

fn processor(controller: &ControllerSpec, own: &[&GroupEntry], groups: f64, load: &Load) -> Demand {
    let share = own.len() as f64 / groups;
    let intake_ns = controller.request_ns as f64 + f64::from(load.bytes) / 1024.0 * controller.kib_ns as f64;
    let commands: f64 = own.iter().map(|group| commands(group, load)).sum::<f64>() / groups;
    let demand_ns = share * intake_ns + commands * controller.command_ns as f64;
    let waited_ns = share * intake_ns;
    Demand { waited_ns, ..plain(&format!("{}.cpu", controller.name), "cpu", demand_ns, controller.cores) }
}

/// Commands to devices per request, were all requests for one group.
fn commands(group: &GroupEntry, load: &Load) -> f64 {
    let strips = (f64::from(load.bytes) / (f64::from(group.raid.strip_sectors) * 512.0)).max(1.0);
    let writes = if load.sequential { strips * overhead(group) } else { small_writes(group.raid.level) };
    let reads = if load.sequential { strips } else { strips.max(1.0) };
    load.read_share * reads + (1.0 - load.read_share) * writes
}

/// Device commands of a small write.
const fn small_writes(level: Level) -> f64 {
    match level {
        Level::Raid0 => 1.0,
        Level::Raid1 | Level::Raid10 => 2.0,
        Level::Raid5 | Level::Raid50 => 4.0,
        Level::Raid6 | Level::Raid60 => 6.0,
    }
}

/// Bytes written to devices per byte of a full stripe.
fn overhead(group: &GroupEntry) -> f64 {
    let members = f64::from(group.raid.devices) / f64::from(group.raid.redundancy_groups());
    match group.raid.level {
        Level::Raid0 => 1.0,
        Level::Raid1 | Level::Raid10 => members,
        level => members / (members - f64::from(level.parities())),
    }
}

/// A set of devices, and the links on its way.
fn devices(spec: &ArraySpec, set: &DeviceSet, load: &Load) -> Vec<Demand> {
    let first: u16 = spec.devices.iter().take_while(|other| other.name != set.name).map(|other| other.count).sum();
    let mut read = 0.0;
    let mut written = 0.0;
    for group in &spec.group {
        let members = group.members.numbers(&spec.devices).unwrap_or_default();
        let inside = members.iter().filter(|&&number| (first..first + set.count).contains(&number)).count() as f64;
        let part = inside / members.len().max(1) as f64 / spec.group.len() as f64;
        let (reads, writes) =
            if load.sequential { (1.0, overhead(group)) } else { (1.0, small_writes(group.raid.level)) };
        read += part * load.read_share * reads;
        written += part * (1.0 - load.read_share) * writes;
    }
    let (read_ns, write_ns) = (service_ns(&set.model, load, false), service_ns(&set.model, load, true));
    let count = u32::from(set.count.max(1));
    let demand_ns = (read * read_ns + written * write_ns) / f64::from(count);
    let (kind, servers) = match &set.model {
        DeviceSpec::Disk(_) => ("disk", 1),
        DeviceSpec::Flash(flash) => ("flash", flash.dies().min(flash.commands)),
    };
    let waited_ns = if load.sequential { 0.0 } else { read * read_ns / f64::from(count) };
    let mut all = Vec::new();
    for name in &set.links {
        let Some(link) = spec.link.iter().find(|link| link.name == *name) else { continue };
        let equal = if link.sharing == Sharing::PerDevice { count } else { 1 };
        let demand = crossing(link, (read + written) / f64::from(equal), load, load.bytes);
        all.push(Demand { count: equal, ..demand });
    }
    all.push(Demand { component: set.name.clone(), kind, count, demand_ns, waited_ns, servers });
    all
}

/// Mean time that a device works for one request's bytes.
fn service_ns(model: &DeviceSpec, load: &Load, write: bool) -> f64 {
    let bytes = f64::from(load.bytes);
    match model {
        DeviceSpec::Disk(disk) => {
            let rate = (disk.outer_rate_bytes_per_s + disk.inner_rate_bytes_per_s) as f64 / 2.0;
            let transfer_ns = bytes / rate * 1e9;
            if load.sequential {
                return transfer_ns;
            }
            let seek = if write { disk.write_seek.average_us } else { disk.read_seek.average_us };
            let turn_ns = 60e9 / f64::from(disk.rotation_rpm);
            f64::from(disk.command_overhead_us + seek) * 1e3 + turn_ns / 2.0 + transfer_ns
        }
        DeviceSpec::Flash(flash) => {
            let pages = bytes / f64::from(flash.page_bytes);
            let cells_us = if write {
                f64::from(flash.page_program_us) * pages / f64::from(flash.planes_per_die)
            } else {
                f64::from(flash.page_read_us) * pages.max(1.0)
            };
            cells_us * 1e3 + bytes / flash.channel_rate_bytes_per_s as f64 * 1e9
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(name: &str, demand_ns: f64, count: u32) -> Demand {
        Demand { count, ..plain(name, "disk", demand_ns, 1) }
    }

    #[test]
    fn the_largest_demand_limits() {
        let all = [demand("bus", 10_000.0, 1), demand("disk", 600_000.0, 10), demand("cpu", 20_000.0, 1)];
        let (found, per_s) = limit(&all).unwrap();
        assert_eq!(found.component, "disk");
        assert!((per_s - 1e9 / 600_000.0).abs() < 1e-9);
    }

    #[test]
    fn expected_values_stay_below_the_bounds() {
        let all = [demand("bus", 10_000.0, 1), demand("disk", 600_000.0, 10)];
        for population in [1, 4, 16, 64, 256] {
            let solved = expected(&all, population);
            let whole_ns = 10_000.0 + 6_000_000.0;
            assert!(solved.throughput_per_s <= 1e9 / 600_000.0 + 1e-6);
            assert!(solved.throughput_per_s <= f64::from(population) * 1e9 / whole_ns + 1e-6);
        }
    }
}
