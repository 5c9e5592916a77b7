use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::data::{Column, DType, Spec, Structure, Tensor};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::graph::{GraphBuilder, ValueId};

type Code = fn(i64) -> Result<f64, Error>;

/// A function from int64 to float64 whose code can differ from its graph.
struct Mock {
    graph: Arc<Graph>,
    code: Code,
    calls: AtomicUsize,
}

impl UserFunction for Mock {
    fn name(&self) -> String {
        "mock at tests.rs:1".into()
    }

    fn hash64(&self) -> u64 {
        self.graph.hash64()
    }

    fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
        Ok(Prepared::Graph(Arc::clone(&self.graph)))
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
        let mut done = Vec::new();
        let mut error = None;
        for value in tensor.values::<i64>().unwrap() {
            self.calls.fetch_add(1, Ordering::Relaxed);
            match (self.code)(*value) {
                Ok(value) => done.push(value),
                Err(raised) => {
                    error = Some(raised);
                    break;
                }
            }
        }
        Called { done: (!done.is_empty()).then(|| floats(&done)), error }
    }
}

fn floats(values: &[f64]) -> Chunk {
    let tensor = Tensor::from_values(&[values.len()], values).unwrap();
    Chunk::of_column(Column::Stacked(tensor)).unwrap()
}

fn ints(values: &[i64]) -> Chunk {
    let tensor = Tensor::from_values(&[values.len()], values).unwrap();
    Chunk::of_column(Column::Stacked(tensor)).unwrap()
}

fn values(called: &Called) -> Vec<f64> {
    let Some(done) = &called.done else { return Vec::new() };
    let Column::Stacked(tensor) = &done.columns()[0] else { panic!("not stacked") };
    tensor.values::<f64>().unwrap().to_vec()
}

/// `2.0 ** table[x]`, whose look-up fails from 4 on.
fn graph() -> Arc<Graph> {
    let mut builder = GraphBuilder::new();
    let x = builder.input(Spec::scalar(DType::Int64));
    let table = builder.constant(Tensor::from_values(&[4], &[0.0, 1.0, 2.0, 3.0]).unwrap());
    let entry = builder.add("getitem", Attrs::new(), &[table, x]).unwrap()[0];
    let power = builder.add("exp2", Attrs::new(), &[entry]).unwrap();
    Arc::new(builder.finish(Structure::Leaf, power).unwrap())
}

fn mock(code: Code) -> Arc<Mock> {
    Arc::new(Mock { graph: graph(), code, calls: AtomicUsize::new(0) })
}

fn open(mock: &Arc<Mock>, verdict: Option<Verdict>) -> FunctionRun {
    let spec = ElementSpec::leaf(Spec::scalar(DType::Int64));
    let function: Arc<dyn UserFunction> = Arc::<Mock>::clone(mock);
    FunctionRun::open(function, &spec, verdict, Arc::new(|| Ok(()))).unwrap()
}

fn look_up(x: i64) -> Result<f64, Error> {
    match x {
        0..4 => Ok((x as f64).exp2()),
        _ => Err(Error::foreign("IndexError", Box::new(()))),
    }
}

#[test]
fn a_graph_that_agrees_is_called_from_the_second_element_on() {
    let function = mock(look_up);
    let run = open(&function, None);
    assert!(run.is_native() && run.is_foreign_next() && run.verdict().is_none());
    assert_eq!(values(&run.call(&ints(&[1, 2, 3]), &Site::default())), [2.0, 4.0, 8.0]);
    assert_eq!(values(&run.call(&ints(&[0]), &Site::default())), [1.0]);
    assert_eq!(function.calls.load(Ordering::Relaxed), 1);
    assert_eq!(run.verdict(), Some(Verdict::Native));
    assert!(!run.is_foreign_next());
}

#[test]
fn a_graph_that_differs_is_never_called_again() {
    let function = mock(|x| Ok(x as f64 + 100.0));
    let run = open(&function, None);
    assert_eq!(values(&run.call(&ints(&[1, 2, 3]), &Site::default())), [101.0, 102.0, 103.0]);
    assert!(!run.is_native() && run.graph().is_none());
    let Some(Verdict::Foreign { reason }) = run.verdict() else { panic!("no verdict") };
    assert_eq!(reason, "the graph gives 2e0, the function 1.01e2");
    assert_eq!(function.calls.load(Ordering::Relaxed), 3);
}

#[test]
fn floats_may_differ_by_a_few_units() {
    let near: Code = |x| Ok((x as f64).exp2() * (1.0 + 3.0 * f64::EPSILON));
    let run = open(&mock(near), None);
    assert_eq!(values(&run.call(&ints(&[1]), &Site::default())), [2.0]);
    assert_eq!(run.verdict(), Some(Verdict::Native));
    let far: Code = |x| Ok((x as f64).exp2() * (1.0 + 9.0 * f64::EPSILON));
    let run = open(&mock(far), None);
    run.call(&ints(&[1]), &Site::default());
    assert!(!run.is_native());
}

#[test]
fn an_element_on_which_both_fail_keeps_its_own_error() {
    let run = open(&mock(look_up), None);
    let called = run.call(&ints(&[9, 1]), &Site::default());
    assert!(called.done.is_none());
    assert_eq!(called.error.unwrap().message(), "IndexError");
    assert!(run.is_native() && run.verdict().is_none());
    assert_eq!(values(&run.call(&ints(&[1]), &Site::default())), [2.0]);
    assert_eq!(run.verdict(), Some(Verdict::Native));
}

#[test]
fn if_only_one_of_them_fails_the_function_is_right() {
    let run = open(&mock(|_| Err(Error::foreign("ValueError", Box::new(())))), None);
    assert_eq!(run.call(&ints(&[1, 2]), &Site::default()).error.unwrap().message(), "ValueError");
    assert!(!run.is_native());
    let run = open(&mock(|_| Ok(7.0)), None);
    assert_eq!(values(&run.call(&ints(&[9, 1]), &Site::default())), [7.0, 7.0]);
    assert!(!run.is_native());
}

#[test]
fn rows_before_a_failing_one_are_delivered() {
    let run = open(&mock(look_up), Some(Verdict::Native));
    for failing in 0..7 {
        let mut rows: Vec<i64> = (0..7).map(|i| i % 4).collect();
        rows[failing] = 4;
        let called = run.call(&ints(&rows), &Site::default());
        let want: Vec<f64> = (0..failing).map(|i| (i as f64 % 4.0).exp2()).collect();
        assert_eq!(values(&called), want);
        let text = called.error.unwrap().to_string();
        assert_eq!(text, "index 4 is out of bounds for axis 0 with size 4");
    }
}

#[test]
fn a_verdict_stands_in_a_resumed_run() {
    let function = mock(|_| Ok(7.0));
    let run = open(&function, Some(Verdict::Foreign { reason: "it differed".into() }));
    assert_eq!(values(&run.call(&ints(&[1]), &Site::default())), [7.0]);
    let text = serde_json::to_string(&run.verdict()).unwrap();
    assert_eq!(text, r#"{"foreign":{"reason":"it differed"}}"#);
    assert_eq!(serde_json::from_str::<Option<Verdict>>(&text).unwrap(), run.verdict());
}

#[test]
fn workers_wait_for_one_trial() {
    let function = mock(|x| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        look_up(x)
    });
    let run = open(&function, None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(values(&run.call(&ints(&[3]), &Site::default())), [8.0]));
        }
    });
    assert_eq!(function.calls.load(Ordering::Relaxed), 1);
}

/// The trial of a graph over float32 rows against results that are a little off.
fn sum_trial(off: f64) -> bool {
    let mut builder = GraphBuilder::new();
    let x = builder.input(Spec::tensor(DType::Float64, [Some(100)]));
    let mean = builder.add("mean", Attrs::from([("axis", Attr::Int(0))]), &[x]).unwrap()[0];
    let centred: Vec<ValueId> = builder.add("subtract", Attrs::new(), &[x, mean]).unwrap();
    let graph = builder.finish(Structure::Leaf, centred).unwrap();
    let row: Vec<f64> = (0..100).map(f64::from).collect();
    let column = Column::Stacked(Tensor::from_values(&[1, 100], &row).unwrap());
    let element = Chunk::of_column(column).unwrap();
    let theirs: Vec<f64> = row.iter().map(|x| x - 49.5 + off).collect();
    let theirs = Column::Stacked(Tensor::from_values(&[1, 100], &theirs).unwrap());
    let theirs = Called::all(Chunk::of_column(theirs).unwrap());
    matches!(try_out(&graph, &element, &Site::default(), &theirs), Trial::Agrees)
}

#[test]
fn sums_may_differ_by_the_size_of_what_was_summed() {
    assert!(sum_trial(0.0));
    // 49.5 - 49.5 is small, but 100 eps of 4950 is what a sum of such terms may be off.
    assert!(sum_trial(1e-12));
    assert!(!sum_trial(1e-8));
}
