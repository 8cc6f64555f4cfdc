//! What client and server agree on before the first request: fixed newstyle negotiation.
//!
//! Model: options are answered one after the other until one of them begins the transmission. There is one export, which
//! answers to every name. TLS, metadata contexts and extended headers are refused as unsupported, which every client of
//! them takes.
//!
//! Limits: all of it within [`PATIENCE`], so that a client that stays silent does not hold a place; options of
//! [`OPTION_BYTES`] at most, and [`OPTIONS`] of them.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::wire::{self, REQUEST_BYTES, can, option, reply, take_u16, take_u32};

const PATIENCE: Duration = Duration::from_secs(10);
/// A name has 4096 bytes at most.
const OPTION_BYTES: u32 = 8192;
const OPTIONS: u32 = 64;
/// What most clients like to transfer.
const PREFERRED_BYTES: u32 = 4096;

/// What is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Export {
    pub(crate) size_bytes: u64,
    pub(crate) is_rotational: bool,
}

impl Export {
    fn flags(self, structured: bool) -> u16 {
        let rotational = if self.is_rotational { can::ROTATIONAL } else { 0 };
        can::ALWAYS | rotational | if structured { can::ONE_PIECE } else { 0 }
    }
}

/// How reads are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) structured: bool,
}

/// Talks until the client wants to transmit; `None` when it has left, or sent what is no negotiation.
/// `agrees` is called before the answer that ends the talk: a client that has it is one that transmits.
pub(crate) fn negotiate(stream: &UnixStream, export: Export, agrees: &dyn Fn()) -> io::Result<Option<Agreed>> {
    let until = Instant::now() + PATIENCE;
    let mut talk = Talk { stream, export, agrees, structured: false, no_zeroes: false, until };
    let agreed = talk.carry_out()?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    Ok(agreed)
}

struct Talk<'a> {
    stream: &'a UnixStream,
    export: Export,
    agrees: &'a dyn Fn(),
    structured: bool,
    no_zeroes: bool,
    until: Instant,
}

/// What comes after an option.
enum Next {
    Option,
    Transmission,
    End,
}

impl Talk<'_> {
    fn carry_out(&mut self) -> io::Result<Option<Agreed>> {
        let offered = wire::FIXED_NEWSTYLE | wire::NO_ZEROES;
        self.send(&[&wire::GREETING[..], &offered.to_be_bytes()].concat())?;
        let mut flags = [0; 4];
        self.receive(&mut flags)?;
        let flags = u32::from_be_bytes(flags);
        if flags & !u32::from(offered) != 0 {
            return Ok(None);
        }
        self.no_zeroes = flags & u32::from(wire::NO_ZEROES) != 0;
        for _ in 0..OPTIONS {
            let mut head = [0; 16];
            self.receive(&mut head)?;
            let Some((kind, rest)) = head.strip_prefix(wire::OPTION).and_then(take_u32) else { return Ok(None) };
            let Some((len, _)) = take_u32(rest) else { return Ok(None) };
            if len > OPTION_BYTES {
                return Ok(None);
            }
            let mut data = vec![0; len as usize];
            self.receive(&mut data)?;
            match self.option(kind, &data)? {
                Next::Option => {}
                Next::Transmission => return Ok(Some(Agreed { structured: self.structured })),
                Next::End => return Ok(None),
            }
        }
        Ok(None)
    }

    fn option(&mut self, kind: u32, data: &[u8]) -> io::Result<Next> {
        match kind {
            option::EXPORT_NAME => {
                let mut bytes = self.export.size_bytes.to_be_bytes().to_vec();
                bytes.extend(self.export.flags(self.structured).to_be_bytes());
                bytes.resize(bytes.len() + if self.no_zeroes { 0 } else { 124 }, 0);
                (self.agrees)();
                self.send(&bytes)?;
                return Ok(Next::Transmission);
            }
            option::ABORT => {
                // It may have hung up already.
                let _ = self.reply(kind, reply::ACK, &[]);
                return Ok(Next::End);
            }
            option::LIST if data.is_empty() => {
                self.reply(kind, reply::SERVER, &0_u32.to_be_bytes())?;
                self.reply(kind, reply::ACK, &[])?;
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                self.reply(kind, reply::ACK, &[])?;
            }
            option::LIST | option::STRUCTURED_REPLY => self.reply(kind, reply::ERR_INVALID, &[])?,
            option::INFO | option::GO => {
                let Some(wanted) = wanted_facts(data) else {
                    self.reply(kind, reply::ERR_INVALID, &[])?;
                    return Ok(Next::Option);
                };
                self.inform(kind, &wanted)?;
                if kind == option::GO {
                    (self.agrees)();
                }
                self.reply(kind, reply::ACK, &[])?;
                if kind == option::GO {
                    return Ok(Next::Transmission);
                }
            }
            _ => self.reply(kind, reply::ERR_UNSUP, &[])?,
        }
        Ok(Next::Option)
    }

    fn inform(&mut self, kind: u32, wanted: &[u16]) -> io::Result<()> {
        let mut facts = reply::INFO_EXPORT.to_be_bytes().to_vec();
        facts.extend(self.export.size_bytes.to_be_bytes());
        facts.extend(self.export.flags(self.structured).to_be_bytes());
        self.reply(kind, reply::INFO, &facts)?;
        if wanted.contains(&reply::INFO_BLOCK_SIZE) {
            let mut facts = reply::INFO_BLOCK_SIZE.to_be_bytes().to_vec();
            [1, PREFERRED_BYTES, REQUEST_BYTES].iter().for_each(|bytes: &u32| facts.extend(bytes.to_be_bytes()));
            self.reply(kind, reply::INFO, &facts)?;
        }
        Ok(())
    }

    fn reply(&mut self, kind: u32, what: u32, data: &[u8]) -> io::Result<()> {
        let mut bytes = reply::MAGIC.to_be_bytes().to_vec();
        [kind, what, data.len() as u32].iter().for_each(|number| bytes.extend(number.to_be_bytes()));
        bytes.extend(data);
        self.send(&bytes)
    }

    /// How long there is still to wait.
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }

    fn receive(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            self.stream.set_read_timeout(self.left()?)?;
            match self.stream.read(&mut bytes[done..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write_all(bytes)
    }
}

/// What a client wants to know of an export; `None` if its question is malformed.
fn wanted_facts(data: &[u8]) -> Option<Vec<u16>> {
    let (len, rest) = take_u32(data)?;
    let rest = rest.get(len as usize..)?;
    let (count, mut rest) = take_u16(rest)?;
    let mut wanted = Vec::new();
    for _ in 0..count {
        let (fact, more) = take_u16(rest)?;
        wanted.push(fact);
        rest = more;
    }
    rest.is_empty().then_some(wanted)
}
