//! Strings and sounds of any bytes through the operations that read them: a result or an error,
//! never a panic, and no more memory than the bytes that are there can justify.

#![allow(clippy::unwrap_used)]

mod memory;

use headrace::data::{BytesArray, Column, DType, PartialShape, Spec, Tensor, Wanted};
use headrace::graph::attr::{Attr, Attrs};
use headrace::graph::kernel::Arg;
use headrace::{ErrorKind, Result, kernels};
use memory::peak_bytes;
use proptest::prelude::*;

/// One operation on a vector of strings, as a traced function runs it; on each of them if `single`.
fn run(op: &str, attrs: Attrs, values: &[Vec<u8>], single: bool) -> Result<Vec<Column>> {
    let kernel = kernels::build(op, &attrs)?;
    let rows = if single { values.len() } else { 1 };
    let dims: &[usize] = if single { &[values.len()] } else { &[1, values.len()] };
    let tensor = Tensor::text(DType::Bytes, dims.into(), BytesArray::from_values(values)?)?;
    let spec = Spec::Tensor { dtype: DType::Bytes, shape: PartialShape::from(&dims[1..]) };
    let outputs = kernel.infer(&[spec])?.len();
    kernel.run(&[Arg::Column(Column::Stacked(tensor))], rows, &vec![Wanted::All; outputs])
}

fn text(value: &str) -> Attr {
    Attr::Str(value.to_owned())
}

/// Operations on bytes, with arguments.
fn operations() -> Vec<(&'static str, Attrs)> {
    let none = Attrs::new;
    let reading = |encoding: &str| none().with("input_encoding", text(encoding));
    let mut found = vec![
        ("string_lower", none().with("encoding", text("utf-8"))),
        ("string_upper", none().with("encoding", text("utf-8"))),
        ("string_strip", none()),
        ("string_split", none()),
        ("string_split", none().with("sep", text("a")).with("maxsplit", Attr::Int(3))),
        ("bytes_split", none()),
        ("string_to_number", none().with("out_type", Attr::DType(DType::Float32))),
        ("string_to_number", none().with("out_type", Attr::DType(DType::Int64))),
        ("as_string", none().with("width", Attr::Int(9)).with("precision", Attr::Int(2))),
        ("string_hash_bucket", none().with("hash", text("fast")).with("num_buckets", Attr::Int(9))),
        ("decode_json_example", none()),
        ("unicode_split", reading("UTF-8")),
        ("string_format", none().with("template", text("{}"))),
        ("regex_full_match", none().with("pattern", text(r"(\w+|\C)*"))),
    ];
    for encoding in ["UTF-8", "UTF-16", "UTF-16-LE", "UTF-32", "UTF-32-BE", "ascii", "latin1"] {
        found.push(("unicode_decode", reading(encoding).with("offsets", Attr::Bool(true))));
        let target = reading(encoding).with("output_encoding", text("UTF-16-BE"));
        found.push(("unicode_transcode", target));
    }
    found
}

/// Bytes of which numbers, UTF-8, JSON and white space are made, and any others.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let telling = b"01eE+-.xXnaif{}[]\":, \t\n\xff\xfe\xc3\xa9\xe6\x97\xa5\xd8\xdc\0";
    let byte = prop_oneof![prop::sample::select(telling.to_vec()), any::<u8>()];
    prop::collection::vec(byte, 0..80)
}

proptest! {
    #[test]
    fn strings_of_any_bytes_are_read_or_refused(
        values in prop::collection::vec(bytes(), 0..4),
        single in any::<bool>(),
    ) {
        let size: usize = values.iter().map(Vec::len).sum();
        for (op, attrs) in operations() {
            let (result, peak) = peak_bytes(|| run(op, attrs, &values, single));
            if let Err(error) = result {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}: {}", op, error);
            }
            // Each piece of a byte takes a place of its own; patterns and tables are made once.
            prop_assert!(peak < 4_000_000 + 500 * size, "{op} held {peak} bytes for {size}");
        }
    }

    #[test]
    fn any_pattern_is_compiled_or_refused(
        pattern in r"([a-c\[\]^\\(){}*+?|.:$dwpPQEx0-9,<>=!iU -]|\\[a-zA-Z0-9]|\[:[a-z]*:\]|é){0,12}",
        rewrite in r"([a-c]|\\[0-9a])*",
    ) {
        let value = vec!["abc é12 [a]{2}".as_bytes().to_vec()];
        let full = Attrs::new().with("pattern", text(&pattern));
        let replace = full.clone().with("rewrite", text(&rewrite));
        for (op, attrs) in [("regex_full_match", full), ("regex_replace", replace)] {
            let (result, peak) = peak_bytes(|| run(op, attrs, &value, true));
            if let Err(error) = result {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}: {}", op, error);
            }
            prop_assert!(peak < 80_000_000, "{op} of {pattern:?} held {peak} bytes");
        }
    }

    #[test]
    fn a_damaged_wav_file_is_read_or_refused(
        at in prop::collection::vec((0_usize..60, any::<u8>()), 0..6),
        cut in 0_usize..8045,
        desired in -1_i64..50,
    ) {
        let mut file = include_bytes!("../../../tests/data/audio/tone.wav").to_vec();
        at.iter().for_each(|(at, byte)| file[*at] = *byte);
        file.truncate(cut);
        for op in ["decode_wav", "decode_audio"] {
            let attrs = Attrs::new().with("desired_samples", Attr::Int(desired));
            let (result, peak) = peak_bytes(|| run(op, attrs, std::slice::from_ref(&file), true));
            if let Err(error) = result {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}: {}", op, error);
            }
            prop_assert!(peak < 2_000_000, "{op} held {peak} bytes for {}", file.len());
        }
    }
}

#[test]
fn sizes_that_lie_are_refused_before_they_are_believed() {
    let file = include_bytes!("../../../tests/data/audio/tone.wav").to_vec();
    for (samples, channels) in [(1_i64 << 62, -1), (1 << 40, 1 << 20), (i64::MAX, i64::MAX)] {
        let attrs = Attrs::new()
            .with("desired_samples", Attr::Int(samples))
            .with("desired_channels", Attr::Int(channels));
        let (result, peak) =
            peak_bytes(|| run("decode_wav", attrs, std::slice::from_ref(&file), true));
        assert_eq!(result.err().map(|error| error.kind()), Some(ErrorKind::ResourceExhausted));
        assert!(peak < 1_000_000, "{peak}");
    }
    let huge = Attrs::new().with("pattern", text("((a{1,1000}){1,1000}){1,1000}"));
    let (result, peak) = peak_bytes(|| run("regex_full_match", huge, &[Vec::new()], true));
    assert_eq!(result.err().map(|error| error.kind()), Some(ErrorKind::InvalidArgument));
    assert!(peak < 80_000_000, "{peak}");
}
