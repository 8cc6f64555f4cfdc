//! The formats that have a line per request, and the reader of any of them.

use std::io::BufRead;

use crate::alibaba::Alibaba;
use crate::cloudphysics::Cloudphysics;
use crate::error::TraceError;
use crate::iolog::Iolog;
use crate::lines::Lines;
use crate::mqsim;
use crate::msr::Msr;
use crate::reading::Reading;
use crate::request::{Request, Source, Targets};

/// A format, and what it remembers from line to line.
#[derive(Debug)]
#[allow(missing_docs)] // each has its file
pub enum Form {
    Iolog(Iolog),
    Msr(Msr),
    Alibaba(Alibaba),
    Mqsim,
    Cloudphysics(Cloudphysics),
}

impl Form {
    /// The format of a name, before its first line.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "iolog" => Some(Self::Iolog(Iolog::default())),
            "msr" => Some(Self::Msr(Msr::default())),
            "alibaba" => Some(Self::Alibaba(Alibaba::default())),
            "mqsim" => Some(Self::Mqsim),
            "cloudphysics" => Some(Self::Cloudphysics(Cloudphysics::default())),
            _ => None,
        }
    }

    #[inline]
    fn request(&mut self, line: &str, reading: &mut Reading) -> Result<Option<Request>, TraceError> {
        match self {
            Self::Iolog(iolog) => iolog.request(line, reading),
            Self::Msr(msr) => msr.request(line, reading),
            Self::Alibaba(alibaba) => alibaba.request(line, reading),
            Self::Mqsim => mqsim::request(line, reading).map(Some),
            Self::Cloudphysics(cloudphysics) => cloudphysics.request(line, reading),
        }
    }
}

/// The requests of a text trace.
#[derive(Debug)]
pub struct TextReader<R> {
    lines: Lines<R>,
    form: Form,
    /// Where it is, and what it has to say besides.
    pub reading: Reading,
}

impl<R: BufRead> TextReader<R> {
    /// A reader before the first line of `file`.
    pub fn new(form: Form, file: R) -> Self {
        Self { lines: Lines::new(file), form, reading: Reading::default() }
    }
}

impl<R: BufRead> Source for TextReader<R> {
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        while let Some(line) = self.lines.next(&mut self.reading)? {
            let found = self.form.request(line, &mut self.reading)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        // A file without a header is refused, also if it has no other line.
        if let Form::Iolog(iolog) = &self.form {
            iolog.end(&self.reading)?;
        }
        Ok(None)
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.reading.targets
    }
}
