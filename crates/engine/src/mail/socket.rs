//! Connections that never make their thread wait, and the kernel's list of those that are ready.
//!
//! Limits: TCP without TLS; a name is resolved before the run, so that no task waits for a resolver.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

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
    stream: TcpStream,
    unsaid: Vec<u8>,
    said: usize,
    connecting: bool,
}

impl Socket {
    /// Begins to connect.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: a system call without pointers.
        let file = unsafe { libc::socket(family, kind, 0) };
        if file < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the file was just opened and belongs to nobody else.
        let stream = TcpStream::from(unsafe { OwnedFd::from_raw_fd(file) });
        stream.set_nodelay(true)?;
        let connected = match address {
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
        };
        match connected {
            Err(problem) if problem.raw_os_error() != Some(libc::EINPROGRESS) => Err(problem),
            connected => Ok(Self { stream, unsaid: Vec::new(), said: 0, connecting: connected.is_err() }),
        }
    }

    pub(crate) fn file(&self) -> RawFd {
        self.stream.as_raw_fd()
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
            match self.stream.peer_addr() {
                Ok(_) => self.connecting = false,
                Err(problem) if problem.kind() == ErrorKind::NotConnected => return Ok(Flow::Stuck),
                Err(problem) => return Err(problem),
            }
        }
        while self.said < self.unsaid.len() {
            match self.stream.write(&self.unsaid[self.said..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => self.said += bytes,
                Err(problem) if problem.kind() == ErrorKind::WouldBlock => return Ok(Flow::Stuck),
                Err(problem) if problem.kind() == ErrorKind::Interrupted => {}
                Err(problem) => return Err(problem),
            }
        }
        self.unsaid.clear();
        self.said = 0;
        Ok(Flow::Clear)
    }

    /// Reads what has come; `None` when nothing has.
    ///
    /// # Errors
    /// `UnexpectedEof` when the other side has hung up.
    pub(crate) fn hear(&mut self, room: &mut [u8]) -> Result<Option<usize>> {
        loop {
            return match self.stream.read(room) {
                Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => Ok(Some(bytes)),
                Err(problem) if problem.kind() == ErrorKind::WouldBlock => Ok(None),
                Err(problem) if problem.kind() == ErrorKind::Interrupted => continue,
                Err(problem) => Err(problem),
            };
        }
    }
}

fn connect<T>(file: RawFd, name: &T) -> Result<()> {
    // SAFETY: the name lives during the call and is as long as told.
    let done = unsafe { libc::connect(file, std::ptr::from_ref(name).cast(), size_of::<T>() as libc::socklen_t) };
    if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// What is ready: the number a socket was entered with, whether it can be read, whether it can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) number: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
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
            Ready { number: event.u64, readable: has(libc::EPOLLIN) || over, writable: has(libc::EPOLLOUT) || over }
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
