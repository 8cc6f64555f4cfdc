//! Drives of the reference as specifications, and a small one whose every cylinder has its own seek time.
#![allow(dead_code, reason = "every test file uses some of them")]

use plimsoll_array::DeviceSpec;
use plimsoll_array::disk::{BufferSpec, DiskSpec, QueueSpec, SeekSpec};
use plimsoll_array::flash::{FlashSpec, Translation};

fn disk(text: &str) -> DiskSpec {
    match toml::from_str(text).expect("the file is a specification") {
        DeviceSpec::Disk(disk) => disk,
        DeviceSpec::Flash(_) => unreachable!("the file describes a disk"),
    }
}

pub fn savvio_10k1() -> DiskSpec {
    disk(include_str!("savvio_10k1.toml"))
}

pub fn cheetah_15k4() -> DiskSpec {
    disk(include_str!("cheetah_15k4.toml"))
}

pub fn savvio_10k4() -> DiskSpec {
    disk(include_str!("savvio_10k4.toml"))
}

pub fn all() -> [(&'static str, DiskSpec); 3] {
    [("Savvio 10K.1", savvio_10k1()), ("Cheetah 15K.4", cheetah_15k4()), ("Savvio 10K.4", savvio_10k4())]
}

/// 2,000 cylinders of 3 tracks: small enough to be walked sector by sector.
pub fn small() -> DiskSpec {
    let seek = |single_track_us, average_us, full_stroke_us| SeekSpec { single_track_us, average_us, full_stroke_us };
    DiskSpec {
        capacity_bytes: 2_000_000_000,
        rotation_rpm: 7_200,
        heads: 3,
        cylinders: Some(2_000),
        zones: 5,
        outer_rate_bytes_per_s: 45_000_000,
        inner_rate_bytes_per_s: 27_000_000,
        read_seek: seek(800, 6_000, 12_300),
        write_seek: seek(1_300, 6_700, 13_000),
        read_head_switch_us: Some(500),
        write_head_switch_us: Some(900),
        track_skew_us: Some(1_000),
        cylinder_skew_us: Some(1_500),
        command_overhead_us: 300,
        overlapped_overhead: true,
        buffer: no_buffer(),
        queue: QueueSpec::default(),
    }
}

pub fn no_buffer() -> BufferSpec {
    BufferSpec {
        segments: 0,
        segment_bytes: 0,
        prefetch_bytes: 0,
        hit_overhead_us: None,
        interface_rate_bytes_per_s: 300_000_000,
        write_bytes: 0,
        write_protected: false,
    }
}

/// 8 channels of 4 dies of 2 planes, 64 units of 4 KiB to a 16-row block: 1 GB that collects often.
pub fn flash() -> FlashSpec {
    FlashSpec {
        capacity_bytes: 1 << 30,
        over_provisioning_percent: 28.0,
        channels: 4,
        dies_per_channel: 2,
        planes_per_die: 2,
        page_bytes: 16_384,
        pages_per_block: 64,
        unit_bytes: 4_096,
        page_read_us: 75,
        page_program_us: 750,
        block_erase_us: 3_800,
        suspend_us: None,
        channel_rate_bytes_per_s: 333_000_000,
        interface_rate_bytes_per_s: 3_200_000_000,
        read_overhead_us: 5,
        write_overhead_us: 8,
        commands: 256,
        write_buffer_bytes: 4 << 20,
        power_loss_protection: true,
        translation: Translation::page_map(100),
        ..FlashSpec::default()
    }
}
