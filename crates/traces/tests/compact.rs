//! A trace written in the compact form: what goes in comes out, in order, in bounded memory, and what had to change is counted.

use std::io::Cursor;

use plimsoll_traces::{Form, Request, Source, Targets, TextReader, TraceError, Wanted, Written, write};
use plimsoll_workload::trace::{Prefix, TraceHeader};
use plimsoll_workload::{Op, TraceRecord};
use proptest::prelude::*;

/// Requests that are there already.
struct Given {
    requests: std::vec::IntoIter<Request>,
    targets: Targets,
}

impl Source for Given {
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        Ok(self.requests.next())
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.targets
    }
}

fn given(requests: Vec<Request>) -> Given {
    let mut targets = Targets::default();
    ["a", "b", "c"].into_iter().for_each(|name| drop(targets.number(name)));
    Given { requests: requests.into_iter(), targets }
}

fn read_at(at_ns: u64, offset: u64) -> Request {
    Request { at_ns: Some(at_ns), op: Op::Read, offset, length: 512, target: 0, service_ns: None }
}

fn records(mut source: impl Source, wanted: &Wanted) -> (Vec<TraceRecord>, Written, Vec<u8>) {
    let mut out = Cursor::new(Vec::new());
    let written = write(&mut source, &mut out, wanted).unwrap_or_else(|error| panic!("{error}"));
    let content = out.into_inner();
    assert_eq!(content.len() as u64, written.header_at);
    let prefix = Prefix::read(content.first_chunk().expect("a prefix"), content.len() as u64);
    // The header has no place yet.
    assert!(prefix.is_err());
    let count = content[8..16].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes)) as usize;
    let bytes = &content[Prefix::BYTES..][..count * TraceRecord::BYTES];
    let (chunks, _) = bytes.as_chunks::<{ TraceRecord::BYTES }>();
    (chunks.iter().map(TraceRecord::read).collect(), written, content)
}

/// What the requests become, worked out plainly: the earliest of a sliding window goes first.
fn expected(requests: &[Request], window: usize) -> Vec<(u64, u64)> {
    let (mut waiting, mut given, mut last) = (Vec::new(), Vec::new(), 0);
    let mut pass_on = |waiting: &mut Vec<(u64, usize, u64)>| {
        waiting.sort_unstable();
        let (at_ns, _, offset) = waiting.remove(0);
        last = last.max(at_ns);
        given.push((last, offset));
    };
    for (number, request) in requests.iter().enumerate() {
        waiting.push((request.at_ns.unwrap_or(0), number, request.offset));
        if waiting.len() > window {
            pass_on(&mut waiting);
        }
    }
    while !waiting.is_empty() {
        pass_on(&mut waiting);
    }
    let first = given.first().map_or(0, |(at_ns, _)| *at_ns);
    given.into_iter().map(|(at_ns, offset)| (at_ns - first, offset)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn requests_come_out_in_the_order_of_their_instants(instants in prop::collection::vec(0_u64..400, 1..300)) {
        let requests: Vec<Request> = (0..).zip(&instants).map(|(number, &at_ns)| read_at(at_ns, number)).collect();
        let (found, written, _) = records(given(requests.clone()), &Wanted::default());
        let found: Vec<(u64, u64)> = found.iter().map(|record| (record.due_ns, record.offset)).collect();
        prop_assert_eq!(found, expected(&requests, 16_384));
        let steps_back = instants.iter().scan(0, |latest, &at_ns| {
            let back = at_ns < *latest;
            *latest = at_ns.max(*latest);
            Some(back)
        });
        let changed: u64 = written.changes.0.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(changed, steps_back.filter(|back| *back).count() as u64);
    }
}

#[test]
fn what_comes_later_than_the_window_is_set_later() {
    let mut requests: Vec<Request> = (0..20_000).map(|number| read_at(1_000 + number, number)).collect();
    requests.push(read_at(1_000, 77_777));
    requests.push(read_at(9_000, 88_888));
    let (found, written, _) = records(given(requests.clone()), &Wanted::default());
    let found: Vec<(u64, u64)> = found.iter().map(|record| (record.due_ns, record.offset)).collect();
    assert_eq!(found, expected(&requests, 16_384));
    assert_eq!(written.changes.0, [("put in order", 2), ("set later", 1)]);
}

#[test]
fn a_header_that_is_put_behind_is_read_back_by_those_who_replay() {
    let text = "fio version 3 iolog\n5 a add\n10 a read 4096 8192\n20 a write 0 41943040\n30 a sync 0 0\n";
    let form = Form::named("iolog").expect("a format");
    let (found, written, content) = records(TextReader::new(form, text.as_bytes()), &Wanted::default());
    assert_eq!(
        found.iter().map(|record| (record.due_ns, record.len)).collect::<Vec<_>>(),
        [(0, 8192), (10_000, 16 << 20), (10_000, 16 << 20), (10_000, 8 << 20), (20_000, 0)]
    );
    assert_eq!(written.changes.0, [("split", 1)]);
    let header = serde_json::to_vec(&written.header).expect("JSON");
    let read = TraceHeader::read(&header).expect("a header");
    assert_eq!((read.span_ns, read.ops, read.granule), (20_000, [1, 3, 0, 1], 4096));
    assert_eq!((read.devices[0].name.as_str(), read.devices[0].end_bytes), ("a", 41_943_040));
    let touched: Vec<u8> = (0_u64..40).flat_map(u64::to_le_bytes).collect();
    assert!(content.ends_with(&touched));
}

#[test]
fn what_is_wanted_is_taken_and_some_of_the_others_are_named() {
    let text = "1 0 0 8 1\n2 1 0 8 1\n3 2 0 8 1\n4 1 8 8 0\n9 1 0 8 1\n3 1 0 8 1\n";
    let reader = || TextReader::new(Form::named("mqsim").expect("a format"), text.as_bytes());
    let wanted = Wanted { devices: vec!["2".to_owned(), "1".to_owned()], ..Wanted::default() };
    let (found, written, _) = records(reader(), &wanted);
    assert_eq!(found.iter().map(|record| record.device).collect::<Vec<_>>(), [1, 0, 1, 1, 1]);
    assert_eq!(written.others, ["0"]);
    let (first, ..) = records(reader(), &Wanted { requests: Some(2), ..Wanted::default() });
    assert_eq!(first.len(), 2);
    // What comes behind the first that is too late is not looked at.
    let (early, ..) = records(reader(), &Wanted { until_ns: Some(3), ..wanted });
    assert_eq!(early.iter().map(|record| record.due_ns).collect::<Vec<_>>(), [0, 1, 2]);
    let untimed = TextReader::new(Form::named("iolog").expect("a format"), &b"fio version 2 iolog\na read 0 512\n"[..]);
    let wanted = Wanted { name: "log".to_owned(), until_ns: Some(3), ..Wanted::default() };
    let refused = write(&mut { untimed }, &mut Cursor::new(Vec::new()), &wanted).expect_err("no times");
    assert_eq!(
        refused.to_string(),
        "log: the trace has no times, so no time limits it; write --limit with a number of requests."
    );
}
