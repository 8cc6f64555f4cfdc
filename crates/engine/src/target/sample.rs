//! What a file is made of: holes and compressible data make storage look faster than it is.
//!
//! Model: allocated bytes tell holes; the entropy of the byte frequencies in a few pieces tells compressible data
//! (random bytes: 8 bits per byte; text: 4 to 5; zeros: 0). Pieces lie at equal distances, so equal files give equal
//! answers.
//!
//! Limits: an order-0 estimate; data that repeats at a distance (duplicates, counters) passes for incompressible.
//! File systems that compress or deduplicate may report fewer allocated bytes than were written.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};

use serde::Serialize;

const PIECES: u64 = 8;
const PIECE_BYTES: u64 = 128 << 10;

/// Below this many bits per byte, data is compressible. 128 KiB of random bytes measure above 7.998.
pub const COMPRESSIBLE_BELOW_BITS: f64 = 7.5;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Bytes allocated on the file system.
    pub allocated_bytes: u64,
    /// Whether a hundredth or more of the file is holes.
    pub sparse: bool,
    /// Entropy in bits per byte of the most compressible piece, 0 to 8.
    pub entropy_bits_per_byte: f64,
}

impl Sample {
    /// Looks at an open file. The page cache forgets what was read for it.
    ///
    /// # Errors
    /// The first read error.
    pub fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let size_bytes = metadata.len();
        let allocated_bytes = metadata.blocks() * 512;
        let piece_bytes = size_bytes.min(PIECE_BYTES);
        let distance = (size_bytes - piece_bytes) / (PIECES - 1);
        let mut buffer = vec![0; piece_bytes as usize];
        let mut entropy: f64 = 8.0;
        advise(file, libc::POSIX_FADV_RANDOM);
        // Where all pieces are one, it is read once.
        for piece in 0..if distance == 0 { 1 } else { PIECES } {
            file.read_exact_at(&mut buffer, piece * distance)?;
            entropy = entropy.min(entropy_bits_per_byte(&buffer));
        }
        advise(file, libc::POSIX_FADV_NORMAL);
        advise(file, libc::POSIX_FADV_DONTNEED);
        let sparse = allocated_bytes < size_bytes - size_bytes / 100;
        Ok(Self { size_bytes, allocated_bytes, sparse, entropy_bits_per_byte: entropy })
    }
}

fn advise(file: &File, advice: libc::c_int) {
    // SAFETY: a plain system call on an open descriptor; advice only, so its result does not matter.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
}

/// Shannon entropy of the byte frequencies.
fn entropy_bits_per_byte(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = bytes.len().max(1) as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_eight_for_all_bytes_alike_and_zero_for_one_byte() {
        let all: Vec<u8> = (0..=255).cycle().take(4096).collect();
        assert!((entropy_bits_per_byte(&all) - 8.0).abs() < 1e-9);
        assert_eq!(entropy_bits_per_byte(&[7; 4096]), 0.0);
        let halves: Vec<u8> = (0..4096).map(|index| u8::from(index % 2 == 0)).collect();
        assert!((entropy_bits_per_byte(&halves) - 1.0).abs() < 1e-9);
    }
}
