//! Lines of text: what stands between line feeds.
//!
//! Lines are views of the blocks they were read in. What follows the last line feed is a line too,
//! unless it is empty. Carriage returns are left out wherever they stand, as in TensorFlow.

use std::sync::Arc;

use crate::data::bytes::View;
use crate::data::{Buffer, BytesArray};
use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::window::{BLOCK_BYTES, Window};

/// Payload after which a call hands out what it has.
const CHUNK_BYTES: usize = 1 << 20;
/// Longest line of a compressed file, where few bytes can stand for many.
const MAX_INFLATED_LINE: usize = 1 << 30;

/// Reads the lines of one file.
pub struct LineReader {
    path: Arc<str>,
    compression: Compression,
    block_bytes: usize,
    window: Option<Window>,
    line: u64,
    offset: u64,
    done: bool,
    pending: Option<Error>,
}

impl LineReader {
    /// A reader of the file at `path`, which is opened when the first line is asked for.
    pub fn new(path: &str, compression: Compression, buffer_size: Option<usize>) -> Self {
        LineReader {
            path: path.into(),
            compression,
            block_bytes: buffer_size.unwrap_or(BLOCK_BYTES).clamp(1, 64 << 20),
            window: None,
            line: 0,
            offset: 0,
            done: false,
            pending: None,
        }
    }

    /// The next lines: at least one, at most `max`, about 1 MiB; `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read on; then the next call gives `None`.
    pub fn next(&mut self, max: usize) -> Result<Option<BytesArray>> {
        let (mut buffers, mut views) = (Vec::<Buffer>::new(), Vec::new());
        // Lines with carriage returns in the middle.
        let mut returns = Vec::new();
        let more =
            |views: &Vec<View>, payload: usize| views.len() < max.max(1) && payload < CHUNK_BYTES;
        let mut payload = 0;
        while more(&views, payload) && self.pending.is_none() && !self.done {
            let mut window = match self.take_window() {
                Ok(window) => window,
                Err(error) => {
                    self.fail(error);
                    break;
                }
            };
            let buffer = buffers.len() as u32;
            let before = views.len();
            while !self.done
                && more(&views, payload)
                && let Some((len, whole)) = self.find(&mut window, views.len() > before)
            {
                let line = &window.rest()[..len];
                let text = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
                if line[..text].contains(&b'\r') {
                    returns.push(views.len());
                }
                // After the last line feed, nothing is no line.
                if whole || text > 0 {
                    views.push(View { buffer, start: window.start(), len: text });
                    self.line += 1;
                }
                payload += text;
                window.consume(len + usize::from(whole));
                self.offset += (len + usize::from(whole)) as u64;
            }
            if views.len() > before {
                buffers.push(window.block().clone());
            }
            if !self.done {
                self.window = Some(window);
            }
        }
        if !views.is_empty() {
            for index in returns {
                let View { buffer, start, len } = views[index];
                let mut line = buffers[buffer as usize][start..start + len].to_vec();
                line.retain(|byte| *byte != b'\r');
                views[index] = View { buffer: buffers.len() as u32, start: 0, len: line.len() };
                buffers.push(Buffer::copy_from(&line)?);
            }
            return BytesArray::new(buffers, views).map(Some);
        }
        self.pending.take().map_or(Ok(None), Err)
    }

    /// Length of the next line in the window and whether a line feed ends it. With `held`, lines
    /// of the present block are held, so the window must not move on: `None` then, too.
    fn find(&mut self, window: &mut Window, held: bool) -> Option<(usize, bool)> {
        let mut searched = 0;
        loop {
            let rest = window.rest();
            if let Some(at) = rest[searched..].iter().position(|byte| *byte == b'\n') {
                return Some((searched + at, true));
            }
            searched = rest.len();
            if held {
                return None;
            }
            match self.bring_more(window) {
                Ok(true) => {}
                Ok(false) => {
                    self.done = true;
                    if let Some(error) = window.take_error() {
                        self.fail(error);
                        return None;
                    }
                    return (searched > 0).then_some((searched, false));
                }
                Err(error) => {
                    self.fail(error);
                    return None;
                }
            }
        }
    }

    /// Reads on behind what there is; false at the end.
    fn bring_more(&self, window: &mut Window) -> Result<bool> {
        let have = window.available();
        if self.compression != Compression::None && have >= MAX_INFLATED_LINE {
            let text = format!("a line of more than {MAX_INFLATED_LINE} bytes");
            return Err(Error::resource_exhausted(text));
        }
        more(window, self.block_bytes)
    }

    fn fail(&mut self, error: Error) {
        self.done = true;
        self.pending = Some(error.at_record(self.line, self.offset).at_file(&self.path));
    }

    fn take_window(&mut self) -> Result<Window> {
        match self.window.take() {
            Some(window) => Ok(window),
            None => Window::open(&self.path, self.compression, self.block_bytes),
        }
    }
}

/// Brings more unread bytes into the window, twice as many if an item is long: for formats whose
/// items do not say how long they are. False if there are no more.
///
/// # Errors
/// As [`Window::require`].
pub fn more(window: &mut Window, block_bytes: usize) -> Result<bool> {
    let have = window.available();
    let behind = usize::try_from(window.remaining()).unwrap_or(usize::MAX) - have;
    // What a file has is all that can come; of a stream, one byte more may.
    let step = have.max(block_bytes).min(behind).max(1);
    window.require((have + step) as u64)?;
    Ok(window.available() > have)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &BytesArray) -> Vec<String> {
        lines.iter().map(|line| String::from_utf8_lossy(line).into()).collect()
    }

    fn read(content: &[u8], buffer: usize, max: usize) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let path = file.path().to_str().unwrap();
        let mut reader = LineReader::new(path, Compression::None, Some(buffer));
        let mut all = Vec::new();
        while let Some(lines) = reader.next(max).unwrap() {
            assert!(lines.len() <= max);
            all.extend(texts(&lines));
        }
        all
    }

    #[test]
    fn lines_do_not_depend_on_blocks() {
        let long = "x".repeat(100_000);
        let content = format!("one\r\ntwo\n\n{long}\na\rb\nlast");
        for buffer in [1, 2, 7, 4096, 1 << 20] {
            for max in [1, 3, 100] {
                let lines = read(content.as_bytes(), buffer, max);
                assert_eq!(lines, ["one", "two", "", &long, "ab", "last"], "{buffer} {max}");
            }
        }
    }

    #[test]
    fn the_end_is_no_line_unless_there_is_text() {
        assert!(read(b"", 100, 10).is_empty());
        assert_eq!(read(b"\n", 100, 10), [""]);
        assert_eq!(read(b"a\n\r", 1, 10), ["a"]);
    }

    #[test]
    fn a_missing_file_is_one_error() {
        let mut reader = LineReader::new("/nowhere/at all", Compression::None, None);
        assert!(reader.next(1).is_err());
        assert!(reader.next(1).unwrap().is_none());
    }
}
