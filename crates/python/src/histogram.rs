//! `Histogram`: latencies in nanoseconds, read from and written as HDR V2 text.
//!
//! Model: while values are added it has a count for every bucket there could be, 270 KiB; once folded only those of the
//! buckets that have one, some KiB. What it answers is the same. A folded one that is added to is unfolded for good.

use plimsoll_engine::buckets::Buckets;
use plimsoll_engine::histogram::{self, Histogram as Dense};
use pyo3::prelude::*;

use crate::errors;

/// A latency histogram in nanoseconds.
#[pyclass(module = "plimsoll._core")]
pub struct Histogram(Form);

enum Form {
    Dense(Dense),
    Folded(Buckets),
}

impl Form {
    fn dense(&mut self) -> &mut Dense {
        if let Self::Folded(buckets) = self {
            let mut dense = histogram::empty();
            add(&mut dense, buckets);
            *self = Self::Dense(dense);
        }
        match self {
            Self::Dense(dense) => dense,
            Self::Folded(_) => unreachable!("it was unfolded above"),
        }
    }

    fn folded(&self) -> Buckets {
        match self {
            Self::Dense(dense) => dense.into(),
            Self::Folded(buckets) => buckets.clone(),
        }
    }
}

fn add(dense: &mut Dense, buckets: &Buckets) {
    for &(value_ns, count) in buckets.as_slice() {
        dense.saturating_record_n(value_ns, count);
    }
}

impl Histogram {
    /// One that was counted in Rust.
    pub fn of(dense: Dense) -> Self {
        Self(Form::Dense(dense))
    }
}

#[pymethods]
impl Histogram {
    /// An empty one.
    #[new]
    fn new() -> Self {
        Self(Form::Dense(histogram::empty()))
    }

    /// One of these values, folded.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // what a function of Python takes
    fn of_values(values_ns: Vec<u64>) -> Self {
        Self(Form::Folded(Buckets::of(&values_ns)))
    }

    /// Reads HDR V2 text; it is folded.
    #[staticmethod]
    fn decode(py: Python<'_>, encoded: &str) -> PyResult<Self> {
        Buckets::read(encoded).map(|read| Self(Form::Folded(read))).map_err(|sentence| errors::input(py, sentence))
    }

    /// HDR V2, deflated, base64.
    fn encode(&self) -> String {
        match &self.0 {
            Form::Dense(dense) => histogram::encode(dense),
            Form::Folded(buckets) => buckets.encode(),
        }
    }

    /// Adds another's counts; nothing is lost.
    fn add(&mut self, other: &Self) {
        let dense = self.0.dense();
        match &other.0 {
            Form::Dense(other) => dense.add(other),
            Form::Folded(buckets) => add(dense, buckets),
        }
    }

    /// Counts one value.
    fn record(&mut self, value_ns: u64) {
        self.0.dense().saturating_record(value_ns);
    }

    /// Counts one value so many times.
    fn record_many(&mut self, value_ns: u64, count: u64) {
        self.0.dense().saturating_record_n(value_ns, count);
    }

    /// Counts values given as text, `VALUE*COUNT` and blanks between; what is none of these is left out.
    fn record_text(&mut self, counted: &str) {
        let dense = self.0.dense();
        for one in counted.split(' ') {
            if let Some((value_ns, count)) = one.split_once('*')
                && let (Ok(value_ns), Ok(count)) = (value_ns.parse(), count.parse())
            {
                dense.saturating_record_n(value_ns, count);
            }
        }
    }

    /// Takes as little memory as it can until it is added to again.
    fn fold(&mut self) {
        if let Form::Dense(dense) = &self.0 {
            self.0 = Form::Folded(dense.into());
        }
    }

    /// Bytes it takes, for `sys.getsizeof`.
    fn __sizeof__(&self) -> usize {
        let counts = match &self.0 {
            Form::Dense(dense) => dense.distinct_values() * size_of::<u64>(),
            Form::Folded(buckets) => size_of_val::<[_]>(buckets.as_slice()),
        };
        size_of::<Self>() + counts
    }

    #[getter]
    fn count(&self) -> u64 {
        match &self.0 {
            Form::Dense(dense) => dense.len(),
            Form::Folded(buckets) => buckets.count(),
        }
    }

    #[getter]
    fn mean(&self) -> f64 {
        match &self.0 {
            Form::Dense(dense) => dense.mean(),
            Form::Folded(buckets) => buckets.mean_and_stdev().0,
        }
    }

    #[getter]
    fn max(&self) -> u64 {
        match &self.0 {
            Form::Dense(dense) => dense.max(),
            Form::Folded(buckets) => buckets.ends().1,
        }
    }

    #[getter]
    fn min(&self) -> u64 {
        match &self.0 {
            Form::Dense(dense) => dense.min(),
            Form::Folded(buckets) => buckets.ends().0,
        }
    }

    #[getter]
    fn stddev(&self) -> f64 {
        match &self.0 {
            Form::Dense(dense) => dense.stdev(),
            Form::Folded(buckets) => buckets.mean_and_stdev().1,
        }
    }

    /// The value below which `percent` of the counts lie.
    fn percentile(&self, percent: f64) -> u64 {
        match &self.0 {
            Form::Dense(dense) => dense.value_at_quantile(percent / 100.0),
            Form::Folded(buckets) => buckets.value_at_quantile(percent / 100.0),
        }
    }

    /// How many of the counts lie in buckets whose values are all at most `value_ns`.
    fn at_most(&self, value_ns: u64) -> u64 {
        match &self.0 {
            Form::Dense(dense) => dense.at_most(value_ns),
            Form::Folded(buckets) => buckets.at_most(value_ns),
        }
    }

    /// (highest value of the bucket in ns, count) of every bucket that has one, ascending.
    fn buckets(&self) -> Vec<(u64, u64)> {
        self.0.folded().into_vec()
    }
}
