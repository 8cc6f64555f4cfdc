//! Runs of writes: how far those go that follow each other.
//!
//! Model: a write that begins where one of the last runs ended goes on with it, and so does one that begins again where the
//! run began, as a log does that is written round and round; one that ends where another run begins joins the two, so that
//! writes of a stream may overtake each other. Any other write begins a run, for which the one that was used least recently
//! is given up. A run is expected to become as long as the one that was given up last, if it is not longer already; as
//! long as none was given up, every run may go on for ever.
//!
//! Limits: of more streams than [`RUNS`] at once none is seen; what was written before the streams of now is forgotten.

/// Runs that are remembered (assumed: as many streams as a drive may be expected to tell apart).
const RUNS: usize = 16;

/// Sectors written one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: u64,
    end: u64,
    /// Written, more than once where it went round.
    sectors: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// The first `count`, from the most to the least recently used.
    runs: [Run; RUNS],
    count: usize,
    /// Length of the run that was given up last.
    given_up_sectors: Option<u64>,
}

impl Runs {
    /// Takes notice of a write; gives the sectors that its run is expected to have.
    pub(crate) fn write(&mut self, lba: u64, sectors: u64) -> u64 {
        let end = lba + sectors;
        let found = self.place(|run| run.end == lba).or_else(|| self.place(|run| run.start == lba));
        let mut run = match found {
            Some(place) => self.take(place),
            None => Run { start: lba, end, sectors: 0 },
        };
        (run.end, run.sectors) = (end, run.sectors + sectors);
        if let Some(place) = self.place(|other| other.start == end) {
            let other = self.take(place);
            (run.end, run.sectors) = (other.end, run.sectors + other.sectors);
        }
        self.put(run);
        run.sectors.max(self.given_up_sectors.unwrap_or(u64::MAX))
    }

    fn place(&self, is_wanted: impl FnMut(&Run) -> bool) -> Option<usize> {
        self.runs[..self.count].iter().position(is_wanted)
    }

    fn take(&mut self, place: usize) -> Run {
        let run = self.runs[place];
        self.runs.copy_within(place + 1..self.count, place);
        self.count -= 1;
        run
    }

    fn put(&mut self, run: Run) {
        if self.count == RUNS {
            self.given_up_sectors = Some(self.take(RUNS - 1).sectors);
        }
        self.runs.copy_within(..self.count, 1);
        self.runs[0] = run;
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is expected of the last of some writes of 8 sectors.
    fn last(lbas: impl IntoIterator<Item = u64>) -> u64 {
        let mut runs = Runs::default();
        lbas.into_iter().fold(0, |_, lba| runs.write(lba, 8))
    }

    #[test]
    fn scattered_writes_are_runs_of_one() {
        assert_eq!(last((0..RUNS as u64 + 1).map(|number| number * 100)), 8);
    }

    #[test]
    fn a_stream_among_scattered_writes_keeps_its_length() {
        let lbas = (0..100).flat_map(|number| [number * 8, 1_000_000 + number * 1_000]);
        assert_eq!(last(lbas.chain([800])), 808);
    }

    #[test]
    fn as_long_as_no_run_was_given_up_every_one_may_go_on_for_ever() {
        assert_eq!(last((0..100).map(|number| number * 8)), u64::MAX);
    }

    #[test]
    fn writes_of_a_stream_may_overtake_each_other() {
        let overtaken = (0..100).map(|pair| pair * 16).flat_map(|lba| [lba + 8, lba]);
        let scattered = (0..=RUNS as u64).map(|number| 1_000_000 + number * 100);
        assert_eq!(last(scattered.chain(overtaken)), 1_600);
    }

    #[test]
    fn a_log_written_round_and_round_is_one_run() {
        let scattered = (0..=RUNS as u64).map(|number| 1_000_000 + number * 100);
        assert_eq!(last(scattered.chain((0..300).map(|number| number % 10 * 8))), 2_400);
    }
}
