//! `Dataset.snapshot`: a cache in files that knows which pipeline it is of.
//!
//! Below the path there is a folder for each pipeline, named by a fingerprint of its steps, their
//! arguments and the data given to them. In it lie the elements of one whole pass. Where another
//! iterator is writing them, this one makes its elements itself.

use std::sync::{Arc, OnceLock};

use super::cache::file::CacheFile;
use super::cache::home::Home;
use super::cache::open_stage;
use crate::data::ElementSpec;
use crate::engine::fingerprint::fingerprint;
use crate::engine::node::Arg;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::Result;
use crate::io::compress::Compression;

/// A plan whose elements are kept in files.
pub struct SnapshotNode {
    input: Plan,
    path: String,
    compression: Compression,
    home: OnceLock<Home>,
}

impl SnapshotNode {
    /// A plan that keeps the elements of `input` below `path`.
    pub fn plan(input: Plan, path: String, compression: Compression) -> Plan {
        Arc::new(SnapshotNode { input, path, compression, home: OnceLock::new() })
    }

    fn home(&self) -> &Home {
        // Made when it is needed: the fingerprint reads all data that was given.
        self.home.get_or_init(|| {
            let folder = format!("{}/{:016x}", self.path, fingerprint(&self.input));
            Home::File(Arc::new(CacheFile::in_folder(&folder, self.compression)))
        })
    }
}

impl Node for SnapshotNode {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn args(&self) -> Vec<Arg> {
        let compression = self.compression.name();
        vec![Arg::tuning("path", &self.path), Arg::tuning("compression", compression)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn observable(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        open_stage(self.home(), &self.input, opening)
    }
}
