//! The requests to one open file: where they go, and when there are no more.

use crate::files::stop::StopAfter;
use crate::files::stream::FileAccess;

/// The stay of a thread in one open file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    access: FileAccess,
    size_bytes: u64,
    at: u64,
    left: StopAfter,
}

impl Passage {
    /// A stay in a file of this size.
    pub const fn new(access: FileAccess, stop: StopAfter, size_bytes: u64) -> Self {
        Self { access, size_bytes, at: 0, left: stop }
    }

    /// The next request, `len` bytes long or as long as the file allows; `None` when it is time to leave.
    pub fn next(&mut self, len: u32, place: impl FnOnce(u64) -> u64) -> Option<(u64, u32)> {
        let rest = match self.access {
            FileAccess::Sequential => self.size_bytes - self.at,
            FileAccess::Random => self.size_bytes,
        };
        let len = u64::from(len).min(rest);
        if len == 0 || matches!(self.left, StopAfter::Requests(0) | StopAfter::Bytes(0)) {
            return None;
        }
        let offset = match self.access {
            FileAccess::Sequential => self.at,
            FileAccess::Random => place(self.size_bytes / len) * len,
        };
        self.at += len;
        self.left = match self.left {
            StopAfter::End => StopAfter::End,
            StopAfter::Requests(requests) => StopAfter::Requests(requests - 1),
            StopAfter::Bytes(bytes) => StopAfter::Bytes(bytes.saturating_sub(len)),
        };
        // Both lengths come from a request of 32 bits.
        Some((offset, len as u32))
    }

    /// Whether a sequential stay has reached the file's end.
    pub const fn is_through(&self) -> bool {
        matches!(self.access, FileAccess::Sequential) && self.at >= self.size_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut passage: Passage, len: u32) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| passage.next(len, |places| places - 1)).collect()
    }

    #[test]
    fn sequential_requests_cover_a_file_without_gap_up_to_its_last_byte() {
        let passage = Passage::new(FileAccess::Sequential, StopAfter::End, 10_000);
        assert_eq!(all(passage, 4096), [(0, 4096), (4096, 4096), (8192, 1808)]);
    }

    #[test]
    fn a_stay_ends_after_its_requests_or_its_bytes() {
        let stay = |access, stop| all(Passage::new(access, stop, 1 << 20), 4096);
        assert_eq!(stay(FileAccess::Sequential, StopAfter::Requests(2)), [(0, 4096), (4096, 4096)]);
        assert_eq!(stay(FileAccess::Random, StopAfter::Requests(3)), [(1_044_480, 4096); 3]);
        assert_eq!(stay(FileAccess::Random, StopAfter::Bytes(5000)).len(), 2);
    }

    #[test]
    fn a_file_smaller_than_a_request_is_taken_whole_and_an_empty_one_not_at_all() {
        assert_eq!(all(Passage::new(FileAccess::Random, StopAfter::Requests(1), 100), 4096), [(0, 100)]);
        assert!(all(Passage::new(FileAccess::Random, StopAfter::Requests(1), 0), 4096).is_empty());
        assert!(all(Passage::new(FileAccess::Sequential, StopAfter::End, 0), 4096).is_empty());
    }
}
