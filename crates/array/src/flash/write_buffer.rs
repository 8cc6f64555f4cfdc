//! Written data that wait for the dies.
//!
//! Model: so many bytes; those of a row are free again when it has been programmed, rows in the order in which they
//! were filled. A write that finds no room waits for the oldest row.

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct WriteBuffer {
    capacity_bytes: u64,
    used_bytes: u64,
    rows: VecDeque<(u64, u64)>,
    last_end_ns: u64,
    /// Nobody finds room before those who came earlier.
    room_ns: u64,
}

impl WriteBuffer {
    pub(crate) const fn new(capacity_bytes: u64) -> Self {
        Self { capacity_bytes, used_bytes: 0, rows: VecDeque::new(), last_end_ns: 0, room_ns: 0 }
    }

    /// Takes bytes in; returns when there is room for them.
    pub(crate) fn take(&mut self, bytes: u64, now_ns: u64) -> u64 {
        let mut room_ns = now_ns.max(self.room_ns);
        while let Some(&(end_ns, row_bytes)) = self.rows.front() {
            if end_ns > now_ns && self.used_bytes + bytes <= self.capacity_bytes {
                break;
            }
            room_ns = room_ns.max(end_ns);
            self.used_bytes -= row_bytes;
            self.rows.pop_front();
        }
        self.used_bytes += bytes;
        self.room_ns = room_ns;
        room_ns
    }

    /// A row whose bytes were taken in is being programmed until an instant.
    pub(crate) fn release(&mut self, bytes: u64, end_ns: u64) {
        self.last_end_ns = self.last_end_ns.max(end_ns);
        self.rows.push_back((self.last_end_ns, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_waits_for_its_oldest_row() {
        let mut buffer = WriteBuffer::new(100);
        assert_eq!(buffer.take(60, 0), 0);
        buffer.release(60, 500);
        assert_eq!(buffer.take(40, 10), 10);
        buffer.release(40, 700);
        assert_eq!(buffer.take(50, 20), 500);
        assert_eq!(buffer.take(50, 30), 700);
        assert_eq!(buffer.take(0, 900), 900);
    }
}
