//! How often flash is written per write of the host under uniform random writes, with greedy collection.
//!
//! They depend on the spare factor `ρ`, flash beyond the capacity in proportion to the capacity, and on the units of a block.
//!
//! - Agarwal & Marrow (2010): `(1 + ρ) / 2ρ`, from the probability that a page of the whole flash is valid.
//! - Xiang & Kurkoski (2012, arXiv 1110.4245): `(1 + ρ) / (1 + ρ + W(−(1 + ρ)e^−(1 + ρ)))`, from the probability that a
//!   page of the chosen block is; `W` is Lambert's function. Their simulation has 2.35 at `ρ` = 0.3, the formulas 2.17
//!   and 2.36.
//! - For blocks of `b` units (the finite form of the same, as in P. Desnoyers, Analytic Models of SSD Write Performance, ACM TOS
//!   2014): a block begins with `b` valid units, of which each is overwritten as often as any other of the drive, so that it
//!   waits for the next with a mean of 1/j of what a single one would take, where j are left. It is chosen when `m` are left. As
//!   many blocks are between `b` and `m` as there are, whence `1 + ρ = b·(1/b + … + 1/(m+1)) / (b − m)`, and the amplification
//!   is `b / (b − m)`. For large blocks that is the formula of Xiang & Kurkoski, which is too high by 1.5 % for 512 units
//!   and by 12 % for 64, with `ρ` of 7 %: the choice has more to choose from where blocks scatter more.
//!
//! Limits: all hold for many blocks; blocks that are being filled or kept free are not spare and do not count in `ρ`. With these
//! left out our own page map agrees with the last within 1 % for blocks of 512 units and `ρ` of 7 to 100 % (test
//! `flash_amplification`). Other orders of writes than uniform random ones amplify less, down to 1 if they are sequential.

/// The formula of Agarwal & Marrow.
pub fn agarwal_marrow(spare: f64) -> f64 {
    (1.0 + spare) / (2.0 * spare)
}

/// The formula of Xiang & Kurkoski, for large blocks.
pub fn xiang_kurkoski(spare: f64) -> f64 {
    let total = 1.0 + spare;
    // x = −W(−total·e^−total) is the other solution of x·e^−x = total·e^−total: the one below 1.
    let product = total * libm::exp(-total);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle * libm::exp(-middle) < product {
            low = middle;
        } else {
            high = middle;
        }
    }
    total / (total - high)
}

/// The formula for blocks of so many units, by which the analytic translation works.
pub fn greedy(spare: f64, block_units: u64) -> f64 {
    let (total, block) = (1.0 + spare, block_units as f64);
    // The sum of 1/j from m + 1 to b, and the same for an m that is not whole, but for terms of 1/b².
    let needed = |left: f64| block * libm::log((block + 0.5) / (left + 0.5)) / (block - left);
    let (mut low, mut high) = (0.0, block);
    if needed(low) <= total {
        return 1.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if needed(middle) > total {
            low = middle;
        } else {
            high = middle;
        }
    }
    block / (block - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_give_the_published_values() {
        // Abstract of arXiv 1110.4245.
        assert!((xiang_kurkoski(0.3) - 2.36).abs() < 0.005);
        assert!((agarwal_marrow(0.3) - 2.17).abs() < 0.005);
        // Reference, section 4.8.
        assert!((agarwal_marrow(0.07) - 7.6).abs() < 0.05);
        assert!((agarwal_marrow(0.28) - 2.3).abs() < 0.05);
    }

    #[test]
    fn the_larger_the_blocks_the_nearer_their_formula_is_to_that_of_large_ones() {
        for spare in [0.07, 0.28, 1.0] {
            let found = [16, 64, 512, 4096, 1 << 20].map(|units| greedy(spare, units));
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
            assert!((found[4] / xiang_kurkoski(spare) - 1.0).abs() < 1e-4, "{found:?}");
        }
        // Two units to a block, one of which is left of the victim: 1 + ρ = 2·(1/2)/1.
        assert!((greedy(2.0 * libm::log(2.5 / 1.5) - 1.0, 2) - 2.0).abs() < 1e-9);
        assert!((greedy(9.0, 2) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn much_spare_flash_needs_no_collection() {
        assert!(xiang_kurkoski(20.0) < 1.000_001);
        assert!(xiang_kurkoski(0.02) > 25.0);
    }
}
