//! What an IMAP server says (RFC 3501, 6851), cut out of the bytes that come in, and what a client says to it.
//!
//! Model: a response is a line; where a line ends with `{n}`, n bytes of literal and the rest of the line belong to it. Bytes are kept
//! until a response is whole. Only what a mail user looks at is understood; the rest is passed over.
//!
//! Limits: a response of more than [`RESPONSE_MAX`] bytes is refused, so that a server gone mad does not take all memory.

use std::ops::Range;

/// The longest response.
const RESPONSE_MAX: usize = 1 << 30;
/// Bytes that are kept for the next response when nothing waits.
const KEPT: usize = 16 << 10;

/// What a server said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// The command with this number has been carried out.
    Done(u32),
    /// It has been refused, for this reason.
    Refused(u32, &'a [u8]),
    /// Go on with the literal.
    GoOn,
    /// The server ends the connection, for this reason.
    Bye(&'a [u8]),
    /// It greets; nothing has been asked yet.
    Greeting,
    /// So many messages are in the folder.
    Exists(u32),
    /// Messages that were searched for.
    Found(Vec<u32>),
    /// A message: its number, and the literal that came with it.
    Message(u32, &'a [u8]),
    /// Anything else.
    Other,
}

/// Why what came in is no IMAP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoImap;

/// Bytes that came in, response by response.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    bytes: Vec<u8>,
    /// Where the next response begins.
    start: usize,
    /// How far it has been looked at.
    looked: usize,
    /// The first literal of the response that is looked at.
    literal: Option<Range<usize>>,
}

impl Replies {
    /// Takes bytes that came in.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            // What one long message took is not kept for each of thousands of users.
            self.bytes.shrink_to(KEPT);
            (self.start, self.looked) = (0, 0);
        } else if self.start > 1 << 20 {
            self.bytes.drain(..self.start);
            self.looked -= self.start;
            self.literal = self.literal.take().map(|range| range.start - self.start..range.end - self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether nothing is left of what came in.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// The next whole response; `None` until more has come.
    pub(crate) fn next(&mut self) -> Result<Option<Said<'_>>, NoImap> {
        loop {
            if self.bytes.len() - self.start > RESPONSE_MAX {
                return Err(NoImap);
            }
            let Some(end) = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n') else {
                return Ok(None);
            };
            let line = &self.bytes[self.looked..self.looked + end];
            match literal_bytes(line) {
                None => {
                    let range = self.start..self.looked + end;
                    (self.start, self.looked) = (range.end + 1, range.end + 1);
                    let literal = self.literal.take();
                    return said(&self.bytes[range.clone()], literal.map(|at| &self.bytes[at])).map(Some);
                }
                Some(bytes) => {
                    let begin = self.looked + end + 1;
                    if self.bytes.len() < begin + bytes {
                        return if bytes > RESPONSE_MAX { Err(NoImap) } else { Ok(None) };
                    }
                    self.literal.get_or_insert(begin..begin + bytes);
                    self.looked = begin + bytes;
                }
            }
        }
    }
}

/// The length of the literal that follows a line, if one does.
fn literal_bytes(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\r").unwrap_or(line).strip_suffix(b"}")?;
    let open = line.iter().rposition(|byte| *byte == b'{')?;
    number(&line[open + 1..]).map(|bytes| bytes as usize)
}

fn number(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn said<'a>(response: &'a [u8], literal: Option<&'a [u8]>) -> Result<Said<'a>, NoImap> {
    let response = response.strip_suffix(b"\r").unwrap_or(response);
    let (first, rest) = word(response);
    match first {
        b"+" => Ok(Said::GoOn),
        b"*" => Ok(untagged(rest, literal)),
        _ => {
            let tag = first.strip_prefix(b"p").and_then(number).ok_or(NoImap)?;
            let (verdict, why) = word(rest);
            Ok(if verdict.eq_ignore_ascii_case(b"OK") { Said::Done(tag) } else { Said::Refused(tag, why) })
        }
    }
}

fn untagged<'a>(rest: &'a [u8], literal: Option<&'a [u8]>) -> Said<'a> {
    let (first, rest) = word(rest);
    let is = |word: &[u8]| first.eq_ignore_ascii_case(word);
    if is(b"OK") || is(b"PREAUTH") {
        return Said::Greeting;
    }
    if is(b"BYE") {
        return Said::Bye(rest);
    }
    if is(b"SEARCH") {
        return Said::Found(rest.split(|byte| *byte == b' ').filter_map(number).collect());
    }
    let (Some(count), (what, rest)) = (number(first), word(rest)) else { return Said::Other };
    if what.eq_ignore_ascii_case(b"EXISTS") {
        Said::Exists(count)
    } else if what.eq_ignore_ascii_case(b"FETCH") {
        Said::Message(uid(rest).unwrap_or(0), literal.unwrap_or_default())
    } else {
        Said::Other
    }
}

/// The UID among what a FETCH says before its literal.
fn uid(rest: &[u8]) -> Option<u32> {
    let at = rest.windows(4).position(|window| window == b"UID ")?;
    let digits = rest[at + 4..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    number(&rest[at + 4..at + 4 + digits])
}

fn word(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

/// A folder of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    Inbox,
    Sent,
    Trash,
    Calendar,
    /// One of the user's own, by number.
    Own(u32),
}

impl Folder {
    pub(crate) fn name(self, prefix: &str) -> String {
        match self {
            Self::Inbox => "INBOX".to_owned(),
            Self::Sent => format!("{prefix}Sent"),
            Self::Trash => format!("{prefix}Trash"),
            Self::Calendar => format!("{prefix}Calendar"),
            Self::Own(number) => format!("{prefix}Folder{number}"),
        }
    }
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Login {
        user: String,
        password: String,
    },
    /// From here on through TLS.
    StartTls,
    Select(Folder),
    Noop,
    /// Messages from a number on.
    SearchAll(u32),
    /// Those of them that were not seen.
    SearchUnseen(u32),
    /// Messages with a word in their subject.
    SearchSubject(&'static str),
    /// Flags and the main headers of messages.
    List(Vec<u32>),
    /// Flags and all headers of a message.
    Headers(u32),
    /// All of a message.
    Body(u32),
    MarkSeen(u32),
    Move(u32, Folder),
    /// A message of so many bytes into a folder; the bytes follow.
    Append(Folder, usize),
    Logout,
}

impl Asked {
    /// Writes the command with its number; the names of folders but the inbox begin with `prefix`.
    pub(crate) fn write(&self, tag: u32, prefix: &str, out: &mut Vec<u8>) {
        let text = match self {
            Self::Login { user, password } => format!("LOGIN {} {}", quoted(user), quoted(password)),
            Self::StartTls => "STARTTLS".to_owned(),
            Self::Select(folder) => format!("SELECT {}", folder.name(prefix)),
            Self::Noop => "NOOP".to_owned(),
            Self::SearchAll(0..=1) => "UID SEARCH ALL".to_owned(),
            Self::SearchAll(first) => format!("UID SEARCH UID {first}:*"),
            Self::SearchUnseen(0..=1) => "UID SEARCH UNSEEN".to_owned(),
            Self::SearchUnseen(first) => format!("UID SEARCH UNSEEN UID {first}:*"),
            Self::SearchSubject(word) => format!("UID SEARCH SUBJECT {word}"),
            Self::List(uids) => {
                let set = uids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                format!("UID FETCH {set} (FLAGS BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT)])")
            }
            Self::Headers(uid) => format!("UID FETCH {uid} (FLAGS BODY.PEEK[HEADER])"),
            Self::Body(uid) => format!("UID FETCH {uid} BODY.PEEK[]"),
            Self::MarkSeen(uid) => format!("UID STORE {uid} +FLAGS.SILENT (\\Seen)"),
            Self::Move(uid, folder) => format!("UID MOVE {uid} {}", folder.name(prefix)),
            Self::Append(folder, bytes) => format!("APPEND {} (\\Seen) {{{bytes}}}", folder.name(prefix)),
            Self::Logout => "LOGOUT".to_owned(),
        };
        out.extend_from_slice(format!("p{tag} {text}\r\n").as_bytes());
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What was said, in words, when bytes come in pieces of a size.
    fn heard(bytes: &[u8], piece: usize) -> Vec<String> {
        let (mut replies, mut heard) = (Replies::default(), Vec::new());
        for part in bytes.chunks(piece) {
            replies.take(part);
            while let Some(said) = replies.next().unwrap() {
                heard.push(format!("{said:?}"));
            }
        }
        heard
    }

    #[test]
    fn responses_are_heard_alike_in_pieces_of_any_size() {
        let bytes = b"* OK [CAPABILITY IMAP4rev1] ready\r\n* 23 EXISTS\r\n* FLAGS (\\Seen)\r\n* SEARCH 4 7 19\r\n* SEARCH\r\n\
            * 7 FETCH (UID 19 FLAGS () BODY[] {13}\r\nab\r\np3 OK\r\ncd FLAGS ())\r\n+ go on\r\np3 OK done\r\np4 NO [LIMIT] full\r\n\
            * BYE out\r\n";
        let whole = heard(bytes, bytes.len());
        assert_eq!(
            whole,
            [
                "Greeting",
                "Exists(23)",
                "Other",
                "Found([4, 7, 19])",
                "Found([])",
                &format!("Message(19, {:?})", b"ab\r\np3 OK\r\ncd"),
                "GoOn",
                "Done(3)",
                &format!("Refused(4, {:?})", b"[LIMIT] full"),
                &format!("Bye({:?})", b"out"),
            ]
        );
        for piece in [1, 2, 3, 5, 64] {
            assert_eq!(heard(bytes, piece), whole, "in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_no_imap_is_refused() {
        let mut replies = Replies::default();
        replies.take(b"HTTP/1.1\r\n");
        assert_eq!(replies.next(), Err(NoImap));
    }

    #[test]
    fn folders_of_somebody_elses_server_have_names_of_their_own_and_old_mail_is_passed_over() {
        let written = |asked: Asked| {
            let mut out = Vec::new();
            asked.write(1, "plimsoll-", &mut out);
            String::from_utf8(out).unwrap().trim_end().to_owned()
        };
        assert_eq!(written(Asked::Move(9, Folder::Trash)), "p1 UID MOVE 9 plimsoll-Trash");
        assert_eq!(written(Asked::Select(Folder::Inbox)), "p1 SELECT INBOX");
        assert_eq!(written(Asked::SearchUnseen(41)), "p1 UID SEARCH UNSEEN UID 41:*");
        assert_eq!(written(Asked::SearchAll(1)), "p1 UID SEARCH ALL");
    }

    #[test]
    fn names_and_passwords_are_quoted() {
        let mut out = Vec::new();
        Asked::Login { user: "a\"b".to_owned(), password: "c\\ d".to_owned() }.write(5, "", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "p5 LOGIN \"a\\\"b\" \"c\\\\ d\"\r\n");
    }
}
