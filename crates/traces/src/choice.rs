//! What of a trace is wanted: some devices, the first requests, the first seconds.

use crate::error::TraceError;
use crate::request::{Request, Source};

/// Devices named in the sentence when none of those asked for occurs.
const NAMED: usize = 8;

/// What is taken of a trace; the default is all of it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The trace as people call it, for sentences.
    pub name: String,
    /// Devices in the order of their parts; none: all.
    pub devices: Vec<String>,
    /// So many requests at most.
    pub requests: Option<u64>,
    /// Requests until so long after the first.
    pub until_ns: Option<u64>,
}

/// Chooses requests, one after the other.
#[derive(Debug)]
pub struct Choosing<'wanted> {
    wanted: &'wanted Wanted,
    /// Targets with smaller numbers are wanted; 0: all are.
    devices: u32,
    taken: u64,
    first_ns: Option<u64>,
    ended: bool,
    others: Vec<u32>,
}

impl<'wanted> Choosing<'wanted> {
    /// Before the first request: the wanted devices become the first targets.
    pub fn new(wanted: &'wanted Wanted, source: &mut impl Source) -> Result<Self, TraceError> {
        for device in &wanted.devices {
            source.targets().number(device)?;
        }
        let devices = u32::try_from(source.targets().len()).unwrap_or(u32::MAX);
        Ok(Self { wanted, devices, taken: 0, first_ns: None, ended: false, others: Vec::new() })
    }

    /// How many devices were named.
    pub fn devices(&self) -> u32 {
        self.devices
    }

    /// The next request that is wanted; once there is none, nothing more is read.
    #[inline]
    pub fn next(&mut self, source: &mut impl Source) -> Result<Option<Request>, TraceError> {
        while !self.ended {
            let Some(request) = source.request()? else { break };
            if self.devices > 0 && request.target >= self.devices {
                self.pass_over(request.target);
                continue;
            }
            if self.is_too_late(&request)? {
                break;
            }
            self.taken += 1;
            self.ended = self.wanted.requests == Some(self.taken);
            return Ok(Some(request));
        }
        self.ended = true;
        Ok(None)
    }

    /// The names of some devices that were passed over.
    pub fn others(&self, source: &mut impl Source) -> Vec<String> {
        self.others.iter().map(|&target| source.targets().name(target).to_owned()).collect()
    }

    #[inline]
    fn is_too_late(&mut self, request: &Request) -> Result<bool, TraceError> {
        let Some(until_ns) = self.wanted.until_ns else { return Ok(false) };
        let at_ns = request.at_ns.ok_or_else(|| self.untimed())?;
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        Ok(at_ns.saturating_sub(first_ns) > until_ns)
    }

    fn pass_over(&mut self, target: u32) {
        if self.others.len() < NAMED && !self.others.contains(&target) {
            self.others.push(target);
        }
    }

    #[cold]
    fn untimed(&self) -> TraceError {
        let name = &self.wanted.name;
        TraceError::Choice(format!(
            "{name}: the trace has no times, so no time limits it; write --limit with a number of requests."
        ))
    }
}
