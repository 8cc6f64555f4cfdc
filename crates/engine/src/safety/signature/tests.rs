use std::collections::HashSet;

use super::*;

const SIZE: usize = 80 << 20;

fn names(image: &[u8]) -> Vec<&'static str> {
    scan(&image).unwrap().into_iter().map(|found| found.name).collect()
}

fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut out = Vec::with_capacity(bytes + 8);
    while out.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.extend_from_slice(&(state ^ (state >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    }
    out.truncate(bytes);
    out
}

fn put(image: &mut [u8], offset: usize, bytes: &[u8]) {
    image[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// A device of zeros with a few bytes on it, however large.
struct Sparse<'a> {
    size: u64,
    offset: u64,
    bytes: &'a [u8],
}

impl Image for Sparse<'_> {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        buffer.fill(0);
        for (at, byte) in (self.offset..).zip(self.bytes) {
            if let Some(within) = at.checked_sub(offset).filter(|within| *within < buffer.len() as u64) {
                buffer[within as usize] = *byte;
            }
        }
        Ok(())
    }
}

#[test]
fn every_sure_magic_is_found_at_every_place_it_may_stand() {
    for signature in table::SIGNATURES.iter().filter(|signature| signature.check.is_none()) {
        for (place, bytes) in signature.magics {
            let size = 1 << 39;
            let offset = place.offset(size).unwrap();
            let found = scan(&Sparse { size, offset, bytes }).unwrap();
            assert!(found.iter().any(|found| found.name == signature.name), "{} at {offset}", signature.name);
        }
    }
}

#[test]
fn an_external_journal_is_known_although_it_has_no_inodes() {
    let mut image = vec![0; 1 << 20];
    put(&mut image, 0x438, b"\x53\xef");
    put(&mut image, 0x460, &8u32.to_le_bytes()); // INCOMPAT_JOURNAL_DEV
    assert_eq!(names(&image), ["journal of ext3/4"]);
}

#[test]
fn a_file_system_whose_first_superblock_is_gone_is_known_by_its_copies() {
    let mut superblock = vec![0; 0x60];
    superblock[..4].copy_from_slice(&1024u32.to_le_bytes());
    superblock[0x38..0x3a].copy_from_slice(b"\x53\xef");
    for offset in [8193 << 10, 32 << 20, 128 << 20, 3 * (128 << 20)] {
        let found = scan(&Sparse { size: 1 << 30, offset, bytes: &superblock }).unwrap();
        assert_eq!(found[0].name, "ext2/3/4", "at {offset}");
    }
    // Four allocation groups, as mkfs.xfs makes them: 262,144 blocks of 4 KiB, and 300,001 for the rounding.
    for (blocks, group) in [(262_144_u64, 65_536), (300_001, 75_001)] {
        let found = scan(&Sparse { size: blocks * 4096, offset: group * 4096, bytes: b"XFSB" }).unwrap();
        assert_eq!(found[0].name, "copy of an xfs superblock", "{blocks} blocks");
    }
}

#[test]
fn names_are_unique_and_magics_without_a_check_are_long_enough_to_trust() {
    let mut seen = HashSet::new();
    for signature in table::SIGNATURES {
        assert!(seen.insert(signature.name), "{} twice", signature.name);
        for (_, magic) in signature.magics {
            assert!(signature.check.is_some() || magic.len() >= 4, "{}", signature.name);
            assert!(magic.len() <= 32, "{} exceeds the comparison buffer", signature.name);
        }
    }
}

#[test]
fn nothing_is_found_in_zeros_in_noise_and_in_files_of_a_few_bytes() {
    assert!(names(&vec![0; SIZE]).is_empty());
    for seed in 0..8 {
        assert!(names(&noise(8 << 20, seed)).is_empty(), "seed {seed}");
    }
    for size in [0, 1, 511, 512, 4096, 70_001] {
        assert!(names(&noise(size, 9)).is_empty(), "{size} bytes");
    }
}

#[test]
fn an_mbr_counts_with_believable_entries_and_also_when_it_is_empty() {
    let mut image = vec![0; 1 << 20];
    put(&mut image, 510, b"\x55\xaa");
    assert_eq!(names(&image), ["MBR"], "an empty table is a table");
    put(&mut image, 446, &[0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0]);
    assert_eq!(names(&image), ["MBR"]);
    image[446] = 0x17;
    assert!(names(&image).is_empty(), "a boot flag is 0x00 or 0x80");
}

#[test]
fn a_fat_boot_sector_is_not_taken_for_an_mbr() {
    let mut image = vec![0; 1 << 20];
    put(&mut image, 0, &[0xeb, 0x3c, 0x90]);
    put(&mut image, 3, b"mkfs.fat");
    put(&mut image, 11, &[0, 2, 4, 1, 0, 2]);
    image[21] = 0xf8;
    put(&mut image, 510, b"\x55\xaa");
    assert_eq!(names(&image), ["FAT without a name"]);
    put(&mut image, 0x36, b"FAT16   ");
    assert_eq!(names(&image), ["FAT"]);
}

#[test]
fn an_ext_magic_needs_a_believable_superblock() {
    let mut image = vec![0; 1 << 20];
    put(&mut image, 0x438, b"\x53\xef");
    assert!(names(&image).is_empty(), "no inodes");
    put(&mut image, 0x400, &1024u32.to_le_bytes());
    assert_eq!(names(&image), ["ext2/3/4"]);
    put(&mut image, 0x418, &99u32.to_le_bytes());
    assert!(names(&image).is_empty(), "no such block size");
}

#[test]
fn the_other_checked_formats_are_found_when_their_fields_fit() {
    let mut image = vec![0; 1 << 20];
    put(&mut image, 512, b"PM\0\0\0\0\0\x03");
    assert_eq!(names(&image), ["Apple partition map"]);

    let mut image = vec![0; 1 << 20];
    put(&mut image, 100, b"\x12\x34");
    put(&mut image, 508, b"\xda\xbe\xc8\x8a"); // 0x1234 ^ 0xdabe = 0xc88a
    assert_eq!(names(&image), ["Sun disk label"]);

    let mut image = vec![0; 1 << 20];
    put(&mut image, 1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34, 0x18, 0x01]);
    assert_eq!(names(&image), ["nilfs2"]);

    let mut image = vec![0; 1 << 20];
    put(&mut image, 1024, b"BD");
    put(&mut image, 1024 + 20, &4096u32.to_be_bytes());
    assert_eq!(names(&image), ["HFS"]);
}

#[test]
fn a_zfs_uberblock_is_found_in_labels_at_both_ends_and_in_both_byte_orders() {
    for (offset, magic) in [
        (132 << 10, 0x00ba_b10c_u64.to_le_bytes()),
        ((256 + 200) << 10, 0x00ba_b10c_u64.to_be_bytes()),
        (SIZE - (128 << 10), 0x00ba_b10c_u64.to_le_bytes()),
    ] {
        let mut image = vec![0; SIZE];
        put(&mut image, offset, &magic);
        assert_eq!(names(&image), ["ZFS member"], "at {offset}");
    }
}

#[test]
fn a_medium_that_cannot_be_read_is_an_error_and_not_empty() {
    struct Broken;
    impl Image for Broken {
        fn size_bytes(&self) -> u64 {
            1 << 20
        }
        fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> io::Result<()> {
            Err(io::Error::from_raw_os_error(libc::EIO))
        }
    }
    assert_eq!(scan(&Broken).unwrap_err().raw_os_error(), Some(libc::EIO));
}
