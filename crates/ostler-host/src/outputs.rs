//! Whole outputs of tools whose result was cut: the store's files behind the contract of
//! the tools.

use std::{
    io::{self, Write},
    sync::Arc,
};

use ostler_stdx::AbsPath;
use ostler_store::{OutputFile, OutputFiles, OutputLimits, PageQuery};
use ostler_tool::{OutputPage, OutputQuery, OutputStore, OutputWriter, Outputs, Registry};

/// The outputs of a session, if it offers the tool that reads them.
pub(crate) fn outputs(home: &AbsPath, session_id: &str, tools: &Registry) -> Outputs {
    let offered = tools.get("Output").is_some();
    let files = offered.then(|| OutputFiles::open(home, session_id, OutputLimits::default()).ok());
    files.flatten().map_or_else(Outputs::none, |files| Outputs::new(Arc::new(Kept(files))))
}

#[derive(Debug)]
struct Kept(OutputFiles);

impl OutputStore for Kept {
    fn begin(&self, call_id: &str) -> io::Result<Box<dyn OutputWriter>> {
        let file = self.0.begin(call_id).map_err(io::Error::other)?;
        Ok(Box::new(Writing(file)))
    }

    fn page(&self, call_id: &str, query: &OutputQuery) -> io::Result<Option<OutputPage>> {
        let asked = PageQuery {
            offset: query.offset,
            limit: query.limit,
            pattern: query.pattern.clone(),
            context: query.context,
            max_bytes: query.max_bytes,
        };
        let page = self.0.page(call_id, &asked, &query.cancel).map_err(|error| match error {
            ostler_store::Error::Invalid { what, .. } => {
                io::Error::new(io::ErrorKind::InvalidInput, what)
            }
            error => io::Error::other(error),
        })?;
        Ok(page.map(|page| OutputPage {
            lines: page.lines.into_iter().map(|line| (line.number, line.text)).collect(),
            total_lines: page.total_lines,
            total_bytes: page.total_bytes,
            next: page.next,
        }))
    }
}

#[derive(Debug)]
struct Writing(OutputFile);

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl OutputWriter for Writing {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish().map(drop).map_err(io::Error::other)
    }
}
