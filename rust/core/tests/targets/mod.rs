//! What the fuzzers do with their bytes: whatever they are, a result or an error.
//!
//! `fuzz/fuzz_targets` calls these with bytes that a fuzzer makes up, `tests/corpus.rs` with those
//! that once did harm, and with files of each kind.

// A target that cannot be set up panics.
#![allow(clippy::unwrap_used, clippy::panic)]

use headrace::data::{BytesArray, DType, PartialShape, Spec, Tensor, Wanted};
use headrace::formats::example;
use headrace::formats::tfrecord::{ReadOptions, Reader};
use headrace::graph::{Arg, Attr, Attrs};
use headrace::io::compress::Compression;
use headrace::kernels;

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("audio", audio),
    ("csv", csv),
    ("example", walk_example),
    ("images", images),
    ("parse", parse),
    ("strings", strings),
    ("tfrecord", tfrecord),
];

fn text(bytes: &[u8]) -> Tensor {
    let values = BytesArray::from_values([bytes]).unwrap();
    Tensor::text(DType::Bytes, [][..].into(), values).unwrap()
}

/// Runs an operation on one row; an error of the inputs is a bug of the target.
fn run(op: &str, attrs: Attrs, inputs: &[Tensor]) {
    let kernel = kernels::build(op, &attrs).unwrap();
    let spec = |tensor: &Tensor| Spec::Tensor {
        dtype: tensor.dtype(),
        shape: PartialShape::from(tensor.dims()),
    };
    let outputs = kernel.infer(&inputs.iter().map(spec).collect::<Vec<_>>()).unwrap();
    let column = |tensor: &Tensor| Arg::Column(Arg::Const(tensor.clone()).into_column(1).unwrap());
    let args: Vec<Arg> = inputs.iter().map(column).collect();
    if let Ok(columns) = kernel.run(&args, 1, &vec![Wanted::All; outputs.len()]) {
        assert!(columns.iter().all(|column| column.len() == 1), "{op} gave another number of rows");
    }
}

/// Decoders of images, with the arguments that take other ways.
pub fn images(bytes: &[u8]) {
    let file = text(bytes);
    let flag = |name: &str| Attrs::new().with(name, Attr::Bool(true));
    run("decode_image", Attrs::new(), std::slice::from_ref(&file));
    let other = Attrs::new()
        .with("dtype", Attr::DType(DType::Float32))
        .with("channels", Attr::Int(3))
        .with("expand_animations", Attr::Bool(false))
        .with("apply_orientation", Attr::Bool(true));
    run("decode_image", other, std::slice::from_ref(&file));
    let grey = Attrs::new().with("channels", Attr::Int(1));
    run("decode_png", grey.with("dtype", Attr::DType(DType::UInt16)), std::slice::from_ref(&file));
    let small = flag("try_recover_truncated").with("ratio", Attr::Int(2));
    run("decode_jpeg", small, std::slice::from_ref(&file));
    let part = Attrs::new().with("acceptable_fraction", Attr::Float(0.0));
    run("decode_jpeg", part, std::slice::from_ref(&file));
    let window = Tensor::from_values(&[4], &[1_i32, 2, 3, 4]).unwrap();
    run("decode_and_crop_jpeg", flag("try_recover_truncated"), &[file.clone(), window]);
    run("extract_jpeg_shape", Attrs::new(), &[file]);
}

/// Decoders of sound.
pub fn audio(bytes: &[u8]) {
    let file = text(bytes);
    run("decode_wav", Attrs::new(), std::slice::from_ref(&file));
    let some = Attrs::new().with("desired_channels", Attr::Int(2));
    run("decode_wav", some.with("desired_samples", Attr::Int(100)), std::slice::from_ref(&file));
    run("decode_audio", Attrs::new(), &[file]);
}

/// The walk over the wire format of an Example.
pub fn walk_example(bytes: &[u8]) {
    let _ = example::entries(bytes, |_, feature| {
        if let Ok(Some((example::Kind::Bytes, list))) = example::list(feature) {
            let _ = example::strings(list, |_| ());
        }
    });
}

fn feature(name: &str, kind: &str, dtype: DType, more: &[(&str, Attr)]) -> Attr {
    let mut items = vec![
        ("name".to_owned(), Attr::Str(name.into())),
        ("kind".to_owned(), Attr::Str(kind.into())),
        ("dtype".to_owned(), Attr::DType(dtype)),
    ];
    items.extend(more.iter().map(|(name, attr)| ((*name).to_owned(), attr.clone())));
    Attr::Map(items)
}

/// Parsing an Example into features of each kind.
pub fn parse(bytes: &[u8]) {
    let scalar = [("shape", Attr::Shape(PartialShape::scalar()))];
    let sparse = [
        ("index_key", Attr::List(vec![Attr::Str("i".into())])),
        ("value_key", Attr::Str("f".into())),
        ("size", Attr::List(vec![Attr::Int(10)])),
    ];
    let kinds = [
        feature("i", "VarLenFeature", DType::Int64, &[]),
        feature("f", "VarLenFeature", DType::Float32, &[]),
        feature("s", "VarLenFeature", DType::Bytes, &[]),
        feature("s", "RaggedFeature", DType::Bytes, &[]),
        feature("i", "FixedLenFeature", DType::Int64, &scalar),
        feature("x", "SparseFeature", DType::Float32, &sparse),
    ];
    for kind in kinds {
        let attrs = Attrs::new().with("features", Attr::List(vec![kind]));
        run("parse_single_example", attrs, &[text(bytes)]);
    }
    run("parse_tensor", Attrs::new().with("out_type", Attr::DType(DType::Float32)), &[text(bytes)]);
}

/// So many bytes of a pattern are taken.
const MOST_PATTERN: usize = 200;

/// Operations on strings: the first line is a pattern, a separator and a template, the rest the
/// text.
pub fn strings(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    // Patterns and templates are the user's own. What a long one costs is its length times that of
    // the text, which is no find.
    let first = String::from_utf8_lossy(&bytes[..end.min(MOST_PATTERN)]).into_owned();
    let value = text(&bytes[end..]);
    let none = Attrs::new;
    let named = |name: &str, text: &str| Attrs::new().with(name, Attr::Str(text.to_owned()));
    let number = |dtype: DType| none().with("out_type", Attr::DType(dtype));
    let mut operations = vec![
        ("string_lower", named("encoding", "utf-8")),
        ("string_upper", named("encoding", "utf-8")),
        ("string_strip", none()),
        ("string_split", none()),
        ("string_split", named("sep", &first).with("maxsplit", Attr::Int(3))),
        ("bytes_split", none()),
        ("string_to_number", number(DType::Float32)),
        ("string_to_number", number(DType::Int64)),
        ("as_string", none().with("width", Attr::Int(9)).with("precision", Attr::Int(2))),
        ("string_hash_bucket", named("hash", "fast").with("num_buckets", Attr::Int(9))),
        ("decode_json_example", none()),
        ("decode_base64", none()),
        ("unicode_split", named("input_encoding", "UTF-8")),
        ("string_format", named("template", &first)),
        ("regex_full_match", named("pattern", &first)),
        ("regex_replace", named("pattern", &first).with("rewrite", Attr::Str(r"\0-".into()))),
        ("regex_replace", named("pattern", "(.)(.)?").with("rewrite", Attr::Str(first.clone()))),
    ];
    for encoding in ["UTF-8", "UTF-16", "UTF-32", "latin1"] {
        let reading = named("input_encoding", encoding);
        operations.push(("unicode_decode", reading.clone().with("offsets", Attr::Bool(true))));
        let target = reading.with("output_encoding", Attr::Str("UTF-16-BE".into()));
        operations.push(("unicode_transcode", target));
    }
    for (op, attrs) in operations {
        // A pattern or template may be wrong, or for another number of values.
        let spec = Spec::Tensor { dtype: DType::Bytes, shape: PartialShape::scalar() };
        let Ok(kernel) = kernels::build(op, &attrs) else { continue };
        if kernel.infer(&[spec]).is_ok() {
            run(op, attrs, std::slice::from_ref(&value));
        }
    }
}

/// Fields of a record of CSV.
pub fn csv(bytes: &[u8]) {
    for quotes in [true, false] {
        let outputs = [DType::Int32, DType::Float64, DType::Bytes];
        let output = |dtype: &DType| Attr::List(vec![Attr::DType(*dtype), Attr::None]);
        let attrs = Attrs::new()
            .with("outputs", Attr::List(outputs.iter().map(output).collect()))
            .with("field_delim", Attr::Str(",".into()))
            .with("use_quote_delim", Attr::Bool(quotes));
        run("decode_csv", attrs, &[text(bytes)]);
    }
}

/// Reading a file of records, compressed or not, and going on after damage.
pub fn tfrecord(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let path = file.path().to_str().unwrap();
    // Little output is enough to find harm.
    let options = ReadOptions { max_record_bytes: Some(1 << 20), ..ReadOptions::default() };
    for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
        let Ok(mut reader) = Reader::open(path, compression, options) else { continue };
        for _ in 0..100 {
            match reader.next(10) {
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        let options = ReadOptions { salvage: true, ..options };
        let Ok(mut reader) = Reader::open(path, compression, options) else { continue };
        let mut at = 0;
        // Every damaged place is behind the one before it.
        for _ in 0..1000 {
            match reader.next(10) {
                Ok(Some(_)) => {}
                Err(error) if error.lost().is_some() => {
                    let offset = error.place().offset.unwrap();
                    assert!(offset >= at, "{error}");
                    at = offset + 1;
                }
                Ok(None) | Err(_) => break,
            }
        }
    }
}
