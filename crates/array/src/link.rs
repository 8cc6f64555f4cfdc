//! Links: buses, ports and cables as servers of a rate, with one direction at a time or both.
//!
//! Model: a transfer takes `overhead + bytes / (rate × efficiency)` of each link on its way. Links are crossed as the data
//! flow: a transfer begins on the next link when it begins on the one before, and ends when the slowest has passed it.
//! A full-duplex link has a server per direction, a half-duplex link one for both; `latency` delays without occupying. Each
//! server has an account of its own, since the busier one limits.
//!
//! Limits: a transfer is not divided, so a short one waits for a long one before it. A link behind a congested one works
//! as if its share of the transfer came at once, which keeps its capacity right and its order a little early.

use crate::spec::{Duplex, LinkSpec};
use crate::station::Account;

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host to the controller, or from the controller to the device.
    Down,
    /// Back.
    Up,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Link {
    free_ns: [u64; 2],
    half: bool,
    overhead_ns: u64,
    latency_ns: u64,
    /// Nanoseconds per byte, 32 bits after the point.
    byte_ns: u64,
    /// What it did: down and up, or all of it in the first if it is half-duplex.
    pub accounts: [Account; 2],
}

impl Link {
    /// A link at rest.
    pub fn new(spec: &LinkSpec) -> Self {
        let rate = u128::from(spec.rate_bytes_per_s) * u128::from(spec.efficiency_percent) / 100;
        let byte_ns = ((1_000_000_000_u128 << 32) / rate.max(1)).min(u128::from(u64::MAX)) as u64;
        Self {
            free_ns: [0; 2],
            half: spec.duplex == Duplex::Half,
            overhead_ns: spec.overhead_ns,
            latency_ns: spec.latency_ns,
            byte_ns,
            accounts: [Account::default(); 2],
        }
    }

    /// Time that a transfer of `bytes` occupies it.
    #[inline]
    pub fn service_ns(&self, bytes: u64) -> u64 {
        self.overhead_ns + ((u128::from(bytes) * u128::from(self.byte_ns)) >> 32) as u64
    }

    /// Servers: one, or one per direction.
    pub const fn servers(&self) -> u64 {
        if self.half { 1 } else { 2 }
    }

    /// When a transfer given at `now_ns` begins and ends, if it can begin, or could have begun, at `ready_ns`.
    #[inline]
    fn transfer(&mut self, now_ns: u64, ready_ns: u64, bytes: u64, direction: Direction) -> (u64, u64) {
        let side = if self.half { 0 } else { direction as usize };
        let service_ns = self.service_ns(bytes);
        let begin_ns = ready_ns.max(self.free_ns[side]);
        self.free_ns[side] = self.free_ns[side].max(now_ns.min(ready_ns)) + service_ns;
        let end_ns = begin_ns + service_ns;
        let account = &mut self.accounts[side];
        account.busy_ns += service_ns;
        account.resident_ns += end_ns - ready_ns;
        account.operations += 1;
        account.bytes += bytes;
        (begin_ns, end_ns + self.latency_ns)
    }
}

/// A transfer over several links.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The instant at which it is given; never earlier than that of a transfer before it.
    pub now_ns: u64,
    /// When it can begin; earlier than `now_ns` if its sender has been sending since then.
    pub ready_ns: u64,
    /// How much.
    pub bytes: u64,
    /// Which way.
    pub direction: Direction,
}

/// Carries a transfer over the links of `path`, in the order of `path` on the way down; when all of it has arrived.
#[inline(always)]
pub fn carry(links: &mut [Link], path: &[u16], transfer: Transfer) -> u64 {
    let Transfer { now_ns, ready_ns, bytes, direction } = transfer;
    match *path {
        [only] => ready_ns.max(links[usize::from(only)].transfer(now_ns, ready_ns, bytes, direction).1),
        _ => carry_on(links, path, transfer),
    }
}

/// How long a transfer of `bytes` is on the slowest link of `path`; nothing without links.
#[inline]
pub fn slowest_ns(links: &[Link], path: &[u16], bytes: u64) -> u64 {
    path.iter().map(|&link| links[usize::from(link)].service_ns(bytes)).max().unwrap_or(0)
}

fn carry_on(links: &mut [Link], path: &[u16], transfer: Transfer) -> u64 {
    let Transfer { now_ns, mut ready_ns, bytes, direction } = transfer;
    let mut end_ns = ready_ns;
    for step in 0..path.len() {
        let place = if direction == Direction::Down { step } else { path.len() - 1 - step };
        let (begin_ns, passed_ns) = links[path[place] as usize].transfer(now_ns, ready_ns, bytes, direction);
        end_ns = end_ns.max(passed_ns);
        ready_ns = begin_ns;
    }
    end_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(rate_bytes_per_s: u64, duplex: Duplex) -> Link {
        Link::new(&LinkSpec { rate_bytes_per_s, duplex, overhead_ns: 1000, ..LinkSpec::named("bus") })
    }

    fn told(now_ns: u64, bytes: u64, direction: Direction) -> Transfer {
        Transfer { now_ns, ready_ns: now_ns, bytes, direction }
    }

    #[test]
    fn a_transfer_takes_overhead_and_bytes_over_the_rate() {
        // Ultra320: 64 KiB at 320 MB/s are 204.8 µs.
        let mut links = [link(320_000_000, Duplex::Half)];
        assert_eq!(carry(&mut links, &[0], told(0, 65_536, Direction::Up)), 1000 + 204_800);
        assert_eq!(Link::new(&LinkSpec { efficiency_percent: 50, ..LinkSpec::named("bus") }).service_ns(1), 2);
    }

    #[test]
    fn half_duplex_carries_one_direction_at_a_time_and_full_duplex_both() {
        for (duplex, expected) in [(Duplex::Half, 4000), (Duplex::Full, 2000)] {
            let mut links = [link(1_000_000_000, duplex)];
            carry(&mut links, &[0], told(0, 1000, Direction::Down));
            assert_eq!(carry(&mut links, &[0], told(0, 1000, Direction::Up)), expected, "{duplex:?}");
        }
    }

    #[test]
    fn a_way_over_several_links_is_as_long_as_the_slowest() {
        let mut links = [link(1_000_000_000, Duplex::Full), link(100_000_000, Duplex::Full)];
        assert_eq!(carry(&mut links, &[0, 1], told(0, 10_000, Direction::Down)), 101_000);
        assert_eq!(links[0].accounts.map(|account| account.busy_ns), [11_000, 0]);
    }

    #[test]
    fn a_congested_link_does_not_waste_the_next_one() {
        // Two ports into one bus: the first port is busy until 101 µs, the bus carries the second port's data meanwhile.
        let slow = || link(100_000_000, Duplex::Full);
        let mut links = [slow(), slow(), link(1_000_000_000, Duplex::Full)];
        carry(&mut links, &[0, 2], told(0, 10_000, Direction::Down));
        carry(&mut links, &[0, 2], told(0, 10_000, Direction::Down));
        let mut alone = [slow(), slow(), link(1_000_000_000, Duplex::Full)];
        carry(&mut alone, &[1, 2], told(0, 10_000, Direction::Down));
        assert_eq!(carry(&mut links, &[1, 2], told(50_000, 10_000, Direction::Down)), 151_000);
    }
}
