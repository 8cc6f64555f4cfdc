//! The bytes of stamps are a format: what one version wrote, every other has to verify.

use plimsoll_workload::stamp::{StampHeader, write};

/// Three granules of three sectors, so that some sectors are summed side by side and one alone. The checksum of all bytes comes from a
/// program of twenty lines in Python that knows only the table in the module's documentation and SplitMix64.
#[test]
fn stamped_bytes_are_those_of_the_documented_format() {
    let mut buffer = vec![0; 9 * 512];
    let header = StampHeader { run: 0x1234, start: 153_600, sequence: 7, granule_bytes: 1536 };
    let mut asked = Vec::new();
    write(&mut buffer, &header, |granule| {
        asked.push(granule);
        5 + granule as u64
    });
    assert_eq!(asked, [0, 1, 2], "each granule is asked for once, in order");
    assert_eq!(crc32c::crc32c(&buffer), 0xba2b_cf23);
}
