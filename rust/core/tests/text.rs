//! Lines, records of one length and CSV of any bytes: the same whatever blocks they are read in, and
//! never a panic.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used)]

mod support;

use headrace::data::DType;
use headrace::engine::{Plan, RunOptions};
use headrace::formats::csv::Syntax;
use headrace::io::compress::Compression;
use headrace::sources::csv::{CsvColumn, CsvNode, CsvOptions};
use headrace::sources::fixed_length::{FixedLengthNode, Layout};
use headrace::sources::text_line::TextLineNode;
use proptest::prelude::*;
use support::read;

const BUFFERS: [Option<usize>; 4] = [None, Some(1), Some(3), Some(8)];

/// Reads a file of this content by way of each size of blocks; all must agree.
fn agree(content: &[u8], plan: impl Fn(String, Option<usize>) -> Plan) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    let path = file.path().to_str().unwrap();
    let expected = read(&plan(path.into(), None), RunOptions::default());
    for buffer in BUFFERS {
        for rows in [1, 1024] {
            let seen = read(&plan(path.into(), buffer), support::options(rows));
            assert_eq!(seen, expected, "blocks of {buffer:?}, chunks of {rows}");
        }
    }
    expected
}

fn csv(path: String, buffer_size: Option<usize>, header: bool) -> Plan {
    let column = |dtype| CsvColumn { dtype, default: None };
    let options = CsvOptions {
        compression: Compression::None,
        buffer_size,
        header,
        syntax: Syntax { delimiter: b',', quotes: true },
        na_value: b"b".to_vec(),
        select: Vec::new(),
        exclude: Vec::new(),
    };
    CsvNode::plan(vec![path], vec![column(DType::Bytes), column(DType::Int32)], options).unwrap()
}

/// Bytes of which the formats are made, and a few others.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(b"ab1,,\"\"\n\n\r\xff\0".to_vec());
    prop::collection::vec(byte, 0..60)
}

proptest! {
    #[test]
    fn lines_do_not_depend_on_blocks(content in content()) {
        let lines = agree(&content, |path, buffer| {
            TextLineNode::plan(vec![path], Compression::None, buffer)
        });
        let ends = content.iter().filter(|byte| **byte == b'\n').count();
        prop_assert!(lines.len() == ends || lines.len() == ends + 1);
    }

    #[test]
    fn csv_does_not_depend_on_blocks(content in content(), header: bool) {
        agree(&content, |path, buffer| csv(path, buffer, header));
    }

    #[test]
    fn records_of_one_length_do_not_depend_on_blocks(
        content in content(), record in 1_u64..5, header in 0_u64..4, footer in 0_u64..4
    ) {
        let layout = Layout { header, record, footer };
        agree(&content, |path, buffer| {
            FixedLengthNode::plan(vec![path], layout, Compression::None, buffer).unwrap()
        });
    }
}
