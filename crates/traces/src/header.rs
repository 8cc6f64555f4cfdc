//! What the header of a compact trace says, gathered request by request.

use plimsoll_workload::{Op, TraceRecord};
use serde::Serialize;

use crate::error::TraceError;
use crate::places::Places;
use crate::request::{Request, Targets};

/// Devices of a trace at most: a record has room for no more.
const MOST_DEVICES: usize = 65_536;

/// What is known of a trace once it was read; `plimsoll_workload::TraceHeader` reads it back.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // see there
pub struct Header {
    pub span_ns: u64,
    pub timed: bool,
    pub ops: [u64; 4],
    pub longest: [u64; 4],
    pub granule: u64,
    pub place_bytes: u64,
    pub devices: Vec<Device>,
    pub service: Service,
}

/// One device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Device {
    /// As the trace calls it.
    pub name: String,
    /// First byte after its last request.
    pub end_bytes: u64,
    /// How many requests it has.
    pub requests: u64,
}

/// Response times, where they were recorded.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Service {
    /// Requests whose completion was recorded.
    pub count: u64,
    /// Sum of their response times in nanoseconds; no trace has so many that it would not fit.
    pub sum_ns: u64,
}

/// The header under way.
#[derive(Debug)]
pub struct Gathered {
    /// The places that were touched.
    pub places: Places,
    devices: Vec<Device>,
    /// The device of a target, once it has one.
    numbers: Vec<Option<u16>>,
    ops: [u64; 4],
    longest: [u64; 4],
    granule: u64,
    timed: Option<bool>,
    first_ns: u64,
    last_ns: u64,
    service: Service,
}

impl Gathered {
    /// Nothing yet, but for the devices that come first.
    pub fn new(devices: u32, targets: &Targets) -> Result<Self, TraceError> {
        let mut gathered = Self {
            places: Places::new(),
            devices: Vec::new(),
            numbers: Vec::new(),
            ops: [0; 4],
            longest: [0; 4],
            granule: 0,
            timed: None,
            first_ns: 0,
            last_ns: 0,
            service: Service::default(),
        };
        for target in 0..devices {
            gathered.device(target, targets)?;
        }
        Ok(gathered)
    }

    /// The record of a request that is due at an instant.
    #[inline]
    pub fn record(&mut self, at_ns: u64, request: &Request, targets: &Targets) -> Result<TraceRecord, TraceError> {
        if self.timed.is_none() {
            self.timed = Some(request.at_ns.is_some());
            self.first_ns = at_ns;
        }
        let &Request { op, offset, length, target, service_ns, .. } = request;
        let device = self.device(target, targets)?;
        let known = &mut self.devices[usize::from(device)];
        known.requests += 1;
        self.ops[op as usize] += 1;
        self.longest[op as usize] = self.longest[op as usize].max(length);
        self.last_ns = at_ns;
        if length > 0 {
            self.granule = common_divisor(common_divisor(self.granule, offset), length);
            known.end_bytes = known.end_bytes.max(offset + length);
            if matches!(op, Op::Read | Op::Write) {
                self.places.touch(device, offset, length);
            }
        }
        if let Some(service_ns) = service_ns {
            self.service.count += 1;
            self.service.sum_ns = self.service.sum_ns.saturating_add(service_ns);
        }
        // What is longer than a record can say was split before.
        Ok(TraceRecord { due_ns: at_ns - self.first_ns, offset, len: length as u32, op, device })
    }

    /// The header.
    pub fn header(self) -> Header {
        Header {
            span_ns: self.last_ns - self.first_ns,
            timed: self.timed == Some(true),
            ops: self.ops,
            longest: self.longest,
            granule: self.granule,
            place_bytes: self.places.bytes(),
            devices: self.devices,
            service: self.service,
        }
    }

    #[inline]
    fn device(&mut self, target: u32, targets: &Targets) -> Result<u16, TraceError> {
        match self.numbers.get(target as usize) {
            Some(&Some(device)) => Ok(device),
            _ => self.admit(target, targets),
        }
    }

    #[cold]
    fn admit(&mut self, target: u32, targets: &Targets) -> Result<u16, TraceError> {
        let device = u16::try_from(self.devices.len()).map_err(|_| {
            TraceError::Choice(format!("the trace has more than {MOST_DEVICES} devices; choose some with --device."))
        })?;
        if self.numbers.len() <= target as usize {
            self.numbers.resize(target as usize + 1, None);
        }
        self.numbers[target as usize] = Some(device);
        self.devices.push(Device { name: targets.name(target).to_owned(), ..Device::default() });
        Ok(device)
    }
}

/// The greatest common divisor; of 0 and a number it is the number.
#[inline]
fn common_divisor(known: u64, number: u64) -> u64 {
    // Nearly always nothing changes; powers of two need no division.
    if known.is_power_of_two() && number & (known - 1) == 0 {
        return known;
    }
    let (mut larger, mut smaller) = (number, known);
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

#[cfg(test)]
mod tests {
    use super::common_divisor;

    #[test]
    fn the_divisor_of_zero_and_a_number_is_the_number() {
        let tried = [(0, 0, 0), (0, 12, 12), (12, 0, 12), (512, 4096, 512), (4096, 512, 512), (8, 12, 4), (7, 5, 1)];
        assert!(tried.iter().all(|&(known, number, divisor)| common_divisor(known, number) == divisor));
    }
}
