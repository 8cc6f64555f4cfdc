//! One connection: reads requests, puts them into the model, moves their bytes meanwhile, and sends answers.
//!
//! Model: the thread of the connection reads. A request of one piece enters the model at once, its bytes are moved while the model
//! works, and the later of the two puts the answer into the outbox ([`super::outbox`]). Trims and zeros of several pieces wait in a
//! thread of their own, one per connection. FUA is the write and then a flush, which the sending thread puts into the
//! model.
//!
//! Limits: requests of [`REQUEST_BYTES`] at most: a larger read is refused, a larger write ends the connection. At most
//! [`BYTES`] are under way per connection, and [`super::BYTES`] over all of them.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_workload::Op;

use super::crowd::Crowd;
use super::negotiation::{Export, negotiate};
use super::outbox::Outgoing;
use super::wire::{self, Command, HEAD_BYTES, REQUEST_BYTES, Request};
use super::{Client, threads};
use crate::byte_request::ByteRequest;
use crate::server::{Server, TRIM_BYTES, ZEROS_BYTES};

/// Bytes under way per connection.
pub(crate) const BYTES: u64 = REQUEST_BYTES as u64;

/// Serves a client until it leaves, is malformed, or is hung up on.
/// `waiting` is told for how long there has been no memory for its next request.
pub(crate) fn serve(server: &Arc<Server>, client: &Arc<Client>, waiting: &dyn Fn(Duration)) {
    let (export, stream) =
        (Export { size_bytes: server.size_bytes(), is_rotational: server.is_rotational() }, &client.stream);
    let Ok(Some(agreed)) = negotiate(stream, export, &|| client.begins_to_transmit()) else { return };
    let (server, client) = (Arc::clone(server), Arc::clone(client));
    let connection = Arc::new(Connection { server, client, structured: agreed.structured });
    let sender = Arc::clone(&connection);
    let Ok(sending) = threads("plimsoll-nbd-out").spawn(move || sender.send_all()) else { return };
    let mut aside = None;
    match connection.read_all(&mut aside, waiting) {
        // The client has asked for nothing more.
        Ok(()) => connection.client.outbox.close(),
        Err(_) => connection.client.hang_up(),
    }
    let _ = sending.join();
}

#[derive(Debug)]
struct Connection {
    server: Arc<Server>,
    client: Arc<Client>,
    structured: bool,
}

/// What a client did that ends its connection.
fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

impl Connection {
    /// Reads requests until the client has said that it leaves, or has hung up between two of them.
    fn read_all(self: &Arc<Self>, aside: &mut Option<JoinHandle<()>>, waiting: &dyn Fn(Duration)) -> io::Result<()> {
        let mut stream = &self.client.stream;
        let turn = &self.client.turn;
        let mut head = [0; HEAD_BYTES];
        loop {
            match turn.next(|| stream.read(&mut head[..1])) {
                // Half closed, as by `shutdown`: what it has asked for is still answered.
                Ok(0) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.receive(&mut head[1..])?;
            let request = wire::request(&head).ok_or_else(malformed)?;
            if request.command == Command::Disconnect {
                return Ok(());
            }
            if request.carries && request.len > REQUEST_BYTES {
                return Err(malformed());
            }
            if !self.client.outbox.enter(self.held_bytes(&request), waiting) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let data = if request.carries {
                let mut data = vec![0; request.len as usize];
                self.receive(&mut data)?;
                data
            } else {
                Vec::new()
            };
            self.begin(&request, data, aside);
        }
    }

    /// The rest of a message. Each part of it that comes is a sign of life.
    fn receive(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut stream = &self.client.stream;
        let mut done = 0;
        while done < bytes.len() {
            match self.client.turn.rest(|| stream.read(&mut bytes[done..])) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Memory that a request takes until it is answered.
    fn held_bytes(&self, request: &Request) -> u64 {
        let moves = request.carries || request.command == Command::Do(Op::Read);
        if moves && request.len <= REQUEST_BYTES { u64::from(request.len) } else { 0 }
    }

    fn begin(self: &Arc<Self>, request: &Request, data: Vec<u8>, aside: &mut Option<JoinHandle<()>>) {
        let (op, piece_bytes) = match request.command {
            Command::Do(Op::Flush) => return self.flush(*request),
            Command::Do(op @ (Op::Read | Op::Write)) if request.len <= REQUEST_BYTES => (op, u64::MAX),
            Command::Do(Op::Trim) | Command::Zeros { frees: true } => (Op::Trim, TRIM_BYTES),
            Command::Zeros { frees: false } => (Op::Write, ZEROS_BYTES),
            _ => return self.finish(request, Err(io::Error::from_raw_os_error(libc::EINVAL))),
        };
        if u64::from(request.len) > piece_bytes {
            return self.begin_aside(*request, aside);
        }
        self.exchange(request, op, data);
    }

    /// One piece: into the model, its bytes moved meanwhile, answered when both are over.
    fn exchange(self: &Arc<Self>, request: &Request, op: Op, data: Vec<u8>) {
        let asked = ByteRequest { op, offset: request.offset, len: u64::from(request.len) };
        if asked.len == 0 {
            return self.finish(request, Ok(Vec::new()));
        }
        let number = self.client.outbox.begin();
        let (connection, of) = (Arc::clone(self), *request);
        let begun = self.enter_model(asked, move |answered| {
            if let Some(done) = connection.client.outbox.answered(number, answered) {
                connection.finish(&of, done);
            }
        });
        let moved = match begun {
            Ok(()) => self.moved(request, data),
            Err(error) => {
                // The model has nothing to answer.
                let _ = self.client.outbox.answered(number, Ok(()));
                Err(error)
            }
        };
        if let Some(done) = self.client.outbox.moved(number, moved) {
            self.finish(request, done);
        }
    }

    /// Moves the bytes of a request; those of a read with room before them.
    fn moved(&self, request: &Request, data: Vec<u8>) -> io::Result<Vec<u8>> {
        let bytes = self.server.data();
        match request.command {
            Command::Do(Op::Read) => {
                let room = wire::room(self.structured);
                let mut read = vec![0; room + request.len as usize];
                bytes.read(request.offset, &mut read[room..])?;
                Ok(read)
            }
            Command::Do(Op::Write) => bytes.write(request.offset, &data).map(|()| Vec::new()),
            _ => bytes.clear(request.offset, u64::from(request.len)).map(|()| Vec::new()),
        }
    }

    /// Puts a request into the model, when there is a place for it.
    fn enter_model(&self, asked: ByteRequest, finish: impl FnOnce(io::Result<()>) + Send + 'static) -> io::Result<()> {
        // Given back with the closure, also where the model forgets it.
        let place = Crowd::enter(&self.client.crowd);
        self.server.begin(asked, move |answered| {
            drop(place);
            finish(answered);
        })
    }

    fn flush(self: &Arc<Self>, request: Request) {
        let asked = ByteRequest { op: Op::Flush, offset: 0, len: 0 };
        let connection = Arc::clone(self);
        let begun = self.enter_model(asked, move |answered| connection.answer(&request, answered.map(|()| Vec::new())));
        if let Err(error) = begun {
            self.answer(&request, Err(error));
        }
    }

    /// Carries out a request of many pieces beside others; the next of its kind waits for it.
    fn begin_aside(self: &Arc<Self>, request: Request, aside: &mut Option<JoinHandle<()>>) {
        if let Some(before) = aside.take() {
            let _ = before.join();
        }
        let connection = Arc::clone(self);
        let place = Crowd::enter(&self.client.asides);
        let carry_out = move || {
            let _place = place;
            let (server, len) = (&connection.server, u64::from(request.len));
            let done = match request.command {
                Command::Zeros { frees: false } => server.write_zeros(request.offset, len),
                _ => server.trim(request.offset, len),
            };
            connection.finish(&request, done.map(|()| Vec::new()));
        };
        match threads("plimsoll-nbd-aside").spawn(carry_out) {
            Ok(thread) => *aside = Some(thread),
            Err(_) => self.finish(&request, Err(io::Error::from_raw_os_error(libc::ENOMEM))),
        }
    }

    /// Answers, after a flush where that was asked for. Called from the timer, so it never waits.
    fn finish(&self, request: &Request, done: io::Result<Vec<u8>>) {
        if request.durable && done.is_ok() {
            return self.client.outbox.put(Outgoing::Then(*request));
        }
        self.answer(request, done);
    }

    fn answer(&self, request: &Request, done: io::Result<Vec<u8>>) {
        let bytes = match done {
            Ok(mut read) if !read.is_empty() => {
                wire::announce(&mut read, self.structured, request);
                read
            }
            Ok(_) => wire::answer(self.structured, request, None),
            Err(error) => wire::answer(self.structured, request, Some(&error)),
        };
        self.client.outbox.put(Outgoing::Answer(bytes, self.held_bytes(request)));
    }

    /// Sends answers until there are no more, or nobody takes them.
    fn send_all(self: &Arc<Self>) {
        let outbox = &self.client.outbox;
        while let Some(outgoing) = outbox.next() {
            match outgoing {
                Outgoing::Answer(bytes, held_bytes) => {
                    if self.send(&bytes).is_err() {
                        // Its reader need not wait for more.
                        return self.client.hang_up();
                    }
                    self.client.turn.answered();
                    outbox.over(held_bytes);
                }
                Outgoing::Then(request) => self.flush(request),
            }
        }
    }

    /// Sends an answer. Each part of it that the client takes is a sign of life.
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = &self.client.stream;
        let mut done = 0;
        while done < bytes.len() {
            match self.client.turn.sent(|| stream.write(&bytes[done..])) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
