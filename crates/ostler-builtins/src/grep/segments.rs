//! Searches a file as one stream of lines, or, where a match may go over line ends, in
//! segments of whole lines, so that a file of any size takes no more memory than one.

use std::io::{self, Read};

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

/// Bytes of a segment.
const SEGMENT: usize = 2 << 20;
/// Bytes at its end that the next one has again: a match is found if it is not longer.
const AGAIN: usize = 64 << 10;

/// How a file is searched.
pub(crate) struct Segments<'a> {
    pub(crate) matcher: &'a RegexMatcher,
    pub(crate) searcher: &'a mut Searcher,
    /// Whether a match may go over line ends.
    pub(crate) whole: bool,
}

impl Segments<'_> {
    /// Searches the whole input.
    pub(crate) fn search<S: Sink<Error = io::Error> + Positioned>(
        &mut self,
        input: impl Read,
        sink: &mut S,
    ) -> io::Result<()> {
        match self.whole {
            false => self.searcher.search_reader(self.matcher, input, sink),
            true => self.search_segments(input, sink),
        }
    }

    fn search_segments<S: Sink<Error = io::Error> + Positioned>(
        &mut self,
        mut input: impl Read,
        sink: &mut S,
    ) -> io::Result<()> {
        let mut segment = Vec::new();
        let mut lines = 0;
        loop {
            let room = (SEGMENT - segment.len()) as u64;
            input.by_ref().take(room).read_to_end(&mut segment)?;
            let ended = segment.len() < SEGMENT;
            let next = if ended { segment.len() } else { again_from(&segment) };
            let mut part = Part { sink, lines, before: (!ended).then_some(next), ended: false };
            self.searcher.search_slice(self.matcher, &segment, &mut part)?;
            if ended || part.ended {
                return Ok(());
            }
            lines += segment[..next].iter().filter(|&&byte| byte == b'\n').count() as u64;
            segment.drain(..next);
        }
    }
}

/// Where the next segment starts: at a line, if there is one near the end.
fn again_from(segment: &[u8]) -> usize {
    let from = segment.len() - AGAIN;
    let line = segment[from..].iter().position(|&byte| byte == b'\n');
    line.map_or(from, |at| from + at + 1)
}

/// A sink that takes lines of a later segment.
pub(crate) trait Positioned {
    /// So many lines come before the segment that is searched now.
    fn at_line(&mut self, lines: u64);
}

/// One segment on its way to the sink of the file.
struct Part<'s, S> {
    sink: &'s mut S,
    lines: u64,
    /// Matches from here on are found again in the next segment.
    before: Option<usize>,
    /// Whether the sink has seen enough.
    ended: bool,
}

impl<S: Sink<Error = io::Error> + Positioned> Sink for Part<'_, S> {
    type Error = io::Error;

    fn begin(&mut self, searcher: &Searcher) -> io::Result<bool> {
        self.sink.at_line(self.lines);
        self.sink.begin(searcher)
    }

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let at = usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX);
        if self.before.is_some_and(|before| at >= before) {
            return Ok(false);
        }
        let more = self.sink.matched(searcher, found)?;
        self.ended |= !more;
        Ok(more)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let more = self.sink.context(searcher, context)?;
        self.ended |= !more;
        Ok(more)
    }

    fn context_break(&mut self, searcher: &Searcher) -> io::Result<bool> {
        let more = self.sink.context_break(searcher)?;
        self.ended |= !more;
        Ok(more)
    }

    fn binary_data(&mut self, searcher: &Searcher, offset: u64) -> io::Result<bool> {
        self.sink.binary_data(searcher, offset)
    }

    fn finish(&mut self, searcher: &Searcher, end: &SinkFinish) -> io::Result<()> {
        // A binary file is left at its first segment.
        self.ended |= end.binary_byte_offset().is_some();
        self.sink.finish(searcher, end)
    }
}
