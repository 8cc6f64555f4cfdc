//! How often flash is written under uniform random writes, against the formulas; and what the analytic option makes of
//! it.

use crate::closed_loop::{random, run, steady_per_s};
use crate::drives;
use crate::support;
use plimsoll_array::flash::{Flash, FlashModel, FlashSpec, Translation, agarwal_marrow, greedy, xiang_kurkoski};
use plimsoll_array::{Array, Command, ComponentUse, Device, DeviceSpec};
use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;

/// 1 GiB in 2 dies of some 280 blocks of 512 units.
fn spec(over_provisioning_percent: f64) -> FlashSpec {
    FlashSpec { over_provisioning_percent, channels: 2, dies_per_channel: 1, ..drives::flash() }
}

/// Flash writes per write of the host, after the drive has been overwritten four times; `next` names the units.
fn measured(spec: &FlashSpec, next: impl Fn(u64) -> u64) -> f64 {
    let mut flash = Flash::new(&FlashModel::new(spec).expect("the specification is right"));
    let mut started = Vec::new();
    let units = spec.units();
    let mut before = flash.written();
    for index in 0..6 * units {
        if index == 4 * units {
            before = flash.written();
        }
        let lba = next(index) * 8;
        flash.offer(Command { handle: 0, write: true, lba, sectors: 8 }, 0);
        flash.start(0, &mut started);
        flash.finish(0, started.pop().expect("a write starts").1);
    }
    let after = flash.written();
    (after.flash_bytes - before.flash_bytes) as f64 / (after.host_bytes - before.host_bytes) as f64
}

#[test]
fn greedy_collection_amplifies_random_writes_as_the_formula_for_its_blocks_says() {
    let mut worst: f64 = 0.0;
    for percent in [7.0, 10.0, 15.0, 28.0, 50.0, 100.0] {
        let spec = spec(percent);
        let found = of_runs(&spec, 1);
        let spare = spec.spare();
        let formulas = [greedy(spare, spec.block_units()), xiang_kurkoski(spare), agarwal_marrow(spare)];
        let [ours, large, other] = formulas.map(|formula| (formula / found - 1.0) * 100.0);
        println!(
            "{percent} %: {found:.3}; {ours:+.2} %, Xiang & Kurkoski {large:+.1} %, Agarwal & Marrow {other:+.1} %"
        );
        worst = worst.max(ours.abs());
    }
    assert!(worst < 1.0, "{worst:.2} %");
}

#[test]
fn small_blocks_amplify_less_as_their_formula_says() {
    for percent in [7.0, 10.0, 15.0, 28.0, 50.0] {
        let spec = FlashSpec { pages_per_block: spec(percent).pages_per_block / 8, ..spec(percent) };
        let (found, spare) = (of_runs(&spec, 1), spec.spare());
        let [ours, large] =
            [greedy(spare, spec.block_units()), xiang_kurkoski(spare)].map(|formula| formula / found - 1.0);
        println!(
            "{} units, {percent} %: {found:.3}; {:+.2} %, {:+.1} %",
            spec.block_units(),
            ours * 100.0,
            large * 100.0
        );
        assert!(ours.abs() < 0.01 && large > ours + 0.01, "{percent}: {found}, {ours} {large}");
    }
}

#[test]
fn the_analytic_option_writes_as_fast_as_the_page_map() {
    for percent in [15.0, 28.0, 100.0] {
        let mapped = spec(percent);
        let translation = Translation::analytic(None);
        let analytic = FlashSpec { translation, ..mapped.clone() };
        let throughput = |spec: &FlashSpec| {
            let mut drive = Device::new(&DeviceSpec::Flash(spec.clone()), 1, 0).expect("the specification is right");
            let sectors = drive.sectors();
            let ended = run(&mut drive, 64, 1_100_000, random(2, sectors, 8, 100));
            steady_per_s(&ended[800_000..])
        };
        let [mapped_per_s, analytic_per_s] = [&mapped, &analytic].map(throughput);
        println!("{percent} %: {mapped_per_s:.0}/s with a map, {analytic_per_s:.0}/s without");
        // What is left is that a map collects in fits, for which the other die waits.
        assert!((analytic_per_s / mapped_per_s - 1.0).abs() < 0.05, "{percent}: {mapped_per_s} {analytic_per_s}");
    }
}

/// Flash writes per write of the host in steady state, when runs of so many units are written to places of their length.
fn of_runs(spec: &FlashSpec, run: u64) -> f64 {
    let places = spec.units() / run;
    let draws = Draws::new(8, &[0]);
    measured(spec, |index| draws.at(index / run) % places * run + index % run)
}

#[test]
fn runs_pay_the_less_the_more_of_a_block_of_every_die_they_fill() {
    for percent in [7.0, 28.0, 50.0] {
        let mapped = spec(percent);
        let analytic = FlashSpec { translation: Translation::analytic(None), ..mapped.clone() };
        let random = greedy(mapped.spare(), mapped.block_units()) - 1.0;
        let whole = u64::from(mapped.dies()) * u64::from(mapped.pages_per_block) * 8;
        for parts in [64, 16, 8, 4, 2, 1] {
            let [found, priced] = [&mapped, &analytic].map(|spec| (of_runs(spec, whole / parts) - 1.0) / random);
            println!("{percent} %, 1/{parts} of the blocks: {found:.3} with a map, {priced:.3} without");
            assert!((found - priced).abs() < 0.2, "{percent} %, 1/{parts}: {found} {priced}");
        }
    }
}

#[test]
fn overwriting_in_order_amplifies_nothing_and_at_random_as_the_formula_says() {
    for translation in [Translation::page_map(100), Translation::analytic(None)] {
        let spec = FlashSpec { translation, ..spec(28.0) };
        let in_order = measured(&spec, |index| index % spec.units());
        assert!((in_order - 1.0).abs() < 0.01, "{translation:?}: {in_order}");
        let expected = greedy(spec.spare(), spec.block_units());
        let at_random = of_runs(&spec, 1);
        assert!((at_random / expected - 1.0).abs() < 0.01, "{translation:?}: {at_random} of {expected}");
    }
}

/// What the drives of an array did while `work` was done.
fn uses(array: &mut Array, work: impl FnOnce(&mut Array)) -> Vec<ComponentUse> {
    let before = array.readings();
    work(array);
    let all = array.components().into_iter().zip(before.iter().zip(array.readings()));
    let drives = all.filter(|(component, _)| ["flash", "disk"].contains(&component.kind));
    drives.map(|(component, (before, after))| ComponentUse::between(&component, before, &after, 1_000_000)).collect()
}

#[test]
fn an_array_says_how_often_its_flash_is_written() {
    let spec = FlashSpec { capacity_bytes: 64 << 20, channels: 1, dies_per_channel: 1, ..drives::flash() };
    let mut document = support::array("raid0", 2);
    document["devices"][0]["model"] =
        serde_json::to_value(DeviceSpec::Flash(spec.clone())).expect("a specification is a document");
    let mut array = support::built(&document, 1);
    let span = array.sectors();
    // Each unit four times in the mean.
    let overwrite = |array: &mut Array, seed| {
        support::closed(array, 16, (0, 8 * spec.units()), support::random(seed, 8, 0, span));
    };
    overwrite(&mut array, 1);
    let written = uses(&mut array, |array| overwrite(array, 2));
    assert_eq!(written.iter().filter_map(|drive| drive.written_bytes).sum::<u64>(), 8 * spec.units() * 4096);
    for drive in &written {
        let of = |bytes: Option<u64>| bytes.expect("it was written to") as f64;
        let amplification = drive.write_amplification.expect("it was written to");
        assert!((amplification - of(drive.programmed_bytes) / of(drive.written_bytes)).abs() < 1e-9);
        // One die of 22 blocks collects worse than the many that the formula is for.
        assert!(amplification > 0.9 * xiang_kurkoski(spec.spare()) && amplification < 5.0, "{amplification}");
    }
    let read = uses(&mut array, |array| {
        support::closed(array, 1, (0, 9), support::sequential(Op::Read, 8, vec![0]));
    });
    assert!(read.iter().all(|drive| drive.write_amplification.is_none() && drive.written_bytes.is_none()));
    let mut disks = support::built(&support::array("raid0", 2), 1);
    let written = uses(&mut disks, |array| {
        support::closed(array, 1, (0, 9), support::sequential(Op::Write, 8, vec![0]));
    });
    assert!(written.iter().all(|drive| drive.write_amplification.is_none()), "a disk has none");
}
