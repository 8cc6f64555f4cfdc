//! Whether anything is stored on a device at all, told by a sample of places.
//!
//! Model: both ends and one place in each of [`STRETCHES`] equal stretches, drawn from a seed that the size gives, so that
//! equal devices give equal answers. A place speaks when it holds something that is neither zeros nor bytes that this
//! program writes ([`plimsoll_workload::provenance`]); a device that earlier runs have written all over still counts as empty,
//! so that a run can be repeated with the words that allowed the first one.
//!
//! Limits: a sample. What fills less than a few hundredths of a device, has no known signature and leaves both ends zero
//! is seen by luck only.

use std::io;

use plimsoll_workload::provenance;
use plimsoll_workload::rng::drawn;

use super::signature::Image;

/// Places between the ends: with those and the signatures about 60 reads, below one second on a disk that spins.
const STRETCHES: u64 = 32;
const PIECE_BYTES: u64 = 4 << 10;
const END_BYTES: u64 = 64 << 10;

/// Where the first piece of the sample holds something unknown; `None` when none does.
///
/// # Errors
/// The first read error.
pub(super) fn stored_at(image: &impl Image) -> io::Result<Option<u64>> {
    for (offset, bytes) in pieces(image.size_bytes()) {
        let mut piece = vec![0; bytes as usize];
        image.read_at(&mut piece, offset)?;
        if let Some(within) = provenance::unknown_at(&piece) {
            return Ok(Some(offset + within as u64));
        }
    }
    Ok(None)
}

/// Offsets and lengths of the sample, in order.
fn pieces(size: u64) -> Vec<(u64, u64)> {
    if size <= 2 * END_BYTES + STRETCHES * PIECE_BYTES {
        return vec![(0, size)];
    }
    let stretch = (size - 2 * END_BYTES) / STRETCHES / PIECE_BYTES;
    let places = (0..STRETCHES).map(|number| {
        let within = drawn(size, number) % stretch;
        (END_BYTES + (number * stretch + within) * PIECE_BYTES, PIECE_BYTES)
    });
    let end = size - size % 512 - END_BYTES;
    std::iter::once((0, END_BYTES)).chain(places).chain([(end, size - end)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 64 << 20;

    #[test]
    fn zeros_and_plimsolls_own_bytes_are_nothing_and_anything_else_at_any_place_is_named() {
        let mut image = vec![0; SIZE];
        assert_eq!(stored_at(&image.as_slice()).unwrap(), None);
        for (offset, bytes) in pieces(SIZE as u64) {
            let at = offset + bytes - 1;
            image[at as usize] = 1;
            assert_eq!(stored_at(&image.as_slice()).unwrap(), Some(at));
            image[at as usize] = 0;
        }
    }

    #[test]
    fn the_sample_covers_both_ends_and_every_stretch_between_them() {
        for size in [1 << 10, 1 << 20, 3 << 20, 1 << 40, (1 << 30) + 512] {
            let pieces = pieces(size);
            assert_eq!((pieces[0].0, pieces.last().map(|(offset, bytes)| offset + bytes)), (0, Some(size)));
            assert!(pieces.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0), "{size}: in order, apart");
            let gap = pieces.windows(2).map(|two| two[1].0 - two[0].0).max().unwrap_or(0);
            assert!(gap <= 2 * size / STRETCHES + END_BYTES, "{size}: {gap}");
        }
    }

    #[test]
    fn eight_megabytes_of_text_in_the_middle_of_a_device_are_seen() {
        let mut image = vec![0; SIZE];
        image[28 << 20..36 << 20].fill(b'x');
        assert!(stored_at(&image.as_slice()).unwrap().is_some());
    }
}
