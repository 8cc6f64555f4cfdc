//! The table of signatures: one line per format, each with where its magic numbers stand.
//!
//! Source unless a line says otherwise: util-linux, `libblkid/src/superblocks/*.c` and `libblkid/src/partitions/*.c`.
//! Places that exist several times (backup headers, copies at the end) are all listed: the first one may be damaged.

use super::Kind::{Database, DiskImage, Encrypted, FileSystem, PartitionTable, SetMember, Swap};
use super::Place::{self, Start};
use super::{Signature, plausible};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Sector `n` before the end, in 512-byte sectors.
const fn end_sector(n: u64) -> Place {
    Place::End { align: 512, back: n * 512, plus: 0 }
}

/// A format that its magic numbers alone identify.
const fn sure(name: &'static str, kind: super::Kind, magics: &'static [(Place, &'static [u8])]) -> Signature {
    Signature { name, kind, magics, check: None, search: None }
}

/// A format whose magic numbers need a second look.
const fn checked(
    name: &'static str,
    kind: super::Kind,
    magics: &'static [(Place, &'static [u8])],
    check: super::Check,
) -> Signature {
    Signature { name, kind, magics, check: Some(check), search: None }
}

/// A format that stands in no fixed place.
const fn searched(name: &'static str, kind: super::Kind, search: super::Search) -> Signature {
    Signature { name, kind, magics: &[], check: None, search: Some(search) }
}

/// Linux `drivers/md/dm-thin-metadata.c`, `SUPERBLOCK_MAGIC`.
const DM_THIN: [u8; 8] = 27_022_010u64.to_le_bytes();
/// Linux `drivers/md/dm-cache-metadata.c`, `CACHE_SUPERBLOCK_MAGIC` (06142003, octal).
const DM_CACHE: [u8; 8] = 0o6_142_003u64.to_le_bytes();
/// Linux `drivers/md/dm-era-target.c`, `SUPERBLOCK_MAGIC`.
const DM_ERA: [u8; 8] = 2_126_579_579u64.to_le_bytes();
/// Linux `drivers/md/dm-writecache.c`, `MEMORY_SUPERBLOCK_MAGIC`.
const DM_WRITECACHE: [u8; 4] = 0x2348_9321u32.to_le_bytes();

const BCACHE: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
const BCACHEFS: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
const EXT: &[u8] = b"\x53\xef";
const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";
const LUKS_SECONDARY: &[u8] = b"SKUL\xba\xbe";
/// LVM2 `lib/format_text/layout.h`, `FMTT_MAGIC`.
const LVM2_METADATA: &[u8] = b" LVM2 x[5A%r0N*>";
const PROMISE: &[u8] = b"Promise Technology, Inc.";

/// Everything Plimsoll recognises.
pub(super) static SIGNATURES: &[Signature] = &[
    // Partition tables.
    sure(
        "GPT",
        PartitionTable,
        &[
            (Start(512), b"EFI PART"),
            (Start(4 * KIB), b"EFI PART"),
            (end_sector(1), b"EFI PART"),
            (Place::End { align: 4096, back: 4096, plus: 0 }, b"EFI PART"),
        ],
    ),
    checked("MBR", PartitionTable, &[(Start(510), b"\x55\xaa")], plausible::mbr),
    checked("Apple partition map", PartitionTable, &[(Start(512), b"PM\0\0")], plausible::apple_map),
    checked("Sun disk label", PartitionTable, &[(Start(508), b"\xda\xbe")], plausible::sun_label),
    sure("SGI disk label", PartitionTable, &[(Start(0), b"\x0b\xe5\xa9\x41")]),
    sure("BSD disk label", PartitionTable, &[(Start(512), b"\x57\x45\x56\x82"), (Start(64), b"\x57\x45\x56\x82")]),
    sure(
        "Amiga partition table",
        PartitionTable,
        &[(Start(0), b"RDSK"), (Start(512), b"RDSK"), (Start(1024), b"RDSK")],
    ),
    // File systems.
    checked(
        "ext2/3/4",
        FileSystem,
        &[
            (Start(0x438), EXT),
            // Copies in block groups 1, 3, 5 and 7, of 8 × the block size in blocks: 1, 2 and 4 KiB.
            (Start(8193 * KIB + 0x38), EXT),
            (Start(24_577 * KIB + 0x38), EXT),
            (Start(40_961 * KIB + 0x38), EXT),
            (Start(32 * MIB + 0x38), EXT),
            (Start(96 * MIB + 0x38), EXT),
            (Start(128 * MIB + 0x38), EXT),
            (Start(384 * MIB + 0x38), EXT),
            (Start(640 * MIB + 0x38), EXT),
            (Start(896 * MIB + 0x38), EXT),
        ],
        plausible::ext,
    ),
    checked("journal of ext3/4", FileSystem, &[(Start(0x438), EXT)], plausible::ext_journal),
    // The headers of free space and inodes follow the superblock, sector by sector (Linux fs/xfs/libxfs/xfs_format.h).
    sure(
        "xfs",
        FileSystem,
        &[
            (Start(0), b"XFSB"),
            (Start(512), b"XAGF"),
            (Start(KIB), b"XAGI"),
            (Start(4 * KIB), b"XAGF"),
            (Start(8 * KIB), b"XAGI"),
        ],
    ),
    searched("copy of an xfs superblock", FileSystem, plausible::xfs_copy),
    sure("xfs log", FileSystem, &[(Start(0), b"\xfe\xed\xba\xbe")]),
    sure(
        "btrfs",
        FileSystem,
        &[
            (Start(0x1_0040), b"_BHRfS_M"),
            (Start(64 * MIB + 0x40), b"_BHRfS_M"),
            (Start(256 * GIB + 0x40), b"_BHRfS_M"),
        ],
    ),
    sure("f2fs", FileSystem, &[(Start(KIB), b"\x10\x20\xf5\xf2"), (Start(5 * KIB), b"\x10\x20\xf5\xf2")]),
    sure("bcachefs", FileSystem, &[(Start(4 * KIB + 24), BCACHEFS)]),
    sure("NTFS", FileSystem, &[(Start(3), b"NTFS    "), (Place::End { align: 512, back: 512, plus: 3 }, b"NTFS    ")]),
    sure("ReFS", FileSystem, &[(Start(3), b"ReFS\0\0\0\0")]),
    sure("exFAT", FileSystem, &[(Start(3), b"EXFAT   "), (Start(12 * 512 + 3), b"EXFAT   ")]),
    sure(
        "FAT",
        FileSystem,
        &[
            (Start(0x36), b"FAT12   "),
            (Start(0x36), b"FAT16   "),
            (Start(0x36), b"FAT     "),
            (Start(0x36), b"MSDOS"),
            (Start(0x52), b"FAT32   "),
            (Start(0x52), b"MSWIN"),
            (Start(6 * 512 + 0x52), b"FAT32   "),
        ],
    ),
    checked("FAT without a name", FileSystem, &[(Start(510), b"\x55\xaa")], plausible::unnamed_fat),
    sure("ISO 9660", FileSystem, &[(Start(0x8001), b"CD001"), (Start(0x8009), b"CDROM")]),
    sure(
        "UDF",
        FileSystem,
        &[
            (Start(0x8001), b"BEA01"),
            (Start(0x8801), b"BEA01"),
            (Start(0x8801), b"NSR02"),
            (Start(0x8801), b"NSR03"),
            (Start(0x9001), b"NSR02"),
            (Start(0x9001), b"NSR03"),
        ],
    ),
    sure("JFS", FileSystem, &[(Start(0x8000), b"JFS1"), (Start(0xf000), b"JFS1")]),
    sure(
        "reiserfs",
        FileSystem,
        &[
            (Start(0x1_0034), b"ReIsErFs"),
            (Start(0x1_0034), b"ReIsEr2Fs"),
            (Start(0x1_0034), b"ReIsEr3Fs"),
            (Start(0x1_0000), b"ReIsEr4"),
            (Start(0x2034), b"ReIsErFs"),
            (Start(0x2014), b"ReIsErFs"),
        ],
    ),
    sure("squashfs", FileSystem, &[(Start(0), b"hsqs"), (Start(0), b"sqsh")]),
    sure("erofs", FileSystem, &[(Start(KIB), b"\xe2\xe1\xf5\xe0")]),
    sure("cramfs", FileSystem, &[(Start(0), b"\x45\x3d\xcd\x28"), (Start(0), b"\x28\xcd\x3d\x45")]),
    sure("romfs", FileSystem, &[(Start(0), b"-rom1fs-")]),
    sure("zonefs", FileSystem, &[(Start(0), b"SFOZ")]),
    checked(
        "nilfs2",
        FileSystem,
        &[(Start(KIB + 6), b"\x34\x34"), (Place::End { align: 4096, back: 4096, plus: 6 }, b"\x34\x34")],
        plausible::nilfs,
    ),
    sure(
        "HFS+",
        FileSystem,
        &[
            (Start(KIB), b"H+\0\x04"),
            (Start(KIB), b"HX\0\x05"),
            (end_sector(2), b"H+\0\x04"),
            (end_sector(2), b"HX\0\x05"),
        ],
    ),
    checked("HFS", FileSystem, &[(Start(KIB), b"BD")], plausible::hfs),
    sure("APFS", FileSystem, &[(Start(32), b"NXSB")]),
    sure(
        "UFS",
        FileSystem,
        &[
            (Start(8 * KIB + 0x55c), b"\x54\x19\x01\x00"),
            (Start(8 * KIB + 0x55c), b"\x00\x01\x19\x54"),
            (Start(64 * KIB + 0x55c), b"\x19\x01\x54\x19"),
            (Start(64 * KIB + 0x55c), b"\x19\x54\x01\x19"),
            (Start(256 * KIB + 0x55c), b"\x19\x01\x54\x19"),
        ],
    ),
    sure("VxFS", FileSystem, &[(Start(KIB), b"\xf5\xfc\x01\xa5"), (Start(8 * KIB), b"\xa5\x01\xfc\xf5")]),
    sure("HPFS", FileSystem, &[(Start(8 * KIB), b"\x49\xe8\x95\xf9")]),
    sure("GFS", FileSystem, &[(Start(64 * KIB), b"\x01\x16\x19\x70\0\0\0\x01")]),
    sure(
        "OCFS",
        FileSystem,
        &[
            (Start(KIB), b"OCFSV2"),
            (Start(2 * KIB), b"OCFSV2"),
            (Start(4 * KIB), b"OCFSV2"),
            (Start(8 * KIB), b"OCFSV2"),
            (Start(8 * KIB), b"OracleCFS"),
        ],
    ),
    sure("VMFS", FileSystem, &[(Start(2 * MIB), b"\x5e\xf1\xab\x2f")]),
    // Swap space and hibernation images: at the end of the first page, whatever its size.
    sure(
        "swap",
        Swap,
        &[
            (Start(0xff6), b"SWAPSPACE2"),
            (Start(0xff6), b"SWAP-SPACE"),
            (Start(0x1ff6), b"SWAPSPACE2"),
            (Start(0x3ff6), b"SWAPSPACE2"),
            (Start(0x7ff6), b"SWAPSPACE2"),
            (Start(0xfff6), b"SWAPSPACE2"),
        ],
    ),
    sure(
        "hibernation image",
        Swap,
        &[
            (Start(0xff6), b"S1SUSPEND"),
            (Start(0xff6), b"S2SUSPEND"),
            (Start(0xff6), b"ULSUSPEND"),
            (Start(0xff6), b"LINHIB0001"),
            (Start(0), b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
        ],
    ),
    // Members of sets. Linux RAID: magic, then the major version that belongs to the place.
    sure(
        "Linux RAID",
        SetMember,
        &[
            (Start(0), b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
            (Start(4 * KIB), b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
            (Place::End { align: 4096, back: 8192, plus: 0 }, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
            (Place::End { align: 64 * KIB, back: 64 * KIB, plus: 0 }, b"\xfc\x4e\x2b\xa9\0\0\0\0"),
            (Place::End { align: 64 * KIB, back: 64 * KIB, plus: 0 }, b"\xa9\x2b\x4e\xfc\0\0\0\0"),
        ],
    ),
    sure(
        "LVM2 physical volume",
        SetMember,
        &[
            (Start(0), b"LABELONE"),
            (Start(512), b"LABELONE"),
            (Start(1024), b"LABELONE"),
            (Start(1536), b"LABELONE"),
            // The metadata begin a page behind the start, and their copy the last whole MiB (pvcreate --pvmetadatacopies).
            (Start(4 * KIB + 4), LVM2_METADATA),
            (Start(64 * KIB + 4), LVM2_METADATA),
            (Place::End { align: MIB, back: MIB, plus: 4 }, LVM2_METADATA),
        ],
    ),
    sure("LVM1 physical volume", SetMember, &[(Start(0), b"HM\x01\0"), (Start(0), b"HM\x02\0")]),
    // No magic at a fixed place: any of the 128 uberblock slots of the four labels will do.
    searched("ZFS member", SetMember, plausible::zfs),
    sure("Stratis pool", SetMember, &[(Start(512 + 4), STRATIS), (Start(9 * 512 + 4), STRATIS)]),
    sure("bcache", SetMember, &[(Start(4 * KIB + 24), BCACHE)]),
    sure("VDO", SetMember, &[(Start(0), b"dmvdo001")]),
    sure(
        "DRBD",
        SetMember,
        &[
            (Place::End { align: 1, back: 4096, plus: 60 }, b"\x83\x74\x02\x6b"),
            (Place::End { align: 1, back: 4096, plus: 60 }, b"\x83\x74\x02\x6c"),
            (Place::End { align: 1, back: 4096, plus: 60 }, b"\x83\x74\x02\x6d"),
        ],
    ),
    sure("Ceph BlueStore", SetMember, &[(Start(0), b"bluestore block device")]),
    sure("SPDK blobstore", SetMember, &[(Start(0), b"SPDKBLOB")]), // spdk, lib/blob/blobstore.h
    sure("VMFS volume member", SetMember, &[(Start(MIB), b"\x0d\xd0\x01\xc0")]),
    sure("Windows dynamic disk", SetMember, &[(Start(0xc00), b"PRIVHEAD"), (end_sector(1), b"PRIVHEAD")]),
    sure("DDF RAID", SetMember, &[(end_sector(1), b"\xde\x11\xde\x11"), (end_sector(257), b"\xde\x11\xde\x11")]),
    // In the last sector but one, of 512 bytes or of 4 KiB (mdadm, super-intel.c).
    sure(
        "Intel RAID",
        SetMember,
        &[
            (end_sector(2), b"Intel Raid ISM Cfg Sig. "),
            (Place::End { align: 4096, back: 8192, plus: 0 }, b"Intel Raid ISM Cfg Sig. "),
        ],
    ),
    sure("LSI MegaRAID", SetMember, &[(end_sector(1), b"$XIDE$")]),
    sure("NVIDIA RAID", SetMember, &[(end_sector(2), b"NVIDIA")]),
    sure("Adaptec RAID", SetMember, &[(end_sector(1), b"\x37\xfc\x4d\x1e")]),
    sure(
        "Promise RAID",
        SetMember,
        &[
            (end_sector(16), PROMISE),
            (end_sector(63), PROMISE),
            (end_sector(255), PROMISE),
            (end_sector(256), PROMISE),
            (end_sector(399), PROMISE),
            (end_sector(591), PROMISE),
            (end_sector(675), PROMISE),
            (end_sector(735), PROMISE),
            (end_sector(911), PROMISE),
            (end_sector(951), PROMISE),
            (end_sector(974), PROMISE),
            (end_sector(991), PROMISE),
            (end_sector(3087), PROMISE),
        ],
    ),
    sure("dm-thin metadata", SetMember, &[(Start(32), &DM_THIN)]),
    sure("dm-cache metadata", SetMember, &[(Start(32), &DM_CACHE)]),
    sure("dm-era metadata", SetMember, &[(Start(32), &DM_ERA)]),
    sure("dm-writecache", SetMember, &[(Start(0), &DM_WRITECACHE)]),
    sure("dm-snapshot", SetMember, &[(Start(0), b"SnAp")]),
    // Encrypted and protected volumes.
    sure(
        "LUKS",
        Encrypted,
        &[
            (Start(0), b"LUKS\xba\xbe"),
            (Start(0x4000), LUKS_SECONDARY),
            (Start(0x8000), LUKS_SECONDARY),
            (Start(0x1_0000), LUKS_SECONDARY),
            (Start(0x2_0000), LUKS_SECONDARY),
            (Start(0x4_0000), LUKS_SECONDARY),
            (Start(0x8_0000), LUKS_SECONDARY),
            (Start(0x10_0000), LUKS_SECONDARY),
            (Start(0x20_0000), LUKS_SECONDARY),
            (Start(0x40_0000), LUKS_SECONDARY),
        ],
    ),
    sure("BitLocker", Encrypted, &[(Start(3), b"-FVE-FS-")]),
    sure("dm-integrity", Encrypted, &[(Start(0), b"integrt\0")]), // Linux drivers/md/dm-integrity.c, SB_MAGIC
    sure("dm-verity", Encrypted, &[(Start(0), b"verity\0\0")]),
    // Storage that databases manage themselves. Oracle: oracleasm, include/linux/asmdisk.h.
    sure("Oracle ASM", Database, &[(Start(32), b"ORCLDISK")]),
    sure("SQLite", Database, &[(Start(0), b"SQLite format 3\0")]), // sqlite.org/fileformat2.html
    // Disks of virtual machines, as files. Source: qemu, block/*.c.
    sure("qcow2", DiskImage, &[(Start(0), b"QFI\xfb")]),
    sure("VMDK", DiskImage, &[(Start(0), b"KDMV"), (Start(0), b"COWD"), (Start(0), b"# Disk DescriptorFile")]),
    sure("VDI", DiskImage, &[(Start(64), b"\x7f\x10\xda\xbe")]),
    sure("VHD", DiskImage, &[(Start(0), b"conectix"), (end_sector(1), b"conectix")]),
    sure("VHDX", DiskImage, &[(Start(0), b"vhdxfile")]),
    sure("Parallels", DiskImage, &[(Start(0), b"WithoutFreeSpace"), (Start(0), b"WithouFreSpacExt")]),
];
