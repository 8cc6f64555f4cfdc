//! Links, devices, groups and volumes: what hangs on what.

use plimsoll_workload::unit::{BYTES, BYTES_PER_S, NS, PERCENT};
use plimsoll_workload::{options, words};

use super::flash_cache::FlashCacheSpec;
use super::members::Members;
use crate::device::DeviceSpec;
use crate::disk::DiskSpec;
use crate::notation::{ANY, ARRAYS, CREDIT_MAX, LIMIT_MAX, REQUEST_NS_MAX};
use crate::raid::{FailureSpec, GroupSpec, Level, RebuildSpec};

words! {
    /// Whether a link carries both directions at once.
    pub enum Duplex: "a duplex mode", default Full {
        /// One direction at a time.
        Half = "half",
        /// Both.
        Full = "full",
    }
}

words! {
    /// Who uses a link.
    pub enum Sharing: "a way to share a link", default Shared {
        /// All whose way leads over it.
        Shared = "shared",
        /// Every device has one of its own.
        PerDevice = "per_device",
    }
}

options! {
    /// A bus, port or cable.
    pub struct LinkSpec: "link" in ARRAYS {
        "Link" {
            /// What it is called.
            name: String = String::new(), required "devices and volumes refer to a link by its name", example "fc";
            /// One direction at a time, or both.
            duplex: Duplex = Duplex::Full, example "half";
            /// Bytes per second, per direction.
            rate_bytes_per_s: u64 = 1_000_000_000, required "say how fast it is", range 1.0 => ANY, unit BYTES_PER_S,
                example "400000000";
            /// Share of the rate that is left for data.
            efficiency_percent: u32 = 100, range 1.0 => 100.0, unit PERCENT, example "87";
            /// Time that every transfer occupies it besides.
            overhead_ns: u64 = 0, range 0.0 => REQUEST_NS_MAX, unit NS, example "2000";
            /// Time that passes until a transfer arrives, without occupying it.
            latency_ns: u64 = 0, range 0.0 => REQUEST_NS_MAX, unit NS, example "500";
            /// One for all, or one per device.
            sharing: Sharing = Sharing::Shared, example "per_device";
        }
    }
}

impl LinkSpec {
    /// A link of 1 GB/s and nothing else.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

options! {
    /// Equal devices.
    pub struct DeviceSet: "set of devices" in ARRAYS {
        "Devices" {
            /// What they are called: the set is `disk`, its first device `disk[0]`.
            name: String = String::new(), required "groups refer to devices by this name", example "disk";
            /// How many.
            count: u16 = 1, required "say how many there are", range 1.0 => 65_535.0, example "12";
            /// The links from the controller to a device, in order.
            links: Vec<String> = Vec::new(), unset "none", example "[\"sas\"]";
            /// What each of them is.
            model: DeviceSpec = DeviceSpec::Disk(DiskSpec::default()), required "say what each of them is",
                example "{\"kind\": \"disk\"}";
        }
    }
}

options! {
    /// A RAID group.
    pub struct GroupEntry: "RAID group" in ARRAYS {
        "Group" {
            /// What it is called.
            name: String = String::new(), required "volumes refer to a group by its name", example "vd0";
            /// The controller that owns it.
            controller: String = String::new(), required "name the controller that owns it", example "raid";
            /// Its devices, in the order of the layout.
            members: Members = Members(Vec::new()), required "name its devices", example "[\"disk[0-5]\"]";
            /// How data lie on them.
            raid: GroupSpec = GroupSpec::new(Level::Raid0, 1, 128), required "say how data lie on them",
                example "{\"level\": \"raid5\", \"devices\": 6}";
            /// Links that what is written passes first on its way to every copy of a mirror set but the first: the network of a store
            /// whose copies lie on several nodes. Only with mirrors.
            copy_links: Vec<String> = Vec::new(), unset "none", example "[\"network\"]";
            /// Flash drives before it that keep what is read, or written, often.
            flash_cache: Option<FlashCacheSpec> = None, unset "none", example "{\"group\": \"flash\"}";
            /// Spares that wait for this group only.
            spares: Members = Members(Vec::new()), unset "none", example "[\"disk[6]\"]";
            /// Which members fail, and when.
            failures: Option<FailureSpec> = None, unset "none", example "{\"at\": [{\"time_s\": 60, \"member\": 3}]}";
            /// The step, pace and priority of its rebuilds, in the place of its controller's.
            rebuild: Option<RebuildSpec> = None, unset "none", example "{\"priority_percent\": 100}";
        }
    }
}

words! {
    /// How volumes lie on several groups.
    pub enum Spread: "a way to spread volumes", default Separate {
        /// Every volume lies on one group.
        Separate = "separate",
        /// Every volume has an equal piece of each group, one after the other.
        Joined = "joined",
    }
}

options! {
    /// What each volume may do, whatever its devices could: a cap, or what a provider sells.
    pub struct LimitSpec: "limit of a volume" in ARRAYS {
        "Limit" {
            /// Reads and writes per second that last.
            requests_per_s: Option<u64> = None, unset "no limit", range 1.0 => LIMIT_MAX, example "3000";
            /// Reads and writes per second while credit lasts; needs `burst_requests`.
            burst_requests_per_s: Option<u64> = None, unset "no limit", range 1.0 => LIMIT_MAX, example "3000";
            /// Credit in requests; it grows by `requests_per_s` and is spent by what is done.
            burst_requests: u64 = 0, range 0.0 => CREDIT_MAX, example "5400000";
            /// A request counts once more with each so many bytes; 0 counts every request once.
            request_bytes: u32 = 0, unit BYTES, example "262144";
            /// Bytes per second that last.
            bytes_per_s: Option<u64> = None, unset "no limit", range 1.0 => LIMIT_MAX, unit BYTES_PER_S, example "131072000";
            /// Bytes per second while credit lasts; needs `burst_bytes`.
            burst_bytes_per_s: Option<u64> = None, unset "no limit", range 1.0 => LIMIT_MAX, unit BYTES_PER_S,
                example "262144000";
            /// Credit in bytes; it grows by `bytes_per_s` and is spent by what is moved.
            burst_bytes: u64 = 0, range 0.0 => CREDIT_MAX, unit BYTES, example "1099511627776";
            /// How much of the credit is there at first.
            credit_percent: u32 = 100, range 0.0 => 100.0, unit PERCENT, example "0";
        }
    }
}

options! {
    /// Volumes carved alike.
    pub struct VolumeSet: "set of volumes" in ARRAYS {
        "Volumes" {
            /// What they are called; several are numbered from 0: `lun[0]`.
            name: String = String::new(), required "the host refers to volumes by this name", example "lun";
            /// The groups they are carved from.
            groups: Vec<String> = Vec::new(), required "name the groups they are carved from", example "[\"vd0\"]";
            /// Volumes per group (`separate`), or volumes in all (`joined`).
            count: u32 = 1, range 1.0 => 4_294_967_295.0, example "4";
            /// Size of each; what is free on the groups, evenly and in whole MiB, if not given. Whatever it is, the next one begins at
            /// a whole MiB.
            size_bytes: Option<u64> = None, unset "none", unit BYTES, example "107374182400";
            /// Bytes from a whole MiB to where each of them begins: that of a partition which is not aligned; less than 1 MiB.
            offset_bytes: u32 = 0, range 0.0 => 1_048_064.0, unit BYTES, example "32256";
            /// How they lie on several groups.
            spread: Spread = Spread::Separate, example "joined";
            /// The links from the host to the controller, in order.
            links: Vec<String> = Vec::new(), unset "none", example "[\"fc\"]";
            /// Further links at the controller's end, one per volume in turn: the ports that volumes are dealt to.
            ports: Vec<String> = Vec::new(), unset "none", example "[\"port-a\", \"port-b\"]";
            /// What each of them may do in a second.
            limit: Option<LimitSpec> = None, unset "none", example "{\"requests_per_s\": 3000}";
        }
    }
}
