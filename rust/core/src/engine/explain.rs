//! A plan, told to a person.

use std::fmt::Write;

use crate::engine::node::{Cardinality, Plan};

/// The plan as an indented tree, the last op on top: name, arguments, elements, their number.
pub fn explain(plan: &Plan) -> String {
    let mut text = String::new();
    describe(plan, 0, &mut text);
    text
}

fn describe(plan: &Plan, depth: usize, text: &mut String) {
    let args = plan.args().into_iter().map(|arg| format!("{}={}", arg.name, arg.value));
    let args = args.collect::<Vec<_>>().join(", ");
    let count = match plan.cardinality() {
        Cardinality::Known(n) => n.to_string(),
        Cardinality::Infinite => "infinite".into(),
        Cardinality::Unknown => "unknown".into(),
    };
    let indent = "  ".repeat(depth);
    let name = plan.name();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{indent}{name}({args})  # {count} elements");
    for note in plan.notes() {
        let _ = writeln!(text, "{indent}  | {note}");
    }
    plan.inputs().iter().for_each(|input| describe(input, depth + 1, text));
}
