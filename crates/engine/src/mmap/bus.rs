//! SIGBUS inside registered mappings: answered with an empty page and counted, instead of ending the process.
//!
//! Model: mappings are registered in a list that only grows (freed entries are used again), so the signal handler can
//! walk it without locks. A fault inside a registered region gets an anonymous page mapped over it, which lets the
//! interrupted copy go on; the region's counter tells its owner afterwards. Faults elsewhere go to whoever handled
//! SIGBUS before.
//!
//! Limits: each region is used by one thread at a time, so its counter is that thread's. A handler that somebody
//! installs later and that does not pass on what it does not know disables this one.

use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, compiler_fence};

/// A registered range of addresses.
#[derive(Debug)]
pub(super) struct Region {
    /// First address; 0 = free, [`CLAIMED`] = being filled in.
    start: AtomicUsize,
    end: AtomicUsize,
    faults: AtomicU64,
    next: *const Region,
}

// SAFETY: `next` is written before the region is published and never again; the rest is atomic.
unsafe impl Sync for Region {}
// SAFETY: as above.
unsafe impl Send for Region {}

const FREE: usize = 0;
const CLAIMED: usize = usize::MAX;

static REGIONS: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);
/// Outcome of the one installation: the handler before, or an errno.
static PREVIOUS: OnceLock<Result<libc::sigaction, i32>> = OnceLock::new();

/// Size of a page.
pub(super) fn page_bytes() -> usize {
    PAGE_BYTES.load(Ordering::Relaxed)
}

impl Region {
    /// Registers `len` bytes from `start` on until [`Region::release`].
    pub(super) fn register(start: usize, len: usize) -> &'static Self {
        let region = Self::reuse().unwrap_or_else(Self::publish);
        region.end.store(start + len, Ordering::Relaxed);
        region.start.store(start, Ordering::Release);
        region
    }

    /// A free entry, claimed.
    fn reuse() -> Option<&'static Self> {
        regions()
            .find(|region| region.start.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok())
    }

    /// A new entry, claimed, at the head of the list.
    fn publish() -> &'static Self {
        let (start, end) = (AtomicUsize::new(CLAIMED), AtomicUsize::new(0));
        let region = Box::leak(Box::new(Self { start, end, faults: AtomicU64::new(0), next: ptr::null() }));
        let mut head = REGIONS.load(Ordering::Acquire);
        loop {
            region.next = head;
            match REGIONS.compare_exchange(head, region, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return region,
                Err(newer) => head = newer,
            }
        }
    }

    /// Frees the entry. The range must not be used any more.
    pub(super) fn release(&self) {
        self.start.store(FREE, Ordering::Release);
    }

    /// Faults answered so far. Reads of memory before and after it stay where they are.
    pub(super) fn faults(&self) -> u64 {
        compiler_fence(Ordering::SeqCst);
        let faults = self.faults.load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        faults
    }

    fn contains(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != FREE && start != CLAIMED && (start..self.end.load(Ordering::Relaxed)).contains(&address)
    }
}

/// Every entry, newest first.
fn regions() -> impl Iterator<Item = &'static Region> {
    let mut next = REGIONS.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: entries are leaked, so the pointer is null or valid for ever.
        let region = unsafe { next.as_ref() }?;
        next = region.next;
        Some(region)
    })
}

/// Installs the handler; only the first call does.
pub(super) fn install() -> io::Result<()> {
    let outcome = PREVIOUS.get_or_init(|| {
        // SAFETY: sysconf takes a constant; the structures are plain data; the handler only does what signal handlers
        // may.
        unsafe {
            PAGE_BYTES.store(libc::sysconf(libc::_SC_PAGESIZE) as usize, Ordering::Relaxed);
            let mut action: libc::sigaction = mem::zeroed();
            let mut previous: libc::sigaction = mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            match libc::sigaction(libc::SIGBUS, &raw const action, &raw mut previous) {
                0 => Ok(previous),
                _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
            }
        }
    });
    outcome.map(drop).map_err(io::Error::from_raw_os_error)
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid siginfo; errno of the interrupted thread is put back.
    unsafe {
        let errno = *libc::__errno_location();
        let address = (*info).si_addr() as usize;
        match regions().find(|region| region.contains(address)) {
            Some(region) if answer(address) => {
                region.faults.fetch_add(1, Ordering::Relaxed);
            }
            _ => pass_on(signal, info, context),
        }
        *libc::__errno_location() = errno;
    }
}

/// Maps an empty page over the one that holds `address`.
///
/// # Safety
/// The page must belong to a registered region.
unsafe fn answer(address: usize) -> bool {
    let page = page_bytes();
    let place = (address - address % page) as *mut libc::c_void;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: replaces one page of a region whose owner expects that.
    unsafe { libc::mmap(place, page, protection, flags, -1, 0) != libc::MAP_FAILED }
}

/// Lets the handler before this one deal with a signal; without one, the next fault ends the process as usual.
///
/// # Safety
/// Only from the signal handler, with its arguments.
unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let previous = PREVIOUS.get().and_then(|outcome| outcome.as_ref().ok());
    // SAFETY: the previous handler's address was given to the kernel with the flags that tell its type.
    unsafe {
        match previous {
            Some(action) if action.sa_sigaction > libc::SIG_IGN => {
                if action.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                        mem::transmute(action.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(libc::c_int) = mem::transmute(action.sa_sigaction);
                    handler(signal);
                }
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}
