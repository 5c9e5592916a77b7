//! The one error of the engine: what went wrong, where, and what would mend it.
//!
//! An [`Error`] is pointer-sized, so a `Result` stays small. Its [`Place`] is filled in by whoever
//! knows it while the error rises: the reader adds file, record and offset, the parser the
//! feature, the engine the node. [`ErrorKind::Foreign`] carries an opaque value (an exception of
//! the caller's language) through the engine and out again, so the core needs to know no Python.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Arc;

/// What the engine returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of errors, named as in `tf.errors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A value that is not acceptable, whatever the state of the system.
    InvalidArgument,
    /// Past the end.
    OutOfRange,
    /// Data is damaged or cut off.
    DataLoss,
    /// A file or another entity does not exist.
    NotFound,
    /// The file may not be read or written.
    PermissionDenied,
    /// The system is not in the state that the call needs.
    FailedPrecondition,
    /// What was to be made exists.
    AlreadyExists,
    /// Not supported.
    Unimplemented,
    /// Not available now; a later try may succeed.
    Unavailable,
    /// A limit was reached.
    ResourceExhausted,
    /// Given up because of a conflict.
    Aborted,
    /// The run was closed.
    Cancelled,
    /// An error without a better name.
    Unknown,
    /// A broken invariant of the engine: a bug.
    Internal,
    /// An exception of the caller's language, carried in [`Error::into_foreign`].
    Foreign,
}

/// Where an error happened; fields are `None` where they are not known or do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Path or URL of the file.
    pub file: Option<Arc<str>>,
    /// Number of the record in the file, from 0.
    pub record: Option<u64>,
    /// Byte offset in the (decompressed) file at which the record starts.
    pub offset: Option<u64>,
    /// Name of the feature.
    pub feature: Option<Arc<str>>,
    /// The stage that failed, with the number of its element.
    pub node: Option<Arc<str>>,
}

impl Place {
    fn is_empty(&self) -> bool {
        *self == Place::default()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut part = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let written = write!(f, "{separator}{text}");
            separator = ", ";
            written
        };
        if let Some(file) = &self.file {
            part(f, format_args!("{file}"))?;
        }
        if let Some(record) = self.record {
            part(f, format_args!("record {record}"))?;
        }
        if let Some(offset) = self.offset {
            part(f, format_args!("byte {offset}"))?;
        }
        if let Some(feature) = &self.feature {
            part(f, format_args!("feature {feature:?}"))?;
        }
        if let Some(node) = &self.node {
            part(f, format_args!("in {node}"))?;
        }
        Ok(())
    }
}

/// An exception of the caller's language.
pub type ForeignError = Box<dyn Any + Send + Sync>;

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    place: Place,
    foreign: Option<ForeignError>,
    lost: Option<Lost>,
}

/// What was passed over to go on after damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// From where the error says; `None` if nobody can know, as in a damaged compressed stream.
    pub bytes: Option<u64>,
}

/// What went wrong, where, and what would mend it.
pub struct Error(Box<Inner>);

impl Error {
    /// An error of `kind`; the message says what was wrong with which value.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            hint: None,
            place: Place::default(),
            foreign: None,
            lost: None,
        }))
    }

    /// A value that is not acceptable.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// Damaged or truncated data.
    pub fn data_loss(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::DataLoss, message)
    }

    /// The system is not in the state that the call needs.
    pub fn failed_precondition(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::FailedPrecondition, message)
    }

    /// Not supported.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unimplemented, message)
    }

    /// A limit was reached.
    pub fn resource_exhausted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ResourceExhausted, message)
    }

    /// The run was closed.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the iterator was closed")
    }

    /// A broken invariant: a bug of ours, which asks for a report.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
            .with_hint("this is a bug in headrace, please report it")
    }

    /// Carries an exception of the caller's language; `message` is its text.
    pub fn foreign(message: impl Into<String>, exception: ForeignError) -> Self {
        let mut error = Self::new(ErrorKind::Foreign, message);
        error.0.foreign = Some(exception);
        error
    }

    /// Carries an exception by which the caller's code ends the program: it ends the run, where
    /// another stands for one element.
    pub fn leave(message: impl Into<String>, exception: ForeignError) -> Self {
        let mut error = Self::foreign(message, exception);
        error.0.kind = ErrorKind::Cancelled;
        error
    }

    /// The error of a failed system call on `file`.
    pub fn io(error: &io::Error, file: &str) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
                ErrorKind::FailedPrecondition
            }
            io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory => ErrorKind::ResourceExhausted,
            io::ErrorKind::TimedOut | io::ErrorKind::ConnectionReset => ErrorKind::Unavailable,
            _ => ErrorKind::Unknown,
        };
        let error = Self::new(kind, error.to_string()).at_file(file);
        match kind {
            ErrorKind::NotFound if file.contains(['*', '?', '[']) => {
                error.with_hint("a pattern is no file: list_files finds those that match")
            }
            _ => error,
        }
    }

    /// Adds what would mend it, unless something nearer to the cause has said so.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds to what was wrong.
    #[must_use]
    pub fn noting(mut self, text: &str) -> Self {
        self.0.message.push_str(text);
        self
    }

    /// Adds the file, unless known.
    pub fn at_file(mut self, file: &str) -> Self {
        self.0.place.file.get_or_insert_with(|| file.into());
        self
    }

    /// Adds record number and byte offset, unless known.
    pub fn at_record(mut self, record: u64, offset: u64) -> Self {
        if self.0.place.record.is_none() {
            self.0.place.record = Some(record);
            self.0.place.offset = Some(offset);
        }
        self
    }

    /// Adds the record number alone, unless known.
    pub fn at_row(mut self, record: u64) -> Self {
        self.0.place.record.get_or_insert(record);
        self
    }

    /// Removes the record number, where it counts something that the user does not know.
    #[must_use]
    pub fn without_record(mut self) -> Self {
        self.0.place.record = None;
        self.0.place.offset = None;
        self
    }

    /// Adds the feature, unless known.
    pub fn at_feature(mut self, feature: &str) -> Self {
        self.0.place.feature.get_or_insert_with(|| feature.into());
        self
    }

    /// Adds the stage, unless known.
    pub fn at_node(mut self, node: impl FnOnce() -> String) -> Self {
        self.0.place.node.get_or_insert_with(|| node().into());
        self
    }

    /// Notes that the reader has passed over so many bytes and can go on.
    pub fn losing(mut self, bytes: Option<u64>) -> Self {
        self.0.lost = Some(Lost { bytes });
        self
    }

    /// What a reader that goes on after damage has passed over.
    pub fn lost(&self) -> Option<Lost> {
        self.0.lost
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was wrong, without place and hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it happened.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The exception of the caller's language, if this error carries one.
    pub fn foreign_ref(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.0.foreign.as_deref()
    }

    /// Takes the exception of the caller's language out.
    pub fn into_foreign(mut self) -> Result<ForeignError, Self> {
        self.0.foreign.take().ok_or(self)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if !self.0.place.is_empty() {
            write!(f, " ({})", self.0.place)?;
        }
        match &self.0.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_pointer_sized() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn text_has_message_place_and_hint() {
        let error = Error::data_loss("payload checksum does not match")
            .at_record(3, 120)
            .at_file("a.tfrecord")
            .at_record(9, 9)
            .with_hint("copy the file again");
        let text =
            "payload checksum does not match (a.tfrecord, record 3, byte 120); copy the file again";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn foreign_exceptions_come_out_as_they_went_in() {
        let error = Error::foreign("boom", Box::new(42_i32));
        let value = error.into_foreign().unwrap().downcast::<i32>().unwrap();
        assert_eq!(*value, 42);
    }
}
