//! The checksums and payloads of several sectors side by side, by what the processor has.
//!
//! Model: a CRC-32C instruction waits three cycles for the one before, so one sector alone leaves two thirds of them unused; [`ABREAST`]
//! sectors share them. Payload is the same few lines compiled for wider and wider vectors. Which of these runs is found out at run time,
//! and the bytes are the same everywhere.
//!
//! Limits: side by side on x86-64 with SSE 4.2 only; elsewhere one sector after the other.

use super::{CHECKSUM_START, PAYLOAD_START, Sector};
use crate::rng::Draws;

/// Sectors that are summed side by side.
pub(super) const ABREAST: usize = 4;

/// The CRC-32C (Castagnoli) of bytes 0..508 of each sector.
pub(super) fn checksums<const N: usize>(sectors: &[Sector; N]) -> [u32; N] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has what the function asks for.
        return unsafe { x86::checksums(sectors) };
    }
    portable_checksums(sectors)
}

fn portable_checksums<const N: usize>(sectors: &[Sector; N]) -> [u32; N] {
    sectors.each_ref().map(|sector| crc32c::crc32c(&sector[..CHECKSUM_START]))
}

/// Fills the payload of a sector with random bytes.
pub(super) fn fill_payload(sector: &mut Sector, draws: Draws) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512dq") && std::arch::is_x86_feature_detected!("avx512vl") {
        // SAFETY: the processor has what the function asks for.
        return unsafe { x86::fill_by_eights(sector, draws) };
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        return unsafe { x86::fill_by_fours(sector, draws) };
    }
    fill(sector, draws);
}

#[inline(always)]
fn fill(sector: &mut Sector, draws: Draws) {
    let (words, rest) = sector[PAYLOAD_START..CHECKSUM_START].as_chunks_mut::<8>();
    for (word, index) in words.iter_mut().zip(0..) {
        *word = draws.at(index).to_le_bytes();
    }
    let last = draws.at(words.len() as u64).to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_mm_crc32_u32, _mm_crc32_u64};

    use super::super::{CHECKSUM_START, Sector, u32_at, u64_at};
    use super::{Draws, fill};

    #[target_feature(enable = "sse4.2")]
    pub(super) fn checksums<const N: usize>(sectors: &[Sector; N]) -> [u32; N] {
        let mut sums = [u64::from(u32::MAX); N];
        for place in (0..CHECKSUM_START - 4).step_by(8) {
            for (sum, sector) in sums.iter_mut().zip(sectors) {
                *sum = _mm_crc32_u64(*sum, u64_at(sector, place));
            }
        }
        let mut last = [0; N];
        for ((last, sum), sector) in last.iter_mut().zip(sums).zip(sectors) {
            *last = !_mm_crc32_u32(sum as u32, u32_at(sector, CHECKSUM_START - 4));
        }
        last
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn fill_by_eights(sector: &mut Sector, draws: Draws) {
        fill(sector, draws);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn fill_by_fours(sector: &mut Sector, draws: Draws) {
        fill(sector, draws);
    }
}

#[cfg(test)]
mod tests {
    use super::super::SECTOR_BYTES;
    use super::*;

    /// Sectors of every kind of byte.
    fn sectors() -> [Sector; ABREAST] {
        let draws = Draws::new(11, &[]);
        let mut sectors = [[0; SECTOR_BYTES]; ABREAST];
        sectors.iter_mut().flatten().zip(0..).for_each(|(byte, place)| *byte = draws.at(place) as u8);
        sectors[1].fill(0);
        sectors[2].fill(0xff);
        sectors
    }

    #[test]
    fn checksums_side_by_side_are_those_of_each_sector_alone() {
        let sectors = sectors();
        assert_eq!(checksums(&sectors), portable_checksums(&sectors));
        assert_eq!(checksums(&[sectors[0]]), portable_checksums(&[sectors[0]]));
        let mut check = [0; SECTOR_BYTES];
        check[..9].copy_from_slice(b"123456789");
        // The published check value of CRC-32C (RFC 3720, B.4, and the catalogue of parametrised CRC algorithms).
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(checksums(&[check]), [crc32c::crc32c(&check[..CHECKSUM_START])]);
    }

    #[test]
    fn payload_is_the_same_by_words_and_by_vectors() {
        for seed in 0..50 {
            let draws = Draws::new(seed, &[seed]);
            let [mut wide, mut plain] = [sectors()[0]; 2];
            fill_payload(&mut wide, draws);
            fill(&mut plain, draws);
            assert_eq!(wide, plain);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has what the function asks for.
                unsafe { x86::fill_by_fours(&mut wide, draws) };
                assert_eq!(wide, plain);
            }
        }
    }
}
