//! The array as a plugin of nbdkit, which speaks the NBD protocol for us.
//!
//! Why nbdkit: the crates of NBD servers were looked at. `tokio-nbd` 0.3 is GPL and has no structured replies; `nbd` 0.3 is
//! MIT/Apache, but answers one request before it reads the next, and knows neither `NBD_OPT_GO`, structured replies, FUA,
//! trim nor write-zeroes. nbdkit is BSD-3, kept up by the authors of libnbd, and has all of it: fixed newstyle, structured
//! replies, several connections, socket activation, many threads per connection. Its Rust binding (crate `nbdkit`,
//! BSD-2) comes from the same repository. The price is a program to install, `apt-get install nbdkit`.
//!
//! Model: nbdkit is started with `request=FILE` ([`plimsoll_serve::Session`] says what is in it). It calls a handle's
//! functions from as many threads as it was given, and each waits until the model answers; a depth of 64 needs 64 threads.
//! FUA is a write and a flush, which nbdkit puts together itself.
//!
//! Limits: of nbdkit 1.32: no block sizes are advertised by this binding, so odd offsets are served, rounded out to sectors.
//!
//! ```sh
//! nbdkit --foreground --threads 64 ./_nbdkit.so request=serve.json
//! ```

// The macro that exports the plugin documents nothing.
#![allow(missing_docs)]

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use nbdkit::{Error, Flags, FuaFlags, Result, plugin};
use plimsoll_serve::{Server, Session};

static REQUEST: Mutex<Option<String>> = Mutex::new(None);
static SESSION: OnceLock<Session> = OnceLock::new();
/// How long clients have to be answered and to hang up after the order to stop.
const GRACE: Duration = Duration::from_millis(300);

/// A connection; all of them share the session.
#[derive(Debug)]
struct Connection {
    server: &'static Server,
}

/// Ends the session, and the process with it; everything that was to be said has been said then.
fn leave(session: &Session) -> ! {
    session.end();
    // SAFETY: has no preconditions.
    unsafe { libc::_exit(0) }
}

fn refused(text: &str) -> Error {
    Error::new(libc::EINVAL, text.to_owned())
}

impl nbdkit::Server for Connection {
    fn name() -> &'static str {
        "plimsoll"
    }

    fn longname() -> Option<&'static str> {
        Some("modelled array of Plimsoll")
    }

    fn version() -> Option<&'static str> {
        Some(env!("CARGO_PKG_VERSION"))
    }

    fn config(key: &str, value: &str) -> Result<()> {
        if key != "request" {
            return Err(refused("the only parameter is request=FILE"));
        }
        let request = std::fs::read_to_string(value)?;
        *REQUEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        Ok(())
    }

    fn config_complete() -> Result<()> {
        match *REQUEST.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(_) => Ok(()),
            None => Err(refused("request=FILE is missing; 'plimsoll serve-array' writes it")),
        }
    }

    fn after_fork() -> Result<()> {
        let request = REQUEST.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let session = Session::start(&request).ok_or_else(|| refused("the array cannot be served"))?;
        let session = SESSION.get_or_init(|| session);
        std::thread::Builder::new().name("plimsoll-orders".into()).spawn(|| {
            session.obey();
            nbdkit::shutdown();
            // nbdkit waits for clients that are connected and silent; this does not.
            std::thread::sleep(GRACE);
            leave(session)
        })?;
        Ok(())
    }

    fn unload() {
        // The thread that follows orders still runs code of this library, which must not be unmapped.
        if let Some(session) = SESSION.get() {
            leave(session);
        }
    }

    fn open(_readonly: bool) -> Result<Box<dyn nbdkit::Server>> {
        let session = SESSION.get().ok_or_else(|| refused("the array is not served yet"))?;
        Ok(Box::new(Self { server: session.server() }))
    }

    fn get_size(&self) -> Result<i64> {
        i64::try_from(self.server.size_bytes()).map_err(|_| refused("the array is larger than NBD can say"))
    }

    fn is_rotational(&self) -> Result<bool> {
        Ok(self.server.is_rotational())
    }

    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fua(&self) -> Result<FuaFlags> {
        Ok(FuaFlags::Emulate)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        Ok(self.server.read(offset, buffer)?)
    }

    fn write_at(&self, bytes: &[u8], offset: u64, _flags: Flags) -> Result<()> {
        Ok(self.server.write(offset, bytes)?)
    }

    fn flush(&self) -> Result<()> {
        Ok(self.server.flush()?)
    }

    fn trim(&self, count: u32, offset: u64, _flags: Flags) -> Result<()> {
        Ok(self.server.trim(offset, u64::from(count))?)
    }

    fn zero(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        if flags.contains(Flags::MAY_TRIM) {
            return Ok(self.server.trim(offset, u64::from(count))?);
        }
        Ok(self.server.write_zeros(offset, u64::from(count))?)
    }
}

plugin!(Connection {
    config,
    config_complete,
    after_fork,
    unload,
    is_rotational,
    can_multi_conn,
    can_fua,
    write_at,
    flush,
    trim,
    zero
});
