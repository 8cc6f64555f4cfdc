//! Numbers and layouts of the NBD protocol; all integers are sent with the most significant byte first.

use std::io;

use plimsoll_workload::Op;

pub(crate) const GREETING: &[u8; 16] = b"NBDMAGICIHAVEOPT";
pub(crate) const OPTION: &[u8; 8] = b"IHAVEOPT";
pub(crate) const FIXED_NEWSTYLE: u16 = 1;
pub(crate) const NO_ZEROES: u16 = 2;

/// What a client asks for before it transmits.
pub(crate) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
}

/// What an option is answered with.
pub(crate) mod reply {
    pub(crate) const MAGIC: u64 = 0x0003_e889_0455_65a9;
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const ERR_UNSUP: u32 = 1 << 31 | 1;
    pub(crate) const ERR_INVALID: u32 = 1 << 31 | 3;
    pub(crate) const INFO_EXPORT: u16 = 0;
    pub(crate) const INFO_BLOCK_SIZE: u16 = 3;
}

/// What a server can do.
pub(crate) mod can {
    /// Flags are meant, flush, FUA, trim, zeros, several connections.
    pub(crate) const ALWAYS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;
    pub(crate) const ROTATIONAL: u16 = 1 << 4;
    /// Reads answered in one piece when asked for, which goes with structured replies alone.
    pub(crate) const ONE_PIECE: u16 = 1 << 7;
}

const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;
const STRUCTURED_REPLY: u32 = 0x668e_33ef;
const LAST: u16 = 1;
const NOTHING: u16 = 0;
const OFFSET_DATA: u16 = 1;
const ERROR: u16 = 1 << 15 | 1;

const FUA: u16 = 1;
/// Room that zeros would free stays the array's.
const NO_HOLE: u16 = 2;
/// Flags that there are for a command beside FUA.
const ONE_PIECE: u16 = 4;

/// The longest request, as the protocol recommends.
pub(crate) const REQUEST_BYTES: u32 = 32 << 20;
/// Bytes of a request's head.
pub(crate) const HEAD_BYTES: usize = 28;

/// What a request wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Do(Op),
    Zeros {
        frees: bool,
    },
    Disconnect,
    /// One that this server has not offered, or with flags that it has not.
    Unknown,
}

/// A request without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) command: Command,
    /// Answered only when it, and what was written before, is durable.
    pub(crate) durable: bool,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// Whether data follow.
    pub(crate) carries: bool,
}

/// The request in a head; `None` if it is none.
pub(crate) fn request(head: &[u8; HEAD_BYTES]) -> Option<Request> {
    let (magic, rest) = take_u32(head)?;
    let (flags, rest) = take_u16(rest)?;
    let (kind, rest) = take_u16(rest)?;
    let (cookie, rest) = take_u64(rest)?;
    let (offset, rest) = take_u64(rest)?;
    let (len, _) = take_u32(rest)?;
    if magic != REQUEST {
        return None;
    }
    let (command, known) = match kind {
        0 => (Command::Do(Op::Read), FUA | ONE_PIECE),
        1 => (Command::Do(Op::Write), FUA),
        2 => (Command::Disconnect, u16::MAX),
        3 => (Command::Do(Op::Flush), FUA),
        4 => (Command::Do(Op::Trim), FUA),
        6 => (Command::Zeros { frees: flags & NO_HOLE == 0 }, FUA | NO_HOLE),
        _ => (Command::Unknown, u16::MAX),
    };
    let command = if flags & !known == 0 { command } else { Command::Unknown };
    let changes = matches!(command, Command::Do(Op::Write | Op::Trim) | Command::Zeros { .. });
    Some(Request { command, durable: changes && flags & FUA != 0, cookie, offset, len, carries: kind == 1 })
}

/// Room before the data of a read for what announces them.
pub(crate) const fn room(structured: bool) -> usize {
    if structured { 28 } else { 16 }
}

/// Puts what announces the data of a read into the room before them.
pub(crate) fn announce(bytes: &mut [u8], structured: bool, request: &Request) {
    let mut head = Vec::with_capacity(room(true));
    if structured {
        head.extend(STRUCTURED_REPLY.to_be_bytes());
        head.extend(LAST.to_be_bytes());
        head.extend(OFFSET_DATA.to_be_bytes());
        head.extend(request.cookie.to_be_bytes());
        head.extend((request.len + 8).to_be_bytes());
        head.extend(request.offset.to_be_bytes());
    } else {
        head.extend(simple(request.cookie, 0));
    }
    bytes[..head.len()].copy_from_slice(&head);
}

/// The answer to a request that has no data to send.
pub(crate) fn answer(structured: bool, request: &Request, error: Option<&io::Error>) -> Vec<u8> {
    let error = error.map_or(0, |error| number_of(request, error));
    // Reads have to be answered in the new form once it was agreed on; the others may be in either.
    if !structured || request.command != Command::Do(Op::Read) {
        return simple(request.cookie, error);
    }
    let (kind, len) = if error == 0 { (NOTHING, 0_u32) } else { (ERROR, 6) };
    let mut bytes = Vec::with_capacity(26);
    bytes.extend(STRUCTURED_REPLY.to_be_bytes());
    bytes.extend(LAST.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(request.cookie.to_be_bytes());
    bytes.extend(len.to_be_bytes());
    if error == 0 {
        return bytes;
    }
    bytes.extend(error.to_be_bytes());
    bytes.extend(0_u16.to_be_bytes());
    bytes
}

fn simple(cookie: u64, error: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    bytes.extend(SIMPLE_REPLY.to_be_bytes());
    bytes.extend(error.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes
}

/// The protocol's number of an error: few are allowed.
fn number_of(request: &Request, error: &io::Error) -> u32 {
    let writes = matches!(request.command, Command::Do(Op::Write) | Command::Zeros { .. });
    match error.raw_os_error() {
        // Beyond the end there is no space to write to.
        Some(libc::EINVAL) if writes && request.len <= REQUEST_BYTES => 28,
        Some(libc::EINVAL) => 22,
        Some(libc::ENOSPC) => 28,
        Some(libc::ENOMEM) => 12,
        _ => 5,
    }
}

pub(crate) fn take_u16(bytes: &[u8]) -> Option<(u16, &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (u16::from_be_bytes(*number), rest))
}

pub(crate) fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (u32::from_be_bytes(*number), rest))
}

fn take_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (u64::from_be_bytes(*number), rest))
}
