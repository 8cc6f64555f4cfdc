//! Every shipped workload reads, holds together, fits a small disk and says where it comes from; the ProLiant profiles
//! are exactly those of the report's fio file.

use std::path::PathBuf;
use std::{env, fs};

use plimsoll_workload::{Op, StreamPlan, TargetShape, Workload};
use serde_json::Value;

const DISK: TargetShape = TargetShape { size_bytes: 4 << 30, block_bytes: 512 };

/// The sections of `fio/profiles.cfg` as report 001 prints them; `ioengine`, `direct`, `buffered`, `time_based` and
/// `runtime`
/// are the same in all and left out here.
const PROFILES: &str = "
[web-file-server4k] blocksize=4k rwmixread=95 rwmixwrite=5 rw=randrw percentage_random=75
[web-file-server8k] blocksize=8k rwmixread=95 rwmixwrite=5 rw=randrw percentage_random=75
[web-file-server64k] blocksize=64k rwmixread=95 rwmixwrite=5 rw=randrw percentage_random=75
[decision-support-system-db] blocksize=1024k rwmixread=100 rwmixwrite=0 rw=randrw percentage_random=100
[media-streaming] blocksize=64k rwmixread=98 rwmixwrite=2 rw=randrw percentage_random=0
[sql-server-log] blocksize=64k rwmixread=0 rwmixwrite=100 rw=randrw percentage_random=0
[os-paging] blocksize=64k rwmixread=90 rwmixwrite=10 rw=randrw percentage_random=0
[web-server-log] blocksize=8k rwmixread=0 rwmixwrite=100 rw=randrw percentage_random=0
[oltp-db] blocksize=8k rwmixread=70 rwmixwrite=30 rw=randrw percentage_random=100
[exchange-server] blocksize=8k rwmixread=67 rwmixwrite=33 rw=randrw percentage_random=100
[workstation] blocksize=8k rwmixread=80 rwmixwrite=20 rw=randrw percentage_random=80
[video-on-demand] blocksize=512k rwmixread=80 rwmixwrite=20 rw=randrw percentage_random=100
";

fn catalog() -> Vec<Workload> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/plimsoll/catalog/workloads");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("is there").map(|entry| entry.expect("can be listed").path()).collect();
    paths.sort();
    paths.iter().filter_map(read).collect()
}

/// The workload of a file; `None` for one that another driver carries out.
fn read(path: &PathBuf) -> Option<Workload> {
    let source = path.to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("can be read");
    let value: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{source}: {error}"));
    if value.get("driver").is_some() {
        return None;
    }
    let workload = Workload::from_json(&value, &source).unwrap_or_else(|error| panic!("{error}"));
    workload.check(&source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Some(workload.name.as_str()), path.file_stem().and_then(|stem| stem.to_str()), "name and file differ");
    Some(workload)
}

fn plan(workload: &Workload) -> StreamPlan {
    workload.resolve(DISK, 1).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

#[test]
fn every_shipped_workload_fits_a_small_disk_and_explains_itself() {
    let catalog = catalog();
    assert!(catalog.len() >= 60, "only {} workloads", catalog.len());
    for workload in catalog {
        plan(&workload);
        let Workload { name, title, purpose, source, rationale, expect, tags, group, .. } = &workload;
        for prose in [title, purpose, source, rationale, expect] {
            assert!(!prose.trim().is_empty(), "{name} leaves something unsaid");
        }
        assert!(["sequential", "random", "combined"].contains(&group.as_str()), "{name}: group {group}");
        assert!(!tags.is_empty(), "{name} has no tag");
    }
}

#[test]
fn every_shipped_workload_survives_its_canonical_form() {
    for workload in catalog() {
        assert_eq!(Workload::from_json(&workload.to_json(), "again").expect("reads"), workload);
    }
}

#[test]
fn titles_are_unique() {
    let titles: Vec<String> = catalog().into_iter().map(|workload| workload.title).collect();
    for (index, title) in titles.iter().enumerate() {
        assert!(!titles[..index].contains(title), "two workloads are titled {title}");
    }
}

/// `key=value` of a profile's section.
fn fio<'a>(section: &'a str, key: &str) -> &'a str {
    let mut words = section.split_whitespace().filter_map(|word| word.split_once('='));
    words.find(|(name, _)| *name == key).expect("stands in every section").1
}

#[test]
fn the_proliant_profiles_are_those_of_the_fio_file() {
    let catalog = catalog();
    let tagged = catalog.iter().filter(|workload| workload.tags.iter().any(|tag| tag == "proliant"));
    assert_eq!(tagged.count(), 12);
    for section in PROFILES.trim().lines() {
        let name = section[1..].split(']').next().expect("has a name");
        let workload = catalog.iter().find(|workload| workload.name == name).expect("is shipped");
        let plan = plan(workload);
        let entry = &plan.access.entries[0];
        let percent = |key: &str| fio(section, key).parse::<f64>().expect("is a number");
        let kib: u32 = fio(section, "blocksize").trim_end_matches('k').parse().expect("is a size in KiB");
        assert_eq!((plan.max_len, plan.granule, entry.align), (kib << 10, kib << 10, kib << 10), "{name}");
        assert_eq!(entry.op_percent[Op::Read as usize], percent("rwmixread"), "{name}");
        assert_eq!(entry.op_percent[Op::Write as usize], percent("rwmixwrite"), "{name}");
        assert_eq!(entry.random_percent, percent("percentage_random"), "{name}");
        assert_eq!((plan.threads, plan.queue_depth, plan.direct), (1, 1, true), "{name}");
    }
}

#[test]
fn the_text_variants_differ_where_the_report_does() {
    let catalog = catalog();
    let plan = |name: &str| plan(catalog.iter().find(|workload| workload.name == name).expect("is shipped"));
    assert_eq!(plan("exchange-server-text").max_len, 4096);
    assert_eq!(plan("exchange-server-text").access.entries[0].op_percent, [67.0, 33.0, 0.0, 0.0]);
    assert_eq!(plan("video-on-demand-text").max_len, 512 << 10);
    assert_eq!(plan("video-on-demand-text").access.entries[0].op_percent, [100.0, 0.0, 0.0, 0.0]);
}

#[test]
fn iometer_specifications_have_the_circulated_lines() {
    let catalog = catalog();
    let lines = |name: &str| -> Vec<(u32, f64)> {
        let plan = plan(catalog.iter().find(|workload| workload.name == name).expect("is shipped"));
        plan.access.entries.iter().map(|entry| (entry.align, entry.weight)).collect()
    };
    // application-benchmarks.md 4.6, "File server (Intel)" and "Web server".
    assert_eq!(
        lines("iometer-file-server"),
        [
            (512, 10.0),
            (1024, 5.0),
            (2048, 5.0),
            (4096, 60.0),
            (8192, 2.0),
            (16_384, 4.0),
            (32_768, 4.0),
            (65_536, 10.0)
        ]
    );
    assert_eq!(lines("iometer-web-server")[7], (65_536, 7.0));
    assert_eq!(lines("iometer-web-server-66560")[7], (66_560, 7.0));
    assert_eq!(lines("iometer-web-server").iter().map(|line| line.1).sum::<f64>(), 100.0);
}
