use std::time::Instant;

use super::*;
use crate::data::{derived::Derived, memory::Memory};
use crate::small_array;

/// Reads that are under way when a server stops.
const ASKED: u64 = 4_000;

fn server(data: impl Data + 'static) -> Arc<Server> {
    Arc::new(Server::start("small".into(), small_array::array(), Box::new(data), Limits::of_disks()).unwrap())
}

#[test]
fn an_answer_takes_at_least_as_long_as_the_model_says_and_bytes_come_back() {
    let server = server(Memory::new(1 << 20));
    let began = Instant::now();
    server.write(500_000_000 - 100, b"there and back").unwrap();
    let mut read = [0; 14];
    server.read(500_000_000 - 100, &mut read).unwrap();
    let took_ns = began.elapsed().as_nanos() as f64;
    assert_eq!(&read, b"there and back");
    let report = server.report().into_json();
    let modelled_ns = report["service"]["mean_ns"].as_f64().unwrap() * 2.0;
    // The histogram rounds by one in a thousand.
    assert!(took_ns > 0.99 * modelled_ns && modelled_ns > 200_000.0, "{took_ns} {modelled_ns}");
    assert_eq!((&report["counts"]["reads"], &report["counts"]["written_bytes"]), (&1.into(), &14.into()));
}

#[test]
fn clients_wait_side_by_side_and_not_one_after_the_other() {
    let most = || {
        let server = server(Derived::default());
        std::thread::scope(|scope| {
            for number in 0..16 {
                let server = &server;
                scope.spawn(move || server.read(number * 50_000_000, &mut [0; 4096]).unwrap());
            }
        });
        let report = server.report().into_json();
        assert_eq!(report["answers"], 16);
        report["outstanding_max"].as_u64().unwrap()
    };
    // A machine that starts one of them after the other does so now and then, a server that makes them wait does every time.
    assert!((0..5).any(|_| most() > 4));
}

#[test]
fn requests_outside_of_the_array_are_refused_and_do_not_count() {
    let server = server(Derived::default());
    let size = server.size_bytes();
    for (offset, len) in [(size, 1), (size - 4096, 8192), (u64::MAX - 10, 100)] {
        let error = server.read(offset, &mut vec![0; len]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{offset}");
        assert!(server.trim(offset, len as u64).is_err());
    }
    assert_eq!(server.report().into_json()["answers"], 0);
}

#[test]
fn zeros_and_trims_read_as_zeros_and_differ_in_what_they_cost() {
    let server = server(Memory::new(4 << 20));
    server.write(0, &[7; 3 << 20]).unwrap();
    server.write_zeros(0, 3 << 19).unwrap();
    server.trim(3 << 19, 3 << 19).unwrap();
    let mut read = vec![1; 3 << 20];
    server.read(0, &mut read).unwrap();
    assert!(read.iter().all(|byte| *byte == 0));
    let counts = &server.report().into_json()["counts"];
    assert_eq!((&counts["writes"], &counts["trims"]), (&3.into(), &1.into()), "1.5 MiB of zeros are two pieces");
}

#[test]
fn writes_that_were_refused_or_dropped_are_flags() {
    let full = server(Memory::new(4096));
    assert_eq!(full.write(0, &[1; 8192]).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(full.report().into_json()["flags"][0]["name"], "full");
    let derived = server(Derived::default());
    derived.write(0, b"something else").unwrap();
    assert_eq!(derived.report().into_json()["flags"][0]["name"], "dropped");
}

#[test]
fn a_server_that_stops_forgets_who_waits() {
    let server = server(Derived::default());
    let (told, waits) = std::sync::mpsc::channel::<io::Result<()>>();
    // Seconds of work for the two disks, so that some of them wait even after a standstill of the machine.
    let asked =
        (0..ASKED).map(|number| ByteRequest { op: Op::Read, offset: number * 7_919 % 10_000 * 90_112, len: 4096 });
    for asked in asked {
        let told = told.clone();
        server.begin(asked, move |answered| drop(told.send(answered))).unwrap();
    }
    drop(told);
    server.stop().unwrap();
    let answered = waits.iter().count() as u64;
    assert!(answered < ASKED, "neither answered nor kept");
}
