//! A short name for the load that plans generate: equal fingerprints, equal load.
//!
//! Golden tests of the catalog hold fingerprints; a change of one is a change of what the workload does, wanted or not.
//! Hashed with 64-bit FNV-1a over little-endian fields: no platform, no hash seed and no crate version enters.

use crate::arrival::{Arrivals, Thinker};
use crate::generator::Generator;
use crate::plan::StreamPlan;

/// 64-bit FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv).
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Sixteen hexadecimal digits.
    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// Sixteen hexadecimal digits over the first `requests` requests of every shard of every stream, their operations,
/// addresses, lengths and delays, and over as many intended instants (open streams) or think times (closed ones).
///
/// Threads that share a sequential pointer are asked in turn.
pub fn fingerprint(plans: &[StreamPlan], requests: u64) -> String {
    let mut hash = Fnv::new();
    hash.number(plans.len() as u64);
    for plan in plans {
        hash.number(u64::from(plan.threads));
        hash.number(u64::from(plan.queue_depth));
        hash_requests(&mut hash, plan, requests);
        hash_instants(&mut hash, plan, requests);
    }
    hash.text()
}

fn hash_requests(hash: &mut Fnv, plan: &StreamPlan, requests: u64) {
    let mut family = Generator::family(plan);
    for _ in 0..requests {
        for generator in &mut family {
            let request = generator.next();
            hash.bytes(&[request.op as u8]);
            hash.number(request.offset);
            hash.bytes(&request.len.to_le_bytes());
            hash.number(request.delay_ns);
        }
    }
}

fn hash_instants(hash: &mut Fnv, plan: &StreamPlan, requests: u64) {
    for shard in 0..plan.threads {
        let mut arrivals = Arrivals::new(plan, shard);
        let mut thinker = Thinker::new(plan, shard);
        for _ in 0..requests {
            hash.number(if plan.arrival.is_open() { arrivals.next_ns() } else { thinker.next_ns() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fnv;

    #[test]
    fn the_hash_is_the_published_one() {
        // Test vectors of the FNV reference code (isthe.com/chongo/src/fnv/test_fnv.c).
        let cases = [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)];
        for (text, expected) in cases {
            let mut hash = Fnv::new();
            hash.bytes(text.as_bytes());
            assert_eq!(hash.0, expected, "{text:?}");
        }
    }
}
