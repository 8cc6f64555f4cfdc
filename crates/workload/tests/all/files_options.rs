//! Options of trees and streams: their page and schema, their canonical form, `--set`, and every sentence of refusal.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::{env, fs};

use plimsoll_workload::JobOptions;
use plimsoll_workload::files::{
    FileStreamOptions, FileWorkload, TreeOptions, fingerprint, option_names, reference_markdown, schema, set_option,
};
use plimsoll_workload::option::Record;
use serde_json::{Value, json};

fn compare(file: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if env::var_os("PLIMSOLL_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/reference/{file} has drifted; run PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload");
}

#[test]
fn page_and_schema_are_up_to_date() {
    compare("files.md", &reference_markdown());
    compare("files.schema.json", &(serde_json::to_string_pretty(&schema()).unwrap() + "\n"));
}

/// Reads every example through the parser of its own option.
fn examples_read<R: Record>() {
    for declaration in R::declarations() {
        let mut record = R::default();
        record.assign(declaration.key, &json!(declaration.example)).unwrap().unwrap();
        assert_ne!(record.fields(), R::default().fields(), "the example of {} is its default", declaration.key);
        assert!(declaration.help.ends_with('.'), "{}: {}", declaration.key, declaration.help);
        assert!(reference_markdown().contains(&format!("| `{}` |", declaration.key)));
    }
}

#[test]
fn every_example_reads_and_every_option_stands_in_the_page() {
    examples_read::<TreeOptions>();
    examples_read::<FileStreamOptions>();
}

fn whole() -> Value {
    json!({
        "name": "mail", "driver": "files",
        "tree": [
            { "name": "inbox", "depth": 1, "width": 2, "sizes": { "1KiB": 50, "8KiB": 50 }, "total_size": "100KiB" },
            { "name": "archive", "path": "old/archive", "files": 10, "lay_out": "directories" },
        ],
        "stream": [
            { "name": "users", "tree": "inbox", "operation": { "read": 70, "write": 30 }, "stop_after": "1MiB" },
            { "name": "mover", "tree": ["inbox", "archive"], "operation": "move", "arrival": "poisson", "rate": 20 },
        ],
    })
}

fn read(value: &Value) -> Result<FileWorkload, String> {
    let workload = FileWorkload::from_json(value, "mail.toml").map_err(|error| error.to_string())?;
    workload.check("mail.toml").map_err(|error| error.to_string())?;
    Ok(workload)
}

#[test]
fn the_canonical_form_reads_back_and_does_the_same() {
    let workload = read(&whole()).unwrap();
    let again = FileWorkload::from_json(&workload.to_json(), "again").unwrap();
    assert_eq!(again, workload);
    let prints = [workload, again].map(|workload| fingerprint(&workload.resolve(1).unwrap(), 100));
    assert_eq!(prints[0], prints[1]);
}

#[test]
fn set_reaches_streams_trees_and_the_job_from_text() {
    let (mut workload, mut job) = (read(&whole()).unwrap(), JobOptions::default());
    let mut set = |key: &str, value: &str| set_option(&mut workload, &mut job, key, &json!(value));
    set("threads", "4").unwrap();
    set("mover.rate", "2k").unwrap();
    set("files", "500").unwrap();
    set("archive.sizes", "1MiB-2MiB").unwrap();
    set("users.operation", "read=60,stat=40").unwrap();
    set("duration", "5s").unwrap();
    let wrong = |result: Result<(), plimsoll_workload::WorkloadError>| result.unwrap_err().to_string();
    assert_eq!(wrong(set("filess", "1")), "key 'filess' is not known; did you mean 'files'?");
    assert_eq!(wrong(set("inbux.files", "1")), "no tree is called 'inbux'; did you mean 'inbox'?");
    assert_eq!(wrong(set("usres.threads", "1")), "no stream is called 'usres'; did you mean 'users'?");
    let shown = workload.to_json();
    assert_eq!((&shown["stream"][0]["threads"], &shown["stream"][1]["rate"]), (&json!(4), &json!(2000)));
    assert_eq!((&shown["tree"][0]["files"], &shown["tree"][1]["files"]), (&json!(500), &json!(500)));
    assert_eq!(shown["tree"][1]["sizes"], "1048576-2097152");
    assert_eq!(shown["stream"][0]["operation"], json!({ "read": 60, "stat": 40 }));
    assert_eq!(job.duration.0, 5_000_000_000);
}

#[test]
fn names_of_options_are_unique() {
    let names = option_names();
    assert!(names.iter().enumerate().all(|(index, name)| !names[..index].contains(name)));
    assert!(["threads", "depth", "duration"].iter().all(|name| names.contains(name)));
}

/// A document with one thing changed, and what is said about it.
const WRONG: &[(&str, &str)] = &[
    (r#"{"tree": []}"#, "tree: a list is not a list of tables; write a list of at least one tree"),
    (r#"{"stream": []}"#, "stream: a list is not a list of tables; write a list of at least one stream"),
    (r#"{"driver": "file"}"#, "driver: 'file' is not the driver of file operations; did you mean 'files'?"),
    (r#"{"tree": [{"depth": 65}]}"#, "tree 1: depth: 65 is out of range; write 0 to 64"),
    (
        r#"{"tree": [{"depth": 8, "width": 100}]}"#,
        "tree \"tree-1\": depth 8, width 100 and files 100 make more than 67108864 directories or 4294967296 files; lower one of them",
    ),
    (
        r#"{"tree": [{"path": "../etc"}]}"#,
        "tree \"tree-1\": path '../etc' leaves the target or is no path; write one below it, for example spool/inbox",
    ),
    (
        r#"{"tree": [{"path": "/etc"}]}"#,
        "tree \"tree-1\": path '/etc' leaves the target or is no path; write one below it, for example spool/inbox",
    ),
    (
        r#"{"tree": [{"name": "a", "path": "x"}, {"name": "b", "path": "x/y"}]}"#,
        "the trees \"a\" and \"b\" lie in each other; give each a path of its own",
    ),
    (r#"{"tree": [{"name": "a"}, {"name": "a"}]}"#, "two trees are called \"a\"; give each a name of its own"),
    (r#"{"tree": [{"sizes": "big"}]}"#, "tree 1: sizes: 'big' is not a size; write for example 4KiB, 64k or 1GiB"),
    (
        r#"{"tree": [{"sizes": {"4KiB": 60}}]}"#,
        "tree 1: sizes: the shares of the sizes sum to 60; they must sum to 100",
    ),
    (
        r#"{"tree": [{"files": 4, "sizes": "4KiB", "total_size": "1GiB"}]}"#,
        "tree \"tree-1\": total_size 1GiB is more than the 16KiB of all files; raise files, width or depth",
    ),
    (
        r#"{"tree": [{"lay_out": "nothing", "filled": 50}]}"#,
        "tree \"tree-1\": filled has no effect with lay_out nothing; drop one of the two",
    ),
    (
        r#"{"stream": [{}]}"#,
        "stream 1: key 'operation' is missing; every stream says what it does, for example \"read\" or { read = 70, write = 30 }",
    ),
    (r#"{"stream": [{"operation": "raed"}]}"#, "stream 1: operation: 'raed' is not an operation; did you mean 'read'?"),
    (
        r#"{"stream": [{"operation": {"read": 70, "write": 20}}]}"#,
        "stream 1: operation: the shares of the operations sum to 90; they must sum to 100",
    ),
    (
        r#"{"stream": [{"operation": {"read": 100, "write": 0}}]}"#,
        "stream 1: operation: the share of write is 0; write a percentage above 0, or leave the operation out",
    ),
    (
        r#"{"stream": [{"operation": "stat", "queue_depth": 4}]}"#,
        "stream 1: key 'queue_depth' is not known; docs/reference/options.md lists all keys",
    ),
    (
        r#"{"stream": [{"operation": "stat", "tree": "tre-1"}]}"#,
        "stream \"stream-1\": no tree is called 'tre-1'; did you mean 'tree-1'?",
    ),
    (
        r#"{"stream": [{"operation": "mkdir"}]}"#,
        "stream \"stream-1\": mkdir needs directories below the anchor, and tree \"tree-1\" has none; set its depth",
    ),
    (
        r#"{"tree": [{"depth": 1, "files": 0}], "stream": [{"operation": "stat"}]}"#,
        "stream \"stream-1\": stat needs files, and tree \"tree-1\" has none; set its files",
    ),
    (
        r#"{"tree": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "stream": [{"operation": "copy"}]}"#,
        "stream \"stream-1\": copy goes from one tree to another, and the stream has 3; name two in tree",
    ),
    (
        r#"{"stream": [{"operation": "read", "write_created": true}]}"#,
        "stream \"stream-1\": write_created has no effect without create; add create to operation, or drop write_created",
    ),
    (
        r#"{"stream": [{"operation": "deliver"}]}"#,
        "stream \"stream-1\": deliver makes a file in one tree and renames it into another; name the first in made_in, for example tmp",
    ),
    (
        r#"{"stream": [{"operation": "read", "listed_in": "lists"}]}"#,
        "stream \"stream-1\": listed_in has no effect without deliver; add deliver to operation, or drop listed_in",
    ),
    (
        r#"{"tree": [{"name": "a"}, {"name": "b"}], "stream": [{"operation": "deliver", "tree": "a", "made_in": "elsewhere"}]}"#,
        "stream \"stream-1\": no tree is called 'elsewhere'; this workload has a, b",
    ),
    (
        r#"{"tree": [{"name": "a"}, {"name": "b"}], "stream": [{"operation": "deliver", "tree": "a", "made_in": "a"}]}"#,
        "stream \"stream-1\": made_in names tree a, which the stream works on; name another one in made_in or in tree",
    ),
    (
        r#"{"tree": [{"name": "a"}], "stream": [{"operation": "deliver", "made_in": "a"}]}"#,
        "stream \"stream-1\": no tree is left to deliver to beside made_in; add one",
    ),
    (
        r#"{"tree": [{"name": "a"}, {"name": "b", "part": 1}], "stream": [{"operation": "deliver", "made_in": "b"}]}"#,
        "stream \"stream-1\": made_in names tree b, which lies in another part than what is delivered to; give them one part",
    ),
    (
        r#"{"tree": [{"name": "a"}, {"name": "b", "files": 0}], "stream": [{"operation": "deliver", "made_in": "b"}]}"#,
        "stream \"stream-1\": made_in names tree b, which has no files; set its files",
    ),
    (
        r#"{"stream": [{"operation": "read", "flush_at_close": true}]}"#,
        "stream \"stream-1\": flush_at_close has no effect where nothing is written; add write to operation, or drop flush_at_close",
    ),
    (
        r#"{"stream":[{"operation":"stat","file_select":"sequential","file_skew":3}]}"#,
        "stream \"stream-1\": file_skew has no effect where files come in order; set file_select to random, or drop file_skew",
    ),
    (
        r#"{"stream":[{"operation":{"read":50,"write":50},"file_state":"unwritten"}]}"#,
        "stream \"stream-1\": files that are not written yet have nothing to read and no place for random writes; write them sequentially, or drop file_state",
    ),
    (
        r#"{"stream":[{"operation":"write","file_access":"random","file_state":"unwritten"}]}"#,
        "stream \"stream-1\": files that are not written yet have nothing to read and no place for random writes; write them sequentially, or drop file_state",
    ),
    (
        r#"{"stream": [{"operation": "read", "direct": true, "transfer_size": 1000}]}"#,
        "stream \"stream-1\": direct I/O needs multiples of 512 bytes, and 1000B is none; change transfer_size, or set direct to false",
    ),
    (
        r#"{"tree": [{"sizes": 1000}], "stream": [{"operation": "read", "direct": true}]}"#,
        "stream \"stream-1\": direct I/O needs multiples of 512 bytes, and sizes of tree \"tree-1\" are none; change sizes, or set direct to false",
    ),
    (
        r#"{"stream": [{"operation": "read", "arrival": "poisson"}]}"#,
        "stream \"stream-1\": arrival = \"poisson\" needs a rate; write for example rate = \"20k\"",
    ),
    (
        r#"{"stream": [{"operation": "read", "stop_after": "soon"}]}"#,
        "stream 1: stop_after: 'soon' is not a number of requests or a size; write a number of requests (100) or a size (1MiB)",
    ),
    (r#"{"stream": [{"operation": "read", "threads": 0}]}"#, "stream 1: threads: 0 is out of range; write 1 to 4096"),
];

#[test]
fn what_cannot_be_is_refused_in_one_sentence_that_names_the_place() {
    for (change, sentence) in WRONG {
        let mut document = json!({ "driver": "files", "tree": [{}], "stream": [{ "operation": "stat" }] });
        let change: Value = serde_json::from_str(change).unwrap();
        for (key, value) in change.as_object().unwrap() {
            document[key] = value.clone();
        }
        let refused = read(&document).unwrap_err();
        assert_eq!(refused, format!("mail.toml: {sentence}"));
    }
}

#[test]
fn every_shipped_workload_of_files_reads_fits_and_explains_itself() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/plimsoll/catalog/workloads");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let value: Value = toml::from_str(&fs::read_to_string(entry.path()).unwrap()).unwrap();
        if value["driver"] != "files" {
            continue;
        }
        count += 1;
        let workload = FileWorkload::from_json(&value, &entry.path().to_string_lossy()).unwrap();
        let plan = workload.resolve(1).unwrap_or_else(|error| panic!("{error}"));
        let bytes: u64 = plan.trees.iter().map(|tree| tree.shape.first_bytes().0).sum();
        assert!(bytes < 1 << 30, "{} lays out {bytes} bytes", workload.name);
        let FileWorkload { name, title, purpose, source, rationale, expect, tags, group, .. } = &workload;
        assert!([title, purpose, source, rationale, expect].iter().all(|prose| !prose.trim().is_empty()), "{name}");
        assert_eq!((group.as_str(), tags.contains(&"files".to_owned())), ("files", true), "{name}");
        assert_eq!(Some(name.as_str()), entry.path().file_stem().and_then(|stem| stem.to_str()));
    }
    assert!(count >= 4, "{count} workloads");
}

#[test]
fn trees_of_different_parts_neither_share_a_place_nor_need_a_path() {
    let trees = |second: Value| {
        let file = json!({
            "driver": "files",
            "tree": [{ "name": "a", "files": 1 }, second],
            "stream": [{ "operation": "stat" }],
        });
        FileWorkload::from_json(&file, "parts.toml").unwrap().resolve(1)
    };
    let plan = trees(json!({ "name": "b", "part": 1, "files": 1 })).unwrap();
    let places: Vec<(usize, &str)> = plan.trees.iter().map(|tree| (tree.part, tree.path.as_str())).collect();
    assert_eq!(places, [(0, ""), (1, "")], "each is alone in its directory");
    assert_eq!(plan.trees[0].definition, plan.trees[1].definition, "a marker stands in the directory that it is about");
    assert!(
        trees(json!({ "name": "b", "path": "a", "files": 1 })).unwrap_err().to_string().contains("lie in each other")
    );
    assert!(trees(json!({ "name": "b", "path": "a", "part": 1, "files": 1 })).is_ok());
}
