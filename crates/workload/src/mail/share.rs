//! Which of a load's users one of several hosts acts for.
//!
//! Model: the threads of all hosts divide the users of each group among them as those of one host would, and host `number` of `count` has
//! every `count`-th of these threads. So each user is acted for once, hosts have equally many users of a group but for one, and what is
//! due when, and for whom, is what one host with as many threads would draw from the same seed.
//!
//! Limits: a group of fewer users than there are hosts leaves some of them without a thread of it.

use crate::mail::plan::MailPlan;

/// Host `number` of `count`, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailShare {
    /// Which host it is.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

/// A thread of one host: it acts for the users of a shard of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailSeat {
    /// The group, by position.
    pub stream: usize,
    /// The shard of that group, among those of all hosts.
    pub shard: u32,
    /// Its number, which no other thread of any host has; the host's own is the remainder by the number of hosts.
    pub number: u64,
}

impl MailShare {
    /// A host that is alone.
    pub const ALONE: Self = Self { number: 0, count: 1 };

    /// The load with the threads of all hosts, which have as many each as `plan` gives one.
    pub fn spread(self, plan: MailPlan) -> MailPlan {
        let mut plan = plan;
        for stream in &mut plan.streams {
            stream.threads = stream.threads.saturating_mul(self.count).min(stream.users);
        }
        plan
    }

    /// The threads of this host, of a load that was [spread](Self::spread).
    pub fn seats(self, plan: &MailPlan) -> Vec<MailSeat> {
        let own = plan.streams.iter().enumerate().flat_map(|(stream, group)| {
            (self.number..group.threads).step_by(self.count as usize).map(move |shard| (stream, shard))
        });
        let numbered = own.zip(0u64..);
        numbered
            .map(|((stream, shard), place)| {
                let number = place * u64::from(self.count) + u64::from(self.number);
                MailSeat { stream, shard, number }
            })
            .collect()
    }
}

/// The users that these threads act for.
pub fn users_at(plan: &MailPlan, seats: &[MailSeat]) -> u32 {
    seats.iter().map(|seat| plan.streams[seat.stream].users_of(seat.shard)).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::mail::{MailWorkload, Workday};

    fn plan(groups: &[(u32, u32)]) -> MailPlan {
        let streams: Vec<_> = groups
            .iter()
            .map(|(users, threads)| json!({ "users": users, "threads": threads, "tasks": { "read": 80, "send": 15 } }))
            .collect();
        MailWorkload::from_json(&json!({ "driver": "mail", "stream": streams }), "w.toml").unwrap().resolve(7).unwrap()
    }

    fn users(plan: &MailPlan, seat: &MailSeat) -> Vec<u32> {
        let group = &plan.streams[seat.stream];
        (0..group.users_of(seat.shard)).map(|place| group.first_user + seat.shard + place * group.threads).collect()
    }

    #[test]
    fn every_user_is_one_host_s_and_hosts_have_as_many_but_for_one() {
        for count in 1..=7 {
            let spread = MailShare { number: 0, count }.spread(plan(&[(100, 3), (11, 2), (2, 4)]));
            let (mut all, mut numbers, mut sums) = (Vec::new(), Vec::new(), vec![Vec::new(); 3]);
            for number in 0..count {
                let seats = MailShare { number, count }.seats(&spread);
                let own: Vec<u32> = seats.iter().flat_map(|seat| users(&spread, seat)).collect();
                assert_eq!(own.len() as u32, users_at(&spread, &seats));
                assert!(seats.iter().all(|seat| seat.number % u64::from(count) == u64::from(number)));
                for (stream, sums) in sums.iter_mut().enumerate() {
                    sums.push(
                        seats.iter().filter(|seat| seat.stream == stream).flat_map(|seat| users(&spread, seat)).count(),
                    );
                }
                all.extend(own);
                numbers.extend(seats.iter().map(|seat| seat.number));
            }
            all.sort_unstable();
            assert_eq!(all, (0..113).collect::<Vec<_>>(), "{count} hosts");
            assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len(), "{count} hosts");
            assert!(sums.iter().all(|sums| sums.iter().max().unwrap() - sums.iter().min().unwrap() <= 1), "{sums:?}");
        }
    }

    #[test]
    fn what_hosts_do_together_is_what_one_host_with_as_many_threads_would() {
        let day = |plan: &MailPlan, seats: &[MailSeat]| -> Vec<(u64, u32, u64)> {
            let due = seats.iter().flat_map(|seat| {
                let mut day = Workday::new(&plan.streams[seat.stream], seat.shard);
                (0..50).map(move |_| day.next()).map(|due| (due.due_ns, due.user, due.draw))
            });
            let mut due: Vec<_> = due.collect();
            due.sort_unstable();
            due
        };
        let alone = plan(&[(30, 6)]);
        let spread = MailShare { number: 0, count: 3 }.spread(plan(&[(30, 2)]));
        let seats: Vec<MailSeat> = (0..3).flat_map(|number| MailShare { number, count: 3 }.seats(&spread)).collect();
        assert_eq!(day(&spread, &seats), day(&alone, &MailShare::ALONE.seats(&alone)));
    }

    #[test]
    fn a_host_beyond_the_last_user_has_no_thread() {
        let spread = MailShare { number: 0, count: 3 }.spread(plan(&[(2, 1)]));
        assert_eq!(MailShare { number: 2, count: 3 }.seats(&spread), []);
    }
}
