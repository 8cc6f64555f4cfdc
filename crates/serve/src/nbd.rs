//! NBD, so that fio, qemu and libnbd's tools can use a served array: listening sockets and who is connected to them.
//!
//! Model: one thread accepts on each socket. A connection has a thread that reads ([`connection`]) after it has agreed on how to
//! talk ([`negotiation`]), and one that writes ([`outbox`]). Requests enter the model as they come and are answered in the
//! order in which the model completes them. Whatever a client sends, or does not send, or does not read, concerns its own
//! connection: a malformed message ends that, and nothing else.
//!
//! Limits: fixed newstyle without TLS; no metadata contexts, no extended headers. [`CONNECTIONS`] at once, and [`BYTES`] for
//! the requests and answers of all of them: further requests stay in their sockets until there is room. Who comes when all
//! places are taken gets that of the client that has been waited for the longest time, if that is [`PATIENCE`] or more: one
//! that does not negotiate, that has nothing under way and says nothing, that stops in the middle of a message or does not
//! take its answers ([`turn`]). Room in memory is made in the same way. Where every client is at work, whoever comes is hung
//! up on.
//!
//! Source: the NBD protocol, <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.

mod budget;
mod connection;
mod crowd;
mod negotiation;
mod outbox;
mod turn;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::locked;
use crate::server::Server;

use budget::Budget;
use crowd::Crowd;
use outbox::Outbox;
use turn::Turn;

/// Connections at once.
pub const CONNECTIONS: usize = 128;
/// Requests in the model at once, over all connections and those that have been hung up: what the connections can have.
const REQUESTS: usize = CONNECTIONS * 128;
/// Memory for the requests and answers of all connections.
pub const BYTES: u64 = 256 << 20;
/// Buffers from this length on are the system's when they are freed.
#[cfg(target_env = "gnu")]
const LONG_BUFFER: libc::c_int = 1 << 20;
/// How long a client may be waited for while others want its place or its memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait when there are no descriptors or threads for another connection.
const SHORT_OF: Duration = Duration::from_millis(50);
/// How long clients have to be answered after the order to stop.
const GRACE: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(5);
/// Buffers are on the heap.
const STACK_BYTES: usize = 128 << 10;

/// See the module.
#[derive(Debug)]
pub struct Listeners {
    shared: Arc<Shared>,
    accepting: Vec<(RawFd, JoinHandle<()>)>,
}

#[derive(Debug)]
struct Shared {
    server: Arc<Server>,
    depth: usize,
    stopping: AtomicBool,
    /// Those connected, in the order in which they came.
    connected: Mutex<BTreeMap<u64, Arc<Client>>>,
    numbers: AtomicU64,
    crowd: Arc<Crowd>,
    asides: Arc<Crowd>,
    budget: Arc<Budget>,
    patience: Duration,
}

/// Who is connected.
#[derive(Debug)]
pub(crate) struct Client {
    stream: UnixStream,
    outbox: Outbox,
    crowd: Arc<Crowd>,
    /// Threads that wait for the pieces of long requests.
    asides: Arc<Crowd>,
    /// It has begun to transmit.
    agreed: AtomicBool,
    turn: Turn,
}

impl Client {
    fn new(stream: UnixStream, shared: &Shared) -> Self {
        Self {
            stream,
            outbox: Outbox::new(shared.depth, connection::BYTES, &shared.budget),
            crowd: Arc::clone(&shared.crowd),
            asides: Arc::clone(&shared.asides),
            agreed: AtomicBool::new(false),
            turn: Turn::new(),
        }
    }

    /// For how long it has been waited for, while nothing else keeps it from going on.
    fn waited(&self) -> Option<Duration> {
        if self.agreed.load(Ordering::Acquire) {
            self.turn.waited(self.outbox.is_idle())
        } else {
            Some(self.turn.connected())
        }
    }

    fn begins_to_transmit(&self) {
        self.turn.begins();
        self.agreed.store(true, Ordering::Release);
    }

    /// Ends the connection at once; what waits to be answered is forgotten.
    fn hang_up(&self) {
        self.outbox.give_up();
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Memory that was freed goes back to the system where it was long. Two threads for each connection have an arena of the
/// allocator's each, and by default an arena keeps buffers of up to 32 MiB: clients that come and go made the process hold
/// several times the budget.
fn give_long_buffers_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets one number of the allocator, which may be done at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LONG_BUFFER);
    }
}

impl Listeners {
    /// Serves on sockets that listen, each connection with up to `depth` requests in the model.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub fn start(server: &Arc<Server>, sockets: Vec<OwnedFd>, depth: usize) -> io::Result<Self> {
        give_long_buffers_back();
        Self::with(server, sockets, depth, (PATIENCE, BYTES))
    }

    fn with(
        server: &Arc<Server>,
        sockets: Vec<OwnedFd>,
        depth: usize,
        (patience, bytes): (Duration, u64),
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            server: Arc::clone(server),
            depth,
            stopping: AtomicBool::new(false),
            connected: Mutex::default(),
            numbers: AtomicU64::new(0),
            crowd: Crowd::of(REQUESTS),
            asides: Crowd::of(CONNECTIONS),
            budget: Arc::new(Budget::of(bytes)),
            patience,
        });
        let mut listeners = Self { shared, accepting: Vec::new() };
        for socket in sockets {
            let (shared, number) = (Arc::clone(&listeners.shared), socket.as_raw_fd());
            let thread = threads("plimsoll-accept").spawn(move || shared.accept_all(&socket))?;
            listeners.accepting.push((number, thread));
        }
        Ok(listeners)
    }

    /// Takes nobody any more, lets what is under way be answered for a moment, and hangs up.
    pub fn stop(self) {
        self.shared.stopping.store(true, Ordering::Release);
        for (socket, thread) in self.accepting {
            // SAFETY: the thread that waits on this socket has not ended, and holds it open.
            unsafe { libc::shutdown(socket, libc::SHUT_RDWR) };
            let _ = thread.join();
        }
        for client in locked(&self.shared.connected).values() {
            // The reader ends; what was read before is still answered.
            let _ = client.stream.shutdown(Shutdown::Read);
        }
        self.shared.await_all();
        locked(&self.shared.connected).values().for_each(|client| client.hang_up());
        self.shared.await_all();
    }
}

impl Shared {
    /// Waits a moment for those who are connected to leave.
    fn await_all(&self) {
        let until = Instant::now() + GRACE;
        while !locked(&self.connected).is_empty() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }

    fn accept_all(self: &Arc<Self>, socket: &OwnedFd) {
        loop {
            match accept(socket) {
                Ok(stream) => self.take(stream),
                Err(_) if self.stopping.load(Ordering::Acquire) => return,
                Err(error) if is_passing(&error) => {}
                // Out of descriptors or memory, perhaps because somebody wants it so: others may hang up soon.
                Err(_) => std::thread::sleep(SHORT_OF),
            }
        }
    }

    /// Serves a new connection in a thread of its own.
    fn take(self: &Arc<Self>, stream: UnixStream) {
        let client = Arc::new(Client::new(stream, self));
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        if !self.finds_place(number, &client) {
            return;
        }
        let shared = Arc::clone(self);
        let serve = move || {
            let _leaves = Leaves { shared: &shared, number };
            let make_room = |waited: Duration| shared.makes_room(waited);
            connection::serve(&shared.server, &client, &make_room);
            client.hang_up();
        };
        if threads("plimsoll-nbd").spawn(serve).is_err() {
            locked(&self.connected).remove(&number);
        }
    }

    /// Takes a place; where there is none, that of whoever has been waited for the longest time.
    fn finds_place(&self, number: u64, client: &Arc<Client>) -> bool {
        let mut connected = locked(&self.connected);
        if connected.len() >= CONNECTIONS {
            let Some((slow, other)) = self.slowest(&connected, |_| true) else { return false };
            other.hang_up();
            connected.remove(&slow);
        }
        connected.insert(number, Arc::clone(client));
        true
    }

    /// Hangs up on whoever holds memory and has been waited for the longest time, once somebody has waited for memory for
    /// too long.
    fn makes_room(&self, waited: Duration) {
        if waited >= self.patience
            && let Some((_, other)) = self.slowest(&locked(&self.connected), |client| client.outbox.holds_memory())
        {
            other.hang_up();
        }
    }

    /// Who has been waited for the longest time, if that is too long; else who has been negotiating for the longest time,
    /// which others have done in an instant.
    fn slowest(
        &self,
        connected: &BTreeMap<u64, Arc<Client>>,
        counts: impl Fn(&Client) -> bool,
    ) -> Option<(u64, Arc<Client>)> {
        let waited = connected.iter().filter(|(_, client)| counts(client)).filter_map(|(number, client)| {
            let (waited, negotiates) = (client.waited()?, !client.agreed.load(Ordering::Acquire));
            let too_long = waited >= self.patience;
            (too_long || negotiates).then_some(((too_long, waited), *number, client))
        });
        let (_, number, client) = waited.max_by_key(|(rank, ..)| *rank)?;
        Some((number, Arc::clone(client)))
    }
}

/// Gives a connection's place to others, however it ends.
struct Leaves<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        locked(&self.shared.connected).remove(&self.number);
    }
}

pub(crate) fn threads(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES)
}

/// The next connection; of TCP as well, since reading and writing a stream is the same for both.
fn accept(socket: &OwnedFd) -> io::Result<UnixStream> {
    let none = std::ptr::null_mut();
    // SAFETY: an open socket, and no address is asked for.
    let accepted = unsafe { libc::accept4(socket.as_raw_fd(), none, none.cast(), libc::SOCK_CLOEXEC) };
    if accepted < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor.
    let accepted = unsafe { OwnedFd::from_raw_fd(accepted) };
    let now: libc::c_int = 1;
    // SAFETY: the value has this size. On a Unix socket there is no such option, and no delay.
    unsafe {
        let size = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(accepted.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY, (&raw const now).cast(), size);
    }
    Ok(UnixStream::from(accepted))
}

/// Whether only the connection that was about to come is concerned.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::ECONNABORTED | libc::EPROTO | libc::EAGAIN))
}

#[cfg(test)]
mod tests;
