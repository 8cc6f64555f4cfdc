//! What a terminal says to the server and hears from it: messages of PostgreSQL's protocol 3 (manual, "Message Formats").
//!
//! Model: a question is written whole, then its answer is read up to `ReadyForQuery`. Of an answer only the first value of the first row
//! counts, whether there was an error, and whether a transaction is open.
//!
//! ```
//! use plimsoll_terminals::wire;
//! assert_eq!(wire::query("BEGIN"), b"Q\x00\x00\x00\x0aBEGIN\x00");
//! ```

use std::io::{self, Read, Write};

/// Longer messages are no answers to what is asked here.
const MESSAGE_MAX: usize = 16 << 20;
const READ_BYTES: usize = 8 << 10;

/// What the server says of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// SQLSTATE.
    pub state: String,
    /// The message.
    pub message: String,
}

/// The first value of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// There was no row.
    #[default]
    Nothing,
    /// It is null.
    Null,
    /// It is something.
    Something,
}

/// What came back up to `ReadyForQuery`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The first value.
    pub value: Value,
    /// The first error.
    pub error: Option<Said>,
    /// Whether a transaction is open, or failed and open.
    pub in_transaction: bool,
}

/// A connection over a stream.
pub struct Line<S> {
    stream: S,
    buffer: Vec<u8>,
    /// What of the buffer was read from the stream and not used yet.
    unread: std::ops::Range<usize>,
}

impl<S: Read + Write> Line<S> {
    /// Over a stream whose server is ready for a query.
    pub fn new(stream: S) -> Self {
        Self { stream, buffer: vec![0; READ_BYTES], unread: 0..0 }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// What the server said last, or what the system says, when the connection is lost.
    pub fn ask(&mut self, question: &[u8]) -> Result<Answer, String> {
        let mut answer = Answer::default();
        match (self.asked(question, &mut answer), answer.error.take()) {
            (Ok(()), error) => Ok(Answer { error, ..answer }),
            (Err(_), Some(said)) => Err(said.message),
            (Err(problem), None) if problem.kind() == io::ErrorKind::UnexpectedEof => {
                Err("the server closed the connection".to_owned())
            }
            (Err(problem), None) => Err(problem.to_string()),
        }
    }

    fn asked(&mut self, question: &[u8], answer: &mut Answer) -> io::Result<()> {
        if let Err(problem) = self.stream.write_all(question) {
            // What the server said before it closed the connection tells more.
            while self.hear(answer).is_ok_and(|ready| !ready) {}
            return Err(problem);
        }
        while !self.hear(answer)? {}
        Ok(())
    }

    /// Reads one message; whether it was the last.
    fn hear(&mut self, answer: &mut Answer) -> io::Result<bool> {
        self.fill(5)?;
        let head = &self.buffer[self.unread.start..];
        let (kind, length) = (head[0], u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize);
        if !(4..=MESSAGE_MAX).contains(&length) {
            return Err(io::Error::other("what came over the connection is no message of PostgreSQL"));
        }
        self.fill(1 + length)?;
        let begin = self.unread.start;
        let body = &self.buffer[begin + 5..begin + 1 + length];
        match kind {
            b'D' if answer.value == Value::Nothing => answer.value = first_value(body),
            b'E' if answer.error.is_none() => answer.error = Some(said(body)),
            b'Z' => answer.in_transaction = body.first() != Some(&b'I'),
            _ => {}
        }
        self.unread.start += 1 + length;
        Ok(kind == b'Z')
    }

    /// Reads until at least so many bytes are unread.
    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        if self.unread.len() >= bytes {
            return Ok(());
        }
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        }
        while self.unread.len() < bytes {
            match self.stream.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.unread.end += read,
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
                Err(problem) => return Err(problem),
            }
        }
        Ok(())
    }
}

/// The call of a prepared statement with its values as text: Bind, Execute and Sync.
pub fn call(statement: &str, values: &[String]) -> Vec<u8> {
    let mut bound = Vec::with_capacity(64 + values.iter().map(|value| value.len() + 4).sum::<usize>());
    bound.push(0);
    bound.extend_from_slice(statement.as_bytes());
    bound.extend_from_slice(&[0, 0, 0]);
    bound.extend_from_slice(&(values.len() as u16).to_be_bytes());
    for value in values {
        bound.extend_from_slice(&(value.len() as u32).to_be_bytes());
        bound.extend_from_slice(value.as_bytes());
    }
    bound.extend_from_slice(&[0, 0]);
    let mut whole = message(b'B', &bound);
    whole.extend_from_slice(&message(b'E', &[0, 0, 0, 0, 0]));
    whole.extend_from_slice(&message(b'S', &[]));
    whole
}

/// A statement without values.
pub fn query(text: &str) -> Vec<u8> {
    message(b'Q', &[text.as_bytes(), &[0]].concat())
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(5 + body.len());
    whole.push(kind);
    whole.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    whole.extend_from_slice(body);
    whole
}

/// Of a `DataRow`: the number of columns, then for each its length, -1 for null.
fn first_value(body: &[u8]) -> Value {
    match body.get(2..6) {
        Some([255, 255, 255, 255]) => Value::Null,
        Some(_) => Value::Something,
        None => Value::Nothing,
    }
}

/// Of an `ErrorResponse`: fields, each a letter and a text that ends with a zero.
fn said(body: &[u8]) -> Said {
    let mut found = Said::default();
    for field in body.split(|byte| *byte == 0).filter(|field| !field.is_empty()) {
        let text = || String::from_utf8_lossy(&field[1..]).into_owned();
        match field[0] {
            b'C' => found.state = text(),
            b'M' => found.message = text(),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives bytes in pieces of one, and keeps what is written.
    struct Scripted {
        given: Vec<u8>,
        taken: Vec<u8>,
    }

    impl Read for Scripted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.given.is_empty() {
                return Ok(0);
            }
            buffer[0] = self.given.remove(0);
            Ok(1)
        }
    }

    impl Write for Scripted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.taken.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn answered(messages: &[Vec<u8>]) -> Result<Answer, String> {
        Line::new(Scripted { given: messages.concat(), taken: Vec::new() }).ask(b"?")
    }

    #[test]
    fn a_call_binds_its_values_as_text() {
        let bytes = call("pay", &["7".to_owned(), "{1,2}".to_owned()]);
        let bind = b"B\x00\x00\x00\x1d\x00pay\x00\x00\x00\x00\x02\x00\x00\x00\x017\x00\x00\x00\x05{1,2}\x00\x00";
        assert_eq!(bytes[..30], bind[..]);
        assert_eq!(bytes[30..], b"E\x00\x00\x00\x09\x00\x00\x00\x00\x00S\x00\x00\x00\x04"[..]);
    }

    #[test]
    fn an_answer_says_whether_its_first_value_is_null() {
        let row = |value: &[u8]| message(b'D', &[&[0, 1], value].concat());
        let ready = message(b'Z', b"I");
        let of = |value: &[u8]| answered(&[message(b'2', &[]), row(value), ready.clone()]).map(|answer| answer.value);
        assert_eq!(of(&[0, 0, 0, 1, b'5']), Ok(Value::Something));
        assert_eq!(of(&[255, 255, 255, 255]), Ok(Value::Null));
        assert_eq!(answered(&[ready]).map(|answer| answer.value), Ok(Value::Nothing));
    }

    #[test]
    fn an_error_keeps_its_state_and_whether_a_transaction_is_open() {
        let error = message(b'E', b"SERROR\0C40P01\0Mdeadlock detected\0Dmore\0\0");
        let said = Said { state: "40P01".to_owned(), message: "deadlock detected".to_owned() };
        for (status, open) in [(b"I", false), (b"T", true), (b"E", true)] {
            let answer = answered(&[error.clone(), message(b'Z', status)]);
            assert_eq!(answer, Ok(Answer { value: Value::Nothing, error: Some(said.clone()), in_transaction: open }));
        }
    }

    #[test]
    fn a_connection_that_ends_says_what_the_server_said_last() {
        let fatal = message(b'E', b"SFATAL\0C57P01\0Mterminating connection\0\0");
        assert_eq!(answered(&[fatal]), Err("terminating connection".to_owned()));
        assert_eq!(answered(&[]), Err("the server closed the connection".to_owned()));
        assert!(answered(&[b"HTTP/1.1 400".to_vec()]).is_err_and(|said| said.contains("no message")));
    }

    #[test]
    fn notices_and_settings_between_are_passed_over() {
        let between = [message(b'N', b"SNOTICE\0\0"), message(b'S', b"TimeZone\0UTC\0"), message(b'A', b"1234a\0b\0")];
        let rows = [message(b'D', &[0, 1, 0, 0, 0, 1, b'1']), message(b'C', b"SELECT 1\0"), message(b'Z', b"I")];
        assert_eq!(answered(&[between.concat(), rows.concat()]).map(|answer| answer.value), Ok(Value::Something));
    }
}
