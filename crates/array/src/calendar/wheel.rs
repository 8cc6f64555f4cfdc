//! Keys a middling while ahead, as the ends of commands: a wheel of buckets, each of them a stretch of time.
//!
//! Model: a bucket keeps few keys in their order, and one bit per bucket says whether there is any. Keeping a key and finding the
//! next one after the first are a few instructions each, however many are kept, where a heap sinks a key through all its levels.
//! The length of a bucket follows what comes: it doubles when many keys lie beyond the last bucket, and halves when many find
//! theirs full. It changes what a key costs and nothing else.
//!
//! Limits: what lies before the bucket that was emptied last, beyond the last one or in a full one is refused and belongs into
//! the heap.

use super::NEVER;

/// Buckets; as many as a word has bits.
const BUCKETS: usize = u64::BITS as usize;
/// Keys of a bucket: a line of the processor's cache.
const DEPTH: usize = 4;
/// Refusals of one kind, less those of the other, after which the length of a bucket changes.
const PATIENCE: i32 = 256;
/// The first length of a bucket, as a power of two of nanoseconds; from 1 ns to some minutes.
const LENGTH_BITS: u32 = 16;
const LENGTH_BITS_MAX: u32 = 40;

/// See the module.
#[derive(Debug)]
pub(super) struct Wheel {
    /// In each bucket in order, filled up with [`NEVER`].
    buckets: [[u128; DEPTH]; BUCKETS],
    /// The buckets that are not empty.
    filled: u64,
    /// The number, counted from instant 0, of the bucket that gave the last key; none is kept before it.
    base: u64,
    length_bits: u32,
    /// Refusals beyond the last bucket, less those of full ones.
    balance: i32,
}

impl Default for Wheel {
    fn default() -> Self {
        Self { buckets: [[NEVER; DEPTH]; BUCKETS], filled: 0, base: 0, length_bits: LENGTH_BITS, balance: 0 }
    }
}

impl Wheel {
    /// The first key, or [`NEVER`].
    #[inline]
    pub(super) const fn first(&self) -> u128 {
        if self.filled == 0 {
            return NEVER;
        }
        let ahead = self.filled.rotate_right(self.base as u32 % u64::BITS).trailing_zeros() as u64;
        self.buckets[(self.base + ahead) as usize % BUCKETS][0]
    }

    pub(super) fn len(&self) -> usize {
        self.keys().count()
    }

    fn keys(&self) -> impl Iterator<Item = u128> {
        self.buckets.as_flattened().iter().copied().filter(|&key| key != NEVER)
    }

    /// The number of the bucket in which a key belongs.
    #[inline]
    const fn number(&self, key: u128) -> u64 {
        (key >> 64) as u64 >> self.length_bits
    }

    /// Keeps a key; `false` if it has to go elsewhere.
    #[inline]
    pub(super) fn insert(&mut self, key: u128) -> bool {
        let number = self.number(key);
        if self.filled == 0 {
            self.base = number;
        }
        if number.wrapping_sub(self.base) >= BUCKETS as u64 {
            self.balance += i32::from(number > self.base);
            return false;
        }
        let place = number as usize % BUCKETS;
        let bucket = &mut self.buckets[place];
        if bucket[DEPTH - 1] != NEVER {
            self.balance -= 1;
            return false;
        }
        let mut carried = key;
        for kept in bucket {
            if carried < *kept {
                std::mem::swap(kept, &mut carried);
                if carried == NEVER {
                    break;
                }
            }
        }
        self.filled |= 1 << place;
        true
    }

    /// Takes a key out that comes before all others; `false` if it is not here.
    #[inline]
    pub(super) const fn take(&mut self, key: u128) -> bool {
        let number = self.number(key);
        let place = number as usize % BUCKETS;
        let bucket = &mut self.buckets[place];
        if bucket[0] != key {
            return false;
        }
        *bucket = [bucket[1], bucket[2], bucket[3], NEVER];
        self.base = number;
        self.filled &= !(((bucket[0] == NEVER) as u64) << place);
        true
    }

    /// After a refusal: whether buckets of another length would do better. Then all keys are given to `out`.
    pub(super) fn adapt(&mut self, out: impl FnMut(u128)) {
        if self.balance.abs() < PATIENCE {
            return;
        }
        self.keys().for_each(out);
        let length_bits = if self.balance > 0 { self.length_bits + 1 } else { self.length_bits.saturating_sub(1) };
        *self = Self { length_bits: length_bits.min(LENGTH_BITS_MAX), ..Self::default() };
    }
}
