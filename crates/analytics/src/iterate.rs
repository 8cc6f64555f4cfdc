//! Processor work without storage: three nested loops of additions that wait for each other.

use std::hint::black_box;

/// Adds 1 in three nested loops of so many turns; the sum, which is `loops` cubed: sums of ones are exact below 2^53.
pub fn iterate(loops: u32) -> f64 {
    let mut sum = 0.0_f64;
    for _ in 0..loops {
        for _ in 0..loops {
            // Told nothing of the addend, the compiler keeps every addition, one after the other.
            let one = black_box(1.0_f64);
            for _ in 0..loops {
                sum += one;
            }
        }
    }
    black_box(sum)
}
