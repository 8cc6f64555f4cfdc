#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::sync::mpsc;

use super::*;
use crate::data::memory::Memory;
use crate::lateness::Limits;

/// A small array, served on a socket of its own.
struct Place {
    listeners: Option<Listeners>,
    server: Arc<Server>,
    path: std::path::PathBuf,
    _here: tempfile::TempDir,
}

impl Place {
    fn new(depth: usize) -> Self {
        Self::with(depth, (PATIENCE, BYTES))
    }

    /// With another patience and memory.
    fn with(depth: usize, limits: (Duration, u64)) -> Self {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("s");
        let socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let array = crate::small_array::array();
        let data = Box::new(Memory::new(1 << 30));
        let server = Arc::new(Server::start("small".into(), array, data, Limits::of_flash()).unwrap());
        let listeners = Some(Listeners::with(&server, vec![socket.into()], depth, limits).unwrap());
        Self { listeners, server, path, _here: here }
    }

    fn dial(&self) -> UnixStream {
        UnixStream::connect(&self.path).unwrap()
    }

    /// A connection that transmits, by the shortest way.
    fn connect(&self) -> UnixStream {
        self.try_connect().unwrap()
    }

    /// The same, unless there is no place for it.
    fn try_connect(&self) -> io::Result<UnixStream> {
        let mut client = self.dial();
        client.set_read_timeout(Some(HANGS)).unwrap();
        let mut greeting = [0; 18];
        client.read_exact(&mut greeting)?;
        client.write_all(&[&[0, 0, 0, 3][..], &option(1, &[])].concat())?;
        let mut export = [0; 10];
        client.read_exact(&mut export)?;
        assert_eq!(u64::from_be_bytes(export[..8].try_into().unwrap()), self.server.size_bytes());
        Ok(client)
    }

    fn shared(&self) -> &Shared {
        &self.listeners.as_ref().unwrap().shared
    }
}

/// What has not come by then never will.
const HANGS: Duration = Duration::from_secs(60);

/// A read of 512 bytes, answered.
fn served(client: &mut UnixStream) -> io::Result<()> {
    client.write_all(&request(0, 0, 2, 0, 512))?;
    client.read_exact(&mut [0; 16 + 512])
}

impl Drop for Place {
    fn drop(&mut self) {
        self.listeners.take().unwrap().stop();
        self.server.stop().unwrap();
    }
}

fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    [wire::OPTION, &kind.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data].concat()
}

fn request(kind: u16, flags: u16, cookie: u64, offset: u64, len: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(len.to_be_bytes());
    bytes
}

fn taken(client: &mut UnixStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

/// The kind and data of the answer to an option.
fn option_reply(client: &mut UnixStream, asked: u32) -> (u32, Vec<u8>) {
    let head = taken(client, 20);
    let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
    assert_eq!((&head[..8], number(8)), (&wire::reply::MAGIC.to_be_bytes()[..], asked));
    let data = taken(client, number(16) as usize);
    (number(12), data)
}

#[test]
fn options_are_answered_until_one_begins_the_transmission() {
    let place = Place::new(8);
    let mut client = place.dial();
    assert_eq!(taken(&mut client, 18), b"NBDMAGICIHAVEOPT\0\x03");
    client.write_all(&[0, 0, 0, 3]).unwrap();
    let cases: [(u32, &[u8], &[u32]); 9] = [
        (3, &[], &[2, 1]),
        (3, b"x", &[(1 << 31) + 3]),
        (5, &[], &[(1 << 31) + 1]),
        (10, b"anything", &[(1 << 31) + 1]),
        (77, &[], &[(1 << 31) + 1]),
        (8, b"x", &[(1 << 31) + 3]),
        (8, &[], &[1]),
        // A name longer than what follows.
        (6, &[0, 0, 0, 9, 0, 0], &[(1 << 31) + 3]),
        (6, &[0, 0, 0, 1, b'n', 0, 1, 0, 3], &[3, 3, 1]),
    ];
    for (kind, data, replies) in cases {
        client.write_all(&option(kind, data)).unwrap();
        let told: Vec<u32> = replies.iter().map(|_| option_reply(&mut client, kind).0).collect();
        assert_eq!(told, replies, "option {kind} with {data:?}");
    }
    client.write_all(&option(7, &[0, 0, 0, 0, 0, 0])).unwrap();
    let (kind, export) = option_reply(&mut client, 7);
    assert_eq!((kind, export.len()), (3, 12));
    // With structured replies agreed on: flags, flush, FUA, trim, zeros, reads in one piece, several connections.
    assert_eq!(u16::from_be_bytes(export[10..].try_into().unwrap()), 0b1_1110_1101);
    assert_eq!(option_reply(&mut client, 7).0, 1);
    client.write_all(&request(0, 0, 5, 4096, 3)).unwrap();
    let head =
        [&0x668e_33ef_u32.to_be_bytes()[..], &[0, 1, 0, 1], &5_u64.to_be_bytes(), &11_u32.to_be_bytes()].concat();
    assert_eq!(taken(&mut client, 31), [&head[..], &4096_u64.to_be_bytes(), &[0; 3]].concat());
    client.write_all(&request(0, 0, 6, u64::MAX - 1, 512)).unwrap();
    let error = taken(&mut client, 26);
    assert_eq!((&error[4..8], &error[20..24]), (&[0, 1, 0x80, 1][..], &22_u32.to_be_bytes()[..]));
}

#[test]
fn what_is_written_is_read_back_and_every_request_is_answered_once() {
    let place = Place::new(8);
    let mut client = place.connect();
    for cookie in 0..40_u64 {
        let flags = u16::from(cookie % 3 == 0);
        client
            .write_all(&[&request(1, flags, cookie, cookie * 512, 512)[..], &[cookie as u8 + 1; 512]].concat())
            .unwrap();
    }
    let mut answered: Vec<u64> =
        (0..40).map(|_| u64::from_be_bytes(taken(&mut client, 16)[8..].try_into().unwrap())).collect();
    answered.sort_unstable();
    assert_eq!(answered, Vec::from_iter(0..40));
    assert_eq!(place.server.report().into_json()["counts"]["flushes"], 14, "each with FUA is followed by a flush");
    // Zeros of several pieces, trims, what is unknown, what is too long, and nothing at all.
    let cases =
        [(6, 2, 0, 3 << 20, 0), (4, 0, 0, 512, 0), (9, 0, 0, 0, 22), (4, 64, 0, 512, 22), (0, 0, 0, 33 << 20, 22)];
    for (kind, flags, offset, len, error) in cases {
        client.write_all(&request(kind, flags, 9, offset, len)).unwrap();
        assert_eq!(taken(&mut client, 16)[4..8], u32::to_be_bytes(error), "command {kind}");
    }
    client
        .write_all(&[request(0, 0, 1, 0, 0), request(0, 0, 2, 512 * 39, 512), request(2, 0, 3, 0, 0)].concat())
        .unwrap();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 16 + 16 + 512, "both reads are answered before it hangs up");
}

#[test]
fn a_client_that_takes_no_answers_keeps_nobody_else_waiting_and_little_memory() {
    let place = Place::new(64);
    let mut slow = place.connect();
    slow.set_nonblocking(true).unwrap();
    // Until its socket is full: the server reads no more of it.
    let requests = request(0, 0, 1, 0, 1 << 20);
    let mut sent = 0;
    let until = Instant::now() + Duration::from_millis(300);
    while Instant::now() < until {
        match slow.write(&requests) {
            Ok(count) => sent += count,
            Err(_) => std::thread::sleep(LOOK),
        }
    }
    assert!(sent > 0);
    let held = locked(&place.listeners.as_ref().unwrap().shared.connected);
    let (under_way, bytes) = held.values().next().unwrap().outbox.under_way();
    drop(held);
    assert!(under_way <= 32 && bytes <= connection::BYTES, "{under_way} requests with {bytes} bytes");
    let mut other = place.connect();
    for _ in 0..50 {
        other.write_all(&request(0, 0, 2, 0, 512)).unwrap();
        taken(&mut other, 16 + 512);
    }
}

#[test]
fn who_negotiates_for_long_gives_way_when_there_is_no_place() {
    let place = Place::new(8);
    let mut silent: Vec<UnixStream> = (0..CONNECTIONS + 10).map(|_| place.dial()).collect();
    let mut kept = place.connect();
    kept.write_all(&request(0, 0, 2, 0, 512)).unwrap();
    taken(&mut kept, 16 + 512);
    // The first has been hung up on.
    let mut rest = Vec::new();
    silent[0].read_to_end(&mut rest).unwrap();
    assert!(rest.len() <= 18);
}

#[test]
fn idle_clients_give_way_and_one_at_work_does_not() {
    let place = Place::with(8, (Duration::from_millis(20), BYTES));
    let mut at_work = place.connect();
    let idle: Vec<UnixStream> = (1..CONNECTIONS).map(|_| place.connect()).collect();
    for _ in 0..5 {
        // Hung up on while nobody has been idle for long enough.
        let newcomer = std::iter::repeat_with(|| {
            served(&mut at_work).unwrap();
            place.try_connect()
        });
        let until = Instant::now() + HANGS;
        let mut newcomer = newcomer.take_while(|_| Instant::now() < until).find_map(Result::ok).unwrap();
        served(&mut newcomer).unwrap();
    }
    served(&mut at_work).unwrap();
    let mut ends = idle.iter().map(|mut client| client.read(&mut [0]).unwrap());
    assert_eq!(ends.next(), Some(0), "the first of them has been waited for the longest time");
}

/// Or a newcomer takes the place of a client that has the answer already.
#[test]
fn a_client_counts_as_transmitting_before_it_is_told_so() {
    for (begins, answer_bytes) in [(option(7, &[0; 6]), 20), (option(1, &[]), 10)] {
        let (mut client, server) = UnixStream::pair().unwrap();
        client.set_nonblocking(true).unwrap();
        client.write_all(&[&[0, 0, 0, 3][..], &begins].concat()).unwrap();
        let what_came = || {
            let mut bytes = Vec::new();
            assert_eq!((&client).read_to_end(&mut bytes).unwrap_err().kind(), io::ErrorKind::WouldBlock);
            bytes.len()
        };
        let export = negotiation::Export { size_bytes: 1 << 20, is_rotational: false };
        negotiation::negotiate(&server, export, &|| assert!(what_came() > 0)).unwrap().unwrap();
        assert_eq!(what_came(), answer_bytes, "the answer that begins the transmission comes last");
    }
}

/// Or who came first is not who has been waited for the longest time, since its thread may run later than another's.
#[test]
fn a_client_is_waited_for_from_its_agreement_on() {
    let place = Place::new(8);
    let client = Client::new(UnixStream::pair().unwrap().0, place.shared());
    client.begins_to_transmit();
    assert!(client.waited().is_some(), "nobody reads from it yet");
}

#[test]
fn clients_at_work_keep_their_places_from_newcomers() {
    let place = Place::with(8, (HANGS, BYTES));
    let mut clients: Vec<UnixStream> = (0..CONNECTIONS).map(|_| place.connect()).collect();
    assert!(place.try_connect().is_err(), "nobody has been idle for long");
    clients.iter_mut().for_each(|client| served(client).unwrap());
}

#[test]
fn memory_is_shared_and_who_holds_it_for_nothing_gives_it_back() {
    const ROOM: u64 = 8 << 20;
    let place = Place::with(64, (Duration::from_millis(20), ROOM));
    // Ten clients that would hold 32 MiB each: by answers that they do not take, and by data that they promise and do not send.
    let mut hostile: Vec<UnixStream> = (0..10).map(|_| place.connect()).collect();
    for (number, client) in hostile.iter_mut().enumerate() {
        let bytes = if number % 2 == 0 {
            request(0, 0, 1, 0, 1 << 20).repeat(32)
        } else {
            [request(1, 0, 1, 0, 8 << 20), vec![7; 4096]].concat()
        };
        client.write_all(&bytes).unwrap();
    }
    let mut honest = place.connect();
    for _ in 0..50 {
        served(&mut honest).unwrap();
        assert!(place.shared().budget.taken_bytes() <= ROOM);
    }
    drop((hostile, honest));
    let until = Instant::now() + HANGS;
    while place.shared().budget.taken_bytes() > 0 {
        assert!(Instant::now() < until, "{} bytes are held by nobody", place.shared().budget.taken_bytes());
        std::thread::yield_now();
    }
}

#[test]
fn stopping_answers_what_is_under_way_and_waits_for_nobody() {
    let place = Place::new(8);
    let (silent, mut client) = (place.dial(), place.connect());
    client.write_all(&request(0, 0, 2, 0, 512)).unwrap();
    taken(&mut client, 16 + 512);
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || {
        drop(place);
        told.send(()).unwrap();
    });
    heard.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    drop(silent);
}
