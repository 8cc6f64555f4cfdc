//! `Histogram`: latencies in nanoseconds, read from and written as HDR V2 text.

use plimsoll_engine::histogram;
use pyo3::prelude::*;

use crate::errors;

/// A latency histogram in nanoseconds.
#[pyclass(module = "plimsoll._core")]
pub struct Histogram(histogram::Histogram);

#[pymethods]
impl Histogram {
    /// An empty one.
    #[new]
    fn new() -> Self {
        Self(histogram::empty())
    }

    /// Reads HDR V2 text.
    #[staticmethod]
    fn decode(py: Python<'_>, encoded: &str) -> PyResult<Self> {
        histogram::decode(encoded).map(Self).map_err(|sentence| errors::input(py, sentence))
    }

    /// HDR V2, deflated, base64.
    fn encode(&self) -> String {
        histogram::encode(&self.0)
    }

    /// Adds another's counts; nothing is lost.
    fn add(&mut self, other: &Self) {
        // All histograms have one shape, so this cannot fail.
        let _ = self.0.add(&other.0);
    }

    /// Counts one value.
    fn record(&mut self, value_ns: u64) {
        self.0.saturating_record(value_ns);
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.len()
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    #[getter]
    fn max(&self) -> u64 {
        self.0.max()
    }

    #[getter]
    fn min(&self) -> u64 {
        self.0.min()
    }

    #[getter]
    fn stddev(&self) -> f64 {
        self.0.stdev()
    }

    /// The value below which `percent` of the counts lie.
    fn percentile(&self, percent: f64) -> u64 {
        self.0.value_at_quantile(percent / 100.0)
    }

    /// (highest value of the bucket in ns, count) of every bucket that has one, ascending.
    fn buckets(&self) -> Vec<(u64, u64)> {
        let recorded = self.0.iter_recorded();
        recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }
}
