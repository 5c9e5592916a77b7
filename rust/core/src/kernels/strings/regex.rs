//! `regex_replace` and `regex_full_match` (RE2's syntax, on bytes that may or may not be UTF-8).
//!
//! Compiled patterns and their automata have a limit on memory, and matching takes time linear in
//! the text.

use std::sync::Arc;

use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use crate::data::{DType, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::strings::re2::translated;
use crate::kernels::strings::{Each, check_size, check_text, each_string, mapped};

/// What a compiled pattern may take: RE2's own limit.
const MOST_PATTERN_BYTES: usize = 8 << 20;

#[derive(Debug)]
struct FullMatch(Regex);

#[derive(Debug)]
struct Replace {
    pattern: Regex,
    rewrite: Vec<Part>,
    everywhere: bool,
}

/// A part of a replacement.
#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "regex_full_match" => {
            attrs.only(&["pattern"])?;
            Ok(Some(mapped(FullMatch(compiled(attrs.str("pattern")?, true)?))))
        }
        "regex_replace" => {
            attrs.only(&["pattern", "rewrite", "replace_global"])?;
            let rewrite = parts(attrs.str("rewrite")?)?;
            let everywhere = attrs.bool_or("replace_global", true)?;
            let pattern = compiled(attrs.str("pattern")?, false)?;
            Ok(Some(mapped(Replace { pattern, rewrite, everywhere })))
        }
        _ => Ok(None),
    }
}

fn compiled(pattern: &str, whole: bool) -> Result<Regex> {
    let invalid = |error: String| {
        Error::invalid_argument(format!("Invalid pattern: {pattern}, error: {error}"))
    };
    let made = translated(pattern).map_err(invalid)?;
    let build = |text: &str| {
        RegexBuilder::new(text)
            .size_limit(MOST_PATTERN_BYTES)
            .dfa_size_limit(MOST_PATTERN_BYTES)
            .build()
    };
    let shown = |error: regex::Error| match error {
        regex::Error::CompiledTooBig(_) => "pattern too large - compile failed".to_owned(),
        // The last line says what is wrong, those before show where in the translated pattern.
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    };
    // Alone first, so that a parenthesis too many closes nothing of ours.
    let alone = build(&made).map_err(|error| invalid(shown(error)))?;
    match whole {
        false => Ok(alone),
        true => build(&format!("\\A(?:{made})\\z")).map_err(|error| invalid(shown(error))),
    }
}

/// The parts of a replacement, in which `\0` is the match and `\1` its first group.
fn parts(rewrite: &str) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    let mut bytes = rewrite.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'9') => {
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Group(usize::from(digit - b'0')));
            }
            Some(b'\\') => text.push(b'\\'),
            _ => {
                let text = format!("Invalid rewrite: {rewrite}");
                let hint = "a backslash is followed by a digit or a backslash";
                return Err(Error::invalid_argument(text).with_hint(hint));
            }
        }
    }
    parts.push(Part::Text(text));
    Ok(parts)
}

/// The length of the character at the start of `text`, if there is one.
fn character(text: &[u8]) -> Option<usize> {
    let head = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    valid.chars().next().map(char::len_utf8)
}

impl Replace {
    fn write(&self, value: &[u8], groups: &CaptureLocations, out: &mut Vec<u8>) -> Result<()> {
        for part in &self.rewrite {
            let bytes = match part {
                Part::Text(text) => text.as_slice(),
                Part::Group(group) => {
                    groups.get(*group).map_or(&[][..], |(start, end)| &value[start..end])
                }
            };
            check_size(out.len() + bytes.len())?;
            out.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// As RE2 replaces: an empty match right behind a match is none.
    fn replace(
        &self,
        value: &[u8],
        groups: &mut CaptureLocations,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let highest = self.rewrite.iter().filter_map(|part| match part {
            Part::Group(group) => Some(*group),
            Part::Text(_) => None,
        });
        if highest.max().unwrap_or(0) >= self.pattern.captures_len() {
            out.extend_from_slice(value);
            return Ok(());
        }
        let (mut at, mut last_end) = (0, None);
        while at <= value.len() {
            let Some(found) = self.pattern.captures_read_at(groups, value, at) else { break };
            out.extend_from_slice(&value[at..found.start()]);
            at = found.start();
            if found.is_empty() && last_end == Some(at) {
                let step = character(&value[at..]).unwrap_or(1);
                out.extend_from_slice(&value[at..(at + step).min(value.len())]);
                at += step;
                continue;
            }
            self.write(value, groups, out)?;
            at = found.end();
            last_end = Some(at);
            if !self.everywhere {
                break;
            }
        }
        out.extend_from_slice(value.get(at..).unwrap_or_default());
        Ok(())
    }
}

impl Each for Replace {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input)
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let mut groups = self.pattern.capture_locations();
        let text = tensor.dtype() == DType::Str;
        each_string(tensor, tensor.dtype(), |value, out| {
            self.replace(value, &mut groups, out)?;
            match text && std::str::from_utf8(out).is_err() {
                true => {
                    Err(Error::invalid_argument("the pattern cuts a character of a str in two")
                        .with_hint("give bytes"))
                }
                false => Ok(()),
            }
        })
    }
}

impl Each for FullMatch {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input).and(Ok(DType::Bool))
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let found = tensor.strings()?.iter().map(|value| u8::from(self.0.is_match(value)));
        let found: Vec<u8> = found.collect();
        let buffer = crate::data::Buffer::from_values(&found)?;
        Tensor::fixed(DType::Bool, tensor.dims().into(), buffer)
    }
}
