//! What an array can give at most, and what limits it, from its specification alone.
//!
//! Model: a load is a mix of reads and writes of one size, random or sequential, spread evenly, that the cache neither
//! answers nor absorbs. Of each component a request needs a *demand*: in the mean, served one at a time, which is what mean
//! value analysis takes, and at *least*, by the order that queues and caches can bring it into. `X ≤ 1 / least` of the component
//! with the largest (the bound that limits), and `X ≤ N / Σ` of what a request waits for with `N` outstanding.
//!
//! Limits: what a cache answers or keeps lies above the bounds. Sequential loads are taken as read ahead, written by full
//! stripes, and in the outer zone.

mod devices;
mod groups;
mod positioning;

use serde::Serialize;

use crate::limit::counted;
use crate::mva::{Solved, Station, solve};
use crate::spec::{ArraySpec, CacheSpec, ControllerSpec, GroupEntry, HostMode, LinkSpec, Sharing, VolumeSet};
use devices::{Asked, crossing, devices};
use groups::{access_bytes, commands, of_write, taken_part};

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
    /// Mean service per request at each of them, served one at a time.
    pub demand_ns: f64,
    /// The least that it can be.
    pub least_ns: f64,
    /// How much of that a request waits for, whatever else is done meanwhile.
    pub waited_ns: f64,
    /// Servers of each.
    pub servers: u32,
    /// Of a full-duplex link, what crosses it up and down, of which the larger is the demand.
    #[serde(skip)]
    ways_ns: Option<[f64; 2]>,
}

impl Demand {
    /// Requests per second at which it is always busy.
    pub fn limit_per_s(&self) -> f64 {
        f64::from(self.servers) * 1e9 / self.least_ns.max(1e-3)
    }
}

/// The demands of a load with so many requests outstanding, from the host to the devices; components that are not needed are left
/// out.
pub fn demands(spec: &ArraySpec, load: &Load, population: u32) -> Vec<Demand> {
    let host = &spec.host;
    let pages = f64::from(load.bytes.div_ceil(host.page_bytes));
    let moved_page_ns = match (&host.page_cache, host.mode) {
        (Some(cache), HostMode::Buffered) => cache.moved_page_ns,
        _ => 0,
    };
    let host_ns = host.request_ns as f64 + pages * (host.page_ns + moved_page_ns) as f64;
    let mut all = vec![plain("host", "host", host_ns, host.cores)];
    let sets: Vec<&VolumeSet> = spec.volumes.iter().filter(|set| is_in_target(spec, set)).collect();
    let groups: Vec<&GroupEntry> =
        spec.group.iter().filter(|group| sets.iter().any(|set| set.groups.contains(&group.name))).collect();
    all.extend(host_links(spec, &sets, load));
    all.extend(sets.iter().filter_map(|set| limited(set, &sets, load)));
    let asked = Asked { load, population, part: taken_part(spec, &sets, &groups) };
    let own = |controller: &ControllerSpec| -> Vec<&GroupEntry> {
        groups.iter().copied().filter(|group| group.controller == controller.name).collect()
    };
    let share = |controller: &ControllerSpec| own(controller).len() as f64 / groups.len().max(1) as f64;
    all.extend(spec.controller.iter().map(|one| processor(one, &own(one), share(one), load)));
    all.extend(mirrors(spec, share, load));
    all.extend(memories(spec, &groups, load));
    all.extend(copies(spec, &groups, load));
    for set in &spec.devices {
        all.extend(devices(spec, &groups, set, asked));
    }
    together(all)
}

/// Whether volumes of a set are part of the target.
fn is_in_target(spec: &ArraySpec, set: &VolumeSet) -> bool {
    let names = &spec.host.volumes;
    names.is_empty() || names.iter().any(|name| name.split('[').next() == Some(set.name.as_str()))
}

/// How many volumes a set is.
fn volumes(set: &VolumeSet) -> f64 {
    (set.count as usize * set.groups.len()) as f64
}

/// What a request takes of what its volume may do: of a burst while there is credit at first. Nobody waits for it below that.
fn limited(set: &VolumeSet, sets: &[&VolumeSet], load: &Load) -> Option<Demand> {
    let limit = set.limit.as_ref()?;
    let highest = |lasting: Option<u64>, burst: Option<u64>, credit: u64| match burst {
        _ if credit == 0 || limit.credit_percent == 0 => lasting,
        burst => burst,
    };
    let counted = counted(limit.request_bytes.into(), load.bytes.into()) as f64;
    let requests = highest(limit.requests_per_s, limit.burst_requests_per_s, limit.burst_requests);
    let bytes = highest(limit.bytes_per_s, limit.burst_bytes_per_s, limit.burst_bytes);
    let request_ns = requests.map_or(0.0, |rate| counted * 1e9 / rate as f64);
    let moved_ns = bytes.map_or(0.0, |rate| f64::from(load.bytes) * 1e9 / rate as f64);
    let all: f64 = sets.iter().map(|set| volumes(set)).sum();
    let each_ns = request_ns.max(moved_ns) / all.max(1.0);
    let found = plain(&format!("{}.limit", set.name), "limit", each_ns, 1);
    Some(Demand { count: volumes(set) as u32, waited_ns: 0.0, ..found })
}

/// The links between the host and the controllers.
fn host_links(spec: &ArraySpec, sets: &[&VolumeSet], load: &Load) -> Vec<Demand> {
    let all: f64 = sets.iter().map(|set| volumes(set)).sum();
    let shared = spec.link.iter().filter(|link| link.sharing == Sharing::Shared);
    let crossed = shared.map(|link| {
        let whole: f64 = sets.iter().filter(|set| set.links.contains(&link.name)).map(|set| volumes(set)).sum();
        let dealt = sets.iter().filter(|set| set.ports.contains(&link.name));
        let part: f64 = dealt.map(|set| volumes(set) / set.ports.len() as f64).sum();
        let share = (whole + part) / all.max(1.0);
        crossing(link, (share * load.read_share, share * (1.0 - load.read_share)), load.bytes)
    });
    crossed.collect()
}

/// The links over which a second controller gets a copy of every write; those that name one link take its directions in turn.
fn mirrors(spec: &ArraySpec, share: impl Fn(&ControllerSpec) -> f64, load: &Load) -> Vec<Demand> {
    let copies = |link: &LinkSpec| {
        let names_it = |controller: &&ControllerSpec| {
            controller.cache.as_ref().is_some_and(|cache| cache.mirror_link.as_ref() == Some(&link.name))
        };
        let mut ways = [0.0; 2];
        for (turn, controller) in spec.controller.iter().filter(names_it).enumerate() {
            if controller.cache.as_ref().is_some_and(CacheSpec::writes_back) {
                ways[turn % 2] += share(controller) * (1.0 - load.read_share);
            }
        }
        ways
    };
    let each = spec.link.iter().map(|link| (link, copies(link))).filter(|(_, ways)| *ways != [0.0; 2]);
    each.map(|(link, [down, up])| crossing(link, (up, down), load.bytes)).collect()
}

/// The memories of controllers, which a write passes on its way into the cache and on its way out of it.
fn memories(spec: &ArraySpec, groups: &[&GroupEntry], load: &Load) -> Vec<Demand> {
    let mut all = Vec::new();
    for controller in &spec.controller {
        let Some(cache) = &controller.cache else { continue };
        let Some(link) = spec.link.iter().find(|link| cache.memory_link.as_ref() == Some(&link.name)) else { continue };
        for group in groups.iter().filter(|group| group.controller == controller.name) {
            let written = (1.0 - load.read_share) / groups.len() as f64;
            let kept = if cache.writes_back() { written } else { 0.0 };
            let out = written * of_write(group, load).writes;
            all.push(crossing(link, (0.0, kept), load.bytes));
            all.push(crossing(link, (0.0, out), access_bytes(group, load) as u32));
        }
    }
    all
}

/// The links that what is written passes on its way to further copies.
fn copies(spec: &ArraySpec, groups: &[&GroupEntry], load: &Load) -> Vec<Demand> {
    let written = |link: &LinkSpec| {
        let own = groups.iter().filter(|group| group.copy_links.contains(&link.name));
        let further = own.map(|group| f64::from(group.raid.devices / group.raid.redundancy_groups() - 1));
        further.sum::<f64>() / groups.len().max(1) as f64 * (1.0 - load.read_share)
    };
    let each = spec.link.iter().map(|link| (link, written(link))).filter(|(_, times)| *times > 0.0);
    each.map(|(link, times)| crossing(link, (0.0, times), load.bytes)).collect()
}

/// Demands of the same component as one; none where nothing is needed. What crosses a full-duplex link in opposite directions does so at once.
fn together(demands: Vec<Demand>) -> Vec<Demand> {
    let mut all: Vec<Demand> = Vec::new();
    for demand in demands.into_iter().filter(|demand| demand.demand_ns > 0.0) {
        match all.iter_mut().find(|found| found.component == demand.component) {
            Some(found) => {
                found.demand_ns += demand.demand_ns;
                found.least_ns += demand.least_ns;
                found.waited_ns += demand.waited_ns;
                if let (Some([up, down]), Some([more_up, more_down])) = (found.ways_ns, demand.ways_ns) {
                    let ways = [up + more_up, down + more_down];
                    let busier_ns = ways[0].max(ways[1]);
                    (found.ways_ns, found.demand_ns, found.least_ns) = (Some(ways), busier_ns, busier_ns);
                }
            }
            None => all.push(demand),
        }
    }
    all
}

/// The component that limits a load, and the load that it allows.
pub fn limit(demands: &[Demand]) -> Option<(&Demand, f64)> {
    let each = demands.iter().map(|demand| (demand, demand.limit_per_s()));
    each.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The most that `population` requests reach: what limits them, or as many as there are over the time of each.
pub fn most(demands: &[Demand], population: u32) -> f64 {
    let limit = limit(demands).map_or(f64::INFINITY, |(_, per_s)| per_s);
    let waited_ns: f64 = demands.iter().map(|demand| demand.waited_ns * f64::from(demand.count)).sum();
    limit.min(f64::from(population) * 1e9 / waited_ns)
}

/// Throughput of `population` requests by mean value analysis.
pub fn expected(demands: &[Demand], population: u32) -> Solved {
    let stations = demands.iter().flat_map(|demand| {
        std::iter::repeat_n(Station::new(demand.demand_ns, demand.servers), demand.count.max(1) as usize)
    });
    solve(&stations.collect::<Vec<_>>(), 0.0, population)
}

fn plain(name: &str, kind: &'static str, demand_ns: f64, servers: u32) -> Demand {
    Demand {
        component: name.to_owned(),
        kind,
        count: 1,
        demand_ns,
        least_ns: demand_ns,
        waited_ns: demand_ns,
        servers,
        ways_ns: None,
    }
}

fn processor(controller: &ControllerSpec, own: &[&GroupEntry], share: f64, load: &Load) -> Demand {
    let taken_ns = controller.request_ns as f64 + (1.0 - load.read_share) * controller.write_ns as f64;
    let intake_ns = taken_ns + f64::from(load.bytes) / 1024.0 * controller.kib_ns as f64;
    let commands: f64 =
        own.iter().map(|group| commands(group, controller, load)).sum::<f64>() / own.len().max(1) as f64;
    let demand_ns = share * (intake_ns + commands * controller.command_ns as f64);
    let waited_ns = if load.sequential { 0.0 } else { share * intake_ns };
    Demand { waited_ns, ..plain(&format!("{}.cpu", controller.name), "cpu", demand_ns, controller.cores) }
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
