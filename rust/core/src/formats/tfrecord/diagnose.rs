//! What is wrong with a file of records, in words that say what would mend it.
//!
//! The words "corrupted record at" and "truncated record at", with the offsets behind them, are
//! TensorFlow's: people search for them.

use super::{HEADER_BYTES, Header};
use crate::error::Error;
use crate::io::compress::Compression;

const LFS: &[u8] = b"version https://git-lfs";
const CUT_OFF: &str = "the file was cut off or is still being written; copy or write it again";
const DAMAGED: &str = "restore the file from its source or write it again";

/// Why a file whose first bytes are `head` is no file of records compressed in this way.
fn misfit(head: &[u8], compression: Compression) -> Option<(&'static str, String)> {
    if head.starts_with(LFS) {
        let what = "this is not a TFRecord file but a Git LFS pointer to one";
        return Some((what, "fetch the file with `git lfs pull`".into()));
    }
    if Header::of(head).is_some_and(|header| header.intact) {
        return match compression {
            Compression::None => None,
            Compression::Gzip => Some(("the file is not GZIP-compressed", pass("None"))),
            Compression::Zlib => Some(("the file is not ZLIB-compressed", pass("None"))),
            Compression::Snappy => None, // of a file of our own, whose header is looked at
        };
    }
    match (compression, Compression::of_head(head)) {
        (was, looks) if was == looks => None,
        (Compression::Snappy, _) | (_, Compression::Snappy) => None,
        (_, Compression::Gzip) => Some(("the file looks GZIP-compressed", pass("\"GZIP\""))),
        (_, Compression::Zlib) => Some(("the file looks ZLIB-compressed", pass("\"ZLIB\""))),
        (Compression::Gzip, Compression::None) => {
            Some(("the file is not GZIP-compressed", pass("None")))
        }
        (_, Compression::None) => Some(("the file is not ZLIB-compressed", pass("None"))),
    }
}

/// True if the first bytes of a file are those of something else that is known.
pub(super) fn is_misfit(head: &[u8], compression: Compression) -> bool {
    let looks = Compression::of_head(head);
    let other = looks != Compression::None && looks != compression;
    let plain = Header::of(head).is_some_and(|header| header.intact);
    head.starts_with(LFS) || other || plain && compression != Compression::None
}

fn pass(value: &str) -> String {
    format!("pass compression_type={value}")
}

/// The length of the record at `offset` does not match its checksum.
pub(super) fn bad_length(head: &[u8], compression: Compression, record: u64, offset: u64) -> Error {
    if record > 0 {
        let text = format!(
            "corrupted record at {offset}: its length does not match its checksum, so the records \
             after it cannot be found"
        );
        return Error::data_loss(text).with_hint(DAMAGED);
    }
    let text = format!("corrupted record at {offset} (Is this even a TFRecord file?)");
    match misfit(head, compression) {
        Some((what, mend)) => Error::data_loss(format!("{text}: {what}")).with_hint(mend),
        None => Error::data_loss(format!("{text}: its length does not match its checksum"))
            .with_hint("give a file that a TFRecord writer made, or write it again"),
    }
}

/// The payload of the record at `offset` does not match its checksum.
pub(super) fn bad_payload(len: u64, offset: u64) -> Error {
    let at = offset + HEADER_BYTES as u64;
    let text = format!(
        "corrupted record at {at}: the {len} bytes of its payload do not match their checksum"
    );
    Error::data_loss(text).with_hint(
        "restore the file from its source, or leave damaged records out with on_corruption=\"skip\"",
    )
}

/// The file ends within the record at `offset`, of which there are `have` bytes.
pub(super) fn truncated(
    head: &[u8],
    compression: Compression,
    (record, offset): (u64, u64),
    header: Option<Header>,
    have: u64,
) -> Error {
    let start = format!("truncated record at {offset}");
    let Some(Header { len, .. }) = header else {
        if record == 0
            && let Some((what, mend)) = misfit(head, compression)
        {
            return Error::data_loss(format!("{start}: {what}")).with_hint(mend);
        }
        let text = format!("{start}: only {have} of the {HEADER_BYTES} bytes of its header");
        return Error::data_loss(text).with_hint(CUT_OFF);
    };
    let body = have.saturating_sub(HEADER_BYTES as u64);
    let text = match body < len {
        true => format!("{start}: only {body} of the {len} bytes of its payload"),
        false => format!("{start}: the checksum of its payload is cut off"),
    };
    Error::data_loss(text).with_hint(CUT_OFF)
}

/// The file ends within the record at `offset`, found while skipping.
pub(super) fn cut_off(offset: u64, len: u64) -> Error {
    let text = format!("truncated record at {offset}: the file ends within its {len} bytes");
    Error::data_loss(text).with_hint(CUT_OFF)
}

/// The compressed stream failed within the record at `offset`.
pub(super) fn bad_stream(
    cause: &Error,
    head: &[u8],
    compression: Compression,
    (record, offset): (u64, u64),
) -> Error {
    let truncated = cause.message().starts_with("truncated");
    if record == 0
        && !truncated
        && let Some((what, mend)) = misfit(head, compression)
    {
        return Error::data_loss(format!("{what} ({})", cause.message())).with_hint(mend);
    }
    let (what, mend) = if truncated { ("truncated", CUT_OFF) } else { ("corrupted", DAMAGED) };
    Error::data_loss(format!("{what} record at {offset}: {}", cause.message())).with_hint(mend)
}
