//! A graph told to a person: one line for each operation.

use std::fmt;

use crate::data::Structure;
use crate::graph::attr::write_tensor;
use crate::graph::graph::{Graph, Origin, ValueId};

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Names::of(self);
        for (i, spec) in self.inputs.iter().enumerate() {
            writeln!(f, "%{i} = input {spec}")?;
        }
        for (number, id) in &names.constants {
            if let Origin::Constant(tensor) = &self.values[id.0].origin {
                write!(f, "%{number} = constant ")?;
                write_tensor(f, tensor)?;
                writeln!(f)?;
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            write!(f, "%{} = {}(", names.first_node + i, node.op)?;
            let mut separator = "";
            for id in &node.inputs {
                f.write_str(separator)?;
                self.write_value(f, &names, *id)?;
                separator = ", ";
            }
            for (name, attr) in node.attrs.iter() {
                write!(f, "{separator}{name}={attr}")?;
                separator = ", ";
            }
            writeln!(f, ")")?;
        }
        f.write_str("return ")?;
        self.write_outputs(f, &names, &self.structure, &mut self.outputs.iter().copied())
    }
}

/// The numbers that lines go by: inputs, constants worth a line, nodes.
struct Names {
    constants: Vec<(usize, ValueId)>,
    first_node: usize,
}

impl Names {
    fn of(graph: &Graph) -> Self {
        let mut next = graph.inputs.len();
        let mut constants = Vec::new();
        for (i, value) in graph.values.iter().enumerate() {
            if matches!(&value.origin, Origin::Constant(tensor) if !tensor.dims().is_empty()) {
                constants.push((next, ValueId(i)));
                next += 1;
            }
        }
        Names { constants, first_node: next }
    }
}

impl Graph {
    fn write_value(&self, f: &mut fmt::Formatter<'_>, names: &Names, id: ValueId) -> fmt::Result {
        match &self.values[id.0].origin {
            Origin::Input(i) => write!(f, "%{i}"),
            Origin::Node(node, 0) => write!(f, "%{}", names.first_node + node),
            Origin::Node(node, output) => write!(f, "%{}.{output}", names.first_node + node),
            Origin::Constant(tensor) => match names.constants.iter().find(|(_, c)| *c == id) {
                Some((number, _)) => write!(f, "%{number}"),
                None => write_tensor(f, tensor),
            },
        }
    }

    fn write_outputs(
        &self,
        f: &mut fmt::Formatter<'_>,
        names: &Names,
        structure: &Structure,
        outputs: &mut dyn Iterator<Item = ValueId>,
    ) -> fmt::Result {
        match structure {
            Structure::Leaf => match outputs.next() {
                Some(id) => self.write_value(f, names, id),
                None => Ok(()),
            },
            Structure::Nothing => f.write_str("None"),
            Structure::Tuple(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    self.write_outputs(f, names, item, outputs)?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Structure::Dict(items) => {
                f.write_str("{")?;
                for (i, (key, item)) in items.iter().enumerate() {
                    write!(f, "{}{key}: ", if i > 0 { ", " } else { "" })?;
                    self.write_outputs(f, names, item, outputs)?;
                }
                f.write_str("}")
            }
            Structure::Record(kind, items) => {
                write!(f, "{}(", kind.name())?;
                for (i, (name, item)) in items.iter().enumerate() {
                    write!(f, "{}{name}=", if i > 0 { ", " } else { "" })?;
                    self.write_outputs(f, names, item, outputs)?;
                }
                f.write_str(")")
            }
        }
    }
}
