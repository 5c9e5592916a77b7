//! Operations and the values between them.
//!
//! Values are numbered: inputs, constants and outputs of nodes. Nodes stand in an order in which
//! each comes after those it reads. A finished graph holds only what its outputs need, with
//! operations over constants already done.

use std::sync::Arc;

use crate::data::{ElementSpec, Spec, Structure, Tensor, Value, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attrs, feed_tensor};
use crate::graph::hash::Fnv;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels;

/// Results of operations over constants are kept up to this size; larger ones are computed in
/// the run, where they need no memory between chunks.
const FOLD_BYTES: usize = 1 << 20;
/// From this size on a value in a graph is much memory for one row.
const HEAVY_BYTES: usize = 1 << 20;

/// A value in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(pub(crate) usize);

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin {
    /// Leaf of the element, by number.
    Input(usize),
    /// The same for each element.
    Constant(Tensor),
    /// Output of a node: its number and which.
    Node(usize, usize),
}

#[derive(Clone, Debug)]
pub(crate) struct ValueInfo {
    pub(crate) origin: Origin,
    pub(crate) spec: Spec,
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: Arc<str>,
    pub(crate) attrs: Attrs,
    pub(crate) kernel: Arc<dyn Kernel>,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<ValueId>,
    /// How much of each output is read.
    pub(crate) wanted: Vec<Wanted>,
    /// Values that nobody reads after this node.
    pub(crate) last: Vec<ValueId>,
}

/// Records operations into a [`Graph`].
#[derive(Debug, Default)]
pub struct GraphBuilder {
    values: Vec<ValueInfo>,
    nodes: Vec<Node>,
    inputs: Vec<ValueId>,
}

impl GraphBuilder {
    /// No inputs and no operations yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn value(&mut self, origin: Origin, spec: Spec) -> ValueId {
        self.values.push(ValueInfo { origin, spec });
        ValueId(self.values.len() - 1)
    }

    /// The next component of the element.
    pub fn input(&mut self, spec: Spec) -> ValueId {
        let id = self.value(Origin::Input(self.inputs.len()), spec);
        self.inputs.push(id);
        id
    }

    /// A value that is the same for each element.
    pub fn constant(&mut self, tensor: Tensor) -> ValueId {
        let spec = Spec::Tensor { dtype: tensor.dtype(), shape: tensor.dims().into() };
        self.value(Origin::Constant(tensor), spec)
    }

    /// What a value looks like.
    ///
    /// # Panics
    /// If the value is of another builder and not known here.
    pub fn spec(&self, id: ValueId) -> &Spec {
        &self.values[id.0].spec
    }

    /// Adds an operation and gives its outputs.
    ///
    /// # Errors
    /// `Unimplemented` for an unknown operation, `InvalidArgument` if arguments or inputs do not
    /// fit.
    pub fn add(&mut self, op: &str, attrs: Attrs, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        let named = |error: Error| Error::new(error.kind(), format!("{op}: {}", error.message()));
        let kernel = kernels::build(op, &attrs).map_err(named)?;
        self.add_kernel(op, attrs, kernel, inputs).map_err(named)
    }

    /// Adds an operation whose kernel is at hand.
    ///
    /// # Errors
    /// `InvalidArgument` if the inputs do not fit.
    pub fn add_kernel(
        &mut self,
        op: &str,
        attrs: Attrs,
        kernel: Arc<dyn Kernel>,
        inputs: &[ValueId],
    ) -> Result<Vec<ValueId>> {
        let spec = |id: &ValueId| self.values.get(id.0).map(|value| value.spec.clone());
        let specs: Option<Vec<Spec>> = inputs.iter().map(spec).collect();
        let specs = specs.ok_or_else(|| Error::internal("a value of another graph"))?;
        let specs = kernel.infer(&specs)?;
        let node = self.nodes.len();
        let output = |(i, spec)| self.value(Origin::Node(node, i), spec);
        let outputs: Vec<ValueId> = specs.into_iter().enumerate().map(output).collect();
        self.nodes.push(Node {
            op: op.into(),
            attrs,
            kernel,
            inputs: inputs.into(),
            outputs: outputs.clone(),
            wanted: Vec::new(),
            last: Vec::new(),
        });
        Ok(outputs)
    }

    /// The graph that gives `outputs` as the leaves of `structure`.
    ///
    /// # Errors
    /// `Internal` if their numbers differ or an output is not of this graph.
    pub fn finish(mut self, structure: Structure, outputs: Vec<ValueId>) -> Result<Graph> {
        if structure.leaves() != outputs.len() {
            let count = outputs.len();
            return Err(Error::internal(format!("{count} outputs for structure {structure}")));
        }
        if outputs.iter().any(|id| id.0 >= self.values.len()) {
            return Err(Error::internal("a value of another graph"));
        }
        self.fold();
        Ok(self.pruned(structure, &outputs))
    }

    /// Runs operations over constants. Those that fail stay, so that the run reports them.
    fn fold(&mut self) {
        for node in &self.nodes {
            let constant = |id: &ValueId| match &self.values[id.0].origin {
                Origin::Constant(tensor) => Some(Arg::Const(tensor.clone())),
                _ => None,
            };
            let args: Option<Vec<Arg>> = node.inputs.iter().map(constant).collect();
            let Some(args) = args else { continue };
            if !node.kernel.may_fold() || !self.is_small(node) {
                continue;
            }
            let run = node.kernel.run(&args, 1, &vec![Wanted::All; node.outputs.len()]);
            let Ok(columns) = run else { continue };
            for (id, column) in node.outputs.iter().zip(columns) {
                if let Ok(Value::Tensor(tensor)) = column.row(0) {
                    self.values[id.0].spec =
                        Spec::Tensor { dtype: tensor.dtype(), shape: tensor.dims().into() };
                    self.values[id.0].origin = Origin::Constant(tensor);
                }
            }
        }
    }

    fn is_small(&self, node: &Node) -> bool {
        node.outputs.iter().all(|id| {
            let spec = &self.values[id.0].spec;
            let count = spec.shape().known().map_or(Some(1), |dims| {
                dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim))
            });
            let size = spec.dtype().and_then(|dtype| dtype.size()).unwrap_or(16);
            count.and_then(|count| count.checked_mul(size)).is_some_and(|b| b <= FOLD_BYTES)
        })
    }

    /// Keeps what the outputs need, numbered anew: inputs, then the rest in order of first use.
    fn pruned(self, structure: Structure, outputs: &[ValueId]) -> Graph {
        let mut read = vec![Wanted::No; self.values.len()];
        outputs.iter().for_each(|id| read[id.0] = Wanted::All);
        // A folded output needs no node.
        let wanted = |read: &[Wanted], node: &Node| -> Vec<Wanted> {
            let of = |id: &ValueId| if self.is_constant(*id) { Wanted::No } else { read[id.0] };
            node.outputs.iter().map(of).collect()
        };
        for node in self.nodes.iter().rev() {
            if is_needed(node, &wanted(&read, node)) {
                for (i, id) in node.inputs.iter().enumerate() {
                    read[id.0] = read[id.0].max(node.kernel.wants(i));
                }
            }
        }
        let mut graph = Graph {
            values: Vec::new(),
            nodes: Vec::new(),
            inputs: self.inputs.iter().map(|id| self.values[id.0].spec.clone()).collect(),
            outputs: Vec::new(),
            structure: Arc::new(structure),
            heavy: false,
        };
        let mut renumbered: Vec<Option<ValueId>> = vec![None; self.values.len()];
        let mut keep = |graph: &mut Graph, id: ValueId, origin: Origin| {
            *renumbered[id.0].get_or_insert_with(|| {
                graph.values.push(ValueInfo { origin, spec: self.values[id.0].spec.clone() });
                ValueId(graph.values.len() - 1)
            })
        };
        for id in &self.inputs {
            keep(&mut graph, *id, self.values[id.0].origin.clone());
        }
        for node in &self.nodes {
            let wanted = wanted(&read, node);
            if !is_needed(node, &wanted) {
                continue;
            }
            let mut kept = node.clone();
            kept.last = Vec::new();
            kept.wanted = wanted;
            let mut origin = |graph: &mut Graph, id: &ValueId| {
                keep(graph, *id, self.values[id.0].origin.clone())
            };
            kept.inputs = node.inputs.iter().map(|id| origin(&mut graph, id)).collect();
            let at = graph.nodes.len();
            let new = |(i, id): (usize, &ValueId)| {
                // A folded output is a constant elsewhere; here its place stays unread.
                let origin = Origin::Node(at, i);
                if kept.wanted[i] != Wanted::No {
                    keep(&mut graph, *id, origin)
                } else {
                    graph.values.push(ValueInfo { origin, spec: self.values[id.0].spec.clone() });
                    ValueId(graph.values.len() - 1)
                }
            };
            kept.outputs = node.outputs.iter().enumerate().map(new).collect();
            graph.nodes.push(kept);
        }
        graph.outputs = outputs
            .iter()
            .map(|id| keep(&mut graph, *id, self.values[id.0].origin.clone()))
            .collect();
        graph.mark_last_uses();
        graph.heavy = graph.nodes.iter().any(|node| graph.is_heavy_node(node));
        graph
    }

    fn is_constant(&self, id: ValueId) -> bool {
        matches!(self.values[id.0].origin, Origin::Constant(_))
    }
}

/// True if a node runs: somebody reads one of its outputs, or it is there to check or to be seen.
fn is_needed(node: &Node, wanted: &[Wanted]) -> bool {
    node.kernel.is_kept() || wanted.iter().any(|wanted| *wanted != Wanted::No)
}

/// What a traced function became. Cheap to share, the same in each process.
#[derive(Debug)]
pub struct Graph {
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<Spec>,
    pub(crate) outputs: Vec<ValueId>,
    pub(crate) structure: Arc<Structure>,
    /// Asked for each chunk, so worked out once.
    heavy: bool,
}

impl Graph {
    /// Specs of the components it reads.
    pub fn inputs(&self) -> &[Spec] {
        &self.inputs
    }

    /// True if one row is much work, or much memory.
    pub fn is_heavy(&self) -> bool {
        self.heavy
    }

    fn is_heavy_node(&self, node: &Node) -> bool {
        let large = |id: &ValueId| {
            let bytes = self.values.get(id.0).and_then(|value| value.spec.bytes());
            bytes.is_some_and(|bytes| bytes >= HEAVY_BYTES)
        };
        node.kernel.is_heavy() || node.outputs.iter().any(large)
    }

    /// How its outputs nest.
    pub fn structure(&self) -> &Arc<Structure> {
        &self.structure
    }

    /// Specs of its outputs, in the order of the structure's leaves.
    pub fn specs(&self) -> Vec<Spec> {
        self.outputs.iter().map(|id| self.values[id.0].spec.clone()).collect()
    }

    /// What its elements look like.
    pub fn element_spec(&self) -> ElementSpec {
        ElementSpec::Known(Arc::clone(&self.structure), self.specs().into())
    }

    /// Names and static arguments of its operations, in order.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = (&str, &Attrs)> {
        self.nodes.iter().map(|node| (&*node.op, &node.attrs))
    }

    /// True if the graph hands its inputs out as they are.
    pub fn is_identity(&self) -> bool {
        !self.is_kept()
            && self.outputs.len() == self.inputs.len()
            && self.outputs.iter().enumerate().all(
                |(i, id)| matches!(self.values[id.0].origin, Origin::Input(input) if input == i),
            )
    }

    /// True if some of it runs although nobody reads what it gives.
    pub fn is_kept(&self) -> bool {
        self.nodes.iter().any(|node| node.kernel.is_kept())
    }

    /// True if equal elements give equal results.
    pub fn is_pure(&self) -> bool {
        self.nodes.iter().all(|node| node.kernel.is_pure())
    }

    /// How far the results of each operation may be from NumPy's.
    pub(crate) fn tolerances(&self) -> impl Iterator<Item = Tolerance> {
        self.nodes.iter().map(|node| node.kernel.tolerance())
    }

    /// The same graph, giving only the outputs of `wanted` as the leaves of `structure`.
    ///
    /// # Errors
    /// `Internal` if their number is not that of the leaves.
    pub fn select(&self, structure: Structure, wanted: &[bool]) -> Result<Graph> {
        let outputs = self.outputs.iter().zip(wanted).filter(|(_, wanted)| **wanted);
        let outputs = outputs.map(|(id, _)| *id).collect();
        let inputs = (0..self.inputs.len()).map(ValueId).collect();
        let builder =
            GraphBuilder { values: self.values.clone(), nodes: self.nodes.clone(), inputs };
        builder.finish(structure, outputs)
    }

    /// The same graph, giving its inputs after its outputs, together as the leaves of `structure`.
    ///
    /// # Errors
    /// `Internal` if their number is not that of the leaves.
    pub fn with_inputs(&self, structure: Structure) -> Result<Graph> {
        let inputs: Vec<_> = (0..self.inputs.len()).map(ValueId).collect();
        let outputs = self.outputs.iter().chain(&inputs).copied().collect();
        let builder =
            GraphBuilder { values: self.values.clone(), nodes: self.nodes.clone(), inputs };
        builder.finish(structure, outputs)
    }

    /// A hash that is the same in each process: for keys of caches and states. Of long constants
    /// a sample goes into it.
    pub fn hash64(&self) -> u64 {
        let mut fnv = Fnv::sampling();
        self.feed(&mut fnv);
        fnv.finish()
    }

    /// Adds the graph to a hash.
    pub(crate) fn feed(&self, fnv: &mut Fnv) {
        for spec in &self.inputs {
            fnv.bytes(spec.to_string().as_bytes());
        }
        for value in &self.values {
            match &value.origin {
                Origin::Input(i) => fnv.number(*i as u64),
                Origin::Constant(tensor) => feed_tensor(tensor, fnv),
                Origin::Node(node, i) => {
                    fnv.number(*node as u64);
                    fnv.number(*i as u64);
                }
            }
        }
        for node in &self.nodes {
            fnv.bytes(node.op.as_bytes());
            node.attrs.feed(fnv);
            node.inputs.iter().for_each(|id| fnv.number(id.0 as u64));
        }
        self.outputs.iter().for_each(|id| fnv.number(id.0 as u64));
        fnv.bytes(self.structure.to_string().as_bytes());
    }

    fn mark_last_uses(&mut self) {
        let mut free = vec![true; self.values.len()];
        self.outputs.iter().for_each(|id| free[id.0] = false);
        for node in self.nodes.iter_mut().rev() {
            for id in node.inputs.iter().chain(&node.outputs) {
                if std::mem::take(&mut free[id.0]) {
                    node.last.push(*id);
                }
            }
        }
    }
}

impl PartialEq for Graph {
    /// The same operations with the same arguments on the same values, constants bit by bit.
    fn eq(&self, other: &Self) -> bool {
        let same_value = |(a, b): (&ValueInfo, &ValueInfo)| a.origin == b.origin;
        let same_node =
            |(a, b): (&Node, &Node)| a.op == b.op && a.attrs == b.attrs && a.inputs == b.inputs;
        self.inputs == other.inputs
            && self.values.len() == other.values.len()
            && self.values.iter().zip(&other.values).all(same_value)
            && self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(same_node)
            && self.outputs == other.outputs
            && self.structure == other.structure
    }
}
