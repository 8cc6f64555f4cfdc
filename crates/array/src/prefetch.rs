//! Hints to the processor: what will be looked at soon, so that it is near by then.
//!
//! Tables of a large cache, and the states of many disks, lie further from the processor than what is done between two
//! looks at them takes. A hint changes no result; where the processor takes none, it does nothing.

/// An element of a slice will be looked at; nothing is there if it lies beyond the end.
#[inline(always)]
pub(crate) fn expect<T>(things: &[T], at: usize) {
    if let Some(thing) = things.get(at) {
        expect_lines::<T, 1>(thing);
    }
}

/// The first lines of a thing will be looked at.
#[inline(always)]
pub(crate) fn expect_lines<T, const LINES: usize>(thing: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..LINES {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = std::ptr::from_ref(thing).cast::<i8>();
        // SAFETY: a hint reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(line * 64)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = thing;
}
