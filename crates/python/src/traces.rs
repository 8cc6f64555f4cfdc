//! Traces of other tools: read out of files of Python, given to Python or written in the compact form.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::{BorrowedFd, RawFd};

use plimsoll_traces::{Counted, Reader, Request, Source, Targets, TraceError, Wanted, write};
use plimsoll_workload::Op;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyString, PyTuple};

use crate::errors;

const CHUNK_BYTES: usize = 1 << 16;
/// Operations as `plimsoll.formats.traces` calls them.
const OPS: [(&str, Op); 4] = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];

/// Makes what is in this file part of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TraceReader>()?;
    module.add_function(wrap_pyfunction!(write_trace, module)?)
}

/// The requests of a trace, as an iterator. What was left out and taken for granted is added to `reading` when reading ends.
#[pyclass]
pub struct TraceReader {
    reader: Reader<BufReader<PythonFile>>,
    source: String,
    reading: Py<PyAny>,
    make: Py<PyAny>,
}

#[pymethods]
impl TraceReader {
    #[new]
    #[allow(clippy::needless_pass_by_value)] // what a function of Python takes
    fn new(py: Python<'_>, form: (&str, &str), file: Py<PyAny>, reading: Py<PyAny>, make: Py<PyAny>) -> PyResult<Self> {
        let (form, counted) = form;
        let source = reading.getattr(py, "source")?.extract(py)?;
        let file = BufReader::with_capacity(CHUNK_BYTES, PythonFile { file });
        let reader = Counted::named(counted).and_then(|counted| Reader::named(form, counted, file));
        let reader =
            reader.ok_or_else(|| PyValueError::new_err(format!("no such format or action: {form}, {counted}")))?;
        Ok(Self { reader, source, reading, make })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.reader.request() {
            Ok(Some(request)) => self.made(py, &request).map(Some),
            Ok(None) => self.tell(py).map(|()| None),
            Err(error) => Err(self.refused(py, &error)),
        }
    }
}

impl TraceReader {
    fn made(&mut self, py: Python<'_>, request: &Request) -> PyResult<Py<PyAny>> {
        let &Request { at_ns, op, offset, length, target, service_ns } = request;
        let name = self.reader.targets().name(target);
        self.make.call1(py, (at_ns, OPS[op as usize].0, offset, length, name, service_ns))
    }

    /// Says in `reading` what was left out and taken for granted since it was last told.
    fn tell(&mut self, py: Python<'_>) -> PyResult<()> {
        let (reading, here) = (self.reading.bind(py), self.reader.reading());
        reading.setattr("line", here.line)?;
        let assumed = reading.getattr("assumed")?;
        here.assumed.drain(..).try_for_each(|what| assumed.set_item(what, py.None()))?;
        let left_out = reading.getattr("left_out")?;
        for (reason, count) in here.left_out.0.drain(..) {
            let known: u64 = left_out.get_item(reason)?.extract()?;
            left_out.set_item(reason, known + count)?;
        }
        Ok(())
    }

    fn refused(&mut self, py: Python<'_>, error: &TraceError) -> PyErr {
        self.tell(py).err().unwrap_or_else(|| errors::trace(py, &self.source, error))
    }
}

/// What was written: the header as JSON without where the trace came from, what had to change, names of devices that were not wanted,
/// and where the header belongs.
type Told = (String, Vec<(&'static str, u64)>, Vec<String>, u64);

/// Writes requests, a `TraceReader` or any iterator, to the empty file behind a descriptor; `wanted` is the name of the trace, its devices,
/// and how many requests or nanoseconds at most.
#[pyfunction]
pub fn write_trace(
    py: Python<'_>,
    requests: &Bound<'_, PyAny>,
    out: RawFd,
    wanted: (String, Vec<String>, Option<u64>, Option<u64>),
) -> PyResult<Told> {
    let (name, devices, requests_most, until_ns) = wanted;
    let wanted = Wanted { name, devices, requests: requests_most, until_ns };
    // SAFETY: the descriptor is that of a file which Python holds open during the call.
    let out = unsafe { BorrowedFd::borrow_raw(out) };
    let out = File::from(out.try_clone_to_owned()?);
    let written = if let Ok(reader) = requests.cast::<TraceReader>() {
        let mut reader = reader.borrow_mut();
        let source = &mut reader.reader;
        let written = py.detach(|| write(source, out, &wanted));
        let written = written.map_err(|error| reader.refused(py, &error))?;
        reader.tell(py)?;
        written
    } else {
        let iterator = requests.try_iter()?;
        let mut given = Given { iterator, targets: Targets::default() };
        write(&mut given, out, &wanted).map_err(|error| errors::trace(py, &wanted.name, &error))?
    };
    let header = serde_json::to_string(&written.header).map_err(|error| errors::json(py, &error))?;
    Ok((header, written.changes.0, written.others, written.header_at))
}

/// A binary file of Python.
struct PythonFile {
    file: Py<PyAny>,
}

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            py.check_signals()?;
            let content = self.file.call_method1(py, "read1", (buffer.len(),))?;
            let content = content.bind(py).cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            buffer[..content.len()].copy_from_slice(content);
            Ok(content.len())
        })
        .map_err(|raised: PyErr| io::Error::other(raised))
    }
}

/// Requests that an iterator of Python gives.
struct Given<'py> {
    iterator: Bound<'py, PyIterator>,
    targets: Targets,
}

impl Source for Given<'_> {
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        let Some(given) = self.iterator.next() else { return Ok(None) };
        let raised = |raised: PyErr| TraceError::Io(io::Error::other(raised));
        let row = given.map_err(raised)?;
        let (row, target) = read_row(&row).map_err(raised)?;
        let target = target.to_str().map_err(raised).and_then(|name| self.targets.number(name))?;
        Ok(Some(Request { target, ..row }))
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.targets
    }
}

/// A `TraceRequest` of Python, but for the number of its target, and the name of that.
fn read_row<'py>(row: &Bound<'py, PyAny>) -> PyResult<(Request, Bound<'py, PyString>)> {
    let row = row.cast::<PyTuple>()?;
    let word = row.get_item(1)?;
    let word = word.cast::<PyString>()?.to_str()?;
    let found = OPS.iter().find(|(known, _)| *known == word);
    let &(_, op) = found.ok_or_else(|| PyValueError::new_err(format!("no such operation: {word}")))?;
    let request = Request {
        at_ns: row.get_item(0)?.extract()?,
        op,
        offset: row.get_item(2)?.extract()?,
        length: row.get_item(3)?.extract()?,
        target: 0,
        service_ns: row.get_item(5)?.extract()?,
    };
    Ok((request, row.get_item(4)?.cast_into()?))
}
