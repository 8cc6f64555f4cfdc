//! Jobs and their preparation: events go to a Python callable, the interpreter lock is held only while it runs.

use std::ffi::OsString;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_engine::control::{Control as Brake, StoppedBy};
use plimsoll_engine::owner::Run;
use plimsoll_engine::safety::Permission;
use plimsoll_engine::safety::accompanied_by as accompany;
use plimsoll_engine::safety::gather;
use plimsoll_engine::silence::Silence;
use plimsoll_engine::target::{self, Inspection, Question, TargetError, TargetSpec};
use plimsoll_engine::{EngineError, Interval, Job, Places, Sink, record, run};
use plimsoll_mailstore::MailstoreWorkload;
use plimsoll_workload::{JobOptions, StreamPlan, Workload};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::errors;
use crate::parse;
use crate::wait::{answered, awaited};

/// The brake of a job.
#[pyclass(module = "plimsoll._core", frozen)]
#[derive(Default)]
pub struct Control(Arc<Brake>);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Issue nothing more, wait for what is outstanding, keep what was measured.
    fn stop(&self) {
        self.0.stop(StoppedBy::Signal);
    }

    /// Wait, once everything is ready, until `begin` says when; the event `ready` tells that it is.
    fn hold(&self) {
        self.0.hold();
    }

    /// Begin at this instant of `CLOCK_MONOTONIC`; at once, if it has passed. Every thread waits for it without the interpreter.
    fn begin(&self, at_ns: u64) {
        self.0.begin(at_ns);
    }

    /// The same: leaving without waiting is the process's own business.
    fn abort(&self) {
        self.stop();
    }

    /// Whether either was asked for.
    #[getter]
    fn stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

impl Control {
    /// The brake itself.
    pub(crate) fn brake(&self) -> Arc<Brake> {
        Arc::clone(&self.0)
    }
}

/// Tells a Python callable how far a preparation is, every 16 MiB and every second of slow targets; its first exception stops it.
struct Progress<'a> {
    call: Option<&'a Py<PyAny>>,
    brake: &'a Brake,
    failure: Option<PyErr>,
    told_bytes: u64,
    told: Instant,
}

impl<'a> Progress<'a> {
    fn new(call: Option<&'a Py<PyAny>>, brake: &'a Brake) -> Self {
        Self { call, brake, failure: None, told_bytes: 0, told: Instant::now() }
    }

    fn tell(&mut self, done_bytes: u64, total_bytes: u64) {
        let Some(call) = self.call.filter(|_| self.failure.is_none()) else { return };
        let waits = self.told.elapsed() < Duration::from_secs(1) || done_bytes == self.told_bytes;
        if done_bytes < self.told_bytes + (16 << 20) && done_bytes < total_bytes && waits {
            return;
        }
        (self.told_bytes, self.told) = (done_bytes, Instant::now());
        if let Err(error) = Python::attach(|py| call.call1(py, (done_bytes, total_bytes))) {
            self.failure = Some(error);
            self.brake.stop(StoppedBy::Error);
        }
    }
}

/// Pushes events into a Python callable; its first exception stops the run.
pub(crate) struct Events<'a> {
    call: &'a Py<PyAny>,
    brake: &'a Brake,
    failure: Option<PyErr>,
    places: Places,
}

impl<'a> Events<'a> {
    fn new(call: &'a Py<PyAny>, brake: &'a Brake) -> Self {
        Self { call, brake, failure: None, places: Places::default() }
    }

    fn push(&mut self, kind: &str, event: &Value) {
        if self.failure.is_some() {
            return;
        }
        let text = event.to_string();
        if let Err(failure) = Python::attach(|py| self.call.call1(py, (kind, text))) {
            self.failure = Some(failure);
            self.brake.stop(StoppedBy::Error);
        }
    }
}

impl Sink for Events<'_> {
    fn resolved(&mut self, plans: &[StreamPlan], parts: &[String]) {
        self.places = Places::of_requests(plans, parts);
    }

    fn placed(&mut self, places: Places) {
        self.places = places;
    }

    fn ready(&mut self) {
        self.push("ready", &json!({ "monotonic_ns": plimsoll_engine::clock::monotonic_ns() }));
    }

    fn started(&mut self, monotonic_ns: u64, wall_ns: u64) {
        self.push("start", &json!({ "monotonic_ns": monotonic_ns, "wall_ns": wall_ns }));
    }

    fn tick(&mut self, index: u64) {
        let monotonic_ns = plimsoll_engine::clock::monotonic_ns();
        self.push("tick", &json!({ "index": index, "monotonic_ns": monotonic_ns }));
    }

    fn interval(&mut self, interval: &Interval) {
        let event = record::interval(interval, &self.places);
        self.push("interval", &event);
    }

    fn entering(&mut self) {
        self.push("entering", &json!({}));
    }

    fn silent(&mut self, silence: Silence) {
        self.push("silence", &record::silence(silence));
    }

    fn poll(&mut self) {
        if self.failure.is_none()
            && let Err(failure) = Python::attach(|py| py.check_signals())
        {
            self.failure = Some(failure);
            self.brake.stop(StoppedBy::Signal);
        }
    }
}

/// Runs a job: `{workload, job, target, permission}`; see `plimsoll.engine`. `on_wait(name, seconds)` is told while the
/// target does not answer before it is opened.
#[pyfunction]
#[pyo3(signature = (job_json, on_event, control, on_wait=None))]
pub fn run_job(
    py: Python<'_>,
    job_json: &str,
    on_event: Py<PyAny>,
    control: &Control,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<String> {
    let asked = parse(py, job_json)?;
    let job = job_of(py, &asked, read_workload(py, &asked["workload"], "workload")?, None)?;
    carried_out(py, &job, &on_event, control, on_wait.as_ref())
}

/// The job that is asked for, whose workload is one of blocks and files or of a mail store.
pub(crate) fn job_of(
    py: Python<'_>,
    asked: &Value,
    workload: Workload,
    mailstore: Option<MailstoreWorkload>,
) -> PyResult<Job> {
    Ok(Job {
        workload,
        mailstore,
        options: read_options(py, &asked["job"])?,
        target: read_target(py, asked["target"].as_str().unwrap_or_default())?,
        permission: read_permission(py, &asked["permission"])?,
    })
}

/// Runs a job to its end, and says what came of it.
pub(crate) fn carried_out(
    py: Python<'_>,
    job: &Job,
    on_event: &Py<PyAny>,
    control: &Control,
    on_wait: Option<&Py<PyAny>>,
) -> PyResult<String> {
    awaited(py, &Question::of_target(&job.target), on_wait)?;
    let backend = job.options.backend.name();
    let outcome = watched(py, on_event, control, |events, brake| run::run(job, events, brake))?;
    Ok(record::outcome(&outcome, backend).to_string())
}

/// Runs without the interpreter's lock; what an event raised comes before what the run says of itself.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    on_event: &Py<PyAny>,
    control: &Control,
    run: impl FnOnce(&mut Events<'_>, &Brake) -> Result<T, EngineError> + Send,
) -> PyResult<T> {
    let (ran, failure) = py.detach(|| {
        let mut events = Events::new(on_event, &control.0);
        let ran = run(&mut events, &control.0);
        (ran, events.failure)
    });
    failure.map_or_else(|| ran.map_err(|error| errors::engine(py, &error)), Err)
}

/// Makes and fills the scratch files of a target; `on_progress(done_bytes, total_bytes)`, and `on_wait(name, seconds)` while
/// it does not answer.
#[pyfunction]
#[pyo3(signature = (spec, size_bytes, permission, on_progress, control, on_wait=None))]
#[allow(clippy::too_many_arguments)] // the interpreter and the arguments of the Python function
pub fn prepare_target(
    py: Python<'_>,
    spec: &str,
    size_bytes: Option<u64>,
    permission: Option<&str>,
    on_progress: Option<Py<PyAny>>,
    control: &Control,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = read_target(py, spec)?;
    awaited(py, &Question::of_target(&spec), on_wait.as_ref())?;
    let permission = typed_permission(py, permission)?;
    prepared(py, on_progress.as_ref(), control, |progress, stop| {
        target::prepare(&spec, size_bytes, &permission, progress, stop)
    })
}

/// What a preparation made, as JSON. It tells `on_progress` how far it is, and ends early when that raises or `control` stops it.
pub(crate) fn prepared<T: Serialize + Send>(
    py: Python<'_>,
    on_progress: Option<&Py<PyAny>>,
    control: &Control,
    prepare: impl FnOnce(&mut dyn FnMut(u64, u64), &AtomicBool) -> Result<T, TargetError> + Send,
) -> PyResult<String> {
    let brake = control.brake();
    let (made, failure) = py.detach(|| {
        let mut progress = Progress::new(on_progress, &brake);
        let made = prepare(&mut |done, total| progress.tell(done, total), brake.flag());
        (made, progress.failure)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let made = made.map_err(|error| errors::target(py, &error))?;
    serde_json::to_string(&made).map_err(|error| errors::json(py, &error))
}

/// Deletes the scratch files of a target that Plimsoll made; their paths.
#[pyfunction]
#[pyo3(signature = (spec, on_wait=None))]
pub fn remove_target(py: Python<'_>, spec: &str, on_wait: Option<Py<PyAny>>) -> PyResult<Vec<OsString>> {
    let spec = read_target(py, spec)?;
    let removed = answered(py, &Question::of_target(&spec), on_wait.as_ref(), move || target::remove(&spec))?;
    let removed = removed.map_err(|error| errors::target(py, &error))?;
    Ok(removed.into_iter().map(PathBuf::into_os_string).collect())
}

/// Notes that the scratch files of a target stay and that no run uses them any more.
#[pyfunction]
#[pyo3(signature = (spec, on_wait=None))]
pub fn release_target(py: Python<'_>, spec: &str, on_wait: Option<Py<PyAny>>) -> PyResult<()> {
    let spec = read_target(py, spec)?;
    let released = answered(py, &Question::of_target(&spec), on_wait.as_ref(), move || target::release(&spec))?;
    released.map_err(|error| errors::target(py, &error))
}

/// What this process claims of its targets, kept until it is closed.
#[pyclass(module = "plimsoll._core", frozen)]
pub struct Session(Mutex<Option<target::Session>>);

#[pymethods]
impl Session {
    #[new]
    fn new() -> Self {
        Self(Mutex::new(Some(target::Session::begin())))
    }

    /// Claims a target, for writing or for reading, and lends that to other processes of this run: what each file carries, and a
    /// descriptor of it that the caller closes. `elsewhere` says whether processes that no descriptor reaches use it, too:
    /// `nobody`, who `follows`, or who `leads` and has claimed it before (`leads_here`: on this machine).
    fn lend(&self, py: Python<'_>, spec: &str, writes: bool, elsewhere: &str) -> PyResult<Vec<(String, i32)>> {
        let spec = read_target(py, spec)?;
        let elsewhere: target::Elsewhere =
            serde_json::from_value(Value::String(elsewhere.to_owned())).map_err(|error| errors::json(py, &error))?;
        let session = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = session.as_ref() else { return Ok(Vec::new()) };
        let loans = py.detach(|| session.lend(&spec, writes, elsewhere)).map_err(|error| errors::target(py, &error))?;
        let told = |loan: target::Loan| {
            let carries = serde_json::to_value(loan.carries).map_err(|error| errors::json(py, &error))?;
            Ok((carries.as_str().unwrap_or_default().to_owned(), loan.file.into_raw_fd()))
        };
        loans.into_iter().map(told).collect()
    }

    /// Gives up what is claimed of a target for reading alone.
    fn forgo_reading(&self, py: Python<'_>, spec: &str) -> PyResult<()> {
        let spec = read_target(py, spec)?;
        let session = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = session.as_ref() else { return Ok(()) };
        py.detach(|| session.forgo_reading(&spec)).map_err(|error| errors::target(py, &error))
    }

    /// Takes over what another process of this run has lent: what each file carries, and its descriptor, which is this
    /// session's from then on.
    fn borrow_claims(&self, py: Python<'_>, loans: Vec<(String, i32)>) -> PyResult<()> {
        let session = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = session.as_ref() else { return Ok(()) };
        let read = |(carries, number): (String, i32)| {
            // SAFETY: the caller has received the descriptor and hands it over.
            let file = unsafe { OwnedFd::from_raw_fd(number) };
            let carries = serde_json::from_value(Value::String(carries)).map_err(|error| errors::json(py, &error))?;
            Ok::<_, PyErr>(target::Loan { carries, file })
        };
        let loans = loans.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        session.borrow_claims(loans).map_err(|error| errors::io(py, &PathBuf::from("/proc/self/fd"), &error))
    }

    /// Gives everything up.
    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// This process, as other processes of its run are to know it.
#[pyfunction]
pub fn this_process(py: Python<'_>) -> PyResult<String> {
    serde_json::to_string(&Run::this()).map_err(|error| errors::json(py, &error))
}

/// From now on what these processes of the same run have open counts as this one's.
#[pyfunction]
pub fn accompanied_by(py: Python<'_>, companions: Vec<String>) -> PyResult<()> {
    let read = |text: String| serde_json::from_str(&text).map_err(|error| errors::json(py, &error));
    accompany(companions.into_iter().map(read).collect::<Result<_, PyErr>>()?);
    Ok(())
}

/// The scratch files and trees in a directory that runs left behind when they were killed: their paths and sizes.
#[pyfunction]
#[pyo3(signature = (directory, on_wait=None))]
pub fn left_behind(py: Python<'_>, directory: PathBuf, on_wait: Option<Py<PyAny>>) -> PyResult<Vec<(OsString, u64)>> {
    let asked = [Question::about(&directory)];
    let found = answered(py, &asked, on_wait.as_ref(), move || {
        let files = target::left_behind(&directory);
        files.into_iter().chain(plimsoll_engine::files::left_behind(&directory)).collect::<Vec<_>>()
    })?;
    Ok(found.into_iter().map(|(path, bytes)| (path.into_os_string(), bytes)).collect())
}

/// The known signatures on a file or block device: their names and offsets in bytes.
#[pyfunction]
pub fn signatures(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(&'static str, u64)>> {
    let found = py.detach(|| gather::signatures(&path)).map_err(|problem| errors::io(py, &path, &problem))?;
    Ok(found.iter().map(|one| (one.name, one.offset_bytes)).collect())
}

/// What is at a target; never writes. `on_wait(path, seconds)` is told while it does not answer.
#[pyfunction]
#[pyo3(signature = (spec, on_wait=None))]
pub fn inspect_target(py: Python<'_>, spec: &str, on_wait: Option<Py<PyAny>>) -> PyResult<String> {
    let inspection = inspected(py, spec, on_wait.as_ref())?;
    serde_json::to_string(&inspection).map_err(|error| errors::json(py, &error))
}

/// Why a target may not be written to with a permission; `None` when it may. Never writes.
#[pyfunction]
#[pyo3(signature = (spec, permission, on_wait=None))]
pub fn write_refusal(
    py: Python<'_>,
    spec: &str,
    permission: Option<&str>,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<Option<String>> {
    let permission = typed_permission(py, permission)?;
    Ok(inspected(py, spec, on_wait.as_ref())?.write_refusal_with(&permission))
}

fn inspected(py: Python<'_>, spec: &str, on_wait: Option<&Py<PyAny>>) -> PyResult<Inspection> {
    let spec = read_target(py, spec)?;
    let inspection = answered(py, &Question::of_target(&spec), on_wait, move || target::inspect(&spec))?;
    inspection.map_err(|error| errors::target(py, &error))
}

pub(crate) fn read_target(py: Python<'_>, text: &str) -> PyResult<TargetSpec> {
    text.parse().map_err(|error| errors::spec(py, &error))
}

/// The permission that a JSON text holds; none without a text.
pub(crate) fn typed_permission(py: Python<'_>, text: Option<&str>) -> PyResult<Permission> {
    read_permission(py, &text.map_or(Ok(Value::Null), |text| parse(py, text))?)
}

pub(crate) fn read_permission(py: Python<'_>, value: &Value) -> PyResult<Permission> {
    if value.is_null() {
        return Ok(Permission::default());
    }
    Permission::deserialize(value).map_err(|error| errors::json(py, &error))
}

/// A workload, its combinations checked.
pub fn read_workload(py: Python<'_>, value: &Value, source: &str) -> PyResult<Workload> {
    let workload = Workload::from_json(value, source).map_err(|error| errors::workload(py, &error))?;
    workload.check(source).map_err(|error| errors::workload(py, &error))?;
    Ok(workload)
}

/// Job options, their combinations checked.
pub fn read_options(py: Python<'_>, value: &Value) -> PyResult<JobOptions> {
    let options = JobOptions::from_json(value, "job").map_err(|error| errors::workload(py, &error))?;
    options.check().map_err(|error| errors::workload(py, &error))?;
    Ok(options)
}

/// Makes the classes and functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Control>()?;
    module.add_class::<Session>()?;
    module.add_function(wrap_pyfunction!(this_process, module)?)?;
    module.add_function(wrap_pyfunction!(accompanied_by, module)?)?;
    module.add_function(wrap_pyfunction!(run_job, module)?)?;
    module.add_function(wrap_pyfunction!(prepare_target, module)?)?;
    module.add_function(wrap_pyfunction!(remove_target, module)?)?;
    module.add_function(wrap_pyfunction!(release_target, module)?)?;
    module.add_function(wrap_pyfunction!(left_behind, module)?)?;
    module.add_function(wrap_pyfunction!(signatures, module)?)?;
    module.add_function(wrap_pyfunction!(inspect_target, module)?)?;
    module.add_function(wrap_pyfunction!(write_refusal, module)?)?;
    Ok(())
}
