//! The direction of dependencies between the modules of the core.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with those it may use. Later modules stand on earlier ones; `graph` and `kernels`
/// hold each other up, since a graph builds its kernels by name.
const ALLOWED: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("data", &["error"]),
    ("io", &["data", "error"]),
    ("formats", &["data", "error", "io"]),
    ("random", &["error"]),
    ("graph", &["data", "error", "kernels", "random"]),
    ("kernels", &["data", "error", "formats", "graph", "io", "random"]),
    ("engine", &["data", "error", "graph", "random"]),
    ("sources", &["data", "engine", "error", "formats", "graph", "io", "random"]),
    ("transforms", &["data", "engine", "error", "formats", "graph", "io", "random"]),
    ("combine", &["data", "engine", "error", "graph", "random"]),
    // A window is a dataset of tensors.
    ("batching", &["data", "engine", "error", "graph", "random", "sources"]),
];

/// The rewrites of plans know the ops, and they alone.
const KNOW_ALL_OPS: [&str; 2] = ["engine/optimise.rs", "engine/rewrites/"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a file's text names after `crate::`.
fn used(text: &str) -> BTreeSet<String> {
    let names = text.split("crate::").skip(1).map(|rest| {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    });
    names.filter(|name| ALLOWED.iter().any(|(module, _)| module == name)).collect()
}

#[test]
fn modules_only_use_what_they_stand_on() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&root, &mut found);
    let mut checked = 0;
    for path in found {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
        let module = name.split('/').next().unwrap().trim_end_matches(".rs");
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == module) else {
            assert_eq!(name, "lib.rs", "a module without a place in the house");
            continue;
        };
        if KNOW_ALL_OPS.iter().any(|place| name.starts_with(place)) {
            continue;
        }
        for other in used(&fs::read_to_string(&path).unwrap()) {
            let may = other == module || allowed.contains(&other.as_str());
            assert!(may, "{name} uses {other}");
        }
        checked += 1;
    }
    assert!(checked > 60);
}

#[test]
fn the_core_names_no_python() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("pyo3") && !manifest.contains("numpy"));
}
