//! Connections that never make their thread wait, and the kernel's list of those that are ready.
//!
//! Model: a connection of TCP or of the file system; TLS lies on it from the start or from the middle of a dialogue on ([`super::tls`]), and
//! whoever talks notices nothing of it.
//!
//! Limits: a name is resolved before the run, so that no task waits for a resolver.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustls::ClientConnection;

use super::server::Place;
use super::tls;

/// How a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// All that was to be said is said.
    Clear,
    /// Some is left to say, once the other side reads.
    Stuck,
}

/// One connection, and what is still to be said on it.
#[derive(Debug)]
pub(crate) struct Socket {
    /// Whatever its family; reading, writing and the like are the same.
    stream: TcpStream,
    unsaid: Vec<u8>,
    said: usize,
    connecting: bool,
    tls: Option<Box<ClientConnection>>,
}

impl Socket {
    /// Begins to connect.
    pub(crate) fn connect(place: &Place) -> Result<Self> {
        let (stream, connected) = match place {
            Place::Tcp(address) => {
                let stream = socket(if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 })?;
                stream.set_nodelay(true)?;
                let connected = connect_tcp(stream.as_raw_fd(), address);
                (stream, connected)
            }
            Place::Unix(path) => {
                let stream = socket(libc::AF_UNIX)?;
                let connected = connect_unix(stream.as_raw_fd(), path);
                (stream, connected)
            }
        };
        match connected {
            Err(problem) if problem.raw_os_error() != Some(libc::EINPROGRESS) => Err(problem),
            connected => Ok(Self { stream, unsaid: Vec::new(), said: 0, connecting: connected.is_err(), tls: None }),
        }
    }

    pub(crate) fn file(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Whether nothing lies between the bytes of the connection and what is said.
    pub(crate) const fn is_plain(&self) -> bool {
        self.tls.is_none()
    }

    /// From now on, everything is said and heard through TLS.
    pub(crate) fn secure(&mut self, tls: &tls::Tls) -> Result<()> {
        self.tls = Some(Box::new(tls.begin()?));
        self.go_on().map(|_| ())
    }

    /// Says something, as far as the other side takes it.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> Result<Flow> {
        self.unsaid.extend_from_slice(bytes);
        self.go_on()
    }

    /// Goes on with what is left to say, and with connecting.
    pub(crate) fn go_on(&mut self) -> Result<Flow> {
        if self.connecting {
            if let Some(problem) = self.stream.take_error()? {
                return Err(problem);
            }
            if !is_connected(self.stream.as_raw_fd())? {
                return Ok(Flow::Stuck);
            }
            self.connecting = false;
        }
        let flow = match &mut self.tls {
            None => say_plainly(&mut self.stream, &self.unsaid, &mut self.said)?,
            Some(tls) => say_secretly(tls, &mut self.stream, &self.unsaid, &mut self.said)?,
        };
        if self.said == self.unsaid.len() {
            self.unsaid.clear();
            self.said = 0;
        }
        Ok(flow)
    }

    /// Reads what has come; `None` when nothing has.
    ///
    /// # Errors
    /// `UnexpectedEof` when the other side has hung up.
    pub(crate) fn hear(&mut self, room: &mut [u8]) -> Result<Option<usize>> {
        let Some(tls) = &mut self.tls else { return patiently(|| self.stream.read(room)) };
        loop {
            match patiently(|| tls.reader().read(room)) {
                Ok(None) => {}
                heard => return heard,
            }
            if patiently(|| tls.read_tls(&mut self.stream))?.is_none() {
                return Ok(None);
            }
            tls.process_new_packets().map_err(tls::failed)?;
            // The other side may wait for an answer of the two that is none of ours.
            say_secretly(tls, &mut self.stream, &self.unsaid, &mut self.said)?;
        }
    }
}

fn say_plainly(stream: &mut TcpStream, unsaid: &[u8], said: &mut usize) -> Result<Flow> {
    while *said < unsaid.len() {
        match stream.write(&unsaid[*said..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(bytes) => *said += bytes,
            Err(problem) if problem.kind() == ErrorKind::WouldBlock => return Ok(Flow::Stuck),
            Err(problem) if problem.kind() == ErrorKind::Interrupted => {}
            Err(problem) => return Err(problem),
        }
    }
    Ok(Flow::Clear)
}

fn say_secretly(tls: &mut ClientConnection, stream: &mut TcpStream, unsaid: &[u8], said: &mut usize) -> Result<Flow> {
    loop {
        // Before hands are shaken, nothing is said: it would be kept in memory that has no bound here.
        let taken = if tls.is_handshaking() { 0 } else { tls.writer().write(&unsaid[*said..])? };
        *said += taken;
        while tls.wants_write() {
            match tls.write_tls(stream) {
                Ok(_) => {}
                Err(problem) if problem.kind() == ErrorKind::WouldBlock => return Ok(Flow::Stuck),
                Err(problem) if problem.kind() == ErrorKind::Interrupted => {}
                Err(problem) => return Err(problem),
            }
        }
        if *said == unsaid.len() {
            return Ok(Flow::Clear);
        }
        if taken == 0 {
            return Ok(Flow::Stuck);
        }
    }
}

/// Reads once; `None` when nothing has come.
fn patiently(mut read: impl FnMut() -> Result<usize>) -> Result<Option<usize>> {
    loop {
        return match read() {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => Ok(Some(bytes)),
            Err(problem) if problem.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(problem) if problem.kind() == ErrorKind::Interrupted => continue,
            Err(problem) => Err(problem),
        };
    }
}

fn socket(family: libc::c_int) -> Result<TcpStream> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: a system call without pointers.
    let file = unsafe { libc::socket(family, kind, 0) };
    if file < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the file was just opened and belongs to nobody else.
    Ok(TcpStream::from(unsafe { OwnedFd::from_raw_fd(file) }))
}

/// Whether the other side has answered; asked of the kernel without the name of a peer, which sockets of files have not.
fn is_connected(file: RawFd) -> Result<bool> {
    // SAFETY: all zeros is a valid address of any family.
    let mut name: libc::sockaddr_storage = unsafe { zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: name and length live during the call, and the length is that of the name.
    let done = unsafe { libc::getpeername(file, std::ptr::from_mut(&mut name).cast(), &raw mut length) };
    if done == 0 {
        return Ok(true);
    }
    let problem = Error::last_os_error();
    if problem.raw_os_error() == Some(libc::ENOTCONN) { Ok(false) } else { Err(problem) }
}

fn connect_tcp(file: RawFd, address: &SocketAddr) -> Result<()> {
    match address {
        SocketAddr::V4(address) => {
            // SAFETY: all zeros is a valid address.
            let mut name: libc::sockaddr_in = unsafe { zeroed() };
            name.sin_family = libc::AF_INET as libc::sa_family_t;
            name.sin_port = address.port().to_be();
            name.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
            connect(file, &name)
        }
        SocketAddr::V6(address) => {
            // SAFETY: all zeros is a valid address.
            let mut name: libc::sockaddr_in6 = unsafe { zeroed() };
            name.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            name.sin6_port = address.port().to_be();
            name.sin6_addr.s6_addr = address.ip().octets();
            name.sin6_scope_id = address.scope_id();
            connect(file, &name)
        }
    }
}

fn connect_unix(file: RawFd, path: &Path) -> Result<()> {
    // SAFETY: all zeros is a valid address.
    let mut name: libc::sockaddr_un = unsafe { zeroed() };
    name.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= name.sun_path.len() {
        return Err(Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    for (place, byte) in name.sun_path.iter_mut().zip(bytes) {
        *place = *byte as libc::c_char;
    }
    connect(file, &name)
}

fn connect<T>(file: RawFd, name: &T) -> Result<()> {
    // SAFETY: the name lives during the call and is as long as told.
    let done = unsafe { libc::connect(file, std::ptr::from_ref(name).cast(), size_of::<T>() as libc::socklen_t) };
    if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// What is ready: the number a socket was entered with, whether it can be read, whether it can be written, whether the other side has hung
/// up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) number: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) over: bool,
}

/// The kernel's list of sockets (epoll, edge-triggered: each change is told once).
#[derive(Debug)]
pub(crate) struct Watch {
    file: OwnedFd,
    events: Vec<libc::epoll_event>,
}

/// Changes that are taken at once.
const EVENTS: usize = 256;

impl Watch {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: a system call without pointers.
        let file = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if file < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the file was just opened and belongs to nobody else.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        Ok(Self { file, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS] })
    }

    /// Enters a socket with a number; it leaves when it is closed.
    pub(crate) fn enter(&self, socket: &Socket, number: u64) -> Result<()> {
        let events = (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events, u64: number };
        // SAFETY: the event lives during the call.
        let done =
            unsafe { libc::epoll_ctl(self.file.as_raw_fd(), libc::EPOLL_CTL_ADD, socket.file(), &raw mut event) };
        if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// Waits until something is ready, but no longer than `most`; tells `each` of what is.
    pub(crate) fn wait(&mut self, most: Duration, ready: &mut Vec<Ready>) -> Result<()> {
        ready.clear();
        let count = match self.wait_finely(most) {
            Err(problem) if problem.raw_os_error() == Some(libc::ENOSYS) => self.wait_coarsely(most),
            count => count,
        };
        let count = match count {
            Err(problem) if problem.kind() == ErrorKind::Interrupted => 0,
            count => count?,
        };
        ready.extend(self.events[..count].iter().map(|event| {
            let has = |bits: i32| event.events & bits as u32 != 0;
            let over = has(libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP);
            let (readable, writable) = (has(libc::EPOLLIN) || over, has(libc::EPOLLOUT) || over);
            Ready { number: event.u64, readable, writable, over }
        }));
        Ok(())
    }

    /// To the nanosecond (Linux 5.11).
    fn wait_finely(&mut self, most: Duration) -> Result<usize> {
        let time = libc::timespec { tv_sec: most.as_secs() as libc::time_t, tv_nsec: most.subsec_nanos().into() };
        let (file, events) = (self.file.as_raw_fd(), self.events.as_mut_ptr());
        let none = std::ptr::null::<libc::sigset_t>();
        // SAFETY: room for as many events as are asked for, and a time that lives during the call.
        let count = unsafe {
            libc::syscall(libc::SYS_epoll_pwait2, file, events, EVENTS as i32, &raw const time, none, 8_usize)
        };
        usize::try_from(count).map_err(|_| Error::last_os_error())
    }

    fn wait_coarsely(&mut self, most: Duration) -> Result<usize> {
        let most = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: room for as many events as are asked for.
        let count = unsafe { libc::epoll_wait(self.file.as_raw_fd(), self.events.as_mut_ptr(), EVENTS as i32, most) };
        usize::try_from(count).map_err(|_| Error::last_os_error())
    }
}
