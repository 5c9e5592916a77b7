//! Laws of graphs: results do not depend on how elements are cut into chunks, nor on which other
//! outputs are asked for.

// A test that cannot go on panics, in its helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

use headrace::data::{Chunk, Column, DType, Rows, Spec, Structure, Tensor, Value};
use headrace::graph::{Attr, Attrs, Graph, GraphBuilder, ValueId};
use headrace::random::Site;
use proptest::prelude::*;

const ROWS: usize = 7;

/// One step of a random graph: which operation, and which of the values so far it reads.
#[derive(Clone, Debug)]
struct Step {
    op: usize,
    a: usize,
    b: usize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..22_usize, any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let step = step.prop_map(|(op, a, b)| Step { op, a: a.index(64), b: b.index(64) });
    prop::collection::vec(step, 1..12)
}

fn ints(items: &[i64]) -> Attr {
    Attr::List(items.iter().map(|item| Attr::Int(*item)).collect())
}

/// Adds the step if its inputs fit; a step that does not is left out.
fn add(builder: &mut GraphBuilder, step: &Step, values: &[ValueId]) -> Option<ValueId> {
    let (a, b) = (values[step.a % values.len()], values[step.b % values.len()]);
    let axis = |axis| Attrs::from([("axis", Attr::Int(axis))]);
    let range = |a: Attr, b: Attr, c: Attr| Attr::List(vec![a, b, c]);
    let none = Attrs::new;
    let (op, attrs, inputs) = match step.op {
        0 => ("add", none(), vec![a, b]),
        1 => ("multiply", none(), vec![a, b]),
        2 => ("maximum", none(), vec![a, b]),
        3 => ("remainder", none(), vec![a, b]),
        4 => ("less", none(), vec![a, b]),
        5 => ("negative", none(), vec![a]),
        6 => ("sin", none(), vec![a]),
        7 => ("cast", Attrs::from([("dtype", Attr::DType(DType::Float32))]), vec![a]),
        8 => ("cast", Attrs::from([("dtype", Attr::DType(DType::Int64))]), vec![a]),
        9 => ("sum", axis(-1).with("dtype", Attr::DType(DType::Float64)), vec![a]),
        10 => ("max", axis(0).with("keepdims", Attr::Bool(true)), vec![a]),
        11 => ("transpose", none(), vec![a]),
        12 => ("expand_dims", axis(0), vec![a]),
        13 => ("reshape", Attrs::from([("shape", ints(&[-1]))]), vec![a]),
        14 => {
            let back = range(Attr::None, Attr::None, Attr::Int(-1));
            let key = Attr::List(vec![Attr::Str("...".into()), back]);
            ("slice", Attrs::from([("key", key)]), vec![a])
        }
        15 => {
            let tail = range(Attr::Int(1), Attr::None, Attr::None);
            ("slice", Attrs::from([("key", Attr::List(vec![tail]))]), vec![a])
        }
        16 => ("concatenate", axis(-1), vec![a, b]),
        17 => ("stack", axis(-1), vec![a, b]),
        18 => ("shape", none(), vec![a]),
        19 => ("isnan", none(), vec![a]),
        20 => ("getitem", none(), vec![a, values[2]]),
        _ => ("equal", none(), vec![a, b]),
    };
    builder.add(op, attrs, &inputs).ok()?.pop()
}

/// A graph over a float32 row of unknown length, a float32 (2, 3) and an int64 number; every
/// value is an output.
fn graph(steps: &[Step]) -> Graph {
    let mut builder = GraphBuilder::new();
    let mut values = vec![
        builder.input(Spec::tensor(DType::Float32, [None])),
        builder.input(Spec::tensor(DType::Float32, [Some(2), Some(3)])),
        builder.input(Spec::scalar(DType::Int64)),
        builder.constant(Tensor::scalar(1.5_f32).unwrap()),
        builder.constant(Tensor::from_values(&[3], &[1.0_f32, -2.0, 0.5]).unwrap()),
        builder.constant(Tensor::scalar(3_i64).unwrap()),
    ];
    for step in steps {
        values.extend(add(&mut builder, step, &values));
    }
    let structure = Structure::Tuple(vec![Structure::Leaf; values.len()]);
    builder.finish(structure, values).unwrap()
}

fn chunk(lengths: &[usize]) -> Chunk {
    let row = |(i, length): (usize, &usize)| {
        let values: Vec<f32> = (0..*length).map(|k| (i * 10 + k) as f32 - 30.25).collect();
        Tensor::from_values(&[*length], &values).unwrap()
    };
    let ragged: Vec<Tensor> = lengths.iter().enumerate().map(row).collect();
    let ragged = Rows::from_tensors(&ragged).unwrap().into_column().unwrap();
    let fixed: Vec<f32> = (0..ROWS * 6).map(|i| (i as f32 * 0.7).sin() * 100.0).collect();
    let fixed = Column::Stacked(Tensor::from_values(&[ROWS, 2, 3], &fixed).unwrap());
    let numbers: Vec<i64> = (0..ROWS as i64).map(|i| i % 2).collect();
    let numbers = Column::Stacked(Tensor::from_values(&[ROWS], &numbers).unwrap());
    let structure = Structure::Tuple(vec![Structure::Leaf; 3]);
    Chunk::new(ROWS, structure.into(), vec![ragged, fixed, numbers]).unwrap()
}

fn rows(chunk: &Chunk, column: usize) -> Vec<Tensor> {
    let row = |row| match chunk.columns()[column].row(row).unwrap() {
        Value::Tensor(tensor) => tensor,
        _ => panic!("not dense"),
    };
    (0..chunk.rows()).map(row).collect()
}

/// The results of a graph over parts of `size` rows, laid end to end.
fn in_parts(graph: &Graph, chunk: &Chunk, size: usize) -> headrace::Result<Vec<Vec<Tensor>>> {
    let mut outputs = vec![Vec::new(); graph.specs().len()];
    for start in (0..chunk.rows()).step_by(size) {
        let part = chunk.slice(start..(start + size).min(chunk.rows()))?;
        let result = graph.eval(&part, &Site::default())?;
        for (column, output) in outputs.iter_mut().enumerate() {
            output.extend(rows(&result, column));
        }
    }
    Ok(outputs)
}

proptest! {
    #[test]
    fn results_do_not_depend_on_chunks(
        steps in steps(),
        lengths in prop::collection::vec(1..4_usize, ROWS),
    ) {
        let (graph, chunk) = (graph(&steps), chunk(&lengths));
        let whole = in_parts(&graph, &chunk, ROWS);
        for size in [1, 2, 3] {
            let parts = in_parts(&graph, &chunk, size);
            prop_assert_eq!(parts.is_ok(), whole.is_ok());
            if let (Ok(parts), Ok(whole)) = (&parts, &whole) {
                prop_assert_eq!(parts, whole, "\n{}", &graph);
            }
        }
        if let Ok(whole) = &whole {
            for (spec, rows) in graph.specs().iter().zip(whole) {
                for row in rows {
                    prop_assert!(spec.shape().accepts(row.dims()), "{} {:?}\n{}", spec, row, graph);
                    prop_assert_eq!(spec.dtype(), Some(row.dtype()));
                }
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_what_else_is_wanted(
        steps in steps(),
        wanted in prop::collection::vec(any::<bool>(), 32),
    ) {
        let (graph, chunk) = (graph(&steps), chunk(&[2; ROWS]));
        let wanted = &wanted[..graph.specs().len()];
        let count = wanted.iter().filter(|wanted| **wanted).count();
        let structure = Structure::Tuple(vec![Structure::Leaf; count]);
        let selected = graph.select(structure, wanted).unwrap();
        prop_assert!(selected.ops().len() <= graph.ops().len());
        let Ok(whole) = in_parts(&graph, &chunk, ROWS) else { return Ok(()) };
        let kept = whole.into_iter().zip(wanted).filter(|(_, wanted)| **wanted);
        let kept: Vec<Vec<Tensor>> = kept.map(|(rows, _)| rows).collect();
        prop_assert_eq!(in_parts(&selected, &chunk, ROWS).unwrap(), kept);
    }

    #[test]
    fn equal_steps_make_equal_graphs(steps in steps(), other in steps()) {
        let (a, b) = (graph(&steps), graph(&steps));
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(a.hash64(), b.hash64());
        let other = graph(&other);
        prop_assert_eq!(a == other, a.hash64() == other.hash64());
    }
}
