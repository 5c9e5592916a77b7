//! The edge to zlib as C knows it, which tells where blocks of DEFLATE start.

// A C interface: it is handed pointers.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int};

use libz_rs_sys as zlib;

use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::seek_point::WINDOW_BYTES;

/// In `data_type`: bits taken from the input that are not used yet.
const UNUSED_BITS: c_int = 63;
/// In `data_type`: the present block is the last, or was.
const LAST_BLOCK: c_int = 64;
/// In `data_type`: it stands behind a block, or before the first.
const BLOCK_END: c_int = 128;

/// What is around the blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    /// As gzip has it.
    Gzip,
    /// As zlib has it.
    Zlib,
    /// Nothing.
    Raw,
}

impl Format {
    /// That of files.
    pub(super) fn of(compression: Compression) -> Self {
        if compression == Compression::Gzip { Format::Gzip } else { Format::Zlib }
    }
}

/// A stream that is decompressed; checksums are verified.
pub(super) struct Stream(zlib::z_stream);

// SAFETY: a stream is alone in using its memory, and no thread is part of its state.
unsafe impl Send for Stream {}

/// What one step took and gave.
pub(super) struct Step {
    pub(super) taken: usize,
    pub(super) given: usize,
    pub(super) stop: Stop,
}

/// Why a step went no further.
pub(super) enum Stop {
    /// A block starts, so many bits before the end of what was taken.
    Block { unused: u32 },
    /// The stream is at its end.
    End,
    /// There was no more input, or no more room.
    None,
}

/// The stream is damaged: see [`Stream::message`].
pub(super) struct Damaged;

impl Stream {
    /// The start of a stream.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory.
    pub(super) fn new(format: Format) -> Result<Stream> {
        let mut stream = zlib::z_stream::default();
        let bits = match format {
            Format::Gzip => 16 + 15,
            Format::Zlib => 15,
            Format::Raw => -15,
        };
        let bytes = size_of::<zlib::z_stream>() as c_int;
        // SAFETY: the default has an allocator, and the version is a string that the library holds.
        let code =
            unsafe { zlib::inflateInit2_(&raw mut stream, bits, zlib::zlibVersion(), bytes) };
        match code {
            zlib::Z_OK => Ok(Stream(stream)),
            _ => Err(Error::resource_exhausted("no memory to decompress with")),
        }
    }

    /// Decompresses what there is of input and room, or up to the start of a block.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        out: &mut [u8],
        by_blocks: bool,
    ) -> Result<Step, Damaged> {
        let stream = &mut self.0;
        let (had, room) = (short(input.len()), short(out.len()));
        (stream.next_in, stream.avail_in) = (input.as_ptr(), had);
        (stream.next_out, stream.avail_out) = (out.as_mut_ptr(), room);
        let how = if by_blocks { zlib::Z_BLOCK } else { zlib::Z_NO_FLUSH };
        // SAFETY: the stream was initialised, and both ranges are within slices that outlive the
        // call; between calls the library does not look at them.
        let code = unsafe { zlib::inflate(&raw mut *stream, how) };
        let (taken, given) = ((had - stream.avail_in) as usize, (room - stream.avail_out) as usize);
        let stop = match code {
            zlib::Z_STREAM_END => Stop::End,
            zlib::Z_OK | zlib::Z_BUF_ERROR => {
                let stops = stream.data_type & (BLOCK_END | LAST_BLOCK) == BLOCK_END;
                let unused = (stream.data_type & UNUSED_BITS) as u32;
                if by_blocks && stops { Stop::Block { unused } } else { Stop::None }
            }
            _ => return Err(Damaged),
        };
        Ok(Step { taken, given, stop })
    }

    /// What the stream may refer to: the last bytes of its output.
    ///
    /// # Errors
    /// If the library does not know.
    pub(super) fn window(&mut self) -> Result<Vec<u8>> {
        let (mut window, mut bytes) = (vec![0; WINDOW_BYTES], 0);
        let into = window.as_mut_ptr();
        // SAFETY: the stream was initialised, and there is room for the longest window.
        let code = unsafe { zlib::inflateGetDictionary(&raw const self.0, into, &raw mut bytes) };
        window.truncate(bytes as usize);
        if code == zlib::Z_OK { Ok(window) } else { Err(refused(code)) }
    }

    /// The next stream begins.
    ///
    /// # Errors
    /// If the library refuses.
    pub(super) fn reset(&mut self) -> Result<()> {
        // SAFETY: the stream was initialised.
        match unsafe { zlib::inflateReset(&raw mut self.0) } {
            zlib::Z_OK => Ok(()),
            code => Err(refused(code)),
        }
    }

    /// What is wrong with the stream.
    pub(super) fn message(&self) -> &'static str {
        if self.0.msg.is_null() {
            return "invalid data";
        }
        // SAFETY: messages are strings that the library holds for ever.
        unsafe { CStr::from_ptr(self.0.msg) }.to_str().unwrap_or("invalid data")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised, and nobody uses it any more.
        unsafe { zlib::inflateEnd(&raw mut self.0) };
    }
}

fn refused(code: c_int) -> Error {
    Error::internal(format!("zlib refuses: {code}"))
}

/// What of so many bytes one call takes.
fn short(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
