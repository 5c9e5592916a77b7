use super::*;
use crate::combine::selector::{SelectorNode, Weights};
use crate::data::Tensor;
use crate::engine::seeds::SeedGenerator;
use crate::engine::skipping::Skipped;
use crate::engine::{Run, RunOptions};

/// An input that hands out numbers and notes the greatest demand.
struct Numbers {
    values: Vec<i64>,
    spec: ElementSpec,
    quiet: bool,
}

fn numbers(values: &[i64], quiet: bool) -> Plan {
    let spec = ElementSpec::leaf(Spec::scalar(DType::Int64));
    Arc::new(Numbers { values: values.to_vec(), spec, quiet })
}

impl Node for Numbers {
    fn name(&self) -> &'static str {
        "numbers"
    }
    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }
    fn spec(&self) -> &ElementSpec {
        &self.spec
    }
    fn cardinality(&self) -> Cardinality {
        Cardinality::Known(self.values.len() as u64)
    }
    fn observable(&self) -> bool {
        !self.quiet
    }
    fn open(&self, _: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let values = self.values.iter().rev().copied().collect();
        Ok(Box::new(NumbersStage { values, quiet: self.quiet }))
    }
}

struct NumbersStage {
    values: Vec<i64>,
    quiet: bool,
}

impl Stage for NumbersStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        assert!(self.quiet || max == 1, "asked for {max} elements ahead of demand");
        // No more than three at a time, so that windows are cut short.
        let rows = self.values.len().min(max).min(3);
        let mut out = Vec::new();
        for _ in 0..rows {
            match self.values.last() {
                Some(-1) if out.is_empty() => {
                    self.values.pop();
                    return Err(Error::invalid_argument("minus one"));
                }
                Some(-1) | None => break,
                Some(value) => out.push(*value),
            }
            self.values.pop();
        }
        if out.is_empty() {
            return Ok(None);
        }
        let column = Column::Stacked(Tensor::from_values(&[out.len()], &out)?);
        Chunk::of_column(column).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = n.min(self.values.len() as u64);
        self.values.truncate(self.values.len() - skipped as usize);
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        self.quiet
    }
}

fn read(plan: &Plan) -> (Vec<String>, Run) {
    let mut run = Run::open(plan, RunOptions::default(), None).unwrap();
    let mut out = Vec::new();
    loop {
        match run.next_chunk() {
            Ok(Some(chunk)) => {
                out.extend(scalars(&chunk).unwrap().iter().map(i64::to_string));
            }
            Ok(None) => return (out, run),
            Err(error) => out.push(error.message().into()),
        }
    }
}

fn choose(choices: &[i64], stop: bool, quiet: bool) -> Plan {
    let choices = numbers(choices, quiet);
    let a = numbers(&[0, 1, 2, -1, 4, 5, 6, 7], quiet);
    let b = numbers(&[10, 11], quiet);
    ChooseNode::plan("choose_from_datasets", choices, vec![a, b], stop).unwrap()
}

#[test]
fn elements_come_in_the_order_of_the_choices() {
    let choices = [0, 0, 1, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 1];
    let expected = ["0", "1", "10", "2", "minus one", "selector index out of range: 2 >= 2", "11"];
    let rest = ["4", "5", "6", "7"];
    for quiet in [true, false] {
        assert_eq!(read(&choose(&choices, true, quiet)).0, expected);
        let all: Vec<_> = expected.iter().chain(&rest).copied().collect();
        assert_eq!(read(&choose(&choices, false, quiet)).0, all);
    }
}

#[test]
fn the_shares_of_the_sources_are_counted() {
    let (elements, run) = read(&choose(&[0, 1, 0, 0, 1], true, true));
    assert_eq!(elements.len(), 5);
    let shares = run.reports().iter().find_map(|report| {
        let shares = report.stats.shares.get()?;
        Some(shares.iter().map(|n| n.load(std::sync::atomic::Ordering::SeqCst)).collect())
    });
    assert_eq!(shares, Some(vec![3, 2]));
}

#[test]
fn skipping_ends_where_a_source_has_ended() {
    let choices = [0, 1, 1, 1, 0];
    let mut run = Run::open(&choose(&choices, true, true), RunOptions::default(), None).unwrap();
    drop(run.next_chunk());
    for (stop, skipped) in [(true, 3), (false, 4)] {
        let plan = choose(&choices, stop, true);
        let input = Opening::root(run.context(), &plan, crate::data::Position::default());
        assert_eq!(input.unwrap().skip(9).unwrap(), skipped);
    }
}

#[test]
fn draws_end_with_their_weights() {
    let seeds = || SeedGenerator::new(Some((87_654_321, 1)), false);
    let logits = vec![0.5_f64.ln(), 0.5_f64.ln()];
    let endless = SelectorNode::plan(Weights::Logits(logits), seeds()).unwrap();
    assert_eq!(endless.cardinality(), Cardinality::Infinite);
    let error = SelectorNode::plan(Weights::Each(numbers(&[1], true)), seeds()).err().unwrap();
    assert!(error.message().contains("expected a vector of float32"), "{error}");
}
