//! One user: what they know of their mailbox, what is due, and the exchanges with the server that the task at hand takes.
//!
//! Model: a task is a few exchanges in order; which one comes next depends on what the server said. A user does one task at a time; what
//! becomes due meanwhile waits in their queue, and its latency counts from when it was due. A user who is not logged in, because the
//! connection was lost, logs in first, and that time belongs to the task.
//!
//! Limits: a user has one connection; nobody else changes the mailbox but who delivers to it.

use std::collections::VecDeque;

use plimsoll_workload::mail::{Due, Letter, Letters, MailTask};
use plimsoll_workload::rng::drawn;

use super::imap::{Asked, Folder};

/// New messages that are listed at once.
const LISTED_MAX: usize = 20;

/// What is exchanged with a server.
#[derive(Debug)]
pub(crate) enum Exchange {
    /// Hang up, connect, and wait for the greeting.
    Connect,
    /// A command; an APPEND with the bytes that follow.
    Ask(Asked, Vec<u8>),
    /// A letter goes to the server.
    Submit(Letter, Vec<u8>),
    /// Whether the server knows a user.
    Resolve(u32),
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next {
    Exchange(Exchange),
    /// The task is done.
    Done,
    /// There is no message that it could be done to.
    Nothing,
}

/// The task at hand.
#[derive(Debug)]
pub(crate) struct Doing {
    pub(crate) due: Due,
    pub(crate) begun_ns: u64,
    /// Exchanges of coming in that are behind it; `None` when the user is in.
    entry: Option<u8>,
    step: u8,
    uid: Option<u32>,
    /// Whom an answer to the message goes to.
    answered: Vec<u32>,
    letter: Option<Vec<u8>>,
    looked: bool,
    /// Bytes of messages read and sent.
    pub(crate) bytes: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) user: u32,
    pub(crate) folders: u32,
    /// Users of the run.
    everybody: u32,
    /// The first message of the inbox that is ours.
    first_uid: u32,
    pub(crate) logged_in: bool,
    pub(crate) queue: VecDeque<Due>,
    pub(crate) doing: Option<Doing>,
    uids: Vec<u32>,
    unseen: Vec<u32>,
}

/// What a user's letters are made with.
pub(crate) struct Desk<'a> {
    pub(crate) letters: &'a Letters<'a>,
    /// The text of Date headers.
    pub(crate) date: &'a str,
    /// Number of the next letter.
    pub(crate) number: u64,
    pub(crate) accounts: &'a dyn Fn(u32) -> (String, String),
}

impl Person {
    pub(crate) fn new(user: u32, folders: u32, everybody: u32, first_uid: u32) -> Self {
        Self {
            user,
            folders,
            everybody,
            first_uid,
            logged_in: false,
            queue: VecDeque::new(),
            doing: None,
            uids: Vec::new(),
            unseen: Vec::new(),
        }
    }

    /// Begins a task.
    pub(crate) fn begin(&mut self, due: Due, now_ns: u64) {
        let entry = (!self.logged_in).then_some(0);
        // Who comes in anyway has logged in by that.
        let step = if due.task == MailTask::Login && entry.is_some() { 2 } else { 0 };
        let answered = Vec::new();
        self.doing = Some(Doing {
            due,
            begun_ns: now_ns,
            entry,
            step,
            uid: None,
            answered,
            letter: None,
            looked: false,
            bytes: 0,
        });
    }

    /// The exchange that the task at hand needs next.
    pub(crate) fn next(&mut self, desk: &mut Desk<'_>) -> Next {
        let Some(mut doing) = self.doing.take() else { return Next::Done };
        let next = match doing.entry {
            Some(step) if step < 4 => {
                doing.entry = Some(step + 1);
                Next::Exchange(self.come_in(step, desk))
            }
            _ => {
                doing.entry = None;
                self.go_on(&mut doing, desk)
            }
        };
        self.doing = Some(doing);
        next
    }

    fn come_in(&self, step: u8, desk: &Desk<'_>) -> Exchange {
        match step {
            0 => Exchange::Connect,
            1 => {
                let (user, password) = (desk.accounts)(self.user);
                ask(Asked::Login { user, password })
            }
            2 => ask(Asked::Select(Folder::Inbox)),
            _ => ask(Asked::SearchAll(self.first_uid)),
        }
    }

    fn go_on(&mut self, doing: &mut Doing, desk: &mut Desk<'_>) -> Next {
        let task = doing.due.task;
        if task.needs_message() && doing.uid.is_none() {
            doing.uid = self.choose(task, doing.due.draw);
            if doing.uid.is_none() && !doing.looked {
                doing.looked = true;
                return Next::Exchange(ask(Asked::SearchAll(self.first_uid)));
            }
        }
        let step = doing.step;
        doing.step += 1;
        let uid = match (task.needs_message(), doing.uid) {
            (true, None) => return Next::Nothing,
            (_, uid) => uid.unwrap_or_default(),
        };
        let exchange = match (task, step) {
            (MailTask::Login, 0) if self.logged_in => ask(Asked::Logout),
            (MailTask::Login, 1) => {
                doing.entry = Some(1);
                Exchange::Connect
            }
            (MailTask::CheckInbox, 0) => ask(Asked::Noop),
            (MailTask::CheckInbox, 1) => ask(Asked::SearchUnseen(self.first_uid)),
            (MailTask::CheckInbox, 2) if !self.unseen.is_empty() => {
                let first = self.unseen.len().saturating_sub(LISTED_MAX);
                ask(Asked::List(self.unseen[first..].to_vec()))
            }
            (MailTask::Read | MailTask::Reply | MailTask::ReplyAll | MailTask::Forward, 0) => ask(Asked::Headers(uid)),
            (MailTask::Read | MailTask::Forward, 1) => ask(Asked::Body(uid)),
            (MailTask::Read, 2) => ask(Asked::MarkSeen(uid)),
            (MailTask::Send, 0) | (MailTask::Reply | MailTask::ReplyAll, 1) | (MailTask::Forward, 2) => {
                self.submit(doing, desk)
            }
            (MailTask::Send, 1) | (MailTask::Reply | MailTask::ReplyAll, 2) | (MailTask::Forward, 3) => {
                append(Folder::Sent, doing.letter.take().unwrap_or_default())
            }
            (MailTask::Move, 0) => {
                let folder = drawn(doing.due.draw, 1) % u64::from(self.folders.max(1));
                self.leave(uid, Folder::Own(folder as u32))
            }
            (MailTask::Delete, 0) => self.leave(uid, Folder::Trash),
            (MailTask::Search, 0) => ask(Asked::SearchSubject(Letters::sought(doing.due.draw))),
            (MailTask::Calendar, 0) => append(Folder::Calendar, self.appointment(doing, desk)),
            (MailTask::Resolve, 0) => Exchange::Resolve((drawn(doing.due.draw, 2) >> 33) as u32),
            _ => return Next::Done,
        };
        Next::Exchange(exchange)
    }

    /// The message that a task is done to: a new one to read, else any that is in the inbox.
    fn choose(&mut self, task: MailTask, draw: u64) -> Option<u32> {
        if task == MailTask::Read
            && let Some(uid) = self.unseen.pop()
        {
            return Some(uid);
        }
        let place = (u128::from(drawn(draw, 0)) * self.uids.len() as u128) >> 64;
        self.uids.get(place as usize).copied()
    }

    /// A message leaves the inbox.
    fn leave(&mut self, uid: u32, folder: Folder) -> Exchange {
        self.uids.retain(|other| *other != uid);
        self.unseen.retain(|other| *other != uid);
        ask(Asked::Move(uid, folder))
    }

    fn submit(&self, doing: &mut Doing, desk: &mut Desk<'_>) -> Exchange {
        let number = desk.number;
        desk.number += 1;
        let letter = desk.letters.compose(number, self.user, doing.due.task, &doing.answered);
        let mut bytes = Vec::with_capacity(letter.bytes as usize + 128);
        desk.letters.write(&letter, desk.date, &mut bytes);
        doing.bytes += bytes.len() as u64;
        doing.letter = Some(bytes.clone());
        Exchange::Submit(letter, bytes)
    }

    fn appointment(&self, doing: &Doing, desk: &Desk<'_>) -> Vec<u8> {
        let number = doing.due.draw;
        format!(
            "From: u{}@plimsoll.invalid\r\nDate: {}\r\nSubject: appointment {number:016x}\r\nMIME-Version: 1.0\r\n\
             Content-Type: text/calendar; method=PUBLISH\r\n\r\nBEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:plimsoll\r\nBEGIN:VEVENT\r\n\
             UID:{number:016x}@plimsoll.invalid\r\nDTSTAMP:20260101T080000Z\r\nDTSTART:20260102T090000Z\r\nDURATION:PT30M\r\n\
             SUMMARY:{}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            self.user,
            desk.date,
            Letters::sought(number)
        )
        .into_bytes()
    }

    /// The user is in: the messages of the inbox are known.
    pub(crate) fn found(&mut self, asked: &Asked, mut uids: Vec<u32>) {
        // A range to the last message has that one in it, whatever its number.
        uids.retain(|uid| *uid >= self.first_uid);
        match asked {
            Asked::SearchAll(_) => self.uids = uids,
            Asked::SearchUnseen(_) => {
                let known = self.uids.last().copied().unwrap_or(0);
                self.uids.extend(uids.iter().filter(|uid| **uid > known));
                self.unseen = uids;
            }
            _ => {}
        }
    }

    /// A message came, whole or its headers.
    pub(crate) fn received(&mut self, asked: &Asked, literal: &[u8]) {
        let Some(doing) = &mut self.doing else { return };
        doing.bytes += literal.len() as u64;
        if matches!(asked, Asked::Headers(_)) {
            doing.answered = addressed(literal, self.user, self.everybody);
        }
    }

    /// Whether a message may be under way from one folder to another.
    pub(crate) fn is_moving(&self) -> bool {
        let moves = |doing: &Doing| matches!(doing.due.task, MailTask::Move | MailTask::Delete) && doing.step == 1;
        self.doing.as_ref().is_some_and(|doing| moves(doing) && doing.entry.is_none() && doing.uid.is_some())
    }

    /// Whether the exchange that is under way is the LOGIN.
    pub(crate) fn is_logging_in(&self) -> bool {
        self.doing.as_ref().is_some_and(|doing| doing.entry == Some(2))
    }

    /// The connection is gone.
    pub(crate) fn lost(&mut self) {
        self.logged_in = false;
        self.uids.clear();
        self.unseen.clear();
    }
}

fn ask(asked: Asked) -> Exchange {
    Exchange::Ask(asked, Vec::new())
}

fn append(folder: Folder, bytes: Vec<u8>) -> Exchange {
    Exchange::Ask(Asked::Append(folder, bytes.len()), bytes)
}

/// Whom an answer goes to: the sender, then the other recipients; the user who answers is none of them, nor is anybody beyond `everybody`,
/// who wrote when there were more users.
fn addressed(headers: &[u8], user: u32, everybody: u32) -> Vec<u32> {
    let text = String::from_utf8_lossy(headers);
    let (mut from, mut to, mut field) = (Vec::new(), Vec::new(), "");
    for line in text.lines() {
        if !line.starts_with([' ', '\t']) {
            field = line.split(':').next().unwrap_or_default();
        }
        let numbers = line
            .split([' ', ',', '<', '>'])
            .filter_map(|word| word.strip_prefix('u')?.split_once('@')?.0.parse::<u32>().ok());
        match field {
            "From" => from.extend(numbers),
            "To" => to.extend(numbers),
            _ => {}
        }
    }
    let mut all: Vec<u32> = Vec::new();
    for number in from.into_iter().chain(to) {
        if number != user && number < everybody && !all.contains(&number) {
            all.push(number);
        }
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_the_inbox_before_is_never_touched() {
        let mut person = Person::new(0, 0, 2, 50);
        // A server answers a search of 50:* with the last message where there is none so far (RFC 3501, 6.4.8).
        person.found(&Asked::SearchAll(50), vec![49]);
        assert_eq!(person.choose(MailTask::Delete, 7), None);
        person.found(&Asked::SearchUnseen(50), vec![12, 49, 50]);
        assert_eq!(person.choose(MailTask::Read, 7), Some(50));
        assert_eq!(person.choose(MailTask::Delete, 7), Some(50));
    }

    #[test]
    fn nobody_answers_a_user_who_is_gone() {
        assert_eq!(addressed(b"From: u7@d\r\nTo: u3@d, u9@d\r\n", 3, 9), [7]);
        assert_eq!(addressed(b"From: u37@d\r\nTo: u3@d\r\n", 3, 30), [0; 0]);
    }

    #[test]
    fn an_answer_goes_to_the_sender_first_and_never_to_oneself() {
        let headers = b"From: u7@plimsoll.invalid\r\nTo: u3@plimsoll.invalid,\r\n u9@plimsoll.invalid,\r\n u7@x\r\nSubject: u5@x\r\n\r\n";
        assert_eq!(addressed(headers, 3, 10), [7, 9]);
        assert_eq!(addressed(b"From: somebody@else\r\n", 3, 10), [0; 0]);
    }
}
