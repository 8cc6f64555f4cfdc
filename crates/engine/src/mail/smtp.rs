//! How a letter is handed to a server by SMTP (RFC 5321, 2920) or LMTP (RFC 2033): what the client says, and what it hears.
//!
//! Model: one connection for each letter, as mail programs do: greeting, EHLO (LHLO), sender, recipients and DATA in one go where the server
//! takes that, else one after the other; the letter; and its answer: one, or with LMTP one for each recipient that was taken.
//! The letter is the server's own from a good answer on. When the connection ends between the letter and its answer, nobody knows.

use base64::Engine;

use super::dots::stuffed;

/// Which of the two languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// To a submission server, which queues.
    Smtp,
    /// To the last server, which answers when the letter is in the mailbox.
    Lmtp,
}

/// A reply: its code, and the text of its last line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) text: String,
    /// Words at the beginning of its lines: what the server can do, in the answer to EHLO.
    words: Vec<String>,
}

/// Why what came in is no SMTP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoSmtp;

/// The longest reply.
const REPLY_MAX: usize = 1 << 16;

/// Bytes that came in, reply by reply.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    bytes: Vec<u8>,
    start: usize,
}

impl Replies {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether nothing is left of what came in.
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next whole reply, whose last line has a space after its code; `None` until more has come.
    pub(crate) fn next(&mut self) -> Result<Option<Reply>, NoSmtp> {
        let (mut at, mut words) = (self.start, Vec::new());
        if self.bytes.len() - self.start > REPLY_MAX {
            return Err(NoSmtp);
        }
        while let Some(end) = self.bytes[at..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.bytes[at..at + end]).trim_end().to_owned();
            at += end + 1;
            let code: u16 = line.get(..3).and_then(|code| code.parse().ok()).ok_or(NoSmtp)?;
            let text = line.get(4..).unwrap_or_default().to_owned();
            words.push(text.split(' ').next().unwrap_or_default().to_ascii_uppercase());
            if line.as_bytes().get(3) != Some(&b'-') {
                self.start = at;
                if self.start == self.bytes.len() {
                    self.bytes.clear();
                    self.start = 0;
                }
                return Ok(Some(Reply { code, text, words }));
            }
        }
        Ok(None)
    }
}

/// What is to be done with the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Say this and listen.
    Say(Vec<u8>),
    /// Listen.
    Listen,
    /// Begin TLS, then say this.
    Secure(Vec<u8>),
    /// It is over; say this before hanging up.
    Over(Vec<u8>, Fate),
}

/// What became of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The server has taken it for recipients with these places in the list.
    Taken(Vec<usize>),
    /// The server knows the name, if that was all that was asked.
    Known,
    /// The server refused: a code, and what it said.
    Refused(u16, String),
    /// It refused who sends: a code, and what it said.
    Denied(u16, String),
}

/// Where a submission is.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Greeting,
    Hello,
    /// Waits for leave to begin TLS.
    Secure,
    /// Waits for leave to send.
    Login,
    /// Waits for so many of the replies to sender, recipients and DATA.
    Envelope(usize),
    /// Waits for the answers to the letter.
    Letter(usize),
}

/// What comes before a letter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// TLS is begun after the greeting.
    pub(crate) starttls: bool,
    /// Name and password to log in with.
    pub(crate) login: Option<(String, String)>,
}

/// One letter, or the question for one name, on its way to the server.
#[derive(Debug)]
pub(crate) struct Submission {
    language: Language,
    from: String,
    to: Vec<String>,
    /// Header and body; `None` only asks whether the recipients are known.
    letter: Option<Vec<u8>>,
    entry: Entry,
    stage: Stage,
    pipelined: bool,
    /// Places of the recipients that the server takes.
    taken: Vec<usize>,
    /// Places that it has the letter for.
    kept: Vec<usize>,
    refused: Option<(u16, String)>,
}

impl Submission {
    pub(crate) fn new(language: Language, from: String, to: Vec<String>, letter: Option<Vec<u8>>) -> Self {
        let (taken, kept) = (Vec::with_capacity(to.len()), Vec::new());
        let (entry, stage) = (Entry::default(), Stage::Greeting);
        Self { language, from, to, letter, entry, stage, pipelined: false, taken, kept, refused: None }
    }

    /// The same after an entry.
    pub(crate) fn entered(mut self, entry: Entry) -> Self {
        self.entry = entry;
        self
    }

    /// Whether the letter has been said and not been answered: whether the server has it nobody knows.
    pub(crate) const fn is_uncertain(&self) -> bool {
        matches!(self.stage, Stage::Letter(_))
    }

    /// The server said something.
    pub(crate) fn hear(&mut self, reply: Reply) -> Turn {
        match self.stage {
            Stage::Greeting if reply.code == 220 => Turn::Say(self.hello()),
            Stage::Hello if reply.code == 250 => self.enter(&reply),
            Stage::Secure if reply.code == 220 => {
                self.entry.starttls = false;
                Turn::Secure(self.hello())
            }
            Stage::Login if reply.code == 235 => self.begin(),
            Stage::Login => {
                self.stage = Stage::Greeting;
                Turn::Over(b"QUIT\r\n".to_vec(), Fate::Denied(reply.code, reply.text))
            }
            Stage::Greeting | Stage::Hello | Stage::Secure => self.refuse(reply),
            Stage::Envelope(place) => self.hear_envelope(place, reply),
            Stage::Letter(place) => self.hear_letter(place, reply),
        }
    }

    fn hello(&mut self) -> Vec<u8> {
        self.stage = Stage::Hello;
        let hello = if self.language == Language::Lmtp { "LHLO" } else { "EHLO" };
        format!("{hello} plimsoll.invalid\r\n").into_bytes()
    }

    /// The server has said what it can do: TLS and a login come before the letter, where they are wanted.
    fn enter(&mut self, can: &Reply) -> Turn {
        let has = |wanted: &str| can.words.iter().any(|word| word == wanted);
        if self.entry.starttls {
            if !has("STARTTLS") {
                return self.refuse(Reply { code: 502, text: "it offers no STARTTLS".to_owned(), words: Vec::new() });
            }
            self.stage = Stage::Secure;
            return Turn::Say(b"STARTTLS\r\n".to_vec());
        }
        self.pipelined = has("PIPELINING");
        let Some((name, password)) = self.entry.login.take() else { return self.begin() };
        self.stage = Stage::Login;
        let secret = base64::prelude::BASE64_STANDARD.encode(format!("\0{name}\0{password}"));
        Turn::Say(format!("AUTH PLAIN {secret}\r\n").into_bytes())
    }

    fn begin(&mut self) -> Turn {
        self.stage = Stage::Envelope(0);
        Turn::Say(self.envelope(0))
    }

    /// Commands from a place on: sender, recipients, DATA; all of them in one go, or the next one.
    fn envelope(&self, place: usize) -> Vec<u8> {
        let count = self.to.len() + 1 + usize::from(self.letter.is_some());
        let command = |place: usize| match place {
            0 => format!("MAIL FROM:<{}>\r\n", self.from),
            place if place <= self.to.len() => format!("RCPT TO:<{}>\r\n", self.to[place - 1]),
            _ => "DATA\r\n".to_owned(),
        };
        let end = if self.pipelined { count } else { place + 1 };
        (place..end).map(command).collect::<String>().into_bytes()
    }

    fn hear_envelope(&mut self, place: usize, reply: Reply) -> Turn {
        let good = reply.code / 100 == 2 || reply.code == 354;
        let recipients = self.to.len();
        if good && (1..=recipients).contains(&place) {
            self.taken.push(place - 1);
        } else if !good && self.refused.is_none() {
            self.refused = Some((reply.code, reply.text.clone()));
        }
        if place == 0 && !good && !self.pipelined {
            return self.over();
        }
        if place == recipients && self.letter.is_none() {
            return self.over();
        }
        if place == recipients + 1 {
            if reply.code != 354 {
                return self.over();
            }
            self.stage = Stage::Letter(0);
            // Nobody takes it: the server has to be given an end all the same.
            let letter = if self.taken.is_empty() { None } else { self.letter.take() };
            return Turn::Say(stuffed(&letter.unwrap_or_default()));
        }
        if place == recipients && self.taken.is_empty() && !self.pipelined {
            return self.over();
        }
        self.stage = Stage::Envelope(place + 1);
        if self.pipelined { Turn::Listen } else { Turn::Say(self.envelope(place + 1)) }
    }

    fn hear_letter(&mut self, place: usize, reply: Reply) -> Turn {
        if reply.code / 100 == 2 {
            match self.language {
                Language::Smtp => self.kept.clone_from(&self.taken),
                Language::Lmtp => self.kept.extend(self.taken.get(place)),
            }
        } else if self.refused.is_none() {
            self.refused = Some((reply.code, reply.text));
        }
        if self.language == Language::Lmtp && place + 1 < self.taken.len() {
            self.stage = Stage::Letter(place + 1);
            return Turn::Listen;
        }
        self.over()
    }

    fn refuse(&mut self, reply: Reply) -> Turn {
        self.refused = Some((reply.code, reply.text));
        self.over()
    }

    /// What became of it. A letter that only some recipients were refused for is taken for the others.
    fn over(&mut self) -> Turn {
        self.stage = Stage::Greeting;
        let fate = match self.refused.take() {
            _ if !self.kept.is_empty() => Fate::Taken(std::mem::take(&mut self.kept)),
            Some((code, text)) => Fate::Refused(code, text),
            None => Fate::Known,
        };
        Turn::Over(b"QUIT\r\n".to_vec(), fate)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn replies(text: &str) -> Vec<Reply> {
        let mut replies = Replies::default();
        replies.take(text.replace('\n', "\r\n").as_bytes());
        let mut all = Vec::new();
        while let Some(reply) = replies.next().unwrap() {
            all.push(reply);
        }
        all
    }

    /// What the client says to a server that says all this; the fate in the end.
    fn dialogue(mut submission: Submission, server: &str) -> (String, Option<Fate>) {
        let mut said = String::new();
        for reply in replies(server) {
            match submission.hear(reply) {
                Turn::Say(bytes) => said.push_str(&String::from_utf8(bytes).unwrap()),
                Turn::Listen => {}
                Turn::Secure(bytes) => said.push_str(&format!("(TLS)\n{}", String::from_utf8(bytes).unwrap())),
                Turn::Over(bytes, fate) => {
                    said.push_str(&String::from_utf8(bytes).unwrap());
                    return (said.replace("\r\n", "\n"), Some(fate));
                }
            }
        }
        (said.replace("\r\n", "\n"), None)
    }

    fn letter(language: Language) -> Submission {
        Submission::new(
            language,
            "u1@d".to_owned(),
            vec!["u2@d".to_owned(), "u3@d".to_owned()],
            Some(b"A: b\r\n\r\n.x\r\n".to_vec()),
        )
    }

    #[test]
    fn a_letter_goes_to_a_server_that_takes_everything_in_one_go() {
        let server = "220 hi\n250-d\n250-PIPELINING\n250 8BITMIME\n250 ok\n250 ok\n250 ok\n354 go\n250 queued\n";
        let (said, fate) = dialogue(letter(Language::Smtp), server);
        assert_eq!(
            said,
            "EHLO plimsoll.invalid\nMAIL FROM:<u1@d>\nRCPT TO:<u2@d>\nRCPT TO:<u3@d>\nDATA\nA: b\n\n..x\n.\nQUIT\n"
        );
        assert_eq!(fate, Some(Fate::Taken(vec![0, 1])));
    }

    #[test]
    fn a_server_without_pipelining_is_asked_one_thing_after_the_other() {
        let server = "220 hi\n250 d\n250 ok\n250 ok\n250 ok\n354 go\n250 queued\n";
        assert_eq!(dialogue(letter(Language::Smtp), server).1, Some(Fate::Taken(vec![0, 1])));
    }

    #[test]
    fn a_letter_is_taken_for_those_whom_the_server_knows() {
        for hello in ["250 d", "250-d\n250 PIPELINING"] {
            let server = format!("220 hi\n{hello}\n250 ok\n550 no such user\n250 ok\n354 go\n250 queued\n");
            assert_eq!(dialogue(letter(Language::Smtp), &server).1, Some(Fate::Taken(vec![1])));
        }
    }

    #[test]
    fn each_recipient_has_an_answer_of_its_own_in_lmtp() {
        let server = "220 hi\n250-d\n250 PIPELINING\n250 ok\n250 ok\n250 ok\n354 go\n452 full\n250 saved\n";
        let (said, fate) = dialogue(letter(Language::Lmtp), server);
        assert!(said.starts_with("LHLO"));
        assert_eq!(fate, Some(Fate::Taken(vec![1])));
    }

    #[test]
    fn a_refusal_keeps_its_code_and_its_words() {
        let refused = |server: &str| dialogue(letter(Language::Smtp), server).1;
        let full = Some(Fate::Refused(452, "4.3.1 full".to_owned()));
        assert_eq!(refused("220 hi\n250 d\n452 4.3.1 full\n"), full);
        assert_eq!(refused("220 hi\n250-d\n250 PIPELINING\n452 4.3.1 full\n503 no\n503 no\n503 no\n"), full);
        assert_eq!(refused("421 busy\n"), Some(Fate::Refused(421, "busy".to_owned())));
        assert_eq!(refused("220 hi\n250 d\n250 ok\n250 ok\n250 ok\n354 go\n452 4.3.1 full\n"), full);
    }

    #[test]
    fn a_password_is_only_said_after_tls_has_begun() {
        let login = Some(("me".to_owned(), "secret".to_owned()));
        let entry = Entry { starttls: true, login };
        let server = "220 hi\n250-d\n250 STARTTLS\n220 go\n250-d\n250 AUTH PLAIN\n235 ok\n250 ok\n250 ok\n250 ok\n354 go\n250 queued\n";
        let (said, fate) = dialogue(letter(Language::Smtp).entered(entry.clone()), server);
        let before =
            "EHLO plimsoll.invalid\nSTARTTLS\n(TLS)\nEHLO plimsoll.invalid\nAUTH PLAIN AG1lAHNlY3JldA==\nMAIL FROM:";
        assert!(said.starts_with(before), "{said}");
        assert!(matches!(fate, Some(Fate::Taken(_))), "{fate:?}");
        let (said, fate) = dialogue(letter(Language::Smtp).entered(entry.clone()), "220 hi\n250 d\n");
        assert!(!said.contains("AUTH"), "{said}");
        assert_eq!(fate, Some(Fate::Refused(502, "it offers no STARTTLS".to_owned())));
        let denied = "220 hi\n250 STARTTLS\n220 go\n250 AUTH PLAIN\n535 5.7.8 no\n";
        assert_eq!(
            dialogue(letter(Language::Smtp).entered(entry), denied).1,
            Some(Fate::Denied(535, "5.7.8 no".to_owned()))
        );
    }

    #[test]
    fn a_letter_that_has_had_no_answer_is_uncertain() {
        let mut submission = letter(Language::Smtp);
        for reply in replies("220 hi\n250 d\n250 ok\n250 ok\n250 ok\n") {
            assert!(!submission.is_uncertain());
            submission.hear(reply);
        }
        submission.hear(replies("354 go\n").remove(0));
        assert!(submission.is_uncertain());
    }

    #[test]
    fn a_name_can_be_asked_for_alone() {
        let ask = || Submission::new(Language::Smtp, "u1@d".to_owned(), vec!["u2@d".to_owned()], None);
        assert_eq!(dialogue(ask(), "220 hi\n250 d\n250 ok\n250 ok\n").1, Some(Fate::Known));
        assert_eq!(dialogue(ask(), "220 hi\n250 d\n250 ok\n550 who?\n").1, Some(Fate::Refused(550, "who?".to_owned())));
    }

    #[test]
    fn what_is_no_smtp_is_refused() {
        let mut replies = Replies::default();
        replies.take(b"* OK IMAP here\r\n");
        assert_eq!(replies.next(), Err(NoSmtp));
    }
}
