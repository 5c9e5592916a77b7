//! The states of all shards of a job, made into the state of a shard of another number of them.
//!
//! Shards that stand level have together read a piece of the input from its start on. So the new
//! shards divide what comes after it: each is opened with its input that far, as at the start of a
//! round. The steps above the shard must take a fixed number of elements for each of their own, so
//! that it is known how many each old shard has read.

use std::sync::Arc;

use crate::data::mark::MarkBody;
use crate::data::{Mark, Position};
use crate::engine::node::Plan;
use crate::engine::state::State;
use crate::error::{Error, Result};

/// A node that gives every so many-th element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// How many there are.
    pub count: u64,
    /// Which one it is.
    pub index: u64,
}

/// The state from which a run of `plan` goes on where the runs of these states stood together.
///
/// # Errors
/// `InvalidArgument` if they are not those of all shards of a like plan, or if their positions do
/// not tell what is left.
pub fn reshard(states: &[State], plan: &Plan) -> Result<State> {
    let Some(first) = states.first() else {
        return Err(refused("there are none"));
    };
    let positions = states.iter().map(|state| state.position.clone()).collect();
    for (index, state) in states.iter().enumerate() {
        state.check_sharded(plan, Shard { count: states.len() as u64, index: index as u64 })?;
        if !state.draws_alike(first) {
            return Err(refused("they draw by other seeds").with_hint(
                "shards of one job must see one order: give shuffles below the shard a seed",
            ));
        }
        if state.failed {
            return Err(refused(&format!(
                "an element of shard {index} has failed, so outcomes and elements are not as many"
            )));
        }
    }
    let position = join(plan, positions)?;
    Ok(first.clone().moved(plan, position))
}

fn refused(why: &str) -> Error {
    Error::invalid_argument(format!("cannot go on from the states of these shards: {why}"))
}

/// The position of `plan` after all that runs have read which stood at these positions.
fn join(plan: &Plan, positions: Vec<Position>) -> Result<Position> {
    let inputs = plan.inputs();
    if let Some(shard) = plan.shard() {
        let count = positions.len() as u64;
        // Where a round begins: at the start, or where shards were divided anew before.
        let base = positions.iter().map(|position| base_of(&position.mark));
        let base =
            base.collect::<Option<Vec<_>>>().filter(|bases| bases.windows(2).all(|b| b[0] == b[1]));
        let Some(base) = base.and_then(|bases| bases.first().copied()) else {
            return Err(refused("the steps below the shard have epochs of their own")
                .with_hint("repeat above the shard: dataset.shard(n, i).repeat()"));
        };
        let read = positions.iter().enumerate().map(|(index, position)| {
            // A last batch may be short.
            let length = length_of(plan, &position.mark, index as u64, count);
            length.map_or(position.since, |length| length.min(position.since))
        });
        let since = base.saturating_add(level(&read.collect::<Vec<_>>())?);
        let input = Position { mark: Mark::default(), since };
        // The only shard is no step of a run.
        return Ok(match shard.count {
            1 => input,
            _ => Position { mark: Mark::new([0], vec![input]), since: 0 },
        });
    }
    let [input] = &inputs[..] else {
        return Err(match inputs.len() {
            0 => refused("there is no shard in the pipeline, or several branches lead to it"),
            _ => refused(&format!("`{}` is above the shard", plan.name())),
        });
    };
    if plan.is_passage() {
        return join(input, positions);
    }
    if plan.name() == "repeat" {
        return join_epochs(input, &positions);
    }
    let Some(width) = plan.width() else {
        let text = format!(
            "`{}` is above the shard, which takes elements in no fixed number",
            plan.name()
        );
        return Err(
            refused(&text).with_hint("only map, batch, prefetch and repeat may be above it")
        );
    };
    let parts = positions.iter().map(|position| {
        let below = position.mark.input(0);
        let since = below.since.saturating_add(position.since.saturating_mul(width));
        (position.mark.own(0).saturating_add(position.since), Position { since, ..below })
    });
    let (taken, below): (Vec<_>, Vec<_>) = parts.unzip();
    let taken = taken.into_iter().max().unwrap_or(0);
    Ok(Position { mark: Mark::new([taken], vec![join(input, below)?]), since: 0 })
}

/// How far the input of a shard is at a mark at which a round begins.
fn base_of(mark: &Mark) -> Option<u64> {
    let input = mark.input(0);
    (mark.is_start() || (mark.own(0) == 0 && input.mark.is_start())).then_some(input.since)
}

/// As [`join`] for the input of a `repeat`: the runs must be in one epoch.
fn join_epochs(input: &Plan, positions: &[Position]) -> Result<Position> {
    let Some(first) = positions.first() else { return Err(refused("there are none")) };
    let epoch = first.mark.own(0);
    if positions.iter().any(|position| position.mark.own(0) != epoch) {
        return Err(refused("they stand in different epochs"));
    }
    let mut below = Vec::new();
    for (index, position) in positions.iter().enumerate() {
        let Position { mark, since } = position.mark.input(0);
        let since = since.saturating_add(position.since);
        let length = length_of(input, &mark, index as u64, positions.len() as u64);
        if length.is_some_and(|length| since > length) {
            return Err(refused("they stand across the end of an epoch"));
        }
        below.push(Position { mark, since });
    }
    let body = first.mark.0.as_deref().cloned().unwrap_or_default();
    let own = [epoch].into_iter().collect();
    let body = MarkBody { own, inputs: vec![join(input, below)?], ..body };
    Ok(Position { mark: Mark(Some(Arc::new(body))), since: 0 })
}

/// How many outcomes `plan` has in shard `index` of `count` from a mark to the end of the epoch, where
/// that is known.
fn length_of(plan: &Plan, mark: &Mark, index: u64, count: u64) -> Option<u64> {
    let input = plan.inputs().into_iter().next()?;
    if plan.shard().is_some() {
        let length = input.cardinality().known()?.saturating_sub(base_of(mark)?);
        return Some(due(length, index, count));
    }
    if plan.is_passage() {
        return length_of(&input, mark, index, count);
    }
    let width = plan.width()?;
    Some(length_of(&input, &mark.input(0).mark, index, count)?.div_ceil(width))
}

/// How many of `total` elements are those of shard `index` of `count`.
fn due(total: u64, index: u64, count: u64) -> u64 {
    total / count + u64::from(total % count > index)
}

/// How many elements of the input have been read, if shards that read so many each have read all up
/// to there.
fn level(read: &[u64]) -> Result<u64> {
    let count = read.len() as u64;
    let total = read.iter().fold(0, |sum: u64, read| sum.saturating_add(*read));
    let ahead = |index: &usize| read[*index] > due(total, *index as u64, count);
    if let Some(index) = (0..read.len()).find(ahead) {
        let behind = (0..read.len()).rev().min_by_key(|other| read[*other]).unwrap_or(index);
        let (most, least) = (read[index], read[behind]);
        let text = format!("shard {index} has read {most} elements, and shard {behind} {least}");
        let hint = "take the states of all shards after the same step";
        return Err(refused(&text).with_hint(hint));
    }
    Ok(total)
}
