//! One session of serving: from the request to serve to the last report, steered over two descriptors.
//!
//! Model: whoever starts a session (`python/plimsoll/serving`) gives it the read end of one pipe and the write end of another. It
//! says `ready` or `error` once, `report` for every line `report` that it reads, and `end` when it is stopped: by the line
//! `stop`, or because the other end has closed, so that no server outlives its owner. Everything it says is one JSON
//! object per line.
//!
//! Limits: one array per session.
//!
//! ```no_run
//! use plimsoll_serve::Session;
//! let session = Session::start(r#"{"array": {}, "seed": 1, "data": {"kind": "derived"}, "mount": null, "orders_fd": 5, "words_fd": 6}"#);
//! if let Some(session) = session {
//!     session.obey();
//!     session.end();
//! }
//! ```

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use plimsoll_array::{Array, ArraySpec, DeviceSpec, Sourced};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::data::{self, Keeping};
use crate::error::ServeError;
use crate::lateness::Limits;
use crate::mount::Mounted;
use crate::nbd::Listeners;
use crate::priority::come_first;
use crate::{Server, locked};

/// What is to be served, and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    array: Value,
    seed: u64,
    data: Keeping,
    mount: Option<PathBuf>,
    /// Sockets that listen, for NBD.
    #[serde(default)]
    sockets: Vec<RawFd>,
    /// Requests of one of their connections that the array sees at once.
    #[serde(default = "usual_depth")]
    depth: usize,
    orders_fd: RawFd,
    words_fd: RawFd,
}

/// See the module.
#[derive(Debug)]
pub struct Session {
    server: Arc<Server>,
    fronts: Mutex<Fronts>,
    orders: Mutex<Option<File>>,
    words: Mutex<File>,
    ended: Mutex<bool>,
    /// Whether its threads come before those of other programs.
    first: bool,
}

impl Session {
    /// Starts what a request asks for and says `ready`; says `error` and gives nothing when it cannot.
    pub fn start(request: &str) -> Option<Self> {
        // Without a request there is no descriptor to complain to.
        let wanted: Wanted = serde_json::from_str(request).ok()?;
        // SAFETY: whoever wrote the request hands these descriptors over and does not use them again.
        let (orders, mut words) = unsafe { (File::from_raw_fd(wanted.orders_fd), File::from_raw_fd(wanted.words_fd)) };
        // Before the first thread is started, since each has what its maker had.
        let first = come_first();
        match serve(&wanted) {
            Ok((server, fronts)) => {
                say(&mut words, json!({ "kind": "ready", "size_bytes": server.size_bytes() }));
                let (fronts, words) = (Mutex::new(fronts), Mutex::new(words));
                Some(Self { server, fronts, orders: Mutex::new(Some(orders)), words, ended: Mutex::new(false), first })
            }
            Err(error) => {
                say(&mut words, json!({ "kind": "error", "text": error.to_string(), "input": error.is_input() }));
                None
            }
        }
    }

    /// The server, for the front.
    pub const fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Follows orders until one of them is to stop.
    pub fn obey(&self) {
        let Some(orders) = locked(&self.orders).take() else { return };
        for order in BufReader::new(orders).lines() {
            match order.as_deref() {
                Ok("report") => self.say_report("report"),
                _ => return,
            }
        }
    }

    /// Hangs up, unmounts, stops the clock and says `end` with the last report; a second call waits for the first.
    pub fn end(&self) {
        let mut ended = locked(&self.ended);
        if std::mem::replace(&mut *ended, true) {
            return;
        }
        let fronts = std::mem::take(&mut *locked(&self.fronts));
        if let Some(listeners) = fronts.listeners {
            listeners.stop();
        }
        if let Some(mounted) = fronts.mounted {
            mounted.unmount();
        }
        if let Err(error) = self.server.stop() {
            let text = format!("the data could not be made durable ({error})");
            say(&mut locked(&self.words), json!({ "kind": "error", "text": text }));
        }
        self.say_report("end");
    }

    fn say_report(&self, kind: &str) {
        let report = self.server.report().with_first(self.first).into_json();
        say(&mut locked(&self.words), json!({ "kind": kind, "report": report }));
    }
}

/// What brings requests.
#[derive(Debug, Default)]
struct Fronts {
    mounted: Option<Mounted>,
    listeners: Option<Listeners>,
}

const fn usual_depth() -> usize {
    64
}

fn serve(wanted: &Wanted) -> Result<(Arc<Server>, Fronts), ServeError> {
    // SAFETY: whoever wrote the request hands these descriptors over, as it does the others.
    let sockets: Vec<OwnedFd> = wanted.sockets.iter().map(|number| unsafe { OwnedFd::from_raw_fd(*number) }).collect();
    let Sourced { spec, .. } = ArraySpec::read(&wanted.array)?;
    spec.check_takes_time()?;
    let mut array = Array::new(&spec, wanted.seed)?;
    array.warm_all();
    let data = data::open(&wanted.data, array.sectors() * 512)?;
    let server = Arc::new(Server::start(spec.name.clone(), array, data, limits_of(&spec))?);
    let mounted = wanted.mount.as_deref().map(|at| Mounted::mount(&server, at)).transpose()?;
    let listeners =
        if sockets.is_empty() { None } else { Some(Listeners::start(&server, sockets, wanted.depth.max(1))?) };
    Ok((server, Fronts { mounted, listeners }))
}

fn limits_of(spec: &ArraySpec) -> Limits {
    let flash = spec.devices.iter().any(|set| matches!(set.model, DeviceSpec::Flash(_)));
    if flash { Limits::of_flash() } else { Limits::of_disks() }
}

/// One line; nobody may be there to read it any more.
fn say(words: &mut File, word: Value) {
    let _ = writeln!(words, "{word}");
}
