//! The messages that users send: whom they go to, how long they are, and every byte of them, from a number alone.
//!
//! Model: a letter is a header and a body in lines of 76 characters, as attachments are encoded on the way. The body is base64 of random
//! bits, so that compressing it gains the quarter that base64 loses and no more. A header of our own carries the run, the letter's number
//! and a hash of the body: whoever finds the letter in a mailbox can tell whether it is whole, and which one it is.
//!
//! Limits: recipients are drawn uniformly among all users; a list is a run of neighbouring ones. Every letter is ASCII.

use crate::fingerprint::Fnv;
use crate::mail::plan::MailStreamPlan;
use crate::mail::task::MailTask;
use crate::rng::{Draws, Purpose, below, unit};

/// The header that says which letter it is.
pub const MARK: &str = "X-Plimsoll-Letter";
/// Most recipients of a letter: servers refuse more.
const RECIPIENTS_MAX: usize = 1000;
/// Characters in a line of a body, and those that end it.
const LINE: usize = 76;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// What subjects are made of, and what users search for.
const WORDS: [&str; 32] = [
    "anchor",
    "ballast",
    "beacon",
    "binnacle",
    "bowline",
    "bulkhead",
    "capstan",
    "chart",
    "compass",
    "davit",
    "draught",
    "fathom",
    "freeboard",
    "galley",
    "halyard",
    "harbour",
    "hawser",
    "helm",
    "keel",
    "lantern",
    "lighter",
    "manifest",
    "mooring",
    "pilot",
    "quay",
    "rigging",
    "rudder",
    "sextant",
    "sounding",
    "tackle",
    "tide",
    "windlass",
];

/// A letter before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its number, unique in its run.
    pub number: u64,
    /// Who sends it.
    pub from: u32,
    /// Whom it goes to, each once.
    pub to: Vec<u32>,
    /// How long header and body are together, at least.
    pub bytes: u64,
    /// What its subject begins with: nothing, `Re: ` or `Fwd: `.
    pub prefix: &'static str,
}

/// Makes the letters of one group of users.
#[derive(Clone, Debug)]
pub struct Letters<'a> {
    plan: &'a MailStreamPlan,
    draws: Draws,
    run: String,
    domain: String,
}

impl<'a> Letters<'a> {
    /// Those of a group of users in a run, which its letters name, at a domain.
    pub fn new(plan: &'a MailStreamPlan, run: &str, domain: &str) -> Self {
        let draws = Draws::new(plan.seed, &[Purpose::MailLetter as u64]);
        Self { plan, draws, run: run.to_owned(), domain: domain.to_owned() }
    }

    /// A letter that `from` sends for a task; `answered` are those whom an answer goes to: the sender first, then the other recipients.
    pub fn compose(&self, number: u64, from: u32, task: MailTask, answered: &[u32]) -> Letter {
        let draws = self.draws_of(number);
        let mut to = match task {
            MailTask::Reply => answered.iter().take(1).copied().collect(),
            MailTask::ReplyAll => answered.to_vec(),
            _ => Vec::new(),
        };
        if to.is_empty() {
            self.choose(draws, from, &mut to);
        }
        to.truncate(RECIPIENTS_MAX);
        let prefix = match task {
            MailTask::Reply | MailTask::ReplyAll => "Re: ",
            MailTask::Forward => "Fwd: ",
            _ => "",
        };
        Letter { number, from, to, bytes: self.plan.sizes.at(draws.at(0)), prefix }
    }

    /// Recipients of a new message.
    fn choose(&self, draws: Draws, from: u32, to: &mut Vec<u32>) {
        let (plan, everybody) = (self.plan, u64::from(self.plan.everybody));
        let most = (everybody.max(2) - 1).min(RECIPIENTS_MAX as u64) as usize;
        let count = 1 + more(draws.at(1), plan.more_recipients);
        let mut draw = 16;
        while to.len() < count.min(most) && draw < 16 + 4 * RECIPIENTS_MAX as u64 {
            enter(to, below(draws.at(draw), everybody) as u32, from);
            draw += 1;
        }
        if plan.listed.hit(draws.at(2)) {
            let least = u64::from(plan.list_members / 5).max(1);
            let members = least + below(draws.at(3), u64::from(plan.list_members).saturating_sub(least) * 2 + 1);
            let first = below(draws.at(4), everybody);
            (0..members.min(most as u64)).for_each(|place| enter(to, ((first + place) % everybody) as u32, from));
        }
        if to.is_empty() {
            // The only user of all writes to themself.
            to.push(below(draws.at(5), everybody) as u32);
        }
    }

    /// Writes a letter: its header, then as many bytes of body as make it as long as it is to be. `date` is the text of its Date header.
    pub fn write(&self, letter: &Letter, date: &str, out: &mut Vec<u8>) {
        let draws = self.draws_of(letter.number);
        let start = out.len();
        let address = |user: u32| format!("u{user}@{}", self.domain);
        let to = letter.to.iter().map(|user| address(*user)).collect::<Vec<_>>().join(",\r\n ");
        let subject = format!("{}{} {} {}", letter.prefix, word(draws.at(6)), word(draws.at(7)), word(draws.at(8)));
        let head = format!(
            "From: {}\r\nTo: {to}\r\nSubject: {subject}\r\nDate: {date}\r\nMessage-ID: <{}.{}@{}>\r\nMIME-Version: 1.0\r\n\
             Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n",
            address(letter.from),
            letter.number,
            self.run,
            self.domain
        );
        out.extend_from_slice(head.as_bytes());
        // The mark is as long for every letter, so that the body's length is known before its hash is.
        let mark = |hash: &str| format!("{MARK}: {} {} {} {hash}\r\n\r\n", self.run, letter.number, letter.from);
        let mark_at = out.len();
        out.extend_from_slice(mark("0000000000000000").as_bytes());
        let body_at = out.len();
        let body = (letter.bytes as usize).saturating_sub(body_at - start).max(LINE + 2);
        fill(Draws::new(draws.at(9), &[Purpose::Fill as u64]), body, out);
        let mark = mark(&hash(&out[body_at..]));
        out[mark_at..body_at].copy_from_slice(mark.as_bytes());
    }

    /// A word that subjects are made of.
    pub fn sought(draw: u64) -> &'static str {
        word(draw)
    }

    fn draws_of(&self, number: u64) -> Draws {
        Draws::new(self.draws.at(number), &[Purpose::MailLetter as u64])
    }
}

/// The hash of a body as its mark has it: FNV-1a, 64 bits. Line ends count as `\r\n`, and those at the end not at all.
pub fn hash(body: &[u8]) -> String {
    let mut hash = Fnv::new();
    for line in body.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            hash.bytes(line);
        }
    }
    hash.text()
}

fn word(draw: u64) -> &'static str {
    WORDS[below(draw, WORDS.len() as u64) as usize]
}

fn enter(to: &mut Vec<u32>, user: u32, from: u32) {
    if user != from && !to.contains(&user) {
        to.push(user);
    }
}

/// A geometric number with a mean.
fn more(draw: u64, mean: f64) -> usize {
    if mean <= 0.0 {
        return 0;
    }
    (libm::log(unit(draw)) / libm::log(mean / (1.0 + mean))) as usize
}

/// So many bytes in lines of base64, the last one ended as well.
fn fill(draws: Draws, bytes: usize, out: &mut Vec<u8>) {
    let end = out.len() + bytes;
    let (mut index, mut bits, mut left) = (0, 0, 0);
    while out.len() < end {
        let line = LINE.min(end.saturating_sub(out.len() + 2));
        for _ in 0..line {
            if left == 0 {
                (bits, left) = (draws.at(index), 10);
                index += 1;
            }
            out.push(BASE64[(bits & 63) as usize]);
            (bits, left) = (bits >> 6, left - 1);
        }
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mail::{MailPlan, MailWorkload};

    fn plan(more: &serde_json::Value) -> MailPlan {
        let mut stream = json!({ "name": "s", "users": 1000, "tasks": { "read": 80, "send": 15 } });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        MailWorkload::from_json(&json!({ "driver": "mail", "stream": [stream] }), "w.toml").unwrap().resolve(1).unwrap()
    }

    fn written(letters: &Letters<'_>, letter: &Letter) -> Vec<u8> {
        let mut out = Vec::new();
        letters.write(letter, "Mon, 23 Nov 2026 09:00:00 +0000", &mut out);
        out
    }

    #[test]
    fn a_letter_is_as_long_as_drawn_and_says_what_it_is() {
        let plan = plan(&json!({ "sizes": "4KiB" }));
        let letters = Letters::new(&plan.streams[0], "r1", "plimsoll.invalid");
        let letter = letters.compose(17, 3, MailTask::Send, &[]);
        let text = String::from_utf8(written(&letters, &letter)).unwrap();
        assert!((4096..4096 + 3).contains(&text.len()), "{}", text.len());
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("X-Plimsoll-Letter: r1 17 3 {}", hash(body.as_bytes()))), "{head}");
        assert!(body.split("\r\n").all(|line| line.len() <= 76 && !line.starts_with('.')));
        assert_eq!(
            hash(body.replace("\r\n", "\n").trim_end().as_bytes()),
            hash(body.as_bytes()),
            "however it is stored"
        );
        assert_ne!(hash(body.replacen('A', "B", 1).as_bytes()), hash(body.as_bytes()));
    }

    #[test]
    fn letters_follow_from_seed_and_number_alone_and_no_two_are_alike() {
        let (plan, other) = (plan(&json!({})), plan(&json!({ "seed": 1 })));
        let letters = Letters::new(&plan.streams[0], "r1", "d");
        let one = letters.compose(1, 0, MailTask::Send, &[]);
        assert_eq!(letters.compose(1, 0, MailTask::Send, &[]), one);
        let body = |letters: &Letters<'_>, number| {
            let bytes = written(letters, &letters.compose(number, 0, MailTask::Send, &[]));
            String::from_utf8(bytes).unwrap().split_once("\r\n\r\n").unwrap().1.to_owned()
        };
        assert_ne!(body(&letters, 1), body(&letters, 2));
        assert_ne!(body(&Letters::new(&other.streams[0], "r1", "d"), 1), body(&letters, 1));
    }

    #[test]
    fn recipients_have_the_mean_asked_for_and_are_others_each_once() {
        let plan = plan(&json!({ "recipients": 4.7, "list_percent": 30, "list_members": 10 }));
        let letters = Letters::new(&plan.streams[0], "r1", "d");
        let mut sum = 0;
        for number in 0..20_000 {
            let letter = letters.compose(number, 7, MailTask::Send, &[]);
            let mut each = letter.to.clone();
            each.sort_unstable();
            each.dedup();
            assert!(each.len() == letter.to.len() && !each.contains(&7) && each.iter().all(|user| *user < 1000));
            sum += letter.to.len();
        }
        let mean = sum as f64 / 20_000.0;
        // 4.7 and three tenths of 10; neighbours that are recipients already count once.
        assert!((mean - 7.7).abs() < 0.15, "{mean}");
    }

    #[test]
    fn answers_go_to_whom_they_answer() {
        let plan = plan(&json!({}));
        let letters = Letters::new(&plan.streams[0], "r1", "d");
        assert_eq!(letters.compose(1, 0, MailTask::Reply, &[5, 6, 7]).to, [5]);
        assert_eq!(letters.compose(1, 0, MailTask::ReplyAll, &[5, 6, 7]).to, [5, 6, 7]);
        assert_eq!(letters.compose(1, 0, MailTask::ReplyAll, &[5, 6, 7]).prefix, "Re: ");
        assert!(!letters.compose(1, 0, MailTask::Reply, &[]).to.is_empty(), "a message of nobody known is a new one");
    }

    #[test]
    fn the_only_user_of_all_writes_to_themself() {
        let plan = plan(&json!({ "users": 1 }));
        assert_eq!(Letters::new(&plan.streams[0], "r", "d").compose(1, 0, MailTask::Send, &[]).to, [0]);
    }
}
