//! Replays what the fuzzers found, and files of each kind, whole and damaged.

// A test that cannot go on panics, in its helpers too.
#![allow(clippy::unwrap_used)]

mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use targets::{TARGETS, Target};

/// A file takes a fraction of this, also on a busy machine and without optimisation.
const MOST: Duration = Duration::from_secs(100);

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn replay((name, target): Target, bytes: &[u8], of: &Path) {
    let start = Instant::now();
    target(bytes);
    assert!(start.elapsed() < MOST, "{name} took too long for {}", of.display());
}

#[test]
fn finds_of_the_fuzzers_do_no_harm_any_more() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for target in TARGETS {
        for path in files(&corpus.join(target.0)) {
            replay(target, &fs::read(&path).unwrap(), &path);
        }
    }
}

/// Bytes of all of the file are changed, or are the last that is left.
fn damage(target: Target, path: &Path) {
    let bytes = fs::read(path).unwrap();
    let bytes = &bytes[..bytes.len().min(4096)];
    replay(target, bytes, path);
    for at in (0..bytes.len()).step_by(bytes.len().div_ceil(24).max(1)) {
        replay(target, &bytes[..at], path);
        for change in [0x01, 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[at] ^= change;
            replay(target, &changed, path);
        }
    }
}

#[test]
fn damaged_files_are_results_or_errors() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    for (name, folder) in [("images", "images"), ("audio", "audio"), ("tfrecord", "tfrecord")] {
        let target = TARGETS.into_iter().find(|target| target.0 == name).unwrap();
        let found = files(&golden.join(folder));
        assert!(found.len() > 5, "no files in {folder}");
        found.iter().for_each(|path| damage(target, path));
    }
}
