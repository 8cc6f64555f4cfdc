//! Second looks: whether the bytes around a short magic number make sense for its format.
//!
//! Each function gets the magic number's offset and answers false beyond the image's end. They are deliberately
//! lenient: a damaged table is still somebody's table.

use std::io;

use super::View;

/// Answers false when the bytes lie beyond the end.
macro_rules! bytes {
    ($view:expr, $offset:expr) => {
        match $view.array($offset)? {
            Some(bytes) => bytes,
            None => return Ok(false),
        }
    };
}

/// Four entries that are empty or believable. A table without partitions counts too, since somebody put it there,
/// unless the sector is a FAT or NTFS boot sector, which ends in the same two bytes.
pub(super) fn mbr(view: &View<'_>, _magic: u64) -> io::Result<bool> {
    const FIRST_ENTRY: u64 = 446;
    let mut partitions = 0;
    for index in 0..4 {
        let entry: [u8; 16] = bytes!(view, FIRST_ENTRY + 16 * index);
        if entry == [0; 16] {
            continue;
        }
        let (flag, kind) = (entry[0], entry[4]);
        let sectors = u32::from_le_bytes([entry[12], entry[13], entry[14], entry[15]]);
        if flag & 0x7f != 0 || kind == 0 || sectors == 0 {
            return Ok(false);
        }
        partitions += 1;
    }
    Ok(partitions > 0 || !boot_sector(view)?)
}

/// Whether the first sector starts as FAT, NTFS and exFAT boot sectors do: a jump, then a BIOS parameter block.
fn boot_sector(view: &View<'_>) -> io::Result<bool> {
    let head: [u8; 32] = bytes!(view, 0);
    let sector_bytes = u16::from_le_bytes([head[11], head[12]]);
    let jump = head[0] == 0xe9 || (head[0] == 0xeb && head[2] == 0x90);
    Ok(jump && (&head[3..11] == b"EXFAT   " || matches!(sector_bytes, 512 | 1024 | 2048 | 4096)))
}

/// A FAT volume that does not spell its name: jump, parameter block, media byte.
pub(super) fn unnamed_fat(view: &View<'_>, _magic: u64) -> io::Result<bool> {
    if !boot_sector(view)? {
        return Ok(false);
    }
    let head: [u8; 32] = bytes!(view, 0);
    let named: [u8; 3] = bytes!(view, 0x36);
    let named_32: [u8; 3] = bytes!(view, 0x52);
    let (cluster_sectors, reserved, copies, media) =
        (head[13], u16::from_le_bytes([head[14], head[15]]), head[16], head[21]);
    let believable = cluster_sectors.is_power_of_two() && reserved != 0 && matches!(copies, 1 | 2);
    Ok(believable && (media >= 0xf8 || media == 0xf0) && &named != b"FAT" && &named_32 != b"FAT")
}

/// An Apple partition map entry that says how many entries there are.
pub(super) fn apple_map(view: &View<'_>, magic: u64) -> io::Result<bool> {
    let entries: [u8; 4] = bytes!(view, magic + 4);
    Ok((1..=256).contains(&u32::from_be_bytes(entries)))
}

/// A Sun label: the 256 words of the sector cancel out.
pub(super) fn sun_label(view: &View<'_>, _magic: u64) -> io::Result<bool> {
    let sector: [u8; 512] = bytes!(view, 0);
    let sum = sector.chunks_exact(2).fold(0, |sum, word| sum ^ u16::from_be_bytes([word[0], word[1]]));
    Ok(sum == 0)
}

/// An ext superblock with possible revision, block size and inode count.
/// Source: Linux `Documentation/filesystems/ext4/super.rst`.
pub(super) fn ext(view: &View<'_>, magic: u64) -> io::Result<bool> {
    let superblock = magic - 0x38;
    let inodes = u32::from_le_bytes(bytes!(view, superblock));
    let log_block = u32::from_le_bytes(bytes!(view, superblock + 0x18));
    let revision = u32::from_le_bytes(bytes!(view, superblock + 0x4c));
    Ok(inodes != 0 && log_block <= 6 && revision <= 1)
}

/// An ext superblock of a device that holds nothing but another file system's journal: no inodes, and a feature bit.
/// Source: Linux `fs/ext4/ext4.h`, `EXT4_FEATURE_INCOMPAT_JOURNAL_DEV`.
pub(super) fn ext_journal(view: &View<'_>, magic: u64) -> io::Result<bool> {
    let features = u32::from_le_bytes(bytes!(view, magic + 0x28));
    let revision = u32::from_le_bytes(bytes!(view, magic + 0x14));
    Ok(features & 0x8 != 0 && features < 0x10_0000 && revision <= 1)
}

/// The superblock of the second allocation group of an XFS file system, wherever mkfs.xfs would have put that: groups of
/// half, a quarter, … of the device, or of 1 TiB. Source: xfsprogs, `libxfs/topology.c`, `calc_default_ag_geometry`.
pub(super) fn xfs_copy(view: &View<'_>) -> io::Result<Option<u64>> {
    const BLOCK: u64 = 4096;
    const LARGEST: u64 = (1 << 40) / BLOCK - 1;
    if view.holds(0, b"XFSB")? {
        return Ok(None);
    }
    let blocks = view.size_bytes() / BLOCK;
    let groups = (1..=5).map(|shift| blocks.div_ceil(1 << shift)).chain([LARGEST, LARGEST + 1]);
    for group in groups.filter(|group| *group > 0) {
        if view.holds(group * BLOCK, b"XFSB")? {
            return Ok(Some(group * BLOCK));
        }
    }
    Ok(None)
}

/// A nilfs2 superblock of revision 2 and its usual length.
pub(super) fn nilfs(view: &View<'_>, magic: u64) -> io::Result<bool> {
    let revision = u32::from_le_bytes(bytes!(view, magic - 6));
    let length = u16::from_le_bytes(bytes!(view, magic + 2));
    Ok(revision == 2 && (64..=1024).contains(&length))
}

/// An HFS master directory block with a possible allocation block size.
pub(super) fn hfs(view: &View<'_>, magic: u64) -> io::Result<bool> {
    let block_bytes = u32::from_be_bytes(bytes!(view, magic + 20));
    let name_length: [u8; 1] = bytes!(view, magic + 36);
    Ok(block_bytes != 0 && block_bytes.is_multiple_of(512) && name_length[0] <= 27)
}

/// An uberblock in any slot of any of the four ZFS labels (two at the start, two at the end).
/// Source: OpenZFS `include/sys/{vdev_impl,uberblock_impl}.h`.
pub(super) fn zfs(view: &View<'_>) -> io::Result<Option<u64>> {
    const LABEL: u64 = 256 << 10;
    const UBERBLOCKS: std::ops::Range<u64> = 128 << 10..LABEL;
    const MAGIC: u64 = 0x00ba_b10c;
    let end = view.size_bytes() - view.size_bytes() % LABEL;
    if end < 4 * LABEL {
        return Ok(None);
    }
    for label in [0, LABEL, end - 2 * LABEL, end - LABEL] {
        for slot in UBERBLOCKS.step_by(1 << 10) {
            let Some(word) = view.array::<8>(label + slot)? else { continue };
            if u64::from_le_bytes(word) == MAGIC || u64::from_be_bytes(word) == MAGIC {
                return Ok(Some(label + slot));
            }
        }
    }
    Ok(None)
}
