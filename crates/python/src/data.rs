//! Data of the decision-support load: schema, rows in streams of bytes, refresh sets and parameters.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use plimsoll_dss::{
    CopyText, DataError, ORDERS, ParquetFile, RefreshSet, Scale, Source, Span, Table, copy_text, parameters,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::errors;

/// What rows are drawn from, shared by all that draw at the same time; its memory is free when none does.
static SOURCE: Mutex<Weak<Source>> = Mutex::new(Weak::new());

fn source() -> Arc<Source> {
    let mut shared = SOURCE.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let made = Arc::new(Source::new());
        *shared = Arc::downgrade(&made);
        made
    })
}

/// Keeps what rows are drawn from while it lives, where several streams follow one another.
#[pyclass(frozen)]
pub struct DataSource(#[allow(dead_code)] Arc<Source>);

#[pymethods]
impl DataSource {
    #[new]
    fn new(py: Python<'_>) -> Self {
        Self(py.detach(source))
    }
}

/// The tables with their columns and keys, in the order in which foreign keys allow loading.
#[pyfunction]
pub fn data_schema() -> String {
    let columns = |table: Table| -> Value {
        table.columns().iter().map(|column| json!({ "name": column.name, "type": column.kind.sql() })).collect()
    };
    let described = |table: Table| {
        json!({
            "name": table.name(),
            "columns": columns(table),
            "primary_key": table.primary_key(),
            "foreign_keys": table.foreign_keys(),
        })
    };
    Value::from_iter(Table::ALL.map(described)).to_string()
}

/// How many rows a part of a table has.
#[pyfunction]
pub fn data_rows(py: Python<'_>, table: &str, scale: f64, part: u32, parts: u32) -> PyResult<u64> {
    let span = span(py, table, scale, (part, parts))?;
    Ok(py.detach(|| span.rows()))
}

/// The rows of a part of a table as text for COPY.
#[pyfunction]
pub fn data_copy(py: Python<'_>, table: &str, scale: f64, part: u32, parts: u32) -> PyResult<DataStream> {
    let mut chunks = span(py, table, scale, (part, parts))?.chunks();
    Ok(DataStream::of(move |source| {
        let mut text = Vec::with_capacity(CHUNK_BYTES);
        copy_text(source, chunks.next()?, &mut text);
        Some(text)
    }))
}

/// The same rows as a Parquet file.
#[pyfunction]
pub fn data_parquet(py: Python<'_>, table: &str, scale: f64, part: u32, parts: u32) -> PyResult<DataStream> {
    let mut file = ParquetFile::new(&span(py, table, scale, (part, parts))?);
    Ok(DataStream::of(move |source| file.next(source)))
}

/// Orders or items that a part of a refresh set inserts, as text for COPY.
#[pyfunction]
pub fn data_refresh_copy<'py>(
    py: Python<'py>,
    table: &str,
    scale: f64,
    number: u32,
    part: (u32, u32),
) -> PyResult<Bound<'py, PyBytes>> {
    let set = refresh_set(py, scale, number, part)?;
    let table = Table::named(table).map_err(|error| errors::data(py, &error))?;
    let mut text = Vec::new();
    py.detach(|| match table {
        Table::LineItem => set.line_items(&source(), &mut CopyText::new(&mut text)),
        _ => set.orders(&source(), &mut CopyText::new(&mut text)),
    });
    Ok(PyBytes::new(py, &text))
}

/// Keys of the orders that a part of a refresh set deletes.
#[pyfunction]
pub fn data_refresh_deletes(py: Python<'_>, scale: f64, number: u32, part: u32, parts: u32) -> PyResult<Vec<i64>> {
    Ok(refresh_set(py, scale, number, (part, parts))?.deletes())
}

/// The values that the 22 queries of a stream ask for: a list of `{name: value}`, query 1 first.
#[pyfunction]
pub fn data_parameters(py: Python<'_>, seed: i64, stream: u32, scale: f64) -> PyResult<String> {
    let refused = |error: DataError| errors::data(py, &error);
    let drawn = parameters(seed, stream, Scale::new(scale).map_err(refused)?).map_err(refused)?;
    let queries = drawn.map(|query| query.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect());
    Ok(Value::from_iter(queries.map(Value::Object)).to_string())
}

/// In which order streams ask their queries, by stream; 0 is the power test.
#[pyfunction]
pub fn data_orders() -> Vec<Vec<u8>> {
    ORDERS.iter().map(|order| order.to_vec()).collect()
}

/// An iterator of bytes; the interpreter goes on while some are made.
#[pyclass(frozen)]
pub struct DataStream(Mutex<Made>);

/// What the next bytes are, drawn from the source; None at the end.
type Next = dyn FnMut(&Source) -> Option<Vec<u8>> + Send;

struct Made {
    next: Box<Next>,
    /// There from the first bytes to the last.
    source: Option<Arc<Source>>,
}

impl DataStream {
    fn of(next: impl FnMut(&Source) -> Option<Vec<u8>> + Send + 'static) -> Self {
        Self(Mutex::new(Made { next: Box::new(next), source: None }))
    }
}

#[pymethods]
impl DataStream {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).next())?;
        Some(PyBytes::new(py, &bytes))
    }
}

impl Made {
    fn next(&mut self) -> Option<Vec<u8>> {
        let made = (self.next)(self.source.get_or_insert_with(source));
        if made.is_none() {
            self.source = None;
        }
        made
    }
}

/// More than what a chunk becomes.
const CHUNK_BYTES: usize = 2 << 20;

fn span(py: Python<'_>, table: &str, scale: f64, (part, parts): (u32, u32)) -> PyResult<Span> {
    let span = || Span::part(Table::named(table)?, Scale::new(scale)?, part, parts);
    span().map_err(|error| errors::data(py, &error))
}

fn refresh_set(py: Python<'_>, scale: f64, number: u32, (part, parts): (u32, u32)) -> PyResult<RefreshSet> {
    let set = || RefreshSet::new(Scale::new(scale)?, number)?.part(part, parts);
    set().map_err(|error| errors::data(py, &error))
}

/// Makes the classes and functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DataStream>()?;
    module.add_class::<DataSource>()?;
    module.add_function(wrap_pyfunction!(data_schema, module)?)?;
    module.add_function(wrap_pyfunction!(data_rows, module)?)?;
    module.add_function(wrap_pyfunction!(data_copy, module)?)?;
    module.add_function(wrap_pyfunction!(data_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(data_refresh_copy, module)?)?;
    module.add_function(wrap_pyfunction!(data_refresh_deletes, module)?)?;
    module.add_function(wrap_pyfunction!(data_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(data_orders, module)?)?;
    Ok(())
}
