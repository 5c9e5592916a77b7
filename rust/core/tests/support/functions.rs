//! User functions, as graphs and as foreign code.

use super::*;

/// A function of the element's first int64, as a graph and as foreign code.
pub struct Function {
    pub native: bool,
    pub calls: AtomicU64,
    pub graph: fn(
        &mut GraphBuilder,
        headrace::graph::graph::ValueId,
    ) -> Result<headrace::graph::graph::ValueId>,
    pub foreign: fn(i64) -> Result<Tensor>,
}

impl UserFunction for Function {
    fn name(&self) -> String {
        "function of the tests".into()
    }

    fn hash64(&self) -> u64 {
        1
    }

    fn prepare(&self, input: &ElementSpec) -> Result<Prepared> {
        let specs = input.specs().filter(|_| self.native);
        let Some([spec]) = specs else {
            return Ok(Prepared::Foreign {
                reason: "the test says so".into(),
                gives: ElementSpec::Unknown,
            });
        };
        let mut builder = GraphBuilder::new();
        let x = builder.input(spec.clone());
        let y = (self.graph)(&mut builder, x)?;
        let graph: Graph = builder.finish(Structure::Leaf, vec![y])?;
        Ok(Prepared::Graph(Arc::new(graph)))
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let mut done = Vec::new();
        for row in 0..chunk.rows() {
            self.calls.fetch_add(1, SeqCst);
            let Ok(Value::Tensor(x)) = chunk.columns()[0].row(row) else { panic!("not dense") };
            match (self.foreign)(x.values::<i64>().unwrap()[0]) {
                Ok(tensor) => done.push(tensor),
                Err(error) => {
                    let done = (!done.is_empty()).then(|| collect(&done));
                    return Called { done, error: Some(error) };
                }
            }
        }
        Called::all(collect(&done))
    }
}

pub fn collect(tensors: &[Tensor]) -> Chunk {
    Chunk::of_column(Column::from_tensors(tensors).unwrap()).unwrap()
}

pub fn plus_one(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let one = builder.constant(Tensor::scalar(1_i64)?);
            Ok(builder.add("add", Attrs::new(), &[x, one])?[0])
        },
        foreign: |x| Tensor::scalar(x + 1),
    })
}

pub fn identity_map() -> Arc<Function> {
    Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: Tensor::scalar,
    })
}

/// True for multiples of three.
pub fn thirds(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let three = builder.constant(Tensor::scalar(3_i64)?);
            let zero = builder.constant(Tensor::scalar(0_i64)?);
            let rest = builder.add("remainder", Attrs::new(), &[x, three])?[0];
            Ok(builder.add("equal", Attrs::new(), &[rest, zero])?[0])
        },
        foreign: |x| {
            let buffer = headrace::data::Buffer::copy_from(&[u8::from(x % 3 == 0)])?;
            Tensor::fixed(DType::Bool, [][..].into(), buffer)
        },
    })
}

/// Fails on multiples of four plus one.
pub fn failing() -> Arc<Function> {
    Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: |x| match x % 4 {
            1 => Err(Error::invalid_argument(format!("no {x}"))),
            _ => Tensor::scalar(x),
        },
    })
}

/// A vector of x % 4 values.
pub fn lengths() -> Arc<Function> {
    Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: |x| {
            let values = vec![x; (x % 4) as usize];
            Tensor::from_values(&[values.len()], &values)
        },
    })
}

/// True below 13.
pub fn small(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let limit = builder.constant(Tensor::scalar(13_i64)?);
            Ok(builder.add("less", Attrs::new(), &[x, limit])?[0])
        },
        foreign: |x| {
            let buffer = headrace::data::Buffer::copy_from(&[u8::from(x < 13)])?;
            Tensor::fixed(DType::Bool, [][..].into(), buffer)
        },
    })
}

/// x % 5.
pub fn residues() -> Arc<Function> {
    Arc::new(Function {
        native: true,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let five = builder.constant(Tensor::scalar(5_i64)?);
            Ok(builder.add("remainder", Attrs::new(), &[x, five])?[0])
        },
        foreign: |x| Tensor::scalar(x % 5),
    })
}

/// The sum of state and element; as a pair, the state comes out as well.
pub struct Totals {
    pub native: bool,
    pub pair: bool,
}

impl UserFunction for Totals {
    fn name(&self) -> String {
        "totals".into()
    }

    fn hash64(&self) -> u64 {
        3
    }

    fn prepare(&self, input: &ElementSpec) -> Result<Prepared> {
        let Some([state, element]) = input.specs().filter(|_| self.native) else {
            return Ok(Prepared::Foreign {
                reason: "the test says so".into(),
                gives: ElementSpec::Unknown,
            });
        };
        let mut builder = GraphBuilder::new();
        let state = builder.input(state.clone());
        let element = builder.input(element.clone());
        let sum = builder.add("add", Attrs::new(), &[state, element])?[0];
        let (nest, outputs) = match self.pair {
            true => (Structure::Tuple(vec![Structure::Leaf; 2]), vec![sum, state]),
            false => (Structure::Leaf, vec![sum]),
        };
        Ok(Prepared::Graph(Arc::new(builder.finish(nest, outputs)?)))
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let number = |column: &Column| match column.row(0).unwrap() {
            Value::Tensor(x) => x.values::<i64>().unwrap()[0],
            _ => panic!("not dense"),
        };
        assert_eq!(chunk.rows(), 1);
        let (state, x) = (number(&chunk.columns()[0]), number(&chunk.columns()[1]));
        let column = |x: i64| Column::Stacked(Tensor::from_values(&[1], &[x]).unwrap());
        let (nest, columns) = match self.pair {
            true => {
                let nest = Structure::Tuple(vec![Structure::Leaf; 2]);
                (nest, vec![column(state + x), column(state)])
            }
            false => (Structure::Leaf, vec![column(state + x)]),
        };
        Called::all(Chunk::new(1, Arc::new(nest), columns).unwrap())
    }
}

pub fn zero() -> Carry {
    let column = Column::Stacked(Tensor::from_values(&[1], &[0_i64]).unwrap());
    Carry::new(Structure::Leaf, vec![column]).unwrap()
}

/// Makes datasets of the elements.
pub fn datasets(make: impl Fn(i64) -> Plan + Send + Sync + 'static) -> Arc<dyn UserFunction> {
    struct Datasets<F>(F);
    impl<F: Fn(i64) -> Plan + Send + Sync> UserFunction for Datasets<F> {
        fn name(&self) -> String {
            "datasets".into()
        }
        fn hash64(&self) -> u64 {
            3
        }
        fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
            Ok(Prepared::Foreign { reason: "the test says so".into(), gives: ElementSpec::Unknown })
        }
        fn call(&self, chunk: &Chunk, _: &Site) -> Called {
            let values = (0..chunk.rows()).map(|row| {
                let Ok(Value::Tensor(x)) = chunk.columns()[0].row(row) else { panic!("not dense") };
                dataset_value((self.0)(x.values::<i64>().unwrap()[0]))
            });
            Called::all(Chunk::of_column(Column::Foreign(values.collect())).unwrap())
        }
    }
    Arc::new(Datasets(make))
}

/// 100 divided by the number less four.
pub fn inverse() -> Arc<Function> {
    Arc::new(Function {
        native: true,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let four = builder.constant(Tensor::scalar(4_i64)?);
            let hundred = builder.constant(Tensor::scalar(100_i64)?);
            let less = builder.add("subtract", Attrs::new(), &[x, four])?[0];
            Ok(builder.add("floor_divide", Attrs::new(), &[hundred, less])?[0])
        },
        foreign: |x| {
            Tensor::scalar(if x == 4 { 0 } else { (100.0 / (x - 4) as f64).floor() as i64 })
        },
    })
}

/// Hands elements of any type on, as foreign code.
pub fn identity_map_of_anything() -> Arc<dyn UserFunction> {
    struct Identity;
    impl UserFunction for Identity {
        fn name(&self) -> String {
            "identity".into()
        }
        fn hash64(&self) -> u64 {
            2
        }
        fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
            Ok(Prepared::Foreign { reason: "the test says so".into(), gives: ElementSpec::Unknown })
        }
        fn call(&self, chunk: &Chunk, _: &Site) -> Called {
            Called::all(chunk.clone())
        }
    }
    Arc::new(Identity)
}
