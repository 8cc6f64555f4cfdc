//! Terminals over socket pairs, with a server that answers as a script says.

#![allow(clippy::unwrap_used)] // what fails here fails the test

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_engine::clock::monotonic_ns;
use plimsoll_terminals::{Pace, Request, TerminalThreads, wire};

/// Longer than anything here takes.
const HANGS: Duration = Duration::from_secs(60);

/// What the server answers to a question: `Q` with its text, or the name of a statement.
type Script = fn(&str, usize) -> Vec<u8>;

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], (body.len() as u32 + 4).to_be_bytes().as_slice(), body].concat()
}

fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

fn value(text: &str) -> Vec<u8> {
    let cell = [&[0, 1], (text.len() as u32).to_be_bytes().as_slice(), text.as_bytes()].concat();
    [message(b'2', &[]), message(b'D', &cell), ready(b'I')].concat()
}

fn null() -> Vec<u8> {
    [message(b'D', &[0, 1, 255, 255, 255, 255]), ready(b'T')].concat()
}

fn error(state: &str, status: u8) -> Vec<u8> {
    [message(b'E', format!("SERROR\0C{state}\0Msaid\0\0").as_bytes()), ready(status)].concat()
}

/// Answers each question on its own connection; the terminal's end.
fn served(script: Script) -> OwnedFd {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut asked = 0;
        while let Some(question) = heard(&mut theirs) {
            let answer = script(&question, asked);
            asked += 1;
            if answer.is_empty() || theirs.write_all(&answer).is_err() {
                return;
            }
        }
    });
    OwnedFd::from(ours)
}

/// A query's text, or the statement of a call, whose Sync ends it.
fn heard(stream: &mut UnixStream) -> Option<String> {
    let mut statement = String::new();
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head).ok()?;
        let mut body = vec![0; u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4];
        stream.read_exact(&mut body).ok()?;
        let text =
            |bytes: &[u8]| String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or(&[])).into_owned();
        match head[0] {
            b'Q' => return Some(text(&body)),
            b'B' => statement = text(&body[1..]),
            b'S' => return Some(statement),
            _ => {}
        }
    }
}

fn request(when_ns: u64, rolls_back: bool) -> Request {
    Request { kind: 0, when_ns, rolls_back, call: wire::call("pay", &[]) }
}

fn begun(sockets: Vec<OwnedFd>, pace: Pace, requests: Vec<Request>) -> TerminalThreads {
    let terminals = TerminalThreads::new(sockets, 1, pace, 0, true).unwrap();
    terminals.put(0, requests);
    terminals.begin(monotonic_ns()).unwrap();
    terminals
}

/// Waits until so many calls have ended in some way, and gives what was recorded.
fn recorded(terminals: &TerminalThreads, ended: u64) -> plimsoll_terminals::tally::Slice {
    let since = Instant::now();
    let mut total = terminals.cut(0);
    loop {
        let cell = &total.cells[0];
        if cell.committed + cell.rolled_back + cell.errors.values().sum::<u64>() >= ended {
            return total;
        }
        assert!(since.elapsed() < HANGS, "{ended} calls never ended");
        thread::sleep(Duration::from_millis(1));
        let next = terminals.cut(0);
        let (into, from) = (&mut total.cells[0], &next.cells[0]);
        into.committed += from.committed;
        into.rolled_back += from.rolled_back;
        into.latency.add(&from.latency);
        into.service = from.service.clone().or(into.service.take());
        from.errors.iter().for_each(|(why, count)| *into.errors.entry(why.clone()).or_default() += count);
        next.retries.iter().for_each(|(why, count)| *total.retries.entry(why).or_default() += count);
    }
}

#[test]
fn terminals_say_when_the_last_of_them_began() {
    let answers: Vec<OwnedFd> = (0..3).map(|_| served(|_, _| Vec::new())).collect();
    let terminals = TerminalThreads::new(answers, 1, Pace::Answers, 0, true).unwrap();
    assert_eq!(terminals.began_ns(), None, "nobody has begun");
    let earlier_ns = 7_000_000;
    terminals.begin(monotonic_ns() - earlier_ns).unwrap();
    let since = Instant::now();
    while terminals.began_ns().is_none() {
        assert!(since.elapsed() < HANGS, "terminals never began");
        thread::sleep(Duration::from_millis(1));
    }
    assert!(terminals.began_ns() >= Some(earlier_ns), "counted from the start of the job");
}

#[test]
fn a_terminal_asks_again_when_it_has_its_answer() {
    let terminals = begun(vec![served(|_, _| value("1"))], Pace::Answers, vec![request(0, false); 100]);
    let found = recorded(&terminals, 100);
    assert_eq!((found.cells[0].committed, found.cells[0].latency.len()), (100, 100));
    assert_eq!(terminals.failures(), []);
}

#[test]
fn what_asks_for_something_unused_is_rolled_back_and_only_then_counts() {
    let script: Script = |question, asked| match (question, asked) {
        ("BEGIN", 0) | ("ROLLBACK", 2) => ready(b'T'),
        ("pay", 1) => null(),
        _ => error("XX000", b'I'),
    };
    let terminals = begun(vec![served(script)], Pace::Answers, vec![request(0, true)]);
    assert_eq!(recorded(&terminals, 1).cells[0].rolled_back, 1);
}

#[test]
fn a_call_without_the_answer_it_has_to_have_is_damage() {
    let found: Script = |question, _| if question == "pay" { value("5") } else { ready(b'T') };
    let missed: Script = |_, _| [null(), Vec::new()].concat();
    for (script, rolls_back, says) in [(found, true, "does not exist"), (missed, false, "has to exist")] {
        let terminals = begun(vec![served(script)], Pace::Answers, vec![request(0, rolls_back)]);
        recorded(&terminals, 1);
        let failures = terminals.failures();
        assert!(failures[0].damaged && failures[0].message.contains(says), "{failures:?}");
    }
}

#[test]
fn conflicts_are_tried_again_and_counted() {
    // Twice in conflict, each of which leaves a failed transaction to be rolled back.
    let script: Script = |question, asked| match (question, asked) {
        ("ROLLBACK", 1 | 3) => ready(b'I'),
        ("pay", 0) => error("40P01", b'E'),
        ("pay", 2) => error("40001", b'E'),
        ("pay", 4) => value("1"),
        _ => Vec::new(),
    };
    let terminals = begun(vec![served(script)], Pace::Answers, vec![request(0, false)]);
    let found = recorded(&terminals, 1);
    assert_eq!(found.cells[0].committed, 1);
    assert_eq!(found.retries.into_iter().collect::<Vec<_>>(), [("deadlock", 1), ("serialization", 1)]);
}

#[test]
fn a_transaction_that_meets_others_ten_times_has_failed() {
    let terminals = begun(vec![served(|_, _| error("40P01", b'I'))], Pace::Answers, vec![request(0, false)]);
    let found = recorded(&terminals, 1);
    assert_eq!(found.cells[0].errors.get("40P01"), Some(&1));
    assert_eq!(found.retries.get("deadlock"), Some(&9));
}

#[test]
fn an_error_stops_every_terminal_and_says_what_the_server_said() {
    let sockets = vec![served(|_, _| error("53100", b'I')), served(|_, _| value("1"))];
    let terminals = TerminalThreads::new(sockets, 1, Pace::Answers, 0, true).unwrap();
    terminals.begin(monotonic_ns()).unwrap();
    terminals.put(0, vec![request(0, false); 3]);
    assert_eq!(recorded(&terminals, 1).cells[0].errors.get("53100"), Some(&1));
    terminals.put(1, vec![request(0, false)]);
    terminals.join();
    let failures = terminals.failures();
    assert_eq!((failures.len(), failures[0].state.as_str(), failures[0].message.as_str()), (1, "53100", "said"));
    assert_eq!(terminals.cut(0).cells[0].committed, 0, "nothing is begun after an error");
}

#[test]
fn a_connection_that_ends_is_lost_whatever_is_under_way() {
    let terminals = begun(vec![served(|_, _| Vec::new())], Pace::Answers, vec![request(0, false); 2]);
    assert_eq!(recorded(&terminals, 1).cells[0].errors.get("lost"), Some(&1));
    let failures = terminals.failures();
    assert_eq!((failures.len(), failures[0].alive), (1, false));
    terminals.join();
}

#[test]
fn who_waits_for_an_answer_that_never_comes_can_be_left() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let terminals = begun(vec![OwnedFd::from(ours)], Pace::Answers, vec![request(0, false)]);
    while terminals.under_way() == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    terminals.give_up(0);
    terminals.abandon();
    terminals.join();
    let found = terminals.cut(0);
    assert_eq!(found.waiting[0].as_ref().map(|ages| ages.len()), Some(1));
    assert_eq!(found.cells[0].errors.len(), 0);
}

#[test]
fn what_is_due_goes_to_whoever_is_free_and_counts_from_when_it_was_due() {
    let sockets = (0..3).map(|_| served(|_, _| value("1"))).collect();
    // All are due at once and before the job's beginning is over, so latencies hold whatever they wait for.
    let due: Vec<Request> = (0..30).map(|number| request(1 + number, false)).collect();
    let terminals = begun(sockets, Pace::Instants, due);
    let found = recorded(&terminals, 30);
    assert_eq!(found.cells[0].committed, 30);
    assert!(found.cells[0].service.is_some());
    assert_eq!(terminals.unissued(u64::MAX), 0);
}

#[test]
fn nothing_is_begun_before_it_is_due() {
    let hour_ns = 3_600_000_000_000;
    let terminals =
        begun(vec![served(|_, _| value("1"))], Pace::Instants, vec![request(1, false), request(hour_ns, false)]);
    assert_eq!(recorded(&terminals, 1).cells[0].committed, 1);
    assert_eq!((terminals.unissued(0), terminals.unissued(hour_ns)), (0, 1));
    terminals.stop();
    terminals.join();
}

#[test]
fn a_terminal_that_pauses_is_woken_by_the_end() {
    let hour_ns = 3_600_000_000_000;
    let terminals = begun(vec![served(|_, _| value("1"))], Pace::Answers, vec![request(hour_ns, false)]);
    terminals.stop();
    terminals.join();
    assert_eq!(terminals.cut(0).cells[0].committed, 0);
}

#[test]
fn a_queue_that_runs_low_asks_for_more() {
    let terminals = TerminalThreads::new(vec![served(|_, _| value("1"))], 1, Pace::Answers, 2, true).unwrap();
    terminals.put(0, vec![request(0, false); 8]);
    terminals.begin(monotonic_ns()).unwrap();
    assert!(terminals.wanted(HANGS)[0] <= 2);
}
