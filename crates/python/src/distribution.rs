//! `Distribution`: latencies as a report draws them, added up from HDR V2 text.

use plimsoll_engine::buckets::Buckets;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::errors;

/// Latencies in nanoseconds as buckets that have a count.
#[pyclass(module = "plimsoll._core")]
pub struct Distribution(Buckets);

#[pymethods]
impl Distribution {
    /// Of all histograms of the texts together.
    #[staticmethod]
    fn merged(py: Python<'_>, encoded: Vec<PyBackedStr>) -> PyResult<Self> {
        let merged = Buckets::merged(encoded.iter().map(|text| &**text));
        merged.map(Self).map_err(|sentence| errors::input(py, sentence))
    }

    /// Adds another's counts; nothing is lost.
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    /// The latency that `percent` of the requests did not exceed; none when there is no request.
    fn value_at(&self, percent: f64) -> Option<u64> {
        self.0.value_at(percent)
    }

    /// The same for each of `percents`; empty when there is no request.
    fn values_at(&self, percents: Vec<f64>) -> Vec<u64> {
        self.0.values_at(&percents)
    }

    /// (percent, ns) for each of `percents` that at least one request lies beyond, and the maximum at 100.
    fn levels(&self, percents: Vec<f64>) -> Vec<(f64, u64)> {
        self.0.levels(&percents)
    }

    /// (nines, ns) from the minimum at 0 to the maximum, in steps of so many nines or of such a factor in latency.
    fn curve(&self, step_nines: f64, step_ratio: f64) -> Vec<(f64, u64)> {
        self.0.curve(step_nines, step_ratio)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// The first band with a request, and the counts from it to the last.
    fn bands(&self, edges_ns: Vec<u64>) -> Vec<u64> {
        self.0.bands(&edges_ns)
    }

    /// (highest value of the bucket in ns, count) of every bucket that has one, ascending.
    fn buckets(&self) -> Vec<(u64, u64)> {
        self.0.as_slice().to_vec()
    }
}
