//! What a disk's buffer answers, when, and what makes it forget.

use crate::closed_loop;
use crate::closed_loop::{Want, run, sequential};
use crate::drives;
use plimsoll_array::disk::{BufferSpec, DiskSpec, Policy, QueueSpec};
use plimsoll_array::{Command, Device, DeviceSpec, INTERNAL};

const OVERHEAD_NS: u64 = 200_000;

fn device(buffer: impl FnOnce(&mut BufferSpec)) -> Device {
    let mut spec = drives::savvio_10k1();
    buffer(&mut spec.buffer);
    Device::new(&DeviceSpec::Disk(spec), 11, 0).expect("the specification is right")
}

/// Carries out one command on an idle device; returns when it ends.
fn carry_out(device: &mut Device, now_ns: u64, write: bool, lba: u64, sectors: u32) -> u64 {
    let mut started = Vec::new();
    device.offer(Command { handle: 0, write, lba, sectors }, now_ns);
    device.start(now_ns, &mut started);
    let (handle, end_ns) = started[0];
    assert_eq!((handle, started.len()), (0, 1));
    device.finish(handle, end_ns);
    end_ns
}

/// Time of sectors on an interface of 300 MB/s.
fn interface_ns(sectors: u64) -> u64 {
    sectors * 512 * 10 / 3
}

#[test]
fn what_was_read_is_answered_at_the_rate_of_the_interface() {
    let mut disk = device(|_| ());
    let end_ns = carry_out(&mut disk, 0, false, 1_000_000, 64);
    let busy_ns = disk.busy_ns();
    let again_ns = carry_out(&mut disk, end_ns, false, 1_000_000, 64);
    assert_eq!(again_ns - end_ns, OVERHEAD_NS + interface_ns(64));
    assert_eq!(disk.busy_ns(), busy_ns, "the mechanics rest");
}

#[test]
fn a_hit_may_have_an_overhead_of_its_own() {
    let mut disk = device(|buffer| buffer.hit_overhead_us = Some(50));
    let end_ns = carry_out(&mut disk, 0, false, 1_000_000, 64);
    assert_eq!(carry_out(&mut disk, end_ns, false, 1_000_000, 64) - end_ns, 50_000 + interface_ns(64));
}

#[test]
fn the_head_reads_on_while_nothing_else_is_to_do() {
    let mut disk = device(|_| ());
    let end_ns = carry_out(&mut disk, 0, false, 1_000_000, 64);
    // 256 KiB take about 5 ms.
    let later_ns = end_ns + 20_000_000;
    assert_eq!(carry_out(&mut disk, later_ns, false, 1_000_064, 512) - later_ns, OVERHEAD_NS + interface_ns(512));
    let mut forgetful = device(|buffer| buffer.prefetch_bytes = 0);
    let end_ns = carry_out(&mut forgetful, 0, false, 1_000_000, 64);
    let later_ns = end_ns + 20_000_000;
    assert!(carry_out(&mut forgetful, later_ns, false, 1_000_064, 512) - later_ns > 4_000_000);
}

#[test]
fn a_read_of_what_is_being_read_ends_when_the_platter_has_passed() {
    let mut disk = device(|_| ());
    let spec = drives::savvio_10k1();
    let end_ns = carry_out(&mut disk, 0, false, 0, 64);
    // The next 256 sectors pass within about 2 ms; the command comes after 0.5 ms of them.
    let next_ns = carry_out(&mut disk, end_ns + 500_000, false, 64, 256);
    let passing_ns = next_ns - end_ns;
    let rate = 256.0 * 512.0 / passing_ns as f64 * 1e9;
    // One track has the outer rate and what the skews take from it.
    let within_track = spec.outer_rate_bytes_per_s as f64 * 6.6 / 6.0;
    assert!((rate / within_track - 1.0).abs() < 0.01, "{rate} {within_track}");
}

#[test]
fn of_queued_reads_the_one_that_is_being_read_on_comes_first_and_the_next_follows_it() {
    let mut disk = device(|_| ());
    let end_ns = carry_out(&mut disk, 0, false, 0, 64);
    // 64 sectors pass within about 0.5 ms: when both may be chosen, the head has passed the beginning of one and not of the other.
    let now_ns = end_ns + 50_000;
    let mut started = Vec::new();
    for (handle, lba) in [(1, 64), (2, 128)] {
        disk.offer(Command { handle, write: false, lba, sectors: 64 }, now_ns);
    }
    for wanted in [1, 2] {
        disk.start(started.last().map_or(now_ns, |&(_, end_ns)| end_ns), &mut started);
        let &(handle, end_ns) = started.last().expect("one is left");
        assert_eq!(handle, wanted);
        disk.finish(handle, end_ns);
    }
    assert!(started[1].1 - end_ns < 1_500_000, "{started:?} after {end_ns}: less than a turn of 6 ms");
}

#[test]
fn another_command_stops_the_reading_on_and_what_was_read_stays() {
    let mut disk = device(|_| ());
    let end_ns = carry_out(&mut disk, 0, false, 0, 64);
    let far_ns = carry_out(&mut disk, end_ns + 1_000_000, false, 100_000_000, 8);
    // About 1.2 ms were read on: some 160 sectors, not 512.
    let near_ns = carry_out(&mut disk, far_ns, false, 64, 100);
    assert_eq!(near_ns - far_ns, OVERHEAD_NS + interface_ns(100));
    let beyond_ns = carry_out(&mut disk, near_ns, false, 400, 100);
    assert!(beyond_ns - near_ns > 1_000_000);
}

#[test]
fn a_write_makes_the_buffer_forget() {
    let mut disk = device(|_| ());
    let mut now_ns = carry_out(&mut disk, 0, false, 0, 64);
    now_ns = carry_out(&mut disk, now_ns, false, 100_000_000, 64);
    now_ns = carry_out(&mut disk, now_ns, true, 32, 1);
    let kept_ns = carry_out(&mut disk, now_ns, false, 100_000_000, 64);
    assert_eq!(kept_ns - now_ns, OVERHEAD_NS + interface_ns(64));
    let lost_ns = carry_out(&mut disk, kept_ns, false, 0, 64);
    assert!(lost_ns - kept_ns > OVERHEAD_NS + interface_ns(64) + 100_000);
}

#[test]
fn the_segment_used_least_recently_is_given_up() {
    let mut disk = device(|buffer| buffer.segments = 3);
    let place = |number: u64| number * 10_000_000;
    let mut now_ns = 0;
    for number in 0..3 {
        now_ns = carry_out(&mut disk, now_ns, false, place(number), 8);
    }
    // Used again, so that the second is now the oldest.
    now_ns = carry_out(&mut disk, now_ns, false, place(0), 8);
    now_ns = carry_out(&mut disk, now_ns, false, place(3), 8);
    let mut is_hit = |number| {
        let end_ns = carry_out(&mut disk, now_ns, false, place(number), 8);
        let hit = end_ns - now_ns == OVERHEAD_NS + interface_ns(8);
        now_ns = end_ns;
        hit
    };
    assert_eq!([0, 2, 3, 1].map(&mut is_hit), [true, true, true, false]);
}

#[test]
fn hits_pass_the_command_in_the_mechanics_and_one_another_in_order() {
    let mut disk = device(|_| ());
    let now_ns = carry_out(&mut disk, 0, false, 0, 64);
    let mut started = Vec::new();
    let reads = [(1, 100_000_000), (2, 0), (3, 32)];
    for (handle, lba) in reads {
        disk.offer(Command { handle, write: false, lba, sectors: 32 }, now_ns);
    }
    disk.start(now_ns, &mut started);
    started.sort_by_key(|&(_, end_ns)| end_ns);
    let handles: Vec<u32> = started.iter().map(|&(handle, _)| handle).collect();
    assert_eq!(handles, [2, 3, 1]);
    assert_eq!(started[0].1 - now_ns, OVERHEAD_NS + interface_ns(32));
    assert_eq!(started[1].1 - started[0].1, interface_ns(32));
}

#[test]
fn a_slow_reader_never_waits_for_the_platter_again() {
    // 64 KiB every 10 ms: the head reads on, stops, and goes on in between.
    let mut disk = device(|_| ());
    let mut now_ns = carry_out(&mut disk, 0, false, 0, 128);
    for number in 1..500 {
        now_ns += 10_000_000;
        let end_ns = carry_out(&mut disk, now_ns, false, number * 128, 128);
        assert_eq!(end_ns - now_ns, OVERHEAD_NS + interface_ns(128), "read {number}");
        now_ns = end_ns;
    }
}

#[test]
fn writes_are_reported_early_while_there_is_room_and_carried_out_all_the_same() {
    let mut disk = device(|buffer| buffer.write_bytes = 64 << 10);
    let mut started = Vec::new();
    for handle in 0..4 {
        let lba = 50_000_000 + u64::from(handle) * 10_000_000;
        disk.offer(Command { handle, write: true, lba, sectors: 64 }, 0);
    }
    disk.start(0, &mut started);
    let early: Vec<u32> =
        started.iter().filter(|&&(_, end_ns)| end_ns < 1_000_000).map(|&(handle, _)| handle).collect();
    assert_eq!(early, [0, 1], "64 KiB are two writes of 32 KiB");
    let (mut ended, mut room_ns) = (Vec::new(), Vec::new());
    while !started.is_empty() {
        let next = (0..started.len()).min_by_key(|&index| started[index].1).expect("something is under way");
        let (handle, end_ns) = started.swap_remove(next);
        disk.finish(handle, end_ns);
        disk.start(end_ns, &mut started);
        if handle == INTERNAL {
            room_ns.push(end_ns);
        } else if let Some(waited) = handle.checked_sub(2) {
            assert_eq!(
                end_ns,
                room_ns[waited as usize] + OVERHEAD_NS + interface_ns(64),
                "reported when there is room"
            );
        }
        ended.push(handle);
    }
    let internal = ended.iter().filter(|&&handle| handle == INTERNAL).count();
    ended.retain(|&handle| handle != INTERNAL);
    ended.sort_unstable();
    assert_eq!((internal, ended), (4, vec![0, 1, 2, 3]));
    assert_eq!(disk.outstanding(), 0);
}

/// A disk that holds 1,024 writes of 4 KiB and sorts `write_window` of them in a line of their own.
fn holding(policy: Policy, write_window: u32) -> Device {
    let mut spec = drives::savvio_10k1();
    spec.buffer.write_bytes = 4 << 20;
    spec.queue = QueueSpec { policy, write_window: Some(write_window), ..spec.queue };
    Device::new(&DeviceSpec::Disk(spec), 11, 0).expect("the specification is right")
}

#[test]
fn reads_pass_the_writes_that_a_disk_holds_while_it_has_room_for_more() {
    let mut disk = holding(Policy::Sptf, 64);
    let mut started = Vec::new();
    for handle in 0..100 {
        disk.offer(Command { handle, write: true, lba: u64::from(handle) * 100_000, sectors: 8 }, 0);
    }
    disk.start(0, &mut started);
    let read = 100;
    disk.offer(Command { handle: read, write: false, lba: 60_000_000, sectors: 8 }, 0);
    let mut order = Vec::new();
    while !started.is_empty() {
        let next = (0..started.len()).min_by_key(|&index| started[index].1).expect("something is under way");
        let (handle, end_ns) = started.swap_remove(next);
        disk.finish(handle, end_ns);
        disk.start(end_ns, &mut started);
        if handle == read || handle == INTERNAL {
            order.push(handle);
        }
    }
    // The write that was in the mechanics already ends before it.
    assert_eq!(order.iter().position(|&handle| handle == read), Some(1));
    assert_eq!(order.len(), 101, "and every write gets to the platter");
}

#[test]
fn held_writes_are_as_good_as_a_queue_of_as_many() {
    for (policy, held) in [(Policy::Sptf, 64), (Policy::Sptf, 256), (Policy::CLook, 128)] {
        let mut spec = drives::savvio_10k1();
        spec.queue = QueueSpec { policy, window: held, age_limit_ms: 0, write_window: None };
        let mut queued = Device::new(&DeviceSpec::Disk(spec), 11, 0).expect("the specification is right");
        let wants = || closed_loop::random(7, queued.sectors(), 8, 100);
        let (few, many) = (wants(), wants());
        let queued = closed_loop::per_s(&run(&mut queued, held, 20_000, many));
        // Sixteen outstanding keep it full; the 1,024 that it holds in the end were reported and are not yet written.
        let reported = closed_loop::per_s(&run(&mut holding(policy, held), 16, 20_000, few));
        let written = reported * (1.0 - 1_024.0 / 20_000.0);
        assert!((written / queued - 1.0).abs() < 0.02, "{policy:?}: {written} beside {queued}");
    }
}

#[test]
fn no_read_waits_much_longer_than_the_age_limit_however_many_writes_press() {
    let mut disk = holding(Policy::Sptf, 512);
    let sectors = disk.sectors();
    // 400 outstanding, of which few are reads, leave writes waiting for room all the time.
    let mut wants = closed_loop::random(3, sectors, 8, 99);
    let ended = run(&mut disk, 400, 20_000, closed_loop::random(3, sectors, 8, 99));
    let reads = ended.iter().filter(|one| !wants(one.handle).write);
    let slowest_ns = reads.map(|one| one.response_ns()).max();
    // Those that are overdue at once, a dozen at most, take 15 ms each.
    assert!(slowest_ns.is_some_and(|slowest_ns| slowest_ns < 500_000_000 + 12 * 15_000_000), "{slowest_ns:?}");
}

#[test]
fn every_command_ends_once_whatever_the_mix() {
    for (policy, held) in [(Policy::Fcfs, 9), (Policy::CLook, 40), (Policy::Sptf, 1), (Policy::Sptf, 2_000)] {
        let mut random = closed_loop::random(3, 2_000_000, 8, 60);
        run(&mut holding(policy, held), 40, 20_000, &mut random);
    }
    for (depth, write_bytes) in [(1, 0), (7, 0), (40, 0), (40, 1 << 20)] {
        let mut disk = device(|buffer| buffer.write_bytes = write_bytes);
        let mut random = closed_loop::random(3, 2_000_000, 8, 30);
        let mut stream = sequential(500_000, 64, false);
        // Random reads and writes over a sequential stream that the buffer half answers.
        run(&mut disk, depth, 20_000, |index| if index % 3 == 0 { stream(index / 3) } else { random(index) });
    }
}

#[test]
fn equal_seeds_give_equal_instants_and_other_seeds_do_not() {
    let ended = |seed| {
        let spec = DeviceSpec::Disk(DiskSpec { zones: 7, ..drives::savvio_10k1() });
        let mut disk = Device::new(&spec, seed, 0).expect("the specification is right");
        run(&mut disk, 9, 5_000, closed_loop::random(3, 100_000_000, 8, 30))
    };
    assert_eq!(ended(1), ended(1));
    assert_ne!(ended(1), ended(2));
}

#[test]
fn the_last_sector_of_the_disk_is_like_any_other() {
    let mut disk = device(|_| ());
    let last = disk.sectors() - 8;
    run(&mut disk, 2, 100, |index| Want { write: index % 5 == 0, lba: last - u64::from(index % 3) * 8, sectors: 8 });
}

/// Segments are told apart by the unit of addresses in which they begin; units are as long as a segment.
#[test]
fn a_segment_is_found_and_forgotten_on_both_sides_of_a_unit() {
    for first in [(1 << 20) - 60, (1 << 20) - 32, 1 << 20] {
        let mut disk = device(|buffer| buffer.prefetch_bytes = 0);
        let mut now_ns = carry_out(&mut disk, 0, false, first, 64);
        now_ns = carry_out(&mut disk, now_ns, false, 100_000_000, 8);
        for lba in [first, first + 40, first + 56] {
            let end_ns = carry_out(&mut disk, now_ns, false, lba, 8);
            assert_eq!(end_ns - now_ns, OVERHEAD_NS + interface_ns(8), "sector {lba} is known");
            now_ns = end_ns;
        }
        now_ns = carry_out(&mut disk, now_ns, true, first + 56, 16);
        let end_ns = carry_out(&mut disk, now_ns, false, first, 8);
        assert_ne!(end_ns - now_ns, OVERHEAD_NS + interface_ns(8), "what was written over is forgotten");
    }
}
