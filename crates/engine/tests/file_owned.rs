//! A directory that is Plimsoll's: made where nothing has its name, found again, removed with what its program wrote, and nothing else.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

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
fn what_somebody_puts_among_the_files_of_our_programs_stays_and_is_named() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("db");
    let path = own(&target, &NOTHING, "sqlite").unwrap();
    fs::write(path.join("orders.db"), "o").unwrap();
    fs::write(path.join("orders.db-wal"), "w").unwrap();
    fs::create_dir_all(path.join("mine/deep")).unwrap();
    fs::write(path.join("mine/deep/orders.db"), "m").unwrap();
    fs::write(path.join("notes.txt"), "n").unwrap();
    let said = remove(&target).unwrap_err();
    assert_eq!(
        said.to_string(),
        format!(
            "{} (and 1 more) stays, since Plimsoll did not make it; what Plimsoll made beside it is removed",
            path.join("mine").display()
        )
    );
    assert_eq!(fs::read_to_string(path.join("mine/deep/orders.db")).unwrap(), "m");
    assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "n");
    assert!(!path.join("orders.db").exists() && !path.join("orders.db-wal").exists());
    // Nothing there is ours any more, so that nothing is removed by a second call, and a run is refused.
    assert!(remove(&target).unwrap().is_empty());
    assert!(matches!(
        own(&target, &NOTHING, "sqlite").unwrap_err(),
        TargetError::Refused(Refusal::ForeignDirectory { .. })
    ));
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
    let locked_by_another = |wait: &[&str]| {
        let status = Command::new("flock").args(wait).arg("--exclusive").arg(&target).arg("true").status();
        status.unwrap().success()
    };
    assert!(!locked_by_another(&["--nonblock"]), "another program got the lock");
    drop(session);
    // A test beside this one that claims something just then keeps the claims of the session for as long as that takes.
    assert!(locked_by_another(&["--timeout", "60"]));
}
