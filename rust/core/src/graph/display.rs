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

#[cfg(test)]
mod tests {
    use crate::data::spec::Key;
    use crate::data::{DType, Spec, Structure, Tensor};
    use crate::graph::attr::{Attr, Attrs};
    use crate::graph::graph::GraphBuilder;

    #[test]
    fn a_graph_reads_as_a_list_of_operations() {
        let mut builder = GraphBuilder::new();
        let image = builder.input(Spec::scalar(DType::Bytes));
        let label = builder.input(Spec::scalar(DType::Int64));
        let one = builder.constant(Tensor::scalar(1_i64).unwrap());
        let unused = builder.constant(Tensor::from_values(&[2], &[1_i64, 2]).unwrap());
        builder.add("add", Attrs::new(), &[label, unused]).unwrap();
        let raw = Attrs::from([("out_type", Attr::DType(DType::UInt8))]);
        let raw = builder.add("decode_raw", raw, &[image]).unwrap();
        let shape = Attr::List(vec![Attr::Int(28), Attr::Int(28)]);
        let pixels = builder.add("reshape", Attrs::from([("shape", shape)]), &raw).unwrap()[0];
        let two = builder.add("add", Attrs::new(), &[one, one]).unwrap()[0];
        let label = builder.add("add", Attrs::new(), &[label, two]).unwrap()[0];
        let key = |name: &str| Key::Str(name.into());
        let structure = Structure::Dict(vec![
            (key("x"), Structure::Leaf),
            (key("y"), Structure::Tuple(vec![Structure::Leaf, Structure::Nothing])),
        ]);
        let graph = builder.finish(structure, vec![pixels, label]).unwrap();
        let text = r#"
%0 = input bytes()
%1 = input int64()
%2 = decode_raw(%0, out_type=uint8)
%3 = reshape(%2, shape=(28, 28))
%4 = add(%1, 2)
return {"x": %3, "y": (%4, None)}"#;
        assert_eq!(format!("\n{graph}"), text);
        assert_eq!(graph.specs()[0], Spec::tensor(DType::UInt8, [Some(28), Some(28)]));
    }

    #[test]
    fn operations_that_do_not_fit_say_so() {
        let mut builder = GraphBuilder::new();
        let text = builder.input(Spec::scalar(DType::Bytes));
        let number = builder.input(Spec::scalar(DType::Int32));
        let error = |result: crate::Result<_>| result.map(|_: Vec<_>| ()).unwrap_err().to_string();
        let sum = builder.add("add", Attrs::new(), &[text, number]);
        assert_eq!(error(sum), "add: add of bytes and int32: cast one of them");
        let sum = builder.add("add", Attrs::new(), &[text, text]);
        assert_eq!(error(sum), "add: add does not take bytes");
        assert!(error(builder.add("nope", Attrs::new(), &[])).contains("no operation \"nope\""));
    }
}
