//! The trial of a graph: its results on one element against those of the function.
//!
//! Integers, booleans and text must be equal. Floats must be equal where NumPy would round the
//! same way; else they may differ by what the operations above them allow: a few units in the
//! last place where one such operation gave the value, or, where its difference went on through
//! more arithmetic, that many units of the largest number it met on its way.

use std::sync::Arc;

use crate::data::{Chunk, Column, DType, PartialShape, Tensor, Value, Wanted};
use crate::error::{Error, Result};
use crate::graph::call::Called;
use crate::graph::graph::{Graph, Node, ValueId};
use crate::graph::kernel::{Arg, Tolerance};
use crate::kernels::cast::to_f64;
use crate::random::Site;

/// How a trial ended.
pub(crate) enum Trial {
    Agrees,
    BothFail,
    /// With the reason.
    Differs(String),
}

/// Compares the graph with what the function gave for the chunk of one element.
pub(crate) fn try_out(graph: &Graph, element: &Chunk, site: &Site, theirs: &Called) -> Trial {
    let ours = graph.eval_all(element, site);
    let compared = match (&ours, theirs) {
        (Err(_), Called { error: Some(_), .. }) => return Trial::BothFail,
        (Err(error), _) => Err(format!("the graph fails where the function does not: {error}")),
        (Ok(_), Called { error: Some(error), .. }) => {
            Err(format!("the function fails where its graph does not: {error}"))
        }
        (Ok(_), Called { done: None, .. }) => Err("the function gave no result".into()),
        (Ok((ours, values)), Called { done: Some(theirs), .. }) => {
            compare(graph, ours, theirs, values)
        }
    };
    match compared {
        Ok(()) => Trial::Agrees,
        Err(reason) => {
            let caveat = graph.nodes.iter().find_map(|node| node.kernel.caveat());
            Trial::Differs(caveat.map_or(reason.clone(), |caveat| format!("{reason}; {caveat}")))
        }
    }
}

fn compare(
    graph: &Graph,
    ours: &Chunk,
    theirs: &Chunk,
    values: &[Option<Arg>],
) -> Result<(), String> {
    if ours.structure() != theirs.structure() {
        let (ours, theirs) = (ours.structure(), theirs.structure());
        return Err(format!("the graph gives structure {ours}, the function {theirs}"));
    }
    let slack = spread(graph, values).map_err(|error| error.to_string())?;
    for (i, (a, b)) in ours.columns().iter().zip(theirs.columns()).enumerate() {
        let slack = slack[graph.outputs[i].0];
        let same = compare_columns(a, b, slack).map_err(|error| error.to_string())?;
        same.map_err(|what| match ours.columns().len() {
            1 => what,
            _ => format!("component {i}: {what}"),
        })?;
    }
    Ok(())
}

/// How far a value may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slack {
    /// In units of `eps`.
    units: f64,
    /// Relative size of a unit in the last place.
    eps: f64,
    /// What the units are of: each value itself, or this number.
    of: Option<f64>,
}

impl Slack {
    const NONE: Slack = Slack { units: 0.0, eps: 0.0, of: None };
}

/// The slack of each value of the graph.
fn spread(graph: &Graph, values: &[Option<Arg>]) -> Result<Vec<Slack>> {
    let mut slack = vec![Slack::NONE; graph.values.len()];
    for node in &graph.nodes {
        let arg = |id: &ValueId| {
            values[id.0].as_ref().ok_or_else(|| Error::internal("a value was not computed"))
        };
        let inputs: Vec<&Arg> = node.inputs.iter().map(arg).collect::<Result<_>>()?;
        for (id, wanted) in node.outputs.iter().zip(&node.wanted) {
            if *wanted != Wanted::No {
                let above = node.inputs.iter().map(|id| slack[id.0]);
                slack[id.0] = spread_node(node, above, &inputs, arg(id)?)?;
            }
        }
    }
    Ok(slack)
}

fn spread_node(
    node: &Node,
    above: impl Iterator<Item = Slack>,
    inputs: &[&Arg],
    output: &Arg,
) -> Result<Slack> {
    let join = |a: Slack, b: Slack| Slack {
        units: a.units + b.units,
        eps: a.eps.max(b.eps),
        of: match (a.of, b.of) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        },
    };
    let above = above.fold(Slack::NONE, join);
    let own_eps = output.dtype().map_or(0.0, eps);
    let largest = |args: &[&Arg]| -> Result<f64> {
        args.iter().try_fold(0.0, |m: f64, arg| Ok(m.max(magnitudes(arg)?.0)))
    };
    // Differences that go on through arithmetic are measured by the largest number they met.
    let amplified = || -> Result<f64> {
        let met = largest(inputs)?.max(largest(&[output])?);
        Ok(above.of.unwrap_or(0.0).max(met))
    };
    Ok(match node.kernel.tolerance() {
        Tolerance::Moved => above,
        Tolerance::Exact | Tolerance::Ulp(_) if above.units > 0.0 => {
            let own = match node.kernel.tolerance() {
                Tolerance::Ulp(units) => f64::from(units),
                // Each rounding of a number that is off may fall the other way.
                _ => 1.0,
            };
            let eps = above.eps.max(own_eps);
            Slack { units: above.units + own, eps, of: Some(amplified()?) }
        }
        Tolerance::Exact => Slack::NONE,
        // Integers add up exactly in any order.
        _ if own_eps == 0.0 && above.units == 0.0 => Slack::NONE,
        Tolerance::Ulp(units) => Slack { units: f64::from(units), eps: own_eps, of: None },
        Tolerance::Product => {
            // Of matrices [m, k] and [k, n], k is the root of m k · k n / m n.
            let outputs = magnitudes(output)?.1.max(1) as f64;
            let (mut counts, mut size) = (1.0, 1.0);
            for arg in inputs {
                let (largest, count, _) = magnitudes(arg)?;
                counts *= count as f64;
                size *= largest;
            }
            let terms = (counts / outputs).max(1.0);
            let terms = if inputs.len() == 2 { terms.sqrt() } else { terms };
            let of = f64::max(terms * size, amplified()?);
            let units = above.units * terms + terms;
            Slack { units, eps: above.eps.max(own_eps), of: Some(of) }
        }
        tolerance @ (Tolerance::Sum | Tolerance::Mixed) => {
            let outputs = match tolerance {
                Tolerance::Mixed => 1,
                _ => magnitudes(output)?.1.max(1),
            };
            let (mut terms, mut total) = (0, 0.0);
            for arg in inputs {
                let (_, count, sum) = magnitudes(arg)?;
                terms += count / outputs;
                total = f64::max(total, sum);
            }
            let of = total.max(amplified()?);
            let units = above.units * terms.max(1) as f64 + terms.max(1) as f64;
            Slack { units, eps: above.eps.max(own_eps), of: Some(of) }
        }
    })
}

/// Largest finite magnitude, number of values, and sum of finite magnitudes.
fn magnitudes(arg: &Arg) -> Result<(f64, usize, f64)> {
    let tensor = match arg {
        Arg::Const(tensor) | Arg::Column(Column::Stacked(tensor)) => tensor.clone(),
        Arg::Column(Column::Rows(rows)) => rows.flat()?.0,
        Arg::Column(_) => return Ok((0.0, 0, 0.0)),
    };
    if tensor.dtype().is_text() {
        return Ok((0.0, tensor.len(), 0.0));
    }
    let (mut largest, mut sum) = (0.0_f64, 0.0);
    let values = to_f64(&tensor)?;
    for value in values.iter().filter(|value| value.is_finite()) {
        largest = largest.max(value.abs());
        sum += value.abs();
    }
    Ok((largest, values.len(), sum))
}

fn eps(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => f64::from(half::f16::EPSILON.to_f32()),
        DType::BFloat16 => f64::from(half::bf16::EPSILON.to_f32()),
        DType::Float32 | DType::Complex64 => f64::from(f32::EPSILON),
        DType::Float64 | DType::Complex128 => f64::EPSILON,
        _ => 0.0,
    }
}

type Same = Result<(), String>;

fn compare_columns(ours: &Column, theirs: &Column, slack: Slack) -> Result<Same> {
    Ok(match (ours.row(0)?, theirs.row(0)?) {
        (Value::Tensor(a), Value::Tensor(b)) => compare_tensors(&a, &b, slack)?,
        (
            Value::Sparse { indices: ai, values: av, dense_shape: ad },
            Value::Sparse { indices: bi, values: bv, dense_shape: bd },
        ) => compare_parts(&[(ai, bi), (av, bv), (ad, bd)], slack)?,
        (Value::Ragged { values: av, splits: a }, Value::Ragged { values: bv, splits: b })
            if a.len() == b.len() =>
        {
            let parts: Vec<_> = a.into_iter().zip(b).chain([(av, bv)]).collect();
            compare_parts(&parts, slack)?
        }
        (Value::Foreign(a), Value::Foreign(b)) if Arc::ptr_eq(&a, &b) => Ok(()),
        _ => Err(format!("the graph gives {}, the function {}", ours.kind(), theirs.kind())),
    })
}

fn compare_parts(parts: &[(Tensor, Tensor)], slack: Slack) -> Result<Same> {
    for (a, b) in parts {
        if let Err(what) = compare_tensors(a, b, slack)? {
            return Ok(Err(what));
        }
    }
    Ok(Ok(()))
}

fn compare_tensors(ours: &Tensor, theirs: &Tensor, slack: Slack) -> Result<Same> {
    // An object array without strings does not tell whether they would be bytes or str.
    let no_text = |tensor: &Tensor| tensor.dtype().is_text() && tensor.is_empty();
    if ours.dtype() != theirs.dtype() && !(no_text(ours) && no_text(theirs)) {
        let (ours, theirs) = (ours.dtype(), theirs.dtype());
        return Ok(Err(format!("the graph gives {ours}, the function {theirs}")));
    }
    if ours.dims() != theirs.dims() {
        let show = |tensor: &Tensor| PartialShape::from(tensor.dims()).to_string();
        let (ours, theirs) = (show(ours), show(theirs));
        return Ok(Err(format!("the graph gives shape {ours}, the function {theirs}")));
    }
    if ours == theirs || ours.is_empty() {
        return Ok(Ok(()));
    }
    if eps(ours.dtype()) == 0.0 {
        return Ok(Err(format!("the graph gives other {} values than the function", ours.dtype())));
    }
    let (a, b) = (to_f64(ours)?, to_f64(theirs)?);
    let own_eps = eps(ours.dtype());
    for (a, b) in a.iter().zip(&b) {
        let allowed = match slack.of {
            Some(size) => slack.units * slack.eps.max(own_eps) * size.max(a.abs()),
            // The gap between neighbours is eps at the bottom of a binade, half that at its top.
            None => slack.units * slack.eps * ulp_scale(*a, ours.dtype()),
        };
        if !(a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= allowed) {
            return Ok(Err(format!("the graph gives {a:e}, the function {b:e}")));
        }
    }
    Ok(Ok(()))
}

/// The power of two at or below a magnitude: its unit in the last place over eps.
fn ulp_scale(value: f64, dtype: DType) -> f64 {
    let smallest = match dtype {
        DType::Float16 => f64::from(half::f16::MIN_POSITIVE.to_f32()),
        DType::BFloat16 | DType::Float32 | DType::Complex64 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    let magnitude = value.abs().max(smallest);
    if !magnitude.is_finite() {
        return 0.0;
    }
    // Clears the fraction bits.
    f64::from_bits(magnitude.to_bits() & 0x7ff0_0000_0000_0000)
}
