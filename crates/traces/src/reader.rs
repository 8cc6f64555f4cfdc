//! The reader of every format that has requests one after the other.

use std::io::BufRead;

use crate::blkparse::Blkparse;
use crate::blktrace::Blktrace;
use crate::completions::Paired;
use crate::counted_action::Counted;
use crate::error::TraceError;
use crate::oracle_general::OracleGeneral;
use crate::reading::Reading;
use crate::request::{Request, Source, Targets};
use crate::text::{Form, TextReader};
use crate::vscsi::Vscsi;

/// The requests of a trace.
#[derive(Debug)]
#[allow(missing_docs)] // each has its file
pub enum Reader<R> {
    Text(TextReader<R>),
    Blkparse(Paired<Blkparse<R>>),
    Blktrace(Paired<Blktrace<R>>),
    Vscsi(Vscsi<R>),
    OracleGeneral(OracleGeneral<R>),
}

impl<R: BufRead> Reader<R> {
    /// The reader of a format by its name, before what `file` gives first. Traces of the block layer have several events
    /// per request and count it where `counted` says.
    pub fn named(name: &str, counted: Counted, file: R) -> Option<Self> {
        match name {
            "blkparse" => Some(Self::Blkparse(Paired::new(Blkparse::new(counted, file)))),
            "blktrace" => Some(Self::Blktrace(Paired::new(Blktrace::new(counted, file)))),
            "vscsi" => Some(Self::Vscsi(Vscsi::new(file))),
            "oracle-general" => Some(Self::OracleGeneral(OracleGeneral::new(file))),
            _ => Form::named(name).map(|form| Self::Text(TextReader::new(form, file))),
        }
    }

    /// Where it is, and what it has to say besides.
    pub fn reading(&mut self) -> &mut Reading {
        match self {
            Self::Text(text) => &mut text.reading,
            Self::Blkparse(events) => events.reading(),
            Self::Blktrace(events) => events.reading(),
            Self::Vscsi(records) => &mut records.reading,
            Self::OracleGeneral(records) => &mut records.reading,
        }
    }
}

impl<R: BufRead> Source for Reader<R> {
    #[inline]
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        match self {
            Self::Text(text) => text.request(),
            Self::Blkparse(events) => events.request(),
            Self::Blktrace(events) => events.request(),
            Self::Vscsi(records) => records.request(),
            Self::OracleGeneral(records) => records.request(),
        }
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.reading().targets
    }
}
