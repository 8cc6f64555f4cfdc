use plimsoll_workload::Op;

use super::*;
use crate::small_array;

const MS: u64 = 1_000_000;

/// Reads of 4 KiB at scattered places: instants of arrival, in order.
fn arrivals() -> Vec<(u64, Request)> {
    let at = |number: u64| (number * 1_700_003 % 400_000_000, (number * 999_983 % 1_900_000) & !7);
    let mut all: Vec<_> =
        (0..60).map(at).map(|(now_ns, lba)| (now_ns, Request { op: Op::Read, lba, sectors: 8 })).collect();
    all.sort_by_key(|(now_ns, _)| *now_ns);
    all
}

/// Answers by number of arrival, with the instant at which they were handed out; between arrivals the schedule is run at
/// the instants that `wake` names: what it is given is the present and the next instant of the model.
fn answers(wake: impl Fn(u64, u64) -> u64) -> Vec<(usize, Answer, u64)> {
    let mut schedule = Schedule::new(small_array::array());
    let (mut handed, mut found) = (Vec::new(), Vec::new());
    let mut arrivals = arrivals().into_iter().enumerate().peekable();
    let mut now_ns = 0;
    loop {
        let next_ns = schedule.next_ns().map(|next_ns| wake(now_ns, next_ns));
        let arrives_ns = arrivals.peek().map(|(_, (arrives_ns, _))| *arrives_ns);
        let Some(instant_ns) = next_ns.into_iter().chain(arrives_ns).min() else { return found };
        now_ns = instant_ns;
        schedule.run(now_ns, &mut handed);
        found.extend(handed.drain(..).map(|(answer, number)| (number, answer, now_ns)));
        if arrives_ns == Some(now_ns)
            && let Some((number, (_, request))) = arrivals.next()
        {
            schedule.submit(now_ns, request, number);
        }
    }
}

#[test]
fn every_request_is_answered_once_and_never_before_its_instant() {
    let found = answers(|_, next_ns| next_ns);
    let mut numbers: Vec<usize> = found.iter().map(|(number, ..)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..60).collect::<Vec<_>>());
    for (number, answer, handed_ns) in found {
        assert_eq!(handed_ns, answer.due_ns, "request {number}: a punctual timer hands it out at its instant");
        assert!(answer.due_ns > answer.arrived_ns);
    }
}

#[test]
fn answers_leave_in_the_order_of_their_instants_not_of_their_arrival() {
    let found = answers(|_, next_ns| next_ns);
    assert!(found.is_sorted_by_key(|(_, answer, _)| answer.due_ns));
    assert!(!found.is_sorted_by_key(|(number, ..)| *number), "the disks' queues pass some over");
}

#[test]
fn a_timer_that_is_late_makes_answers_late_and_changes_nothing_else() {
    let punctual = answers(|_, next_ns| next_ns);
    let late = answers(|_, next_ns| next_ns + 700_000);
    let coarse = answers(|now_ns, next_ns| next_ns.max(now_ns + 3 * MS));
    let modelled = |found: &[(usize, Answer, u64)]| {
        let mut all: Vec<(usize, Answer)> = found.iter().map(|(number, answer, _)| (*number, *answer)).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all
    };
    assert_eq!(modelled(&punctual), modelled(&late));
    assert_eq!(modelled(&punctual), modelled(&coarse));
    assert!(late.iter().any(|(_, answer, handed_ns)| *handed_ns > answer.due_ns));
}

#[test]
fn a_request_that_is_done_sooner_brings_the_next_instant_nearer() {
    let mut schedule = Schedule::new(small_array::array());
    schedule.submit(0, Request { op: Op::Read, lba: 1_000_000, sectors: 8 }, "far");
    let mut due = Vec::new();
    schedule.run(MS, &mut due);
    let before_ns = schedule.next_ns().unwrap();
    schedule.submit(MS, Request { op: Op::Flush, lba: 0, sectors: 0 }, "flush");
    assert!(schedule.next_ns().unwrap() < before_ns, "{before_ns}");
    assert_eq!(schedule.outstanding(), 2);
    schedule.run(2 * MS, &mut due);
    assert_eq!((due.len(), due[0].1, schedule.outstanding()), (1, "flush", 1));
}

#[test]
fn places_are_used_again() {
    let mut schedule = Schedule::new(small_array::array());
    let mut due = Vec::new();
    for number in 0..100 {
        schedule.submit(number * 100 * MS, Request { op: Op::Read, lba: number * 1000, sectors: 8 }, number);
        schedule.run((number + 1) * 100 * MS, &mut due);
    }
    assert_eq!((due.len(), schedule.waiting.len()), (100, 1));
}
