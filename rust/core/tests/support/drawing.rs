//! Functions that draw random numbers, as graphs and as foreign code, and plans of them.

use std::sync::Arc;

use headrace::data::{Buffer, Chunk, Column, DType, ElementSpec, Structure, Tensor, Value};
use headrace::engine::Plan;
use headrace::error::Result;
use headrace::graph::attr::{Attr, Attrs};
use headrace::graph::call::{Called, Prepared, UserFunction};
use headrace::graph::graph::GraphBuilder;
use headrace::random::Site;
use headrace::random::draw::stateless;
use headrace::random::site::{CallSeeds, OpSeed};
use headrace::transforms::cache::CacheNode;
use headrace::transforms::filter::FilterNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::take_while::TakeWhileNode;

use super::{
    Case, batch, failing, flat_map, identity_map, interleave, map, map_any, prefetch, range,
    shuffle,
};

/// A function that draws two numbers for each element, whatever it is.
pub struct Drawing {
    native: bool,
    /// It tells whether the first is small, rather than giving both.
    tells: bool,
    seeds: CallSeeds,
}

impl Drawing {
    fn draw(site: &Site) -> [i64; 2] {
        let word = |op| {
            let seed = site.seeds(op, 1).next().unwrap();
            let [a, b, ..] = stateless(seed).block(0);
            (u64::from(a) | (u64::from(b) << 32)) as i64
        };
        [word(OpSeed::Numbered(0)), word(OpSeed::Given(9))]
    }
}

impl UserFunction for Drawing {
    fn name(&self) -> String {
        "drawing".into()
    }

    fn hash64(&self) -> u64 {
        5
    }

    fn prepare(&self, input: &ElementSpec) -> Result<Prepared> {
        let Some([spec]) = input.specs().filter(|_| self.native) else {
            return Ok(Prepared::Foreign {
                reason: "the test says so".into(),
                gives: ElementSpec::Unknown,
            });
        };
        let mut builder = GraphBuilder::new();
        builder.input(spec.clone());
        let mut draw = |name: &str, value: i64| {
            let seed = builder.add("element_seed", Attrs::from([(name, Attr::Int(value))]), &[])?;
            let attrs = Attrs::from([
                ("dtype", Attr::DType(DType::Int64)),
                ("shape", Attr::List(Vec::new())),
            ]);
            Ok::<_, headrace::Error>(builder.add("stateless_uniform_full_int", attrs, &seed)?[0])
        };
        let (first, second) = (draw("number", 0)?, draw("seed", 9)?);
        let (structure, outputs) = if self.tells {
            let zero = builder.constant(Tensor::scalar(1_i64 << 62)?);
            let small = builder.add("less", Attrs::new(), &[first, zero])?;
            (Structure::Leaf, small)
        } else {
            (Structure::Tuple(vec![Structure::Leaf; 2]), vec![first, second])
        };
        Ok(Prepared::Graph(Arc::new(builder.finish(structure, outputs)?)))
    }

    fn call(&self, chunk: &Chunk, site: &Site) -> Called {
        let drawn: Vec<_> = (0..chunk.rows() as u64).map(|row| Self::draw(&site.at(row))).collect();
        if self.tells {
            let small: Vec<u8> = drawn.iter().map(|[a, _]| u8::from(*a < 1 << 62)).collect();
            let buffer = Buffer::copy_from(&small).unwrap();
            let small = Tensor::fixed(DType::Bool, [small.len()][..].into(), buffer).unwrap();
            return Called::all(Chunk::of_column(Column::Stacked(small)).unwrap());
        }
        let column = |which: usize| {
            let values: Vec<i64> = drawn.iter().map(|pair| pair[which]).collect();
            Column::Stacked(Tensor::from_values(&[values.len()], &values).unwrap())
        };
        let structure = Arc::new(Structure::Tuple(vec![Structure::Leaf; 2]));
        Called::all(Chunk::new(chunk.rows(), structure, vec![column(0), column(1)]).unwrap())
    }

    fn is_exempt_from_trial(&self) -> bool {
        true
    }

    fn seeds(&self) -> Option<&CallSeeds> {
        Some(&self.seeds)
    }
}

fn drawing(native: bool, tells: bool) -> Arc<Drawing> {
    Arc::new(Drawing { native, tells, seeds: CallSeeds::new(3, Some((3, 1 << 31)), (0, 0)) })
}

/// Two numbers for each element.
pub fn noise(input: Plan, native: bool, calls: Option<i64>) -> Plan {
    map_any(input, drawing(native, false), calls)
}

/// Some of the elements, by chance.
fn some(input: Plan, native: bool) -> Plan {
    FilterNode::plan(input, drawing(native, true)).unwrap()
}

fn epochs(input: Plan, count: i64) -> Plan {
    RepeatNode::plan(input, count)
}

/// The first of two numbers.
pub fn first_number(row: &Chunk) -> i64 {
    let Value::Tensor(x) = row.columns()[0].row(0).unwrap() else { panic!("not dense") };
    x.values::<i64>().unwrap()[0]
}

/// Plans in which functions draw.
pub const CASES: &[Case] = &[
    ("noise", || noise(range(20), true, None)),
    ("noise in parallel", || noise(range(40), true, Some(3))),
    ("noise of foreign code", || noise(range(20), false, None)),
    ("noise of foreign code in parallel", || noise(range(20), false, Some(3))),
    ("noise above repeat", || noise(epochs(shuffle(range(7), 3, 1), 3), true, None)),
    ("noise above repeat in parallel", || noise(epochs(range(7), 3), true, Some(2))),
    ("foreign noise above repeat", || noise(epochs(range(7), 3), false, Some(2))),
    ("noise in repeat", || epochs(noise(shuffle(range(7), 3, 1), true, None), 3)),
    ("noise in repeat of a shuffle", || epochs(shuffle(noise(range(7), true, None), 4, 1), 3)),
    ("noise in repeats", || epochs(epochs(noise(range(3), true, Some(2)), 2), 3)),
    ("noise in repeat of nothing", || epochs(epochs(noise(range(3), true, None), 1), 3)),
    ("noise in shuffle", || shuffle(noise(range(20), true, None), 5, 1)),
    ("noise of batches", || noise(batch(epochs(range(7), 3), 4, false), true, None)),
    ("noise of what fails", || noise(map(epochs(range(9), 2), failing(), None), true, None)),
    ("noise of noise", || noise(noise(epochs(range(7), 3), true, None), true, None)),
    ("noise of noise in parallel", || {
        noise(noise(epochs(range(7), 3), true, Some(2)), true, Some(2))
    }),
    ("some of noise", || some(noise(epochs(range(9), 3), true, None), true)),
    ("some of noise of noise", || {
        some(noise(noise(epochs(range(9), 3), true, None), true, None), true)
    }),
    ("some of some", || some(some(range(30), true), true)),
    ("some of some of epochs", || some(some(epochs(range(9), 3), true), false)),
    ("noise of some", || noise(some(epochs(range(9), 3), false), true, None)),
    ("noise up to a chance", || {
        let few = |input| TakeWhileNode::plan(input, drawing(true, true)).unwrap();
        epochs(few(noise(range(9), true, None)), 4)
    }),
    ("noise above and in repeat", || noise(epochs(noise(range(5), true, None), 3), true, None)),
    ("noise below a cache", || epochs(CacheNode::plan(noise(range(5), true, None), None), 3)),
    ("noise below a cache in epochs", || {
        epochs(CacheNode::plan(epochs(noise(range(3), false, None), 2), None), 3)
    }),
    ("noise in datasets below a cache", || {
        let opened = flat_map(range(3), |x| noise(range(x + 1), true, None));
        epochs(CacheNode::plan(opened, None), 3)
    }),
    ("noise above a cache", || noise(epochs(CacheNode::plan(range(5), None), 3), true, None)),
    ("noise in datasets of a function", || {
        epochs(flat_map(range(4), |x| noise(range(x), true, None)), 2)
    }),
    ("noise in captured datasets", || {
        let inner = noise(range(3), true, None);
        epochs(interleave(range(5), move |_| Arc::clone(&inner), 2, 2, Some(2)), 2)
    }),
    ("noise in datasets in datasets", || {
        flat_map(range(3), |x| flat_map(range(x), |y| epochs(noise(range(y + 1), false, None), 2)))
    }),
    ("noise read ahead", || prefetch(noise(epochs(range(9), 2), true, None), 3)),
    ("noise beside the identity", || {
        noise(map(epochs(range(9), 2), identity_map(), None), true, None)
    }),
];
