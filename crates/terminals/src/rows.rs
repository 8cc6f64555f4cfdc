//! The rows of a COPY, written to the socket of a connection that a client library holds while the server waits for rows.
//!
//! Model: a text is divided into `CopyData` messages (manual, "Message Formats") of 64 KiB, so that the server works on the first while the
//! next come; heads and rows go to the kernel from where they lie. The socket does not block: where the server is slower, its room is waited
//! for. What the server says meanwhile is looked at and left in the socket, since it is the library's to read. An error ends the rows,
//! notices do not. No message is left half written, so that the library can end the COPY.
//!
//! Limits: a connection without encryption whose library has nothing of its own left to write. Of a server that says more than 8 KiB before
//! it takes the rows, the first notices are dropped, or both would wait for each other.

use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

/// Bytes of rows in a message.
pub const MESSAGE_BYTES: usize = 64 << 10;
/// Messages that the kernel is given at a time.
const BATCH_MESSAGES: usize = 16;
/// A kind and a length.
const HEAD_BYTES: usize = 5;
/// So much of what the server says stays in the socket, a small part of what would stop the server.
const UNREAD_BYTES: usize = 8 << 10;
/// How long room is waited for before what the server has said is looked at again, and whether somebody wants an end.
const LOOK_MS: i32 = 100;

/// How writing a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All of it was written.
    All,
    /// The server takes no more, or is gone; why, the library reads.
    Refused,
    /// Somebody wants an end. Where that left a message half written, the connection is shut down.
    Interrupted,
}

/// Writes a text of rows, which may end within one. While nothing happens, `is_over` is asked ten times a second.
pub fn write<S: AsFd>(socket: &S, text: &[u8], mut is_over: impl FnMut() -> bool) -> Written {
    let socket = socket.as_fd().as_raw_fd();
    for rows in text.chunks(BATCH_MESSAGES * MESSAGE_BYTES) {
        if heard(socket) == Heard::End {
            return Written::Refused;
        }
        match write_batch(socket, Batch::of(rows), &mut is_over) {
            Written::All => {}
            ended => return ended,
        }
    }
    Written::All
}

fn write_batch(socket: RawFd, mut batch: Batch<'_>, is_over: &mut impl FnMut() -> bool) -> Written {
    let mut ended = Written::All;
    while !batch.is_written() {
        let goes_on = match send(socket, &batch.left()) {
            Ok(bytes) => {
                batch.sent += bytes;
                true
            }
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => match heard(socket) {
                Heard::Nothing => waited(socket, libc::POLLIN | libc::POLLOUT, is_over),
                Heard::Little => waited(socket, libc::POLLOUT, is_over),
                Heard::Much => dropped_first(socket, is_over),
                Heard::End => {
                    // What was begun is completed: a server that has refused rows reads on, and drops them.
                    ended = Written::Refused;
                    batch.shorten();
                    waited(socket, libc::POLLOUT, is_over)
                }
            },
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => true,
            Err(_) => return Written::Refused,
        };
        if !goes_on {
            return interrupted(socket, &batch);
        }
    }
    ended
}

/// A connection with half a message is of no use to the library.
fn interrupted(socket: RawFd, batch: &Batch<'_>) -> Written {
    if !batch.is_between() {
        // SAFETY: it takes a number.
        unsafe { libc::shutdown(socket, libc::SHUT_RDWR) };
    }
    Written::Interrupted
}

/// Some messages, and how many of their bytes were sent.
struct Batch<'a> {
    rows: &'a [u8],
    heads: Vec<[u8; HEAD_BYTES]>,
    sent: usize,
}

impl<'a> Batch<'a> {
    fn of(rows: &'a [u8]) -> Self {
        let head = |piece: &[u8]| {
            let [a, b, c, d] = (piece.len() as u32 + 4).to_be_bytes();
            [b'd', a, b, c, d]
        };
        Self { rows, heads: rows.chunks(MESSAGE_BYTES).map(head).collect(), sent: 0 }
    }

    const fn is_written(&self) -> bool {
        self.sent == self.rows.len() + self.heads.len() * HEAD_BYTES
    }

    /// Whether no message is sent in part.
    const fn is_between(&self) -> bool {
        self.is_written() || self.sent.is_multiple_of(HEAD_BYTES + MESSAGE_BYTES)
    }

    /// Forget the messages that were not begun.
    fn shorten(&mut self) {
        let begun = self.sent.div_ceil(HEAD_BYTES + MESSAGE_BYTES);
        self.heads.truncate(begun);
        self.rows = &self.rows[..self.rows.len().min(begun * MESSAGE_BYTES)];
    }

    /// What is not sent, where it lies.
    fn left(&self) -> Vec<&[u8]> {
        let mut past = self.sent;
        let pieces = self.heads.iter().zip(self.rows.chunks(MESSAGE_BYTES)).flat_map(|(head, rows)| [&head[..], rows]);
        pieces
            .filter_map(|piece| {
                let skipped = past.min(piece.len());
                past -= skipped;
                (skipped < piece.len()).then(|| &piece[skipped..])
            })
            .collect()
    }
}

/// What the server has said, by the kinds of its messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing,
    /// Notices, settings and notifications, which come at any time.
    Little,
    /// So many of them that they have to make way.
    Much,
    /// Anything else, or the end of the connection.
    End,
}

fn heard(socket: RawFd) -> Heard {
    let mut said = [0; UNREAD_BYTES];
    match receive(socket, &mut said, libc::MSG_PEEK) {
        Ok(0) => Heard::End,
        Ok(bytes) => understood(&said[..bytes]),
        Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => Heard::Nothing,
        Err(problem) if problem.kind() == io::ErrorKind::Interrupted => Heard::Nothing,
        Err(_) => Heard::End,
    }
}

fn understood(said: &[u8]) -> Heard {
    let mut rest = said;
    while let Some(kind) = rest.first() {
        if !b"NSA".contains(kind) {
            return Heard::End;
        }
        let Some(length) = length_of(rest) else { break };
        rest = rest.get(length..).unwrap_or_default();
    }
    if said.len() < UNREAD_BYTES { Heard::Little } else { Heard::Much }
}

/// Bytes of the message that begins here, its kind included; none where its head is not there yet.
fn length_of(said: &[u8]) -> Option<usize> {
    let length = u32::from_be_bytes(said.get(1..HEAD_BYTES)?.try_into().ok()?);
    Some(1 + (length as usize).max(HEAD_BYTES - 1))
}

/// Reads the first message away, which the server is at sending; false where somebody wants an end before it is there.
fn dropped_first(socket: RawFd, is_over: &mut impl FnMut() -> bool) -> bool {
    let mut said = [0; UNREAD_BYTES];
    let Ok(_) = receive(socket, &mut said[..HEAD_BYTES], libc::MSG_PEEK) else { return true };
    let mut left = length_of(&said).unwrap_or_default();
    while left > 0 {
        match receive(socket, &mut said[..left.min(UNREAD_BYTES)], 0) {
            Ok(bytes @ 1..) => left -= bytes,
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => {
                if !waited(socket, libc::POLLIN, is_over) {
                    return false;
                }
            }
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            // The connection is gone, which the next look finds.
            _ => return true,
        }
    }
    true
}

fn send(socket: RawFd, pieces: &[&[u8]]) -> io::Result<usize> {
    let mut vectors: Vec<libc::iovec> = pieces
        .iter()
        .map(|piece| libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() })
        .collect();
    // SAFETY: zeros are a message without an address, without control data and without flags.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vectors.as_mut_ptr();
    message.msg_iovlen = vectors.len();
    // SAFETY: the vectors and the pieces that they name live until the call returns, and are only read.
    counted(unsafe { libc::sendmsg(socket, &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) })
}

fn receive(socket: RawFd, into: &mut [u8], flags: i32) -> io::Result<usize> {
    // SAFETY: no more is written than there is room for.
    counted(unsafe { libc::recv(socket, into.as_mut_ptr().cast(), into.len(), flags | libc::MSG_DONTWAIT) })
}

fn counted(found: isize) -> io::Result<usize> {
    usize::try_from(found).map_err(|_| io::Error::last_os_error())
}

/// Until one of the events is there, the connection has ended, or it is time to look; false where somebody wants an end by then.
fn waited(socket: RawFd, events: i16, is_over: &mut impl FnMut() -> bool) -> bool {
    let mut asked = libc::pollfd { fd: socket, events, revents: 0 };
    // SAFETY: one entry, which lives until the call returns. What it finds, the next look at the socket finds as well.
    let found = unsafe { libc::poll(&raw mut asked, 1, LOOK_MS) };
    // A signal ends the call, too.
    found > 0 || !is_over()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write as _};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().expect("a pair of sockets")
    }

    fn notice(bytes: usize) -> Vec<u8> {
        [&b"N"[..], &(bytes as u32 + 4).to_be_bytes(), &vec![b'x'; bytes]].concat()
    }

    /// Rows of whole messages, and whether the last is there to its end.
    fn unpacked(mut sent: &[u8]) -> (Vec<u8>, bool) {
        let mut rows = Vec::new();
        while let Some(length) = length_of(sent) {
            assert_eq!(sent[0], b'd');
            let Some(message) = sent.get(..length) else { break };
            assert!(length <= HEAD_BYTES + MESSAGE_BYTES);
            rows.extend_from_slice(&message[HEAD_BYTES..]);
            sent = &sent[length..];
        }
        (rows, sent.is_empty())
    }

    fn text(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at * 31 % 251) as u8).collect()
    }

    /// What a server reads that begins late and takes a little at a time.
    fn slow(mut server: UnixStream) -> thread::JoinHandle<Vec<u8>> {
        thread::spawn(move || {
            let (mut all, mut buffer) = (Vec::new(), [0; 7001]);
            while let Ok(bytes @ 1..) = server.read(&mut buffer) {
                all.extend_from_slice(&buffer[..bytes]);
            }
            all
        })
    }

    #[test]
    fn every_row_arrives_once_at_a_server_that_is_slower() {
        for bytes in [0, 1, MESSAGE_BYTES, MESSAGE_BYTES + 1, 3 << 20, (3 << 20) + 12345] {
            let (client, server) = pair();
            let reading = slow(server);
            assert_eq!(write(&client, &text(bytes), || false), Written::All);
            drop(client);
            assert_eq!(unpacked(&reading.join().expect("it reads")), (text(bytes), true), "{bytes}");
        }
    }

    #[test]
    fn notices_are_left_for_the_library_and_change_nothing() {
        let (mut client, mut server) = pair();
        server.write_all(&notice(100)).expect("it fits");
        server.write_all(&notice(200)[..50]).expect("it fits");
        let reading = slow(server.try_clone().expect("a copy"));
        assert_eq!(write(&client, &text(1 << 20), || false), Written::All);
        let mut left = vec![0; 105 + 50];
        client.read_exact(&mut left).expect("it is there");
        assert_eq!(left, [&notice(100)[..], &notice(200)[..50]].concat());
        drop(client);
        assert_eq!(unpacked(&reading.join().expect("it reads")), (text(1 << 20), true));
    }

    #[test]
    fn an_error_ends_the_rows_between_two_messages() {
        for said in [notice(9), Vec::new()] {
            let (client, mut server) = pair();
            server.write_all(&[&said[..], b"E\0\0\0\x05\0"].concat()).expect("it fits");
            assert_eq!(write(&client, &text(1 << 20), || false), Written::Refused);
            drop(client);
            assert_eq!(slow(server).join().expect("it reads"), b"");
        }
        // One that comes while the server is waited for, which then reads on.
        let (client, mut server) = pair();
        let reading = thread::spawn(move || {
            let mut first = [0; 1];
            server.read_exact(&mut first).expect("rows come");
            server.write_all(b"E\0\0\0\x05\0").expect("it fits");
            thread::sleep(std::time::Duration::from_millis(1));
            [first.to_vec(), slow(server).join().expect("it reads")].concat()
        });
        assert_eq!(write(&client, &text(64 << 20), || false), Written::Refused);
        drop(client);
        let (rows, whole) = unpacked(&reading.join().expect("it ends"));
        assert!(whole);
        assert!(rows.len() < 8 << 20, "{} bytes", rows.len());
        assert_eq!(rows, text(rows.len()));
    }

    #[test]
    fn a_server_that_talks_before_it_reads_is_not_waited_for_in_vain() {
        let (mut client, server) = pair();
        let mut talking = server.try_clone().expect("a copy");
        let reading = thread::spawn(move || {
            for _ in 0..2000 {
                talking.write_all(&notice(1000)).expect("somebody reads");
            }
            // Longer than what is looked at.
            talking.write_all(&notice(100_000)).expect("somebody reads");
            talking.write_all(&notice(3)).expect("somebody reads");
            slow(server).join().expect("it reads")
        });
        assert_eq!(write(&client, &text(8 << 20), || false), Written::All);
        client.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut left = Vec::new();
        client.read_to_end(&mut left).expect("it ends");
        assert_eq!(unpacked(&reading.join().expect("it reads")), (text(8 << 20), true));
        // Whole messages, the last among them.
        assert!(left.ends_with(&notice(3)));
        assert!(understood(&left) != Heard::End);
    }

    #[test]
    fn a_server_that_is_gone_is_none_that_takes_rows() {
        let (client, server) = pair();
        drop(server);
        assert_eq!(write(&client, b"1\n", || false), Written::Refused);
        let (client, server) = pair();
        let mut asked = 0;
        let mut server = Some(server);
        let written = write(&client, &text(8 << 20), || {
            asked += 1;
            server.take();
            asked > 100
        });
        assert_eq!(written, Written::Refused);
    }

    #[test]
    fn whoever_wants_an_end_gets_it_and_half_a_message_leaves_no_connection() {
        let (client, server) = pair();
        assert_eq!(write(&client, &text(8 << 20), || true), Written::Interrupted);
        let (rows, whole) = unpacked(&slow(server).join().expect("the connection has ended"));
        assert!(!whole);
        assert_eq!(rows, text(rows.len()));
        drop(client);
    }

    #[test]
    fn a_batch_knows_what_is_left_at_every_byte() {
        let rows = text(2 * MESSAGE_BYTES + 10);
        let whole: Vec<u8> = Batch::of(&rows).left().concat();
        let message = HEAD_BYTES + MESSAGE_BYTES;
        for sent in [0, 1, 4, 5, 6, message - 1, message, message + 3, 2 * message, 2 * message + 6, whole.len()] {
            let mut batch = Batch { sent, ..Batch::of(&rows) };
            assert_eq!(batch.left().concat(), whole[sent..]);
            assert_eq!(batch.is_between(), [0, message, 2 * message, whole.len()].contains(&sent), "{sent}");
            batch.shorten();
            let end = (sent.div_ceil(message) * message).min(whole.len());
            assert_eq!(batch.left().concat(), whole[sent..end]);
        }
    }
}
