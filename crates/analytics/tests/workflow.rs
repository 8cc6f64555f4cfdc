//! A whole workflow: its steps, what they move to the byte, what each finds wrong, and what it leaves.

#![allow(clippy::unwrap_used)]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use plimsoll_analytics::{Listener, Moved, ROW_BYTES, Rows, Spec, Step, StepRecord, Trouble, run, write_input};

const ROWS: u64 = 20_000;
const BYTES: u64 = ROWS * ROW_BYTES as u64;

/// Hears a workflow, and does something to its files when a step begins.
struct Hearer<'a> {
    records: Vec<StepRecord>,
    moved: (u64, u64),
    at: Step,
    harm: &'a dyn Fn(),
}

impl Listener for Hearer<'_> {
    fn moved(&mut self, read: &Moved, written: &Moved) {
        self.moved.0 += read.bytes;
        self.moved.1 += written.bytes;
    }

    fn began(&mut self, step: Step, _at_ns: u64) {
        if step == self.at {
            (self.harm)();
        }
    }

    fn ended(&mut self, record: &StepRecord) {
        self.records.push(record.clone());
    }
}

fn spec() -> Spec {
    Spec {
        seed: 1,
        workflow: 1,
        rows: ROWS,
        // So little that sorts have a mebibyte, and spill.
        memory_bytes: 1 << 20,
        buffer_bytes: 8192,
        direct: false,
        flush_at_close: false,
        loops: 20,
        input: None,
        devices: Vec::new(),
        told_every_ms: 1000,
    }
}

fn carried_out(spec: &Spec, folder: &Path, input: Option<&Path>) -> (Vec<StepRecord>, (u64, u64)) {
    let mut hearer = Hearer { records: Vec::new(), moved: (0, 0), at: Step::Iterate, harm: &|| {} };
    run(spec, folder, input, &mut hearer).unwrap_or_else(|failure| panic!("{}: {}", failure.step, failure.trouble));
    (hearer.records, hearer.moved)
}

fn refused(at: Step, file: &str, harm: impl Fn(&Path)) -> (Step, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    let mut hearer = Hearer { records: Vec::new(), moved: (0, 0), at, harm: &|| harm(&path) };
    let failure = run(&spec(), folder.path(), None, &mut hearer).unwrap_err();
    let last = hearer.records.last().unwrap();
    assert_eq!(last.name, failure.step);
    assert_eq!(last.check.is_some(), matches!(failure.trouble, Trouble::WrongData(_)));
    assert!(last.needed_read_bytes.is_none());
    (failure.step, failure.trouble.to_string())
}

fn flip(at: u64) -> impl Fn(&Path) {
    move |path: &Path| {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 4], at).unwrap();
    }
}

#[test]
fn every_step_reads_and_writes_what_it_needs_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (records, moved) = carried_out(&spec(), folder.path(), None);
    assert_eq!(records.iter().map(|record| record.name).collect::<Vec<_>>(), Step::ALL);
    for record in &records {
        assert_eq!(record.check.as_deref(), Some("ok"), "{}", record.name);
        let needed = (record.needed_read_bytes.unwrap(), record.needed_written_bytes.unwrap());
        assert_eq!((record.read_bytes, record.written_bytes), needed, "{}", record.name);
        assert!(record.end_ns >= record.start_ns);
    }
    let of = |step: Step| records.iter().find(|record| record.name == step).unwrap();
    assert_eq!((of(Step::DataStep).read_bytes, of(Step::DataStep).written_bytes), (0, BYTES));
    assert_eq!((of(Step::Iterate).read_bytes, of(Step::Iterate).written_bytes), (0, 0));
    // 4 MB of rows and 1 MiB for sorting: read once, written to runs, read again, written.
    assert_eq!(
        (of(Step::Sort).read_bytes, of(Step::Sort).written_bytes, of(Step::Sort).passes),
        (2 * BYTES, 2 * BYTES, Some(1))
    );
    let total: (u64, u64) = records.iter().fold((0, 0), |sum, one| (sum.0 + one.read_bytes, sum.1 + one.written_bytes));
    assert_eq!(moved, total);
}

#[test]
fn a_workflow_that_reads_its_rows_ends_with_the_summary_of_one_that_makes_them() {
    let (read, made, inputs) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = inputs.path().join("1.rows");
    let input = write_input(&path, Rows { seed: 1, workflow: 1 }, ROWS, |_| true).unwrap().unwrap();
    let spec = Spec { input: Some(input.tally), ..spec() };
    let (records, _) = carried_out(&spec, read.path(), Some(&path));
    assert_eq!(records[0].read_bytes, BYTES);
    carried_out(&Spec { input: None, ..spec }, made.path(), None);
    for file in ["summary.csv", "c.rows"] {
        assert_eq!(fs::read(read.path().join(file)).unwrap(), fs::read(made.path().join(file)).unwrap(), "{file}");
    }
}

#[test]
fn the_memory_of_a_sort_changes_what_is_moved_and_not_what_comes_out() {
    let (little, much) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    carried_out(&spec(), little.path(), None);
    let (records, _) = carried_out(&Spec { memory_bytes: 256 << 20, ..spec() }, much.path(), None);
    assert_eq!((records[4].passes, records[4].written_bytes), (Some(0), BYTES));
    assert_eq!(fs::read(little.path().join("c.rows")).unwrap(), fs::read(much.path().join("c.rows")).unwrap());
}

#[test]
fn summary_lines_hold_every_row_once() {
    let folder = tempfile::tempdir().unwrap();
    carried_out(&spec(), folder.path(), None);
    let text = fs::read_to_string(folder.path().join("summary.csv")).unwrap();
    let rows: u64 = text.lines().map(|line| line.split(',').nth(2).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(rows, ROWS);
    // 50 groups over 120 months, each with some three rows.
    assert!((5000..=6000).contains(&text.lines().count()), "{}", text.lines().count());
}

#[test]
fn a_byte_that_changed_is_found_by_the_step_that_reads_it() {
    for (at, file, by) in [
        (Step::Format, "a.rows", Step::Format),
        (Step::Index, "b.rows", Step::Index),
        (Step::Sort, "b.rows", Step::Sort),
        (Step::Summary, "c.rows", Step::Summary),
    ] {
        let (step, said) = refused(at, file, flip(BYTES / 2));
        assert_eq!(step, by, "{said}");
        assert!(said.starts_with("wrong data: ") && said.contains(file) && said.contains("checksum"), "{said}");
    }
}

#[test]
fn rows_that_are_missing_twice_or_in_another_place_are_found() {
    let cut =
        |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(BYTES - ROW_BYTES as u64).unwrap();
    assert!(refused(Step::Sort, "b.rows", cut).1.contains("19999 rows were read, 20000 were written"));
    let within = |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(BYTES - 1).unwrap();
    assert!(refused(Step::Sort, "b.rows", within).1.contains("ends within a record"));
    let twice = |path: &Path| {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut row = [0; ROW_BYTES];
        file.read_exact_at(&mut row, 0).unwrap();
        file.write_all_at(&row, ROW_BYTES as u64).unwrap();
    };
    let (step, said) = refused(Step::Format, "a.rows", twice);
    assert_eq!(step, Step::Format);
    assert!(said.contains("the sum of the row numbers"), "{said}");
    let swapped = |path: &Path| {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut rows = [[0; ROW_BYTES]; 2];
        file.read_exact_at(&mut rows[0], 0).unwrap();
        file.read_exact_at(&mut rows[1], BYTES / 2).unwrap();
        file.write_all_at(&rows[1], 0).unwrap();
        file.write_all_at(&rows[0], BYTES / 2).unwrap();
    };
    let (step, said) = refused(Step::Summary, "c.rows", swapped);
    assert_eq!(step, Step::Summary);
    assert!(said.contains("not in order"), "{said}");
}

#[test]
fn an_input_that_cannot_be_read_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("gone.rows");
    let spec = Spec { input: Some(plimsoll_analytics::Tally::default()), ..spec() };
    let mut hearer = Hearer { records: Vec::new(), moved: (0, 0), at: Step::Iterate, harm: &|| {} };
    let failure = run(&spec, folder.path(), Some(&missing), &mut hearer).unwrap_err();
    assert_eq!(failure.step, Step::DataStep);
    assert!(
        failure.trouble.to_string().ends_with("gone.rows: cannot open it (no such file or directory)."),
        "{}",
        failure.trouble
    );
}

#[test]
fn a_full_disk_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("a.rows")).unwrap();
    let mut hearer = Hearer { records: Vec::new(), moved: (0, 0), at: Step::Summary, harm: &|| {} };
    let failure = run(&spec(), folder.path(), None, &mut hearer).unwrap_err();
    assert_eq!(failure.step, Step::DataStep);
    let said = failure.trouble.to_string();
    assert!(said.contains("(no space left on device); make room, or ask for fewer rows."), "{said}");
}

#[test]
fn rows_that_were_stopped_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1.rows");
    assert!(write_input(&path, Rows { seed: 1, workflow: 1 }, 1 << 19, |_| false).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn direct_calls_move_whole_blocks_and_leave_the_same_files() {
    // Beside the test's program, since temporary directories may be in memory, where there is no direct I/O.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let buffered = tempfile::tempdir().unwrap();
    let spec = Spec { direct: true, flush_at_close: true, ..spec() };
    let mut hearer = Hearer { records: Vec::new(), moved: (0, 0), at: Step::Iterate, harm: &|| {} };
    if let Err(failure) = run(&spec, folder.path(), None, &mut hearer) {
        assert!(failure.trouble.to_string().contains("set direct=false"), "{}", failure.trouble);
        eprintln!("skipped: no direct I/O in {}", folder.path().display());
        return;
    }
    carried_out(&Spec { direct: false, ..spec }, buffered.path(), None);
    for file in ["a.rows", "b.rows", "c.rows", "b-c2.index", "b-c1-c3.index", "summary.csv"] {
        assert_eq!(
            fs::read(folder.path().join(file)).unwrap(),
            fs::read(buffered.path().join(file)).unwrap(),
            "{file}"
        );
    }
    for record in &hearer.records {
        assert_eq!(record.written_bytes % 4096, 0, "{}", record.name);
        assert!(record.written_bytes >= record.needed_written_bytes.unwrap(), "{}", record.name);
        assert!(record.read_bytes >= record.needed_read_bytes.unwrap(), "{}", record.name);
    }
    // The rows of the sort are 4 MB; a run file ends within a block as the others do.
    let sort = &hearer.records[4];
    assert!(sort.written_bytes <= sort.needed_written_bytes.unwrap() + 8 * 4096);
}
