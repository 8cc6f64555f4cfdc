//! Traces with several entries per request, and those in records: what becomes of issues, completions, and a file that is cut off.

use std::io::{self, BufReader, Read};

use plimsoll_traces::{Counted, Reader, Request, Source};
use plimsoll_workload::Op;

/// Gives few bytes at a time.
struct Pipe<'content>(&'content [u8]);

impl Read for Pipe<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = room.len().min(7);
        self.0.read(&mut room[..most])
    }
}

fn drained(form: &str, counted: Counted, content: &[u8]) -> (Vec<Request>, Option<String>) {
    let mut reader = Reader::named(form, counted, BufReader::with_capacity(7, Pipe(content))).expect("a format");
    let mut found = Vec::new();
    loop {
        match reader.request() {
            Ok(Some(request)) => found.push(request),
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error.to_string())),
        }
    }
}

fn event(at_ns: u64, action: &str, rwbs: &str, sector: u64) -> String {
    format!("  8,0    1   7     0.{at_ns:09}   697  {action}  {rwbs} {sector} + 8 [x]\n")
}

#[test]
fn of_equal_requests_the_first_to_complete_is_the_first_issued() {
    let text = event(1, "D", "R", 64) + &event(2, "D", "R", 64) + &event(11, "C", "R", 64) + &event(22, "C", "R", 64);
    let (found, _) = drained("blkparse", Counted::Issue, text.as_bytes());
    let service: Vec<_> = found.iter().map(|request| (request.at_ns, request.service_ns)).collect();
    assert_eq!(service, [(Some(1), Some(10)), (Some(2), Some(20))]);
}

#[test]
fn requests_keep_the_order_of_their_issues_whatever_comes_back_first_or_never() {
    let text = event(1, "D", "R", 0)
        + &event(2, "D", "WS", 8)
        + &event(3, "D", "FN", 0).replace(" 0 + 8", "")
        + &event(4, "D", "DS", 24)
        + &event(9, "C", "D", 24)
        + &event(12, "C", "W", 8);
    let (found, _) = drained("blkparse", Counted::Issue, text.as_bytes());
    let told: Vec<_> = found.iter().map(|request| (request.op, request.service_ns)).collect();
    assert_eq!(told, [(Op::Read, None), (Op::Write, Some(10)), (Op::Flush, None), (Op::Trim, Some(5))]);
    let (completed, _) = drained("blkparse", Counted::Complete, text.as_bytes());
    assert_eq!(completed.iter().map(|request| request.at_ns).collect::<Vec<_>>(), [Some(9), Some(12)]);
}

#[test]
fn one_that_never_completes_holds_the_others_up_no_longer_than_the_line_is() {
    let mut text = event(1, "D", "R", 0);
    for at in 0..40_000 {
        text += &(event(10 + at, "D", "R", 8 + 8 * at) + &event(11 + at, "C", "R", 8 + 8 * at));
    }
    let mut reader = Reader::named("blkparse", Counted::Issue, text.as_bytes()).expect("a format");
    let first = reader.request().expect("a trace").expect("a request");
    assert_eq!((first.offset, first.service_ns), (0, None));
    // Each event is a line; so many requests stand in line, with both of theirs.
    assert!(reader.reading().line < 2 * 16_390, "{}", reader.reading().line);
    let mut others = 0;
    while let Some(request) = reader.request().expect("a trace") {
        assert_eq!(request.service_ns, Some(1));
        others += 1;
    }
    assert_eq!(others, 40_000);
}

/// Version 1 of vscsi's record: a read of 512 bytes.
fn record(block: u64, at_us: u64) -> Vec<u8> {
    let mut record = vec![0; 32];
    record[4..8].copy_from_slice(&512_u32.to_le_bytes());
    record[12..16].copy_from_slice(&[0x28, 0, 0, 1]);
    record[16..24].copy_from_slice(&block.to_le_bytes());
    record[24..].copy_from_slice(&at_us.to_le_bytes());
    record
}

#[test]
fn records_are_whole_however_few_bytes_come_at_a_time_and_one_that_is_cut_off_is_refused() {
    let mut content: Vec<u8> = (0..50).flat_map(|number| record(number, 7 + number)).collect();
    let (found, refused) = drained("vscsi", Counted::Issue, &content);
    assert_eq!((found.len(), refused), (50, None));
    assert_eq!((found[49].at_ns, found[49].offset, found[49].length), (Some(49_000), 49 * 512, 512));
    content.truncate(50 * 32 - 5);
    let (found, refused) = drained("vscsi", Counted::Issue, &content);
    assert_eq!(found.len(), 49);
    assert_eq!(refused.as_deref(), Some("record 50: it has 27 of 32 bytes; the file is cut off, fetch it again."));
}
