//! A connection of a user to a server, and the dialogue on it.

use std::io;

use plimsoll_workload::mail::Letter;

use super::imap::{self, Asked};
use super::smtp::{self, Fate, Submission, Turn};
use super::socket::{Flow, Socket};
use super::tls::Tls;

/// Bytes read at once, into room that all users of a thread share.
pub(crate) const ROOM: usize = 64 << 10;

/// Why a task failed: a number that stands for it among errors, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) sentence: String,
}

/// Numbers of failures that no errno has; what a mail server refuses with is the negative of its code.
pub(crate) mod code {
    /// The IMAP server refused a command.
    pub(crate) const NO: i32 = -1;
    /// The server hung up.
    pub(crate) const CLOSED: i32 = -2;
    /// What the server said is not its protocol.
    pub(crate) const GARBLED: i32 = -3;
    /// The server did not answer in time.
    pub(crate) const TIMEOUT: i32 = -4;
}

impl Failure {
    pub(crate) fn of(server: &str, problem: &io::Error) -> Self {
        match problem.kind() {
            io::ErrorKind::UnexpectedEof => {
                Self { code: code::CLOSED, sentence: format!("the {server} server hung up") }
            }
            _ => Self {
                code: problem.raw_os_error().unwrap_or(libc::EIO),
                sentence: format!("the connection to the {server} server failed ({problem})"),
            },
        }
    }

    fn garbled(server: &str) -> Self {
        Self { code: code::GARBLED, sentence: format!("what came from the {server} server is no {server}") }
    }
}

/// What happened to the exchange that is under way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It goes on.
    Waiting,
    /// The server has done what it was asked for.
    Finished,
}

/// Whoever looks at what comes.
pub(crate) trait Reader {
    fn found(&mut self, asked: &Asked, uids: Vec<u32>);
    fn received(&mut self, asked: &Asked, literal: &[u8]);
}

/// A connection to a mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox {
    socket: Socket,
    /// What TLS is begun with after the greeting.
    tls: Option<Tls>,
    /// What the names of folders begin with.
    prefix: String,
    replies: imap::Replies,
    tag: u32,
    asked: Option<Asked>,
    literal: Vec<u8>,
    greeted: bool,
}

impl Mailbox {
    /// A new one; with `tls`, that is begun after the greeting and before anything else is said.
    pub(crate) fn new(socket: Socket, tls: Option<Tls>, prefix: &str) -> Self {
        let (replies, prefix) = (imap::Replies::default(), prefix.to_owned());
        Self { socket, tls, prefix, replies, tag: 0, asked: None, literal: Vec::new(), greeted: false }
    }

    pub(crate) const fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(crate) fn ask(&mut self, asked: Asked, literal: Vec<u8>) -> Result<(), Failure> {
        self.tag += 1;
        let mut command = Vec::with_capacity(96);
        asked.write(self.tag, &self.prefix, &mut command);
        (self.asked, self.literal) = (Some(asked), literal);
        self.say(&command)
    }

    fn say(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.socket.say(bytes).map(|_: Flow| ()).map_err(|problem| Failure::of("IMAP", &problem))
    }

    /// Takes what has come, by way of `room`; `over` says that the other side has hung up, after what it said last.
    pub(crate) fn hear(&mut self, room: &mut [u8], over: bool, reader: &mut dyn Reader) -> Result<Progress, Failure> {
        let mut progress = Progress::Waiting;
        loop {
            let came = self.socket.hear(room).map_err(|problem| Failure::of("IMAP", &problem));
            if let Ok(Some(bytes)) = came {
                self.replies.take(&room[..bytes]);
                if self.understand(reader)? {
                    progress = Progress::Finished;
                }
            }
            match came {
                Ok(None) => return Ok(progress),
                // All that there was: whatever comes from now on is told anew (epoll(7)).
                Ok(Some(bytes)) if bytes < room.len() && !over && self.socket.is_plain() => return Ok(progress),
                Ok(Some(_)) => {}
                // A server that answers LOGOUT and hangs up has done what it was asked for.
                Err(_) if progress == Progress::Finished => return Ok(progress),
                Err(failure) => return Err(failure),
            }
        }
    }

    fn understand(&mut self, reader: &mut dyn Reader) -> Result<bool, Failure> {
        let mut finished = false;
        loop {
            let said = match self.replies.next() {
                Err(imap::NoImap) => return Err(Failure::garbled("IMAP")),
                Ok(None) => return Ok(finished),
                Ok(Some(said)) => said,
            };
            match (said, &self.asked) {
                (imap::Said::Greeting, None) if !self.greeted => {
                    (self.greeted, finished) = (true, self.tls.is_none());
                    if !finished {
                        self.ask(Asked::StartTls, Vec::new())?;
                    }
                }
                (imap::Said::Done(tag), Some(Asked::StartTls)) if tag == self.tag => {
                    // Who says more before TLS begins is not the server (CVE-2011-0411).
                    if !self.replies.is_empty() {
                        return Err(Failure::garbled("IMAP"));
                    }
                    if let Some(tls) = self.tls.take() {
                        self.socket.secure(&tls).map_err(|problem| Failure::of("IMAP", &problem))?;
                    }
                    (self.asked, finished) = (None, true);
                }
                (imap::Said::Done(tag), Some(_)) if tag == self.tag => {
                    self.asked = None;
                    finished = true;
                }
                (imap::Said::Refused(tag, why), Some(asked)) if tag == self.tag => {
                    let what = command(asked);
                    let why = String::from_utf8_lossy(why).into_owned();
                    self.asked = None;
                    return Err(Failure {
                        code: code::NO,
                        sentence: format!("the IMAP server refused {what} ({why})"),
                    });
                }
                (imap::Said::Found(uids), Some(asked)) => reader.found(asked, uids),
                (imap::Said::Message(_, literal), Some(asked)) => reader.received(asked, literal),
                (imap::Said::GoOn, Some(_)) => {
                    let mut literal = std::mem::take(&mut self.literal);
                    literal.extend_from_slice(b"\r\n");
                    self.say(&literal)?;
                }
                (imap::Said::Bye(why), None) => {
                    let why = String::from_utf8_lossy(why).into_owned();
                    return Err(Failure {
                        code: code::CLOSED,
                        sentence: format!("the IMAP server ended the connection ({why})"),
                    });
                }
                _ => {}
            }
        }
    }
}

/// The word of a command; never what follows it, which can be a password.
fn command(asked: &Asked) -> &'static str {
    match asked {
        Asked::Login { .. } => "LOGIN",
        Asked::StartTls => "STARTTLS",
        Asked::Select(_) => "SELECT",
        Asked::Noop => "NOOP",
        Asked::SearchAll(_) | Asked::SearchUnseen(_) | Asked::SearchSubject(_) => "SEARCH",
        Asked::List(_) | Asked::Headers(_) | Asked::Body(_) => "FETCH",
        Asked::MarkSeen(_) => "STORE",
        Asked::Move(..) => "MOVE",
        Asked::Append(..) => "APPEND",
        Asked::Logout => "LOGOUT",
    }
}

/// A connection that a letter is handed over on.
#[derive(Debug)]
pub(crate) struct Handover {
    socket: Socket,
    tls: Option<Tls>,
    replies: smtp::Replies,
    submission: Submission,
    /// The letter; `None` for the question for a name.
    pub(crate) letter: Option<Letter>,
}

impl Handover {
    /// A new one; `tls` is what TLS is begun with when the dialogue comes to it.
    pub(crate) fn new(socket: Socket, tls: Option<Tls>, submission: Submission, letter: Option<Letter>) -> Self {
        Self { socket, tls, replies: smtp::Replies::default(), submission, letter }
    }

    pub(crate) const fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// Whether the server may have the letter without having said so.
    pub(crate) const fn is_uncertain(&self) -> bool {
        self.submission.is_uncertain()
    }

    /// Takes what has come; what became of the letter, once that is known.
    pub(crate) fn hear(&mut self) -> Result<Option<Fate>, Failure> {
        let mut room = [0; 4096];
        loop {
            let came = self.socket.hear(&mut room).map_err(|problem| Failure::of("SMTP", &problem))?;
            let Some(came) = came else { return Ok(None) };
            self.replies.take(&room[..came]);
            while let Some(reply) = self.replies.next().map_err(|smtp::NoSmtp| Failure::garbled("SMTP"))? {
                match self.submission.hear(reply) {
                    Turn::Listen => {}
                    Turn::Say(bytes) => self.say(&bytes)?,
                    Turn::Secure(bytes) => {
                        if !self.replies.is_empty() {
                            return Err(Failure::garbled("SMTP"));
                        }
                        if let Some(tls) = self.tls.take() {
                            self.socket.secure(&tls).map_err(|problem| Failure::of("SMTP", &problem))?;
                        }
                        self.say(&bytes)?;
                    }
                    Turn::Over(bytes, fate) => {
                        // A goodbye that does not arrive changes nothing.
                        let _ = self.say(&bytes);
                        return Ok(Some(fate));
                    }
                }
            }
        }
    }

    fn say(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.socket.say(bytes).map(|_| ()).map_err(|problem| Failure::of("SMTP", &problem))
    }
}
