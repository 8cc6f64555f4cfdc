//! A directory that is Plimsoll's with everything in it: made where nothing has its name, found again, removed whole, and nothing beside it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use plimsoll_engine::files::{claim, inspect, left_behind, own, release, remove};
use plimsoll_engine::safety::{Permission, Refusal};
use plimsoll_engine::target::{Session, TargetError};

const NOTHING: Permission = Permission { destroy: false, typed: None };

fn written(directory: &Path) {
    fs::create_dir_all(directory.join("data/base/1")).unwrap();
    fs::write(directory.join("data/base/1/2619"), vec![7; 9000]).unwrap();
    fs::write(directory.join("data/PG_VERSION"), "15").unwrap();
}

#[test]
fn what_another_program_keeps_for_us_is_removed_whole_with_the_directory_that_was_made_for_it() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("pg");
    let path = own(&target, &NOTHING, "postgresql").unwrap();
    assert_eq!(path, target.join("postgresql"));
    written(&path);
    let seen = inspect(target.to_str().unwrap()).unwrap();
    assert!(seen.made_by_plimsoll && seen.write_refusal.is_none() && !seen.left_behind);
    // It is found again, with what is in it.
    assert_eq!(own(&target, &NOTHING, "postgresql").unwrap(), path);
    assert!(path.join("data/PG_VERSION").exists());
    remove(&target).unwrap();
    assert!(!target.exists());
}

#[test]
fn somebodys_files_beside_it_stay_and_so_does_what_links_lead_to() {
    let here = tempfile::tempdir().unwrap();
    let (target, precious) = (here.path().join("pg"), here.path().join("precious"));
    fs::create_dir_all(&precious).unwrap();
    fs::write(precious.join("file"), "p").unwrap();
    let path = own(&target, &NOTHING, "postgresql").unwrap();
    written(&path);
    symlink(&precious, path.join("data/pg_tblspc")).unwrap();
    fs::write(target.join("notes"), "n").unwrap();
    remove(&target).unwrap();
    assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "p");
    assert_eq!(fs::read_to_string(target.join("notes")).unwrap(), "n");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 1);
}

#[test]
fn a_directory_of_somebodys_is_refused_and_one_of_the_same_name_in_it_even_with_leave() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("pg");
    fs::create_dir_all(target.join("postgresql")).unwrap();
    fs::write(target.join("postgresql/PG_VERSION"), "15").unwrap();
    let refused = own(&target, &NOTHING, "postgresql").unwrap_err();
    assert!(matches!(&refused, TargetError::Refused(Refusal::ForeignDirectory { .. })), "{refused}");
    let leave = Permission { destroy: true, ..Permission::default() };
    let refused = own(&target, &leave, "postgresql").unwrap_err();
    assert!(matches!(&refused, TargetError::Refused(Refusal::ForeignName { .. })), "{refused}");
    assert_eq!(own(&target, &leave, "duckdb").unwrap(), target.join("duckdb"));
    remove(&target).unwrap();
    assert_eq!(fs::read_to_string(target.join("postgresql/PG_VERSION")).unwrap(), "15");
    assert!(!target.join("duckdb").exists());
}

#[test]
fn what_a_killed_run_left_is_listed_with_its_size_and_what_is_kept_is_not() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("pg");
    written(&own(&target, &NOTHING, "postgresql").unwrap());
    let marker = target.join(".plimsoll-files");
    let text = fs::read_to_string(&marker).unwrap();
    assert!(left_behind(here.path()).is_empty(), "its run is alive");
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let started = run["run"]["started"].as_u64().unwrap();
    fs::write(&marker, text.replace(&format!("\"started\": {started}"), "\"started\": 1")).unwrap();
    assert_eq!(left_behind(here.path()), [(target.clone(), 9002)]);
    release(&target).unwrap();
    assert!(left_behind(here.path()).is_empty(), "kept");
}

#[test]
fn a_claim_lasts_as_long_as_its_session_and_is_none_where_plimsoll_does_not_work() {
    let here = tempfile::tempdir().unwrap();
    assert!(!claim(here.path()).unwrap());
    let target = here.path().join("pg");
    own(&target, &NOTHING, "postgresql").unwrap();
    let session = Session::begin();
    assert!(claim(&target).unwrap());
    let held =
        std::process::Command::new("flock").args(["--nonblock", "--exclusive"]).arg(&target).arg("true").status();
    assert!(!held.unwrap().success(), "another program got the lock");
    drop(session);
    let free =
        std::process::Command::new("flock").args(["--nonblock", "--exclusive"]).arg(&target).arg("true").status();
    assert!(free.unwrap().success());
}
