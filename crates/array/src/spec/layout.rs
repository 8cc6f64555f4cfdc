//! Links, devices, groups and volumes: what hangs on what.

use serde::{Deserialize, Serialize};

use super::members::Members;
use crate::device::DeviceSpec;
use crate::raid::{FailureSpec, GroupSpec, RebuildSpec};

/// Whether a link carries both directions at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// One direction at a time.
    Half,
    /// Both.
    #[default]
    Full,
}

/// Who uses a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// All whose way leads over it.
    #[default]
    Shared,
    /// Every device has one of its own.
    PerDevice,
}

/// A bus, port or cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// What it is called.
    pub name: String,
    /// One direction at a time, or both.
    #[serde(default)]
    pub duplex: Duplex,
    /// Bytes per second, per direction.
    pub rate_bytes_per_s: u64,
    /// Share of the rate that is left for data.
    #[serde(default = "all")]
    pub efficiency_percent: u32,
    /// Time that every transfer occupies it besides.
    #[serde(default)]
    pub overhead_ns: u64,
    /// Time that passes until a transfer arrives, without occupying it.
    #[serde(default)]
    pub latency_ns: u64,
    /// One for all, or one per device.
    #[serde(default)]
    pub sharing: Sharing,
}

impl LinkSpec {
    /// A link of 1 GB/s and nothing else.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            duplex: Duplex::Full,
            rate_bytes_per_s: 1_000_000_000,
            efficiency_percent: 100,
            overhead_ns: 0,
            latency_ns: 0,
            sharing: Sharing::Shared,
        }
    }
}

/// Equal devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceSet {
    /// What they are called: the set is `disk`, its first device `disk[0]`.
    pub name: String,
    /// How many.
    pub count: u16,
    /// The links from the controller to a device, in order.
    #[serde(default)]
    pub links: Vec<String>,
    /// What each of them is.
    pub model: DeviceSpec,
}

/// A RAID group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupEntry {
    /// What it is called.
    pub name: String,
    /// The controller that owns it.
    pub controller: String,
    /// Its devices, in the order of the layout.
    pub members: Members,
    /// How data lie on them.
    pub raid: GroupSpec,
    /// Spares that wait for this group only.
    #[serde(default)]
    pub spares: Members,
    /// Which members fail, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureSpec>,
    /// The step, pace and priority of its rebuilds, in the place of its controller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildSpec>,
}

/// How volumes lie on several groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Every volume lies on one group.
    #[default]
    Separate,
    /// Every volume has an equal piece of each group, one after the other.
    Joined,
}

/// Volumes carved alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeSet {
    /// What they are called; several are numbered from 0: `lun[0]`.
    pub name: String,
    /// The groups they are carved from.
    pub groups: Vec<String>,
    /// Volumes per group (`separate`), or volumes in all (`joined`).
    #[serde(default = "one")]
    pub count: u32,
    /// Size of each; what is free on the groups, evenly and in whole MiB, if not given. Whatever it is, the next one begins at
    /// a whole MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Bytes from a whole MiB to where each of them begins: that of a partition which is not aligned; less than 1 MiB.
    #[serde(default)]
    pub offset_bytes: u32,
    /// How they lie on several groups.
    #[serde(default)]
    pub spread: Spread,
    /// The links from the host to the controller, in order.
    #[serde(default)]
    pub links: Vec<String>,
    /// Further links at the controller's end, one per volume in turn: the ports that volumes are dealt to.
    #[serde(default)]
    pub ports: Vec<String>,
}

const fn one() -> u32 {
    1
}

const fn all() -> u32 {
    100
}
