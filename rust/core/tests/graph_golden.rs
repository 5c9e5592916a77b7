//! Kernels against what NumPy and TensorFlow gave: see tests/golden/make_numpy_ops.py.

// A test that cannot go on panics, in its helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

use base64::Engine;
use headrace::data::{
    Buffer, BytesArray, Column, DType, Dims, Spec, Structure, Tensor, Value, Wanted,
};
use headrace::graph::{Arg, Attr, Attrs, GraphBuilder};
use headrace::kernels;
use headrace::random::Site;
use serde_json::Value as Json;

fn attr(json: &Json) -> Attr {
    match json {
        Json::Null => Attr::None,
        Json::Bool(value) => Attr::Bool(*value),
        Json::Number(value) => match value.as_i64() {
            Some(value) => Attr::Int(value),
            None => Attr::Float(value.as_f64().unwrap()),
        },
        Json::String(value) => Attr::Str(value.clone()),
        Json::Array(items) => Attr::List(items.iter().map(attr).collect()),
        Json::Object(items) => Attr::Map(items.iter().map(|(k, v)| (k.clone(), attr(v))).collect()),
    }
}

fn attrs(json: &Json) -> Attrs {
    json.as_object().unwrap().iter().map(|(name, value)| (name.clone(), attr(value))).collect()
}

fn dims(json: &Json) -> Dims {
    json["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap() as usize).collect()
}

fn hex_tensor(json: &Json) -> Tensor {
    let hex = json["hex"].as_str().unwrap().as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    let bytes: Vec<u8> = hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    let dtype = DType::from_name(json["dtype"].as_str().unwrap()).unwrap();
    Tensor::fixed(dtype, dims(json), Buffer::copy_from(&bytes).unwrap()).unwrap()
}

fn spec(tensor: &Tensor) -> Spec {
    Spec::Tensor { dtype: tensor.dtype(), shape: tensor.dims().into() }
}

/// Runs an operation on a row three times: as columns of three rows.
fn run(op: &str, attrs: &Attrs, inputs: &[Tensor]) -> headrace::Result<Tensor> {
    Ok(run_all(op, attrs, inputs)?.remove(0))
}

/// All results of an operation.
fn run_all(op: &str, attrs: &Attrs, inputs: &[Tensor]) -> headrace::Result<Vec<Tensor>> {
    let kernel = kernels::build(op, attrs)?;
    let specs = kernel.infer(&inputs.iter().map(spec).collect::<Vec<_>>())?;
    let column = |tensor: &Tensor| Ok(Arg::Column(Arg::Const(tensor.clone()).into_column(3)?));
    let args: Vec<Arg> = inputs.iter().map(column).collect::<headrace::Result<_>>()?;
    let columns = kernel.run(&args, 3, &[Wanted::All])?;
    let rows: Vec<Tensor> = (0..3).map(|row| dense(&columns[0], row)).collect();
    assert_eq!(rows[0], rows[2], "{op}: rows differ");
    assert!(
        specs[0].shape().accepts(rows[0].dims()),
        "{op}: {} for {:?}",
        specs[0],
        rows[0].dims()
    );
    assert_eq!(specs[0].dtype(), Some(rows[0].dtype()), "{op}");
    let others = columns[1..].iter().map(|column| dense(column, 1));
    let results = std::iter::once(rows[0].clone()).chain(others).collect();
    // The same with a constant for each input but the first.
    if inputs.len() > 1 {
        let mut args = args.clone();
        args[1] = Arg::Const(inputs[1].clone());
        let columns = kernel.run(&args, 3, &[Wanted::All])?;
        assert_eq!(dense(&columns[0], 1), rows[0], "{op}: a constant gives another result");
    }
    Ok(results)
}

fn dense(column: &Column, row: usize) -> Tensor {
    match column.row(row).unwrap() {
        Value::Tensor(tensor) => tensor,
        _ => panic!("not dense"),
    }
}

/// Real and imaginary parts as f64, with eps of the type.
fn floats(tensor: &Tensor) -> Option<(Vec<f64>, f64)> {
    Some(match tensor.dtype() {
        DType::Float16 => {
            let values = tensor.values::<half::f16>().unwrap();
            (values.iter().map(|value| value.to_f64()).collect(), 2.0_f64.powi(-10))
        }
        DType::Float32 => {
            let values = tensor.values::<f32>().unwrap();
            (values.iter().map(|value| f64::from(*value)).collect(), 2.0_f64.powi(-23))
        }
        DType::Float64 => (tensor.values::<f64>().unwrap().to_vec(), 2.0_f64.powi(-52)),
        DType::Complex64 => {
            let bytes = tensor.bytes().unwrap();
            let values = bytes.typed::<f32>().unwrap();
            (values.iter().map(|value| f64::from(*value)).collect(), 2.0_f64.powi(-23))
        }
        DType::Complex128 => {
            (tensor.bytes().unwrap().typed::<f64>().unwrap().to_vec(), 2.0_f64.powi(-52))
        }
        _ => return None,
    })
}

/// True if all values agree: bit by bit, but for the payload of NaNs and the given tolerance.
fn agree(ours: &Tensor, theirs: &Tensor, close: bool, magnitude: Option<f64>) -> bool {
    if ours.dtype() != theirs.dtype() || ours.dims() != theirs.dims() {
        return false;
    }
    let (Some((a, eps)), Some((b, _))) = (floats(ours), floats(theirs)) else {
        return ours == theirs;
    };
    let least = match ours.dtype() {
        DType::Float16 => 2.0_f64.powi(-14),
        DType::Float32 | DType::Complex64 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    a.iter().zip(&b).all(|(a, b)| {
        let unit = eps * f64::from_bits(b.abs().max(least).to_bits() & 0x7ff0_0000_0000_0000);
        let allowed = magnitude.map_or(if close { 4.0 * unit } else { 0.0 }, |m| m * eps);
        let near = allowed > 0.0 && (a - b).abs() <= allowed;
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || near
    })
}

#[test]
fn results_are_those_of_numpy() {
    let golden: Json =
        serde_json::from_str(include_str!("../../../tests/golden/numpy_ops.json")).unwrap();
    let mut wrong = Vec::new();
    for case in golden["cases"].as_array().unwrap() {
        let op = case["op"].as_str().unwrap();
        let inputs: Vec<Tensor> =
            case["inputs"].as_array().unwrap().iter().map(hex_tensor).collect();
        let theirs = hex_tensor(&case["expect"]);
        let about = format!("{op} {} {}", inputs[0].dtype(), case["attrs"]);
        // n eps of the sum of magnitudes; a product is off by n eps of itself.
        let magnitude = (case["sum"] == true).then(|| {
            let total =
                |x: &Tensor| floats(x).map_or(0.0, |(v, _)| v.iter().map(|x| x.abs()).sum::<f64>());
            let sum = total(&inputs[0]);
            let largest = floats(&theirs).map_or(0.0, |(v, _)| {
                v.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()))
            });
            match op {
                "prod" => inputs[0].len() as f64 * largest,
                // The sum of the products of magnitudes is at most that of the sums.
                "einsum" => inputs.iter().map(total).product::<f64>() * inputs[0].len() as f64,
                _ => inputs[0].len() as f64 * sum.max(largest),
            }
        });
        let results = run_all(op, &attrs(&case["attrs"]), &inputs);
        if let (Ok(results), Some(second)) = (&results, case.get("second")) {
            assert!(agree(&results[1], &hex_tensor(second), false, None), "{about}: {results:?}");
        }
        match results.map(|mut results| results.remove(0)) {
            Ok(ours) if agree(&ours, &theirs, case["close"] == true, magnitude) => {}
            Ok(ours) => match (floats(&ours), floats(&theirs)) {
                (Some((a, _)), Some((b, _))) if ours.dims() == theirs.dims() => {
                    let at = a.iter().zip(&b).enumerate();
                    let at = at.filter(|(_, (a, b))| a.to_bits() != b.to_bits());
                    let at: Vec<_> = at.filter(|(_, (a, _))| !a.is_nan()).take(4).collect();
                    wrong.push(format!("{about}: {at:?}"));
                }
                _ => wrong.push(format!("{about}: {ours:?} for {theirs:?}")),
            },
            Err(error) => wrong.push(format!("{about}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn json_tensor(json: &Json) -> Tensor {
    let data = json["data"].as_array().unwrap();
    let dtype = DType::from_name(json["dtype"].as_str().unwrap()).unwrap();
    if dtype == DType::Bytes {
        let decode = |value: &Json| {
            base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap()).unwrap()
        };
        let values = BytesArray::from_values(data.iter().map(decode)).unwrap();
        return Tensor::text(dtype, dims(json), values).unwrap();
    }
    let mut bytes = Vec::new();
    let flat = data.iter().flat_map(|value| match value {
        Json::Array(parts) => parts.clone(),
        other => vec![other.clone()],
    });
    for value in flat {
        let float = || value.as_f64().unwrap();
        match dtype {
            DType::Bool => bytes.push(u8::from(value.as_bool().unwrap())),
            DType::Float16 => bytes.extend(half::f16::from_f64(float()).to_le_bytes()),
            DType::Float32 | DType::Complex64 => bytes.extend((float() as f32).to_le_bytes()),
            DType::Float64 | DType::Complex128 => bytes.extend(float().to_le_bytes()),
            _ => {
                let int = value.as_i64().unwrap().to_le_bytes();
                bytes.extend(&int[..dtype.size().unwrap()]);
            }
        }
    }
    Tensor::fixed(dtype, dims(json), Buffer::copy_from(&bytes).unwrap()).unwrap()
}

#[test]
fn raw_bytes_decode_as_in_tensorflow() {
    let golden: Json =
        serde_json::from_str(include_str!("../../../tests/golden/decode_raw.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let input = json_tensor(&case["args"][0]);
        let result = run("decode_raw", &attrs(&case["kwargs"]), &[input]);
        match case["expect"].get("error") {
            None => assert_eq!(result.unwrap(), json_tensor(&case["expect"]), "{case}"),
            Some(error) => assert_eq!(result.unwrap_err().message(), error["message"], "{case}"),
        }
    }
}

#[test]
fn rows_of_differing_length_keep_their_length() {
    let values = BytesArray::from_values(["ab", "cdef", ""]).unwrap();
    let column = Column::Stacked(Tensor::text(DType::Bytes, [3][..].into(), values).unwrap());
    let mut builder = GraphBuilder::new();
    let input = builder.input(Spec::scalar(DType::Bytes));
    let raw = Attrs::from([("out_type", Attr::Str("uint8".into()))]);
    let raw = builder.add("decode_raw", raw, &[input]).unwrap();
    let back = Attrs::from([(
        "key",
        Attr::List(vec![Attr::List(vec![Attr::None, Attr::None, Attr::Int(-1)])]),
    )]);
    let back = builder.add("slice", back, &raw).unwrap();
    let graph = builder.finish(Structure::Leaf, back).unwrap();
    let chunk = headrace::data::Chunk::of_column(column).unwrap();
    let out = graph.eval(&chunk, &Site::default()).unwrap();
    assert_eq!(dense(&out.columns()[0], 1).values::<u8>().unwrap(), b"fedc");
    assert_eq!(dense(&out.columns()[0], 2).dims(), [0]);
}
