//! Files whose names match a pattern, by the rules of `tf.io.gfile.glob`.
//!
//! `*` stands for any text within one part of a path, `?` for one character, `[abc]`, `[a-z]` and
//! `[!a]` or `[^a]` for one of some; a backslash takes the meaning from the character behind it.
//! Hidden files match like any other. Without such a character a path stands for itself, if it
//! exists. One slash at the end of a pattern means nothing. Matching is done byte by byte where names
//! are not UTF-8.

use std::fs;

/// The paths that match, in ascending order. A folder that cannot be read has no files.
pub fn glob(pattern: &[u8]) -> Vec<Vec<u8>> {
    let special = pattern.iter().position(|byte| b"*?[\\".contains(byte));
    let Some(special) = special else {
        let found = !pattern.is_empty() && exists(pattern);
        return if found { vec![pattern.to_vec()] } else { Vec::new() };
    };
    let pattern = pattern.strip_suffix(b"/").unwrap_or(pattern);
    let fixed = pattern[..special].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let start = if fixed == 0 { b"./".to_vec() } else { pattern[..fixed].to_vec() };
    let mut found = vec![start];
    for part in pattern[fixed..].split(|byte| *byte == b'/') {
        let part = Part::new(&String::from_utf8_lossy(part));
        let matches = |folder: &Vec<u8>| {
            names(folder)
                .into_iter()
                .filter(|name| part.matches(name))
                .map(|name| joined(folder, &name))
                .collect::<Vec<_>>()
        };
        found = found.iter().flat_map(matches).collect();
    }
    found.sort_unstable();
    found
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
    [folder, slash, name].concat()
}

#[cfg(unix)]
fn names(folder: &[u8]) -> Vec<Vec<u8>> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let entries = fs::read_dir(std::ffi::OsStr::from_bytes(folder));
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into_vec()).collect()
}

#[cfg(unix)]
fn exists(path: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(path)).exists()
}

#[cfg(not(unix))]
fn names(folder: &[u8]) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(String::from_utf8_lossy(folder).as_ref());
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned().into_bytes()).collect()
}

#[cfg(not(unix))]
fn exists(path: &[u8]) -> bool {
    std::path::Path::new(String::from_utf8_lossy(path).as_ref()).exists()
}

/// One step of a pattern.
enum Step {
    Any,
    One,
    Of { not: bool, ranges: Vec<(char, char)> },
    Is(char),
}

/// A pattern of a name.
struct Part(Vec<Step>);

impl Part {
    fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut steps = Vec::new();
        let mut at = 0;
        while let Some(c) = chars.get(at).copied() {
            at += 1;
            steps.push(match c {
                '*' => Step::Any,
                '?' => Step::One,
                '[' => match set(&chars[at..]) {
                    Some((step, len)) => {
                        at += len;
                        step
                    }
                    None => Step::Is('['),
                },
                '\\' if at < chars.len() => {
                    at += 1;
                    Step::Is(chars[at - 1])
                }
                c => Step::Is(c),
            });
        }
        Part(steps)
    }

    /// Goes back to the last star only, so that it takes time quadratic in the name at most.
    fn matches(&self, name: &[u8]) -> bool {
        let name: Vec<char> = match std::str::from_utf8(name) {
            Ok(text) => text.chars().collect(),
            Err(_) => name.iter().map(|byte| char::from(*byte)).collect(),
        };
        let (mut step, mut at, mut star) = (0, 0, None);
        while at < name.len() {
            match self.0.get(step) {
                Some(Step::Any) => {
                    star = Some((step, at));
                    step += 1;
                }
                Some(found) if found.takes(name[at]) => {
                    step += 1;
                    at += 1;
                }
                _ => {
                    let Some((back, from)) = star else { return false };
                    star = Some((back, from + 1));
                    (step, at) = (back + 1, from + 1);
                }
            }
        }
        self.0[step.min(self.0.len())..].iter().all(|step| matches!(step, Step::Any))
    }
}

impl Step {
    fn takes(&self, c: char) -> bool {
        match self {
            Step::Any | Step::One => true,
            Step::Is(own) => *own == c,
            Step::Of { not, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *not
            }
        }
    }
}

/// The set after a `[`, and how many characters it takes with its `]`.
fn set(chars: &[char]) -> Option<(Step, usize)> {
    let not = matches!(chars.first(), Some('!' | '^'));
    let start = usize::from(not);
    let end = chars.iter().skip(start + 1).position(|c| *c == ']')? + start + 1;
    let inside = &chars[start..end];
    let (mut ranges, mut at) = (Vec::new(), 0);
    while at < inside.len() {
        match inside.get(at + 1..at + 3) {
            Some(['-', last]) => {
                ranges.push((inside[at], *last));
                at += 3;
            }
            _ => {
                ranges.push((inside[at], inside[at]));
                at += 1;
            }
        }
    }
    Some((Step::Of { not, ranges }, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_patterns_say() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("*.t*t", ".txt", true),
            ("?", "é", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a*b*c*d*e", &"a".repeat(50), false),
        ] {
            assert_eq!(Part::new(pattern).matches(name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn folders_are_walked_part_by_part() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a/1.txt", "a/2.csv", "b/3.txt", ".c/4.txt"] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let root = root.path().to_str().unwrap();
        let found = |pattern: &str| {
            let found = glob(format!("{root}/{pattern}").as_bytes()).into_iter();
            let text = found.map(|path| String::from_utf8(path).unwrap());
            text.map(|path| path[root.len() + 1..].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("*/*.txt"), [".c/4.txt", "a/1.txt", "b/3.txt"]);
        assert_eq!(found("a/1.txt"), ["a/1.txt"]);
        assert_eq!(found("*/"), [".c", "a", "b"]);
        assert!(found("*//").is_empty());
        assert!(found("a/3.txt").is_empty());
        assert!(glob(b"").is_empty());
    }
}
