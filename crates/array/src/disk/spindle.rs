//! The platter's angle at an instant, in fixed point.
//!
//! Model: a turn has 2^28 ticks (22 ps of a 10,000 rpm disk), so a `u32` holds a sum of up to sixteen turns and an
//! angle is its low 28 bits: going round is a mask. The angle at `t` is the top of `t · floor(2^64 / turn)`, whose
//! overflow is the whole turns. Limits: the platter turns slower than asked by at most one part in 10^12; the turn is
//! whole nanoseconds.

/// Bits of an angle.
pub(crate) const TICK_BITS: u32 = 28;

/// What keeps an angle of a sum.
pub(crate) const TURN_MASK: u32 = (1 << TICK_BITS) - 1;

/// A head that is past its sector by no more than this has not passed it: 64 ticks are about a nanosecond, more than
/// all roundings of one command together.
pub(crate) const SLACK: u32 = 64;

/// The longest movement in turns, so that movement and wait fit into 32 bits.
pub(crate) const TURNS_MAX: u32 = 14;

/// A rotating spindle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spindle {
    turn_ns: u64,
    turns_per_ns: u64,
}

impl Spindle {
    pub(crate) const fn new(rotation_rpm: u32) -> Self {
        let rpm = rotation_rpm as u64;
        let turn_ns = (60_000_000_000 + rpm / 2) / rpm;
        Self { turn_ns, turns_per_ns: u64::MAX / turn_ns }
    }

    pub(crate) const fn turn_ns(self) -> u64 {
        self.turn_ns
    }

    /// The angle under the heads.
    #[inline]
    pub(crate) const fn angle(self, now_ns: u64) -> u32 {
        (now_ns.wrapping_mul(self.turns_per_ns) >> (64 - TICK_BITS)) as u32
    }

    /// Ticks as time, rounded down.
    #[inline]
    pub(crate) const fn ns(self, ticks: u32) -> u64 {
        (ticks as u64 * self.turn_ns) >> TICK_BITS
    }

    /// Time as ticks, rounded up.
    pub(crate) const fn ticks(self, ns: u64) -> u32 {
        debug_assert!(ns <= TURNS_MAX as u64 * self.turn_ns, "specifications with longer movements are refused");
        ((ns as u128) << TICK_BITS).div_ceil(self.turn_ns as u128) as u32
    }

    /// From one angle to another, forwards.
    #[inline]
    pub(crate) const fn wait(from: u32, to: u32) -> u32 {
        (to.wrapping_sub(from).wrapping_add(SLACK) & TURN_MASK).saturating_sub(SLACK)
    }
}
