//! A modelled array in real time, in this process.

use plimsoll_serve::Session;
use pyo3::prelude::*;

/// Serves what a request asks for until it is told to stop; see `plimsoll_serve::session` for the request, and for the pipes over
/// which everything else is said, errors included.
#[pyfunction]
pub fn serve_array(py: Python<'_>, request_json: &str) {
    py.detach(|| {
        if let Some(session) = Session::start(request_json) {
            session.obey();
            session.end();
        }
    });
}
