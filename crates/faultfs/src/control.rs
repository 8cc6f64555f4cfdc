//! The socket by which a test commands the faults of a mount: a line of JSON asks, a line of JSON answers.
//!
//! | asked | answered |
//! |---|---|
//! | `{"do": "arm", "rule": {…}}` | `{"rule": 1}`; the keys of a rule are in `rule.rs` |
//! | `{"do": "disarm", "rule": 1}` | `{}`; without `rule` all of them |
//! | `{"do": "release"}` | `{"released": 3}`: what hung is carried out |
//! | `{"do": "log", "after": 0}` | `{"entries": […], "count": 7}`: what was injected, as in `log.rs` |
//! | `{"do": "status"}` | `{"hung": 0, "pending_bytes": 0, "dark": false, "at_ms": 12}` |
//! | `{"do": "volatile", "room_bytes": 67108864}` | `{}`; with 0 everything becomes durable and stays so |
//! | `{"do": "cut", "cut": {"keep": 0.5, "tear": 0.1, "tear_bytes": 512, "seed": 7}, "dark": true}` | `{"losses": […]}` |
//! | `{"do": "light"}` | `{}`: power is back |
//!
//! What cannot be done is answered with `{"error": "…"}`.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::later::Later;
use crate::rule::Rule;
use crate::volatile::Cut;

/// What a test asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Command {
    Arm {
        rule: Rule,
    },
    Disarm {
        rule: Option<u64>,
    },
    Release,
    Log {
        after: u64,
    },
    Status,
    Volatile {
        room_bytes: u64,
    },
    Cut {
        #[serde(default)]
        cut: Cut,
        #[serde(default)]
        dark: bool,
    },
    Light,
}

/// Answers commands on a socket until the process ends.
///
/// # Errors
/// When the socket cannot be made.
pub fn listen(at: &Path, disk: &Arc<Disk>, later: &Later) -> io::Result<()> {
    let listener = UnixListener::bind(at)?;
    let (disk, later) = (Arc::clone(disk), later.clone());
    std::thread::Builder::new().name("control".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let (disk, later) = (Arc::clone(&disk), later.clone());
            // A client that goes away ends its own thread only.
            let _ = std::thread::Builder::new().name("client".into()).spawn(move || converse(&stream, &disk, &later));
        }
    })?;
    Ok(())
}

fn converse(stream: &UnixStream, disk: &Disk, later: &Later) -> io::Result<()> {
    let mut to = stream;
    for line in BufReader::new(stream).lines() {
        let answer = obey(&line?, disk, later).unwrap_or_else(|problem| json!({ "error": problem }));
        to.write_all(format!("{answer}\n").as_bytes())?;
    }
    Ok(())
}

fn obey(line: &str, disk: &Disk, later: &Later) -> Result<Value, String> {
    let failed = |error: io::Error| error.to_string();
    let command: Command = serde_json::from_str(line).map_err(|error| error.to_string())?;
    Ok(match command {
        Command::Arm { rule } => json!({ "rule": disk.faults.arm(rule)? }),
        Command::Disarm { rule } => {
            disk.faults.disarm(rule);
            json!({})
        }
        Command::Release => json!({ "released": later.release() }),
        Command::Log { after } => {
            let (entries, count) = disk.faults.log.since(after);
            json!({ "entries": entries, "count": count })
        }
        Command::Status => json!({
            "hung": later.hung(),
            "pending_bytes": disk.pending_bytes(),
            "dark": disk.faults.is_dark(),
            "at_ms": disk.faults.now_ms(),
        }),
        Command::Volatile { room_bytes } => {
            disk.set_volatile(room_bytes).map_err(failed)?;
            json!({})
        }
        Command::Cut { cut, dark } => json!({ "losses": disk.cut(&cut, dark).map_err(failed)? }),
        Command::Light => {
            disk.faults.set_dark(false);
            json!({})
        }
    })
}
