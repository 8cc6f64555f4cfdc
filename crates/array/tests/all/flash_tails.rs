//! Flash that is described page by page, against queueing theory and closed forms: types of page, senses that are repeated, reads
//! before programs and erases, the drive's processor, and the cliff of an SLC cache.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::closed_loop::{Want, mean_ns, random, random_reads, run, sequential, steady_per_s};
use crate::drives::flash;
use plimsoll_array::flash::{Flash, FlashModel, FlashSpec, PageTypeSpec, SlcCacheSpec, Translation, Written};
use plimsoll_array::{Command, Device, DeviceSpec};
use plimsoll_workload::rng::Draws;

fn device(spec: &FlashSpec) -> Device {
    Device::new(&DeviceSpec::Flash(spec.clone()), 1, 0).expect("the specification is right")
}

fn types(percents: &[(u32, u32)]) -> Vec<PageTypeSpec> {
    let of = |(number, &(read_percent, program_percent)): (usize, &(u32, u32))| PageTypeSpec {
        name: format!("type {number}"),
        read_percent,
        program_percent,
    };
    percents.iter().enumerate().map(of).collect()
}

/// Three bits per cell: 60, 75 and 90 µs to read, 300, 750 and 1,200 µs to program.
fn three_bits() -> FlashSpec {
    FlashSpec { page_types: types(&[(80, 40), (100, 100), (120, 160)]), ..flash() }
}

/// One die behind a channel, an interface and a processor that take no time: 100 µs to read, 400 µs to program a unit; nothing is
/// collected.
fn one_die() -> FlashSpec {
    FlashSpec {
        channels: 1,
        dies_per_channel: 1,
        planes_per_die: 1,
        page_bytes: 4_096,
        pages_per_block: 65_536,
        page_read_us: 100,
        page_program_us: 400,
        block_erase_us: 1,
        channel_rate_bytes_per_s: 100_000_000_000,
        interface_rate_bytes_per_s: 1_000_000_000_000,
        read_overhead_us: 0,
        write_overhead_us: 0,
        commands: 65_536,
        power_loss_protection: false,
        write_buffer_bytes: 0,
        translation: Translation::analytic(Some(1.0)),
        // All of them, which is what a limit of any number means.
        reads_first_max: Some(1_000_000),
        ..flash()
    }
}

/// Arrivals at random instants, so many of each kind per second, at random places: the mean response of reads and of writes.
fn open_loop(device: &mut Device, [reads_per_s, writes_per_s]: [f64; 2], count: u64) -> [f64; 2] {
    let draws = [0, 1, 2].map(|path| Draws::new(11, &[path]));
    let share = |draw: u64| (draw >> 11) as f64 / (1_u64 << 53) as f64;
    let (blocks, mut started) = (device.sectors() / 8, Vec::new());
    let (mut ends, mut sums, mut now) = (BinaryHeap::new(), [(0.0, 0.0); 2], 0.0);
    for index in 0..count {
        now += -f64::ln(1.0 - share(draws[0].at(index))) * 1e9 / (reads_per_s + writes_per_s);
        let now_ns = now as u64;
        while let Some(&Reverse((end_ns, handle))) = ends.peek() {
            if end_ns > now_ns {
                break;
            }
            ends.pop();
            device.finish(handle, end_ns);
        }
        let write = share(draws[1].at(index)) * (reads_per_s + writes_per_s) >= reads_per_s;
        let lba = draws[2].at(index) % blocks * 8;
        device.offer(Command { handle: index as u32, write, lba, sectors: 8 }, now_ns);
        device.start(now_ns, &mut started);
        let (handle, end_ns) = started.pop().expect("as many as arrive are worked on");
        ends.push(Reverse((end_ns, handle)));
        let (sum, number) = &mut sums[usize::from(write)];
        (*sum, *number) = (*sum + (end_ns - now_ns) as f64, *number + 1.0);
    }
    sums.map(|(sum, number)| sum / f64::max(number, 1.0))
}

/// Times with their shares: mean and mean square.
fn moments(times_ns: &[(f64, f64)]) -> (f64, f64) {
    let moment = |power: i32| times_ns.iter().map(|(time, share)| share * time.powi(power)).sum();
    (moment(1), moment(2))
}

#[test]
fn a_die_is_an_m_g_1_queue_by_the_formula_of_pollaczek_and_khinchine() {
    let third = 1.0 / 3.0;
    let of_types = FlashSpec { page_types: types(&[(50, 100), (100, 100), (150, 100)]), ..one_die() };
    let repeated = FlashSpec { read_retry_percent: 10.0, read_retry_us: 300, ..one_die() };
    let cases = [
        (of_types, moments(&[(50e3, third), (100e3, third), (150e3, third)])),
        (repeated, moments(&[(100e3, 0.9), (400e3, 0.1)])),
    ];
    for (spec, (mean_ns, square)) in cases {
        for load in [0.3, 0.6, 0.8] {
            let per_ns = load / mean_ns;
            let expected_ns = mean_ns + per_ns * square / (2.0 * (1.0 - load));
            let of_equal_ns = mean_ns + per_ns * mean_ns * mean_ns / (2.0 * (1.0 - load));
            let [found_ns, _] = open_loop(&mut device(&spec), [per_ns * 1e9, 0.0], 2_000_000);
            let off = found_ns / expected_ns - 1.0;
            println!("load {load}: {found_ns:.0} ns, formula {expected_ns:.0} ns ({:+.2} %)", off * 100.0);
            assert!(off.abs() < 0.015, "load {load}: {found_ns} ns, not {expected_ns} ns");
            assert!(of_equal_ns < expected_ns * 0.975, "equal times would be told apart");
        }
    }
}

/// The mean wait of reads, when there are so many reads and writes per second.
fn wait_of_reads_ns(spec: &FlashSpec, per_s: [f64; 2]) -> f64 {
    open_loop(&mut device(spec), per_s, 2_000_000)[0] - 100e3
}

#[test]
fn reads_beside_writes_wait_as_theory_says_of_every_way_to_take_turns() {
    let per_s = [2_500.0, 1_000.0];
    let [reads, writes] = [(2.5e-6, 100e3), (1e-6, 400e3)];
    let (load_read, load) = (reads.0 * reads.1, reads.0 * reads.1 + writes.0 * writes.1);
    let residual_ns = (reads.0 * reads.1 * reads.1 + writes.0 * writes.1 * writes.1) / 2.0;
    // Priority without preemption (Cobham 1954), with preemption, and none at all.
    let waiting = residual_ns / (1.0 - load_read);
    let suspending = reads.0 * reads.1 * reads.1 / 2.0 / (1.0 - load_read);
    let in_order = residual_ns / (1.0 - load);
    let cases = [
        (FlashSpec { suspend_us: None, ..one_die() }, waiting),
        (FlashSpec { suspend_us: Some(0), ..one_die() }, suspending),
        (FlashSpec { suspend_us: Some(0), reads_first_max: Some(0), ..one_die() }, in_order),
    ];
    for (spec, expected_ns) in cases {
        let found_ns = wait_of_reads_ns(&spec, per_s);
        let off = found_ns / expected_ns - 1.0;
        println!("{found_ns:.0} ns, theory {expected_ns:.0} ns ({:+.2} %)", off * 100.0);
        assert!(off.abs() < 0.02, "{found_ns} ns, not {expected_ns} ns");
    }
    // A limit lies between none and all.
    let some = wait_of_reads_ns(&FlashSpec { suspend_us: Some(0), reads_first_max: Some(2), ..one_die() }, per_s);
    assert!(suspending * 1.05 < some && some < in_order * 0.95, "{suspending} {some} {in_order}");
}

#[test]
fn a_single_read_takes_as_long_as_the_type_of_its_page_says() {
    for translation in [Translation::page_map(100), Translation::analytic(None)] {
        let spec = FlashSpec { translation, pages_per_block: 96, ..three_bits() };
        let mut drive = device(&spec);
        let sectors = drive.sectors();
        let ended = run(&mut drive, 1, 30_000, random_reads(3, sectors, 8));
        let moved_ns = 5_000 + 4_096 * 1_000_000_000 / 333_000_000;
        for sense_ns in [60_000, 75_000, 90_000] {
            let such = ended.iter().filter(|one| one.response_ns() == sense_ns + moved_ns).count();
            assert!((such as f64 / 1e4 - 1.0).abs() < 0.04, "{translation:?}, {sense_ns} ns: {such} of 30000");
        }
    }
}

#[test]
fn the_tail_of_reads_is_as_heavy_as_the_share_of_senses_that_are_repeated() {
    let spec = FlashSpec { read_retry_percent: 2.0, read_retry_us: 200, ..flash() };
    let mut drive = device(&spec);
    let sectors = drive.sectors();
    let ended = run(&mut drive, 1, 100_000, random_reads(3, sectors, 8));
    let slow = ended.iter().filter(|one| one.response_ns() > 250_000).count();
    assert!((1_850..2_150).contains(&slow), "{slow} of 100000");
    // Another drive repeats others.
    let other = |number| {
        let mut drive = Device::new(&DeviceSpec::Flash(spec.clone()), 1, number).expect("the specification is right");
        run(&mut drive, 1, 1_000, random_reads(3, sectors, 8))
    };
    assert_eq!(other(1), other(1));
    assert_ne!(other(1), other(2));
}

#[test]
fn writes_run_at_the_mean_of_the_types() {
    let ended = run(&mut device(&three_bits()), 8, 16_000, sequential(0, 128, true));
    let found = steady_per_s(&ended[8_000..]) * 65_536.0;
    let limit = 8.0 * 32_768.0 / (750e3 + 3_800e3 / 64.0) * 1e9;
    println!("{:.1} MB/s of {:.1} MB/s", found / 1e6, limit / 1e6);
    assert!((found / limit - 1.0).abs() < 0.02, "{found} {limit}");
}

#[test]
fn the_processor_of_a_drive_limits_what_its_dies_do_not() {
    let spec = FlashSpec { command_ns: 20_000, ..flash() };
    let one = |spec: &FlashSpec| {
        let mut drive = device(spec);
        let sectors = drive.sectors();
        mean_ns(&run(&mut drive, 1, 100, random_reads(4, sectors, 8)))
    };
    assert_eq!(one(&spec) - one(&flash()), 20_000.0);
    let mut drive = device(&spec);
    let sectors = drive.sectors();
    let found = steady_per_s(&run(&mut drive, 256, 100_000, random_reads(4, sectors, 8)));
    assert!((found / 50_000.0 - 1.0).abs() < 0.001, "{found}");
    // It is what the drive is busy with: 100,000 commands of 20 µs.
    assert_eq!(drive.busy_ns(), 2_000_000_000);
}

#[test]
fn writes_beside_reads_make_their_tail_and_suspending_cuts_it() {
    let p99_ns = |spec: &FlashSpec, write_percent| {
        let mut drive = device(spec);
        let sectors = drive.sectors();
        let wants = random(5, sectors, 8, write_percent);
        let mut kinds = random(5, sectors, 8, write_percent);
        let mut reads: Vec<u64> = run(&mut drive, 8, 60_000, wants)
            .iter()
            .filter(|one| !kinds(one.handle).write)
            .map(|one| one.response_ns())
            .collect();
        reads.sort_unstable();
        reads[reads.len() * 99 / 100]
    };
    let waits = FlashSpec { translation: Translation::analytic(None), ..three_bits() };
    let [alone, beside, suspending] = [
        p99_ns(&waits, 0),
        p99_ns(&waits, 30),
        p99_ns(&FlashSpec { suspend_us: Some(20), erase_suspend_us: Some(40), ..waits.clone() }, 30),
    ];
    println!("p99 of reads: {alone} ns alone, {beside} ns beside writes, {suspending} ns where they suspend");
    assert!(beside > 4 * alone, "{beside} {alone}");
    assert!(suspending * 2 < beside, "{suspending} {beside}");
}

/// Flash with an SLC cache of 64 MiB, which programs in 150 µs.
fn with_slc(folds_first: bool) -> FlashSpec {
    let cache = SlcCacheSpec { size_bytes: 64 << 20, program_us: 150, idle_ms: 1_000, folds_first };
    let translation = Translation::analytic(None);
    FlashSpec { slc_cache: Some(cache), translation, ..flash() }
}

/// Bytes per second of sequential writes, by MiB that were written before.
fn course(spec: &FlashSpec, mib: u32) -> Vec<f64> {
    let ended = run(&mut device(spec), 8, mib * 16, sequential(0, 128, true));
    ended.chunks_exact(16 * 8).map(|chunk| steady_per_s(chunk) * 65_536.0).collect()
}

#[test]
fn writes_fall_off_a_cliff_where_the_slc_cache_is_full() {
    let rate = |row_us: f64| 8.0 * 32_768.0 / row_us * 1e6;
    let (erase_us, fold_us) = (3_800.0 / 64.0, 75.0 + 750.0);
    for (folds_first, after_us) in [(false, 750.0 + erase_us), (true, 150.0 + fold_us + erase_us)] {
        // A channel carries a row of its two dies in 98 µs each: 197 µs are longer than 150.
        let (before, after) = (rate(2.0 * 32_768.0 / 333.0), rate(after_us));
        let course = course(&with_slc(folds_first), 256);
        let [early, late] = [&course[1..7], &course[16..]].map(|part| part.iter().sum::<f64>() / part.len() as f64);
        println!("{:.0} MB/s, then {:.0} MB/s", early / 1e6, late / 1e6);
        assert!((early / before - 1.0).abs() < 0.03, "{early} {before}");
        assert!((late / after - 1.0).abs() < 0.05, "{late} {after}");
        // The cliff: 64 MiB are eight eighths of 8 MiB.
        let cliff = course.iter().position(|&rate| rate < (before * after).sqrt());
        assert!(matches!(cliff, Some(8 | 9)), "{cliff:?} {course:?}");
    }
}

#[test]
fn an_slc_cache_is_folded_while_the_host_asks_for_nothing() {
    let write = |drive: &mut Flash, now_ns: u64, lba: u64, sectors: u32| {
        let mut started = Vec::new();
        drive.offer(Command { handle: 0, write: true, lba, sectors }, now_ns);
        drive.start(now_ns, &mut started);
        drive.finish(0, started[0].1);
        started[0].1
    };
    let spec = FlashSpec { write_buffer_bytes: 256 << 20, ..with_slc(false) };
    let mut drive = Flash::new(&FlashModel::new(&spec).expect("the specification is right"));
    let end_ns = write(&mut drive, 0, 0, 64 << 11);
    let all = Written { host_bytes: 64 << 20, flash_bytes: 64 << 20 };
    assert_eq!(drive.written(), all);
    // 8 dies fold a row in 825 µs: 80 rows in 8.25 ms after a second.
    let end_ns = write(&mut drive, end_ns + 1_000_000_000 + 8_250_000, 0, 8);
    assert_eq!(drive.written().flash_bytes - all.flash_bytes, 80 * 32_768);
    // Less than a second of rest folds nothing.
    write(&mut drive, end_ns + 900_000_000, 8, 8);
    assert_eq!(drive.written().flash_bytes - all.flash_bytes, 80 * 32_768);
}

#[test]
fn what_is_written_to_flash_does_not_depend_on_how_its_dies_are_described() {
    let written = |spec: &FlashSpec| {
        let mut drive = Flash::new(&FlashModel::new(spec).expect("the specification is right"));
        let (mut started, mut wants) = (Vec::new(), random(9, spec.units() * 8, 8, 100));
        for index in 0..600_000 {
            let Want { write, lba, sectors } = wants(index);
            drive.offer(Command { handle: 0, write, lba, sectors }, 0);
            drive.start(0, &mut started);
            drive.finish(0, started.pop().expect("a write starts").1);
        }
        drive.written().flash_bytes as f64
    };
    for translation in [Translation::page_map(100), Translation::analytic(None)] {
        let [plain, detailed] = [flash(), three_bits()].map(|spec| written(&FlashSpec { translation, ..spec }));
        assert!((detailed / plain - 1.0).abs() < 1e-6, "{translation:?}: {detailed} {plain}");
    }
}

#[test]
fn collecting_costs_the_dies_as_much_as_without_queues_of_their_own() {
    for translation in [Translation::page_map(100), Translation::analytic(None)] {
        let throughput = |spec: &FlashSpec| {
            let mut drive = device(&FlashSpec { translation, ..spec.clone() });
            let sectors = drive.sectors();
            steady_per_s(&run(&mut drive, 64, 900_000, random(2, sectors, 8, 100))[500_000..])
        };
        let [plain, detailed] = [flash(), three_bits()].map(|spec| throughput(&spec));
        println!("{plain:.0}/s and {detailed:.0}/s");
        assert!((detailed / plain - 1.0).abs() < 0.05, "{translation:?}: {detailed} {plain}");
    }
}

#[test]
fn every_command_ends_once_and_equal_runs_are_equal() {
    for translation in [Translation::page_map(100), Translation::analytic(None)] {
        for suspend_us in [None, Some(20)] {
            let reads_first_max = Some(3);
            let spec = FlashSpec {
                translation,
                suspend_us,
                reads_first_max,
                read_retry_percent: 1.0,
                read_retry_us: 100,
                commands: 32,
                ..three_bits()
            };
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
fn a_wrong_value_is_refused_in_one_sentence_that_names_its_key() {
    let cases: [(FlashSpec, &str); 4] = [
        (
            FlashSpec { page_types: types(&[(80, 100), (90, 100)]), ..flash() },
            "page_types: read_percent is 85.0 in the mean; write percentages of the mean, so that it is 100",
        ),
        (
            FlashSpec { erase_suspend_us: Some(40), ..flash() },
            "erase_suspend_us: without suspend_us nothing is suspended; write suspend_us as well, or leave it out",
        ),
        (
            FlashSpec { read_retry_percent: 101.0, read_retry_us: 1, ..flash() },
            "read_retry_percent: 101 is out of range; write 0 to 100",
        ),
        (
            FlashSpec { slc_cache: Some(SlcCacheSpec { size_bytes: 512, ..SlcCacheSpec::default() }), ..flash() },
            "slc_cache.size_bytes: 512 is out of range; write 1048576 to",
        ),
    ];
    for (spec, beginning) in cases {
        let sentence = FlashModel::new(&spec).expect_err(beginning).to_string();
        assert!(sentence.starts_with(beginning), "{sentence}");
    }
}
