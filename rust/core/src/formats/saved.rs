//! The metadata of a saved dataset: which files hold its elements.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::io::compress::Compression;

const FORMAT: &str = "headrace dataset";
const VERSION: u32 = 1;
/// Largest metadata that is read: a hundred million chunks take less.
const MAX_BYTES: u64 = 4 << 30;

/// What `snapshot.metadata` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metadata {
    format: String,
    version: u32,
    /// The number that the headers of the files have; the run's folder is named after it.
    pub id: u64,
    compression: String,
    /// The files, by rising number.
    pub shards: Vec<Shard>,
}

/// One file of a saved dataset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// The number in its path.
    pub number: u64,
    /// How many elements it holds.
    pub rows: u64,
    /// Number of the element after each chunk, and where the chunk starts; not if compressed.
    pub chunks: Vec<(u64, u64)>,
}

impl Shard {
    /// The path of shard `number` of the run in `folder`.
    pub fn path(folder: &str, number: u64) -> String {
        format!("{folder}/{number:08}.shard/00000000.snapshot")
    }
}

impl Metadata {
    /// Of files that were just written.
    pub fn new(id: u64, compression: Compression, shards: Vec<Shard>) -> Self {
        let (format, compression) = (FORMAT.into(), compression.name().into());
        Metadata { format, version: VERSION, id, compression, shards }
    }

    /// Name of the run's folder.
    pub fn run(&self) -> String {
        format!("{:016x}", self.id)
    }

    /// How the files are compressed.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown name.
    pub fn compression(&self) -> Result<Compression> {
        Compression::of_elements(Some(&self.compression))
    }

    /// Number of elements in all files.
    pub fn rows(&self) -> u64 {
        self.shards.iter().fold(0_u64, |sum, shard| sum.saturating_add(shard.rows))
    }

    /// The text of the file.
    ///
    /// # Errors
    /// Never for a metadata of ours.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// Reads the metadata of the dataset saved in `folder`.
    ///
    /// # Errors
    /// `NotFound` if there is none, `DataLoss` if it is something else.
    pub fn read(folder: &str) -> Result<Self> {
        let path = format!("{folder}/snapshot.metadata");
        let failed = |e: &std::io::Error| {
            Error::io(e, &path).with_hint("is this what Dataset.save was given?")
        };
        let length = fs::metadata(&path).map_err(|e| failed(&e))?.len();
        if length > MAX_BYTES {
            return Err(Error::data_loss("a metadata of absurd length").at_file(&path));
        }
        let text = fs::read(&path).map_err(|e| failed(&e))?;
        let metadata: Metadata = serde_json::from_slice(&text)
            .map_err(|_| Error::data_loss("not the metadata of a saved dataset").at_file(&path))?;
        if metadata.format != FORMAT || metadata.version != VERSION {
            let text = format!("{:?} of version {}", metadata.format, metadata.version);
            return Err(Error::failed_precondition(text).at_file(&path));
        }
        Ok(metadata)
    }
}
