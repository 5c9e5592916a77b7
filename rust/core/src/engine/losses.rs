//! What a run has left out because it was damaged.

use std::sync::Arc;

use crate::error::Error;

/// So many places are listed; later ones are only counted.
const LISTED: usize = 1000;

/// A damaged place that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Path of the file.
    pub file: Option<Arc<str>>,
    /// Where the damaged record starts, in bytes of the decompressed file.
    pub offset: Option<u64>,
    /// How many bytes were passed over; `None` if nobody knows.
    pub bytes: Option<u64>,
    /// What is wrong there.
    pub reason: String,
}

/// The damaged places that a run has passed over so far.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// How many they are.
    pub count: u64,
    /// Their bytes, as far as they are known.
    pub bytes: u64,
    /// The first of them.
    pub places: Vec<Loss>,
}

impl Losses {
    /// Takes in the error of a damaged place.
    pub fn add(&mut self, error: &Error) {
        let bytes = error.lost().and_then(|lost| lost.bytes);
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes.unwrap_or(0));
        if self.places.len() < LISTED {
            let (place, reason) = (error.place(), error.message().to_owned());
            self.places.push(Loss {
                file: place.file.clone(),
                offset: place.offset,
                bytes,
                reason,
            });
        }
    }
}
