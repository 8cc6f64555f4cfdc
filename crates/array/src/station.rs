//! A station: equal servers that work first come, first served, with an account of what they did.
//!
//! Model: only the instant at which each server is free again is kept, so a visit costs one comparison and no event: it
//! ends at `max(arrival, free) + service`.
//!
//! Limits: visits are given in order of arrival; nothing overtakes.
//!
//! ```
//! use plimsoll_array::station::Station;
//! let mut station = Station::new(1);
//! assert_eq!(station.visit(0, 10), 10);
//! assert_eq!(station.visit(4, 10), 20); // waits for 6
//! assert_eq!(station.account.busy_ns, 20);
//! ```

/// What a component did since the array was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Sum of service times over all servers.
    pub busy_ns: u64,
    /// Sum of the times that visitors spent there, waiting included.
    pub resident_ns: u64,
    /// Visits.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Station {
    free_ns: Vec<u64>,
    /// What it did.
    pub account: Account,
}

impl Station {
    /// A station of `servers` (at least one), free from the beginning.
    pub fn new(servers: u32) -> Self {
        Self { free_ns: vec![0; servers.max(1) as usize], account: Account::default() }
    }

    /// A visit that arrives at `now_ns` and needs `service_ns`; when it ends.
    #[inline]
    pub fn visit(&mut self, now_ns: u64, service_ns: u64) -> u64 {
        let end_ns = self.work(now_ns, service_ns);
        self.account.operations += 1;
        self.account.resident_ns += end_ns - now_ns;
        end_ns
    }

    /// Work for which nobody waits, but which delays those that come after; when it ends.
    #[inline]
    pub fn work(&mut self, now_ns: u64, service_ns: u64) -> u64 {
        let mut place = 0;
        for (server, free_ns) in self.free_ns.iter().enumerate().skip(1) {
            if *free_ns < self.free_ns[place] {
                place = server;
            }
        }
        let end_ns = self.free_ns[place].max(now_ns) + service_ns;
        self.free_ns[place] = end_ns;
        self.account.busy_ns += service_ns;
        end_ns
    }

    /// Servers.
    pub const fn servers(&self) -> usize {
        self.free_ns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_servers_take_what_comes_until_all_are_busy() {
        let mut station = Station::new(2);
        assert_eq!((station.visit(0, 10), station.visit(0, 10), station.visit(0, 10)), (10, 10, 20));
        assert_eq!(station.visit(50, 5), 55);
        let account = Account { busy_ns: 35, resident_ns: 45, operations: 4, bytes: 0 };
        assert_eq!(station.account, account);
    }

    #[test]
    fn background_work_delays_others_but_is_no_visit() {
        let mut station = Station::new(1);
        station.work(0, 7);
        assert_eq!(station.visit(0, 1), 8);
        assert_eq!(station.account.operations, 1);
    }
}
