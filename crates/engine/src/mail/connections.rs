//! The connections of the users of a thread, and the exchange that is under way on each.
//!
//! Model: a user keeps one connection to the mailbox; a letter, or the question for a name, has a connection of its own, which ends with it.
//! The kernel's list says which connection is ready, and [`Connections::hear`] what came of its exchange; what follows from that is decided by
//! the loop ([`super::client`]).

use std::io;
use std::time::Duration;

use plimsoll_workload::mail::Letter;

use super::imap::Asked;
use super::link::{Failure, Handover, Mailbox, Progress, ROOM, Reader, code};
use super::person::{Exchange, Person};
use super::server::{MailServer, Security, Service};
use super::smtp::{Entry, Fate, Submission};
use super::socket::{Ready, Socket, Watch};
use super::tls::Tls;

/// The highest bit of a connection's number says that it is one for letters.
const LETTERS: u64 = 1 << 63;

/// The connections of a user. An event of a connection that is closed by now only makes its successor be looked at, which harms nothing.
#[derive(Debug, Default)]
struct Links {
    mailbox: Option<Mailbox>,
    handover: Option<Handover>,
    /// Since when an answer is waited for.
    asked_ns: u64,
}

/// For whom something is read.
struct Ear<'a>(&'a mut Person);

impl Reader for Ear<'_> {
    fn found(&mut self, asked: &Asked, uids: Vec<u32>) {
        self.0.found(asked, uids);
    }

    fn received(&mut self, asked: &Asked, literal: &[u8]) {
        self.0.received(asked, literal);
    }
}

/// What came of the exchange on a connection that was ready.
#[derive(Debug)]
pub(crate) enum Heard {
    /// It goes on, or nobody waits for it.
    Nothing,
    /// The server has done what it was asked for.
    Answered,
    /// It is known what became of a letter; `None` stands for a name that was asked for.
    Settled(Fate, Option<Letter>),
    /// It failed; the letter is one that the server may have without having said so.
    Failed(Failure, Option<Letter>),
}

/// The place of the user whose connection is ready.
pub(crate) const fn place_of(event: Ready) -> usize {
    (event.number & !LETTERS) as usize
}

/// See the module.
pub(crate) struct Connections<'a> {
    server: &'a MailServer,
    imap_tls: Option<&'a Tls>,
    submission_tls: Option<&'a Tls>,
    watch: Watch,
    links: Vec<Links>,
    /// What comes from servers goes through here.
    room: Box<[u8]>,
}

impl<'a> Connections<'a> {
    /// Those of so many users, none of them open.
    pub(crate) fn new(
        server: &'a MailServer,
        imap_tls: Option<&'a Tls>,
        submission_tls: Option<&'a Tls>,
        users: u32,
    ) -> io::Result<Self> {
        let links = (0..users).map(|_| Links::default()).collect();
        let room = vec![0; ROOM].into_boxed_slice();
        Ok(Self { server, imap_tls, submission_tls, watch: Watch::new()?, links, room })
    }

    /// Begins an exchange of the user at a place.
    pub(crate) fn begin(
        &mut self,
        place: usize,
        person: &mut Person,
        exchange: Exchange,
        now_ns: u64,
    ) -> Result<(), Failure> {
        self.links[place].asked_ns = now_ns;
        let server = self.server;
        match exchange {
            Exchange::Connect => {
                person.lost();
                self.links[place].mailbox = None;
                let tls = self.imap_tls;
                let socket =
                    self.connect(place, &server.imap, tls, 0).map_err(|problem| Failure::of("IMAP", &problem))?;
                let later = tls.filter(|_| server.imap.security == Security::Starttls).cloned();
                self.links[place].mailbox = Some(Mailbox::new(socket, later, &server.prefix));
                Ok(())
            }
            Exchange::Ask(asked, literal) => match &mut self.links[place].mailbox {
                Some(mailbox) => mailbox.ask(asked, literal),
                None => Err(Failure::of("IMAP", &io::ErrorKind::UnexpectedEof.into())),
            },
            Exchange::Submit(letter, bytes) => {
                let address = |user: u32| server.accounts[user as usize].address.clone();
                let to = letter.to.iter().map(|user| address(*user)).collect();
                let submission = Submission::new(server.language(), address(letter.from), to, Some(bytes));
                self.hand_over(place, person.user, submission, Some(letter))
            }
            Exchange::Resolve(number) => {
                let users = server.accounts.len() as u32;
                let address = |user: u32| server.accounts[(user % users) as usize].address.clone();
                let to = vec![address(number)];
                let submission = Submission::new(server.language(), address(person.user), to, None);
                self.hand_over(place, person.user, submission, None)
            }
        }
    }

    /// Begins to hand a letter over, or to ask for a name.
    fn hand_over(
        &mut self,
        place: usize,
        user: u32,
        submission: Submission,
        letter: Option<Letter>,
    ) -> Result<(), Failure> {
        let (server, tls) = (self.server, self.submission_tls);
        let account = &server.accounts[user as usize];
        let starttls = server.submission.security == Security::Starttls;
        let login = server.login.then(|| (account.name.clone(), account.password.clone()));
        let socket = self.connect(place, &server.submission, tls, LETTERS);
        let socket = socket.map_err(|problem| Failure::of("SMTP", &problem))?;
        let submission = submission.entered(Entry { starttls, login });
        self.links[place].handover = Some(Handover::new(socket, tls.filter(|_| starttls).cloned(), submission, letter));
        Ok(())
    }

    fn connect(&self, place: usize, service: &Service, tls: Option<&Tls>, letters: u64) -> io::Result<Socket> {
        let mut socket = Socket::connect(&service.place)?;
        self.watch.enter(&socket, letters | place as u64)?;
        if let (Security::Tls, Some(tls)) = (service.security, tls) {
            socket.secure(tls)?;
        }
        Ok(socket)
    }

    /// Waits for connections that are ready.
    pub(crate) fn wait(&mut self, wait_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.watch.wait(Duration::from_nanos(wait_ns), ready)
    }

    /// Carries the dialogue on that is ready, `person` being the user at its place.
    pub(crate) fn hear(&mut self, event: Ready, person: &mut Person) -> Heard {
        let place = place_of(event);
        if event.number & LETTERS == 0 { self.hear_mailbox(place, event, person) } else { self.hear_handover(place) }
    }

    fn hear_mailbox(&mut self, place: usize, event: Ready, person: &mut Person) -> Heard {
        let links = &mut self.links[place];
        let Some(mut mailbox) = links.mailbox.take() else { return Heard::Nothing };
        let mut heard = Ok(Progress::Waiting);
        if event.writable {
            heard =
                mailbox.socket().go_on().map(|_| Progress::Waiting).map_err(|problem| Failure::of("IMAP", &problem));
        }
        if event.readable && heard.is_ok() {
            heard = mailbox.hear(&mut self.room, event.over, &mut Ear(person));
        }
        let waits = person.doing.is_some() && links.handover.is_none();
        // Of a failure that somebody waits for, `close` says whether the connection stays.
        links.mailbox = Some(mailbox);
        match heard {
            Ok(progress) => {
                let finished = progress == Progress::Finished;
                person.logged_in |= finished && person.is_logging_in();
                if finished && waits { Heard::Answered } else { Heard::Nothing }
            }
            Err(failure) if waits => Heard::Failed(failure, None),
            // Between two tasks, or while a letter is under way: the next one logs in again.
            Err(_) => {
                links.mailbox = None;
                person.lost();
                Heard::Nothing
            }
        }
    }

    fn hear_handover(&mut self, place: usize) -> Heard {
        let Some(mut handover) = self.links[place].handover.take() else { return Heard::Nothing };
        let flow = handover.socket().go_on().map_err(|problem| Failure::of("SMTP", &problem));
        match flow.and_then(|_| handover.hear()) {
            Ok(None) => {
                self.links[place].handover = Some(handover);
                Heard::Nothing
            }
            Ok(Some(fate)) => Heard::Settled(fate, handover.letter),
            Err(failure) => {
                let uncertain = if handover.is_uncertain() { handover.letter } else { None };
                Heard::Failed(failure, uncertain)
            }
        }
    }

    /// Since when the user at a place waits for an answer.
    pub(crate) fn asked_ns(&self, place: usize) -> u64 {
        self.links[place].asked_ns
    }

    /// The letter of the user at a place that the server may have without having said so.
    pub(crate) fn uncertain(&self, place: usize) -> Option<Letter> {
        self.links[place].handover.as_ref().filter(|handover| handover.is_uncertain())?.letter.clone()
    }

    /// Closes what a failure leaves useless; whether the user is logged out by that. A server that only refused stays connected.
    pub(crate) fn close(&mut self, place: usize, failure: &Failure) -> bool {
        self.links[place].handover = None;
        let refused = failure.code == code::NO || failure.code < -100;
        if !refused {
            self.links[place].mailbox = None;
        }
        !refused
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use plimsoll_workload::mail::{Due, MailTask};

    use super::super::server::{Account, Place};
    use super::*;

    /// A server of one connection that greets and gives these answers to commands.
    fn server_that_answers(answers: &'static [&'static str]) -> MailServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::Tcp(listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"* OK ready\r\n").unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for (line, answer) in lines.map_while(Result::ok).zip(answers) {
                let tag = line.split(' ').next().unwrap();
                write!(stream, "{tag} {answer}\r\n").unwrap();
            }
        });
        let service = Service { place, security: Security::None, host: "localhost".to_owned() };
        let (name, password) = ("u0".to_owned(), String::new());
        MailServer {
            imap: service.clone(),
            submission: service,
            lmtp: true,
            login: false,
            ca: None,
            prefix: String::new(),
            accounts: vec![Account { name, password, address: "u0@plimsoll.invalid".to_owned(), first_uid: 1 }],
            timeout_s: 10.0,
        }
    }

    fn next(connections: &mut Connections<'_>, person: &mut Person) -> Heard {
        let mut ready = Vec::new();
        for _ in 0..100 {
            connections.wait(100_000_000, &mut ready).unwrap();
            for event in ready.drain(..) {
                match connections.hear(event, person) {
                    Heard::Nothing => {}
                    heard => return heard,
                }
            }
        }
        panic!("nothing came within ten seconds");
    }

    #[test]
    fn a_command_that_the_server_refuses_leaves_its_connection_open() {
        let server = server_that_answers(&["NO [UNAVAILABLE] try later", "OK done"]);
        let mut connections = Connections::new(&server, None, None, 1).unwrap();
        let mut person = Person::new(0, 0, 1, 1);
        person.begin(Due { due_ns: 0, user: 0, task: MailTask::CheckInbox, draw: 0 }, 0);
        let noop = || Exchange::Ask(Asked::Noop, Vec::new());

        connections.begin(0, &mut person, Exchange::Connect, 0).unwrap();
        assert!(matches!(next(&mut connections, &mut person), Heard::Answered));
        connections.begin(0, &mut person, noop(), 0).unwrap();
        let Heard::Failed(failure, None) = next(&mut connections, &mut person) else { panic!("it was refused") };
        assert_eq!(failure.code, code::NO);
        assert!(!connections.close(0, &failure));
        connections.begin(0, &mut person, noop(), 0).unwrap();
        assert!(matches!(next(&mut connections, &mut person), Heard::Answered));
    }

    #[test]
    fn a_connection_that_fails_is_closed() {
        let server = server_that_answers(&[]);
        let mut connections = Connections::new(&server, None, None, 1).unwrap();
        let mut person = Person::new(0, 0, 1, 1);
        person.begin(Due { due_ns: 0, user: 0, task: MailTask::CheckInbox, draw: 0 }, 0);

        connections.begin(0, &mut person, Exchange::Connect, 0).unwrap();
        assert!(matches!(next(&mut connections, &mut person), Heard::Answered));
        connections.begin(0, &mut person, Exchange::Ask(Asked::Noop, Vec::new()), 0).unwrap();
        let Heard::Failed(failure, None) = next(&mut connections, &mut person) else { panic!("the server hung up") };
        assert!(connections.close(0, &failure));
        assert!(connections.begin(0, &mut person, Exchange::Ask(Asked::Noop, Vec::new()), 0).is_err());
    }
}
