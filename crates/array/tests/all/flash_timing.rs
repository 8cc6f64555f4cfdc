//! How long a flash drive takes, and how much of it works at a time.

use crate::closed_loop::{Want, mean_ns, random, random_reads, run, sequential, steady_per_s};
use crate::drives::flash;
use plimsoll_array::flash::{FlashModel, FlashSpec, Translation};
use plimsoll_array::{Command, Device, DeviceSpec};

const READ_NS: u64 = 75_000;
const PROGRAM_NS: u64 = 750_000;
const ANALYTIC: Translation = Translation::analytic(None);

fn device(spec: &FlashSpec) -> Device {
    Device::new(&DeviceSpec::Flash(spec.clone()), 1, 0).expect("the specification is right")
}

fn carry_out(device: &mut Device, now_ns: u64, write: bool, lba: u64, sectors: u32) -> u64 {
    let mut started = Vec::new();
    device.offer(Command { handle: 0, write, lba, sectors }, now_ns);
    device.start(now_ns, &mut started);
    let (_, end_ns) = started[0];
    device.finish(0, end_ns);
    end_ns
}

/// Time of bytes on a channel of 333 MB/s.
fn channel_ns(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 333_000_000
}

#[test]
fn a_single_read_takes_overhead_sensing_and_its_transfer() {
    for translation in [flash().translation, ANALYTIC] {
        let spec = FlashSpec { translation, ..flash() };
        let mut drive = device(&spec);
        assert_eq!(carry_out(&mut drive, 0, false, 0, 8), 5_000 + READ_NS + channel_ns(4_096));
        // Half a unit costs a whole one; 32 KiB are one row, which both planes sense at once.
        let now_ns = 1_000_000;
        assert_eq!(carry_out(&mut drive, now_ns, false, 4, 4) - now_ns, 5_000 + READ_NS + channel_ns(4_096));
        let now_ns = 2_000_000;
        assert_eq!(carry_out(&mut drive, now_ns, false, 64, 64) - now_ns, 5_000 + READ_NS + channel_ns(32_768));
        // Four rows lie on four channels.
        let now_ns = 3_000_000;
        assert_eq!(carry_out(&mut drive, now_ns, false, 0, 256) - now_ns, 5_000 + READ_NS + channel_ns(32_768));
        // Eight rows share them in pairs: the second of a pair arrives behind the first.
        let now_ns = 4_000_000;
        let end_ns = carry_out(&mut drive, now_ns, false, 0, 512);
        assert_eq!(end_ns - now_ns, 5_000 + (READ_NS + channel_ns(32_768)).max(2 * channel_ns(32_768)));
    }
}

#[test]
fn reads_of_a_die_come_one_after_the_other_and_those_of_several_together() {
    let mut drive = device(&flash());
    let mut started = Vec::new();
    // Rows of 64 sectors go round 8 dies: 0 and 512 are on the first, 64 on the second.
    for (handle, lba) in [(0, 0), (1, 512), (2, 64)] {
        drive.offer(Command { handle, write: false, lba, sectors: 8 }, 0);
    }
    drive.start(0, &mut started);
    let one_ns = READ_NS + channel_ns(4_096);
    assert_eq!(started, [(0, 5_000 + one_ns), (1, 5_000 + 2 * one_ns), (2, 5_000 + one_ns)]);
}

#[test]
fn many_reads_reach_what_the_dies_sense_and_no_more() {
    for (spec, limit) in [
        // Eight dies.
        (flash(), 8e9 / (READ_NS + channel_ns(4_096)) as f64),
        // A slow channel: four of them.
        (FlashSpec { channel_rate_bytes_per_s: 40_000_000, ..flash() }, 4.0 * 40e6 / 4_096.0),
        // A slow host.
        (FlashSpec { interface_rate_bytes_per_s: 100_000_000, ..flash() }, 100e6 / 4_096.0),
        // One command at a time.
        (FlashSpec { commands: 1, ..flash() }, 1e9 / (5_000 + READ_NS + channel_ns(4_096)) as f64),
    ] {
        let mut drive = device(&spec);
        let sectors = drive.sectors();
        let found = steady_per_s(&run(&mut drive, 256, 200_000, random_reads(4, sectors, 8)));
        println!("{found:.0}/s of {limit:.0}/s");
        assert!(found <= limit * 1.001, "{found} of {limit}");
        assert!(found > limit * 0.97, "{found} of {limit}");
    }
}

#[test]
fn throughput_of_reads_rises_with_queue_depth() {
    let throughput = |depth| {
        let mut drive = device(&flash());
        let sectors = drive.sectors();
        steady_per_s(&run(&mut drive, depth, 50_000, random_reads(4, sectors, 8)))
    };
    let rising: Vec<f64> = [1, 2, 4, 8, 16, 32, 64].into_iter().map(throughput).collect();
    println!("{rising:.0?}");
    assert!(rising.windows(2).all(|pair| pair[1] > pair[0] * 1.02), "{rising:?}");
}

#[test]
fn a_protected_write_is_reported_from_the_buffer_and_an_unprotected_one_when_it_is_programmed() {
    let link_ns = 4_096 * 1_000_000_000 / 3_200_000_000;
    assert_eq!(carry_out(&mut device(&flash()), 0, true, 0, 8), 8_000 + link_ns);
    let spec = FlashSpec { power_loss_protection: false, ..flash() };
    // The row is padded and moved as a whole.
    let expected_ns = 8_000 + link_ns + channel_ns(32_768) + PROGRAM_NS;
    assert_eq!(carry_out(&mut device(&spec), 0, true, 0, 8), expected_ns);
}

#[test]
fn sequential_writes_run_at_the_rate_of_the_dies_once_the_buffer_is_full() {
    for translation in [flash().translation, ANALYTIC] {
        let mut drive = device(&FlashSpec { translation, ..flash() });
        let ended = run(&mut drive, 8, 16_000, sequential(0, 128, true));
        let later = steady_per_s(&ended[8_000..]) * 65_536.0;
        // Eight dies program 32 KiB in 750 us; overwriting in order moves nothing but erases a block every 64 rows.
        let limit = 8.0 * 32_768.0 / (PROGRAM_NS as f64 + 3_800_000.0 / 64.0) * 1e9;
        println!("{:.1} MB/s of {:.1} MB/s", later / 1e6, limit / 1e6);
        assert!((later / limit - 1.0).abs() < 0.02, "{translation:?}: {later} {limit}");
        let earlier = steady_per_s(&ended[..60]) * 65_536.0;
        assert!(earlier > 5.0 * limit, "the first 4 MiB fit into the buffer: {earlier}");
    }
}

#[test]
fn a_read_waits_for_a_program_under_way_but_not_for_all_that_queue_or_suspends_it() {
    let wait_ns = |suspend_us| {
        let mut drive = device(&FlashSpec { suspend_us, ..flash() });
        // Forty rows: five programs on every die.
        let written_ns = carry_out(&mut drive, 0, true, 100_000, 40 * 64);
        carry_out(&mut drive, written_ns, false, 0, 8) - written_ns - 5_000 - READ_NS - channel_ns(4_096)
    };
    let waited_ns = wait_ns(None);
    assert!(waited_ns > 0 && waited_ns <= PROGRAM_NS, "{waited_ns}");
    assert_eq!(wait_ns(Some(20)), 20_000);
}

#[test]
fn a_write_of_part_of_a_unit_reads_the_rest_first() {
    let spec = FlashSpec { power_loss_protection: false, ..flash() };
    let whole_ns = carry_out(&mut device(&spec), 0, true, 0, 8);
    let part_ns = carry_out(&mut device(&spec), 0, true, 0, 4);
    let link_ns = 2_048 * 1_000_000_000 / 3_200_000_000;
    // The channel of the read carries the row as well, hence the tolerance of one unit.
    let read_ns = part_ns + link_ns - whole_ns;
    assert!(read_ns.abs_diff(READ_NS) <= 2 * channel_ns(4_096), "{read_ns}");
}

#[test]
fn what_was_trimmed_or_never_written_is_answered_without_the_dies() {
    let mut drive = device(&flash());
    let link_ns = 4_096 * 1_000_000_000 / 3_200_000_000;
    drive.trim(0, 16);
    assert_eq!(carry_out(&mut drive, 0, false, 0, 8), 5_000 + link_ns);
    // Half a unit is not forgotten.
    drive.trim(16, 4);
    assert!(carry_out(&mut drive, 1_000_000, false, 16, 8) - 1_000_000 > READ_NS);
    let empty = FlashSpec { translation: Translation::page_map(0), ..flash() };
    assert_eq!(carry_out(&mut device(&empty), 0, false, 0, 8), 5_000 + link_ns);
}

#[test]
fn planted_faults_are_caught() {
    let read = |spec: &FlashSpec| carry_out(&mut device(spec), 0, false, 0, 64);
    let unprotected = |spec: &FlashSpec| {
        carry_out(&mut device(&FlashSpec { power_loss_protection: false, ..spec.clone() }), 0, true, 0, 8)
    };
    let sums = |spec: &FlashSpec| {
        let link_ns = 4_096 * 1_000_000_000 / 3_200_000_000;
        (read(spec) == 5_000 + READ_NS + channel_ns(32_768))
            && unprotected(spec) == 8_000 + link_ns + channel_ns(32_768) + PROGRAM_NS
    };
    assert!(sums(&flash()));
    let faults: [fn(&mut FlashSpec); 6] = [
        |spec| spec.page_read_us = 74,
        |spec| spec.page_program_us = 751,
        |spec| spec.read_overhead_us = 0,
        |spec| spec.write_overhead_us = 0,
        |spec| spec.channel_rate_bytes_per_s = 334_000_000,
        |spec| spec.planes_per_die = 1,
    ];
    for (number, plant) in faults.into_iter().enumerate() {
        let mut wrong = flash();
        plant(&mut wrong);
        assert!(!sums(&wrong), "not caught: fault {number}");
    }
}

#[test]
fn every_command_ends_once_and_equal_runs_are_equal() {
    for translation in [flash().translation, ANALYTIC] {
        for power_loss_protection in [true, false] {
            let spec = FlashSpec { translation, power_loss_protection, commands: 32, ..flash() };
            let ended = || {
                let mut drive = device(&spec);
                let sectors = drive.sectors();
                run(&mut drive, 50, 20_000, random(3, sectors, 24, 40))
            };
            assert_eq!(ended(), ended());
        }
    }
}

#[test]
fn the_last_sector_is_like_any_other() {
    let mut drive = device(&flash());
    let last = drive.sectors() - 1;
    let ended = run(&mut drive, 4, 1_000, |index| Want { write: index % 2 == 0, lba: last, sectors: 1 });
    assert!(mean_ns(&ended) > 0.0);
}

/// Makes a specification wrong.
type Spoil = fn(&mut FlashSpec);

#[test]
fn a_wrong_value_is_refused_in_one_sentence_that_names_its_key() {
    let wrong: [(Spoil, &str); 6] = [
        (|spec| spec.channels = 0, "channels: 0 is out of range; write 1 to 256"),
        (|spec| spec.unit_bytes = 3_000, "unit_bytes: 3000 does not divide a row of 32768 bytes"),
        (|spec| spec.write_buffer_bytes = 0, "write_buffer_bytes: 0 is out of range; write 65536 to"),
        (|spec| spec.capacity_bytes = 4 << 40, "translation.kind: page_map has 1374"),
        (|spec| spec.over_provisioning_percent = 0.5, "translation.kind: page_map needs 69 blocks on a die and has 65"),
        (
            |spec| spec.translation = Translation::analytic(Some(0.5)),
            "translation.write_amplification: 0.5 is out of range; write 1 to 1000",
        ),
    ];
    for (spoil, beginning) in wrong {
        let mut spec = flash();
        spoil(&mut spec);
        let sentence = FlashModel::new(&spec).expect_err(beginning).to_string();
        assert!(sentence.starts_with(beginning), "{sentence}");
    }
}

#[test]
fn a_drive_of_many_terabytes_needs_no_map() {
    let spec =
        FlashSpec { capacity_bytes: 8 << 40, translation: ANALYTIC, channels: 16, dies_per_channel: 16, ..flash() };
    let mut drive = device(&spec);
    let sectors = drive.sectors();
    run(&mut drive, 64, 20_000, random(3, sectors, 8, 30));
}
