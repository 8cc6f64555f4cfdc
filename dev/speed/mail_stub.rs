//! An IMAP server that gives null answers, and the barest client there is: what the bench of mail users holds Plimsoll's client against.
//!
//! Model: the server takes every command and answers at once, a search with the numbers 1 to 200, a FETCH with an empty message; it keeps
//! nothing. The client says one command after the other on one blocking socket and waits for each answer, nothing else, with a
//! pause between two.
//! Limits: a thread per connection; literals of APPEND are not taken. Standard library only: `rustc -O mail_stub.rs`.
//!
//! ```text
//! mail_stub serve                    prints the port, answers until its standard input ends
//! mail_stub ask PORT SECONDS PASSWORD PAUSE_US
//!                                    logs in as u0, prints the median round trip in nanoseconds, and how many there were
//! ```

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve"] => serve(),
        ["ask", port, seconds, password, pause_us] => {
            let pause = Duration::from_micros(pause_us.parse().unwrap_or(0));
            ask(port, seconds.parse().unwrap_or(1.0), password, pause)
        }
        _ => Err(io::Error::other("say serve, or ask PORT SECONDS PASSWORD PAUSE_US")),
    }
}

fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    std::thread::spawn(move || {
        let found: String = (1..=200).map(|uid| format!(" {uid}")).collect();
        let found = format!("* SEARCH{found}\r\n");
        for stream in listener.incoming().flatten() {
            let found = found.clone();
            std::thread::spawn(move || answer(stream, &found));
        }
    });
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

/// One connection: every line is a command, answered at once.
fn answer(mut stream: TcpStream, found: &str) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.write_all(b"* OK ready\r\n")?;
    let (mut room, mut line, mut said) = ([0; 4096], Vec::new(), Vec::new());
    loop {
        let came = stream.read(&mut room)?;
        if came == 0 {
            return Ok(());
        }
        said.clear();
        for byte in &room[..came] {
            if *byte == b'\n' {
                reply(&line, found, &mut said);
                line.clear();
            } else {
                line.push(*byte);
            }
        }
        stream.write_all(&said)?;
    }
}

fn reply(line: &[u8], found: &str, said: &mut Vec<u8>) {
    let has = |word: &[u8]| line.windows(word.len()).any(|part| part == word);
    if has(b" SEARCH ALL") || has(b" SEARCH UNSEEN") {
        said.extend_from_slice(found.as_bytes());
    } else if has(b" SEARCH ") {
        said.extend_from_slice(b"* SEARCH\r\n");
    } else if has(b" FETCH ") {
        said.extend_from_slice(b"* 1 FETCH (UID 1 BODY[] {0}\r\n)\r\n");
    }
    let tag = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    said.extend_from_slice(tag);
    said.extend_from_slice(b" OK done\r\n");
}

/// Whether the last line is whole and begins with `last`.
fn is_over(said: &[u8], last: &[u8]) -> bool {
    let Some(lines) = said.strip_suffix(b"\n") else { return false };
    let start = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    lines[start..].starts_with(last)
}

fn ask(port: &str, seconds: f64, password: &str, pause: Duration) -> io::Result<()> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    stream.set_nodelay(true)?;
    let mut room = [0; 4096];
    let mut until = |stream: &mut TcpStream, last: &[u8]| -> io::Result<()> {
        let mut filled = 0;
        while !is_over(&room[..filled], last) {
            let came = stream.read(&mut room[filled..])?;
            if came == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            filled += came;
        }
        Ok(())
    };
    until(&mut stream, b"* ")?;
    for command in [format!("p1 LOGIN u0 {password}\r\n"), "p1 SELECT INBOX\r\n".to_owned()] {
        stream.write_all(command.as_bytes())?;
        until(&mut stream, b"p1 ")?;
    }
    let (begun, lasts) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut times = Vec::with_capacity(1 << 20);
    while begun.elapsed() < lasts {
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        let asked = Instant::now();
        stream.write_all(b"p1 UID SEARCH SUBJECT storage\r\n")?;
        until(&mut stream, b"p1 ")?;
        times.push(asked.elapsed().as_nanos() as u64);
    }
    times.sort_unstable();
    println!("{} {}", times[times.len() / 2], times.len());
    Ok(())
}
