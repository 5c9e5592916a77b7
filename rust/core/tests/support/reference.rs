//! What each step does, said once more as plainly as can be: with iterators that go one by one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;

use headrace::random::Philox;

use super::steps::{Speed, Step};
use super::*;

/// An element, or one that failed.
pub type Number = std::result::Result<i64, String>;

type Pass = Box<dyn Iterator<Item = Number>>;

/// A dataset: each call begins a new pass over it, which draws what a new iterator draws.
type Source = Rc<dyn Fn() -> Pass>;

/// The seed pairs of a step: each pass takes the next one.
struct Seeds {
    pair: (u64, u64),
    drawn: Cell<u64>,
}

impl Seeds {
    fn new(pair: (u64, u64)) -> Self {
        Seeds { pair, drawn: Cell::new(0) }
    }

    fn next(&self) -> (u64, u64) {
        let number = self.drawn.replace(self.drawn.get() + 1);
        let mut words = Philox::new(self.pair.0, self.pair.1);
        for _ in 0..2 * number {
            words.next_u32();
        }
        (u64::from(words.next_u32()), u64::from(words.next_u32()))
    }
}

fn numbers(n: i64) -> Pass {
    Box::new((0..n).map(Ok))
}

/// As tf.data draws: the oldest takes the place of the one that goes, what comes in stands last.
fn shuffled(mut input: Pass, size: usize, (seed, seed2): (u64, u64)) -> Pass {
    let mut words = Philox::new(seed, seed2);
    let mut buffer: VecDeque<i64> = VecDeque::new();
    Box::new(std::iter::from_fn(move || {
        while buffer.len() < size {
            match input.next() {
                Some(Ok(x)) => buffer.push_back(x),
                Some(error) => return Some(error),
                None => break,
            }
        }
        let first = *buffer.front()?;
        let at = words.next_u32() as usize % buffer.len();
        let drawn = std::mem::replace(&mut buffer[at], first);
        buffer.pop_front();
        Some(Ok(drawn))
    }))
}

fn shuffle_of(input: Source, size: i64, seeds: Seeds) -> Source {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    Rc::new(move || {
        let (pair, input) = (seeds.next(), Rc::clone(&input));
        // Its input is opened when it is first asked for an element.
        let mut pass = None;
        let elements = std::iter::from_fn(move || pass.get_or_insert_with(|| input()).next());
        shuffled(Box::new(elements), size, pair)
    })
}

/// `fused`: it stands right on a shuffle, and so begins no pass in vain after the last.
fn repeat(input: Source, count: i64, fused: bool) -> Source {
    Rc::new(move || {
        let input = Rc::clone(&input);
        let mut pass = (count > 0).then(|| input());
        let mut epoch = 0;
        Box::new(std::iter::from_fn(move || {
            loop {
                let next = pass.as_mut()?.next();
                if next.is_some() {
                    return next;
                }
                epoch += 1;
                pass = (epoch < count).then(|| input());
                if pass.is_none() && !fused {
                    drop(input());
                }
            }
        }))
    })
}

fn take(input: Source, count: i64) -> Source {
    Rc::new(move || {
        let mut pass = (count != 0).then(|| input());
        let mut left = count;
        Box::new(std::iter::from_fn(move || {
            let next = if left > 0 { pass.as_mut()?.next() } else { None };
            left -= i64::from(next.as_ref().is_some_and(Number::is_ok));
            if next.is_none() {
                pass = None;
            }
            next
        }))
    })
}

/// Batches of so many, and what is in them. `whole`: one that fails takes the place of its batch.
fn batches(mut input: Pass, size: usize, drop_short: bool, whole: bool) -> Pass {
    let mut rows: VecDeque<i64> = VecDeque::new();
    Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(x) = rows.pop_front() {
                return Some(Ok(x));
            }
            let mut batch = Vec::new();
            let mut failed = None;
            while batch.len() < size {
                match input.next() {
                    None => break,
                    Some(outcome) => {
                        let stop = outcome.is_err() && !whole;
                        if failed.is_none() {
                            failed = outcome.as_ref().err().cloned();
                        }
                        batch.push(outcome);
                        if stop {
                            break;
                        }
                    }
                }
            }
            if let Some(error) = failed {
                return Some(Err(error));
            }
            if batch.is_empty() || (batch.len() < size && drop_short) {
                return None;
            }
            rows.extend(batch.into_iter().flatten());
        }
    }))
}

/// The last of each `count`; `wraps`: a short round at the end is filled up from the start.
fn last_shard(input: Pass, count: usize, wraps: bool) -> Pass {
    let all: Vec<Number> = input.collect();
    let mut chosen: Vec<Number> = all.iter().skip(count - 1).step_by(count).cloned().collect();
    let short = all.len() % count;
    if wraps && short > 0 {
        chosen.push(all[(count - 1 - short) % all.len().min(count)].clone());
    }
    Box::new(chosen.into_iter())
}

fn scanned(input: Pass) -> Pass {
    let mut sum = 0;
    Box::new(input.map(move |outcome| {
        outcome.map(|x| {
            sum += x;
            sum - x
        })
    }))
}

fn unique_residues(input: Pass) -> Pass {
    let mut seen = HashSet::new();
    let residues = input.map(|outcome| outcome.map(|x| x % 5));
    Box::new(residues.filter(move |outcome| outcome.as_ref().map_or(true, |x| seen.insert(*x))))
}

/// Elements of the datasets of `cycle` elements by turns, `block` of each.
fn interleaved(mut input: Pass, make: fn(i64) -> Pass, cycle: usize, block: i64) -> Pass {
    let mut open: Vec<Option<Pass>> = (0..cycle).map(|_| None).collect();
    let (mut at, mut given, mut over) = (0, 0, false);
    Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(pass) = &mut open[at] {
                if let Some(next) = pass.next() {
                    given += 1;
                    if given == block {
                        (at, given) = ((at + 1) % cycle, 0);
                    }
                    return Some(next);
                }
                open[at] = None;
                (at, given) = ((at + 1) % cycle, 0);
            } else if over {
                if open.iter().all(Option::is_none) {
                    return None;
                }
                at = (at + 1) % cycle;
            } else {
                match input.next() {
                    Some(Ok(x)) => open[at] = Some(make(x)),
                    Some(error) => return Some(error),
                    None => over = true,
                }
            }
        }
    }))
}

/// The elements beside so many numbers. At the end of one of both the other is asked once more.
fn zipped(mut input: Pass, n: i64) -> impl Iterator<Item = Number> {
    let mut left = n;
    std::iter::from_fn(move || {
        let next = if left >= 0 { input.next() } else { None };
        left -= 1;
        next.filter(|_| left >= 0)
    })
}

/// The elements of windows, one after another.
fn windows(mut input: Pass, size: usize, shift: usize, stride: usize, drop: bool) -> Pass {
    let span = (size - 1) * stride + 1;
    let (mut held, mut rows) = (VecDeque::new(), VecDeque::new());
    Box::new(std::iter::from_fn(move || {
        if rows.is_empty() {
            held.extend(input.by_ref().take(span - held.len()));
            if held.len() < span && drop {
                held.clear();
            }
            rows.extend(held.iter().take(span).step_by(stride).cloned());
            for _ in 0..if rows.is_empty() { 0 } else { shift } {
                if held.pop_front().is_none() {
                    input.next();
                }
            }
        }
        rows.pop_front()
    }))
}

/// The elements of groups by the remainder of three; the first of each group comes last in it.
fn groups(mut input: Pass, size: usize) -> Pass {
    let mut groups: BTreeMap<i64, VecDeque<Number>> = BTreeMap::new();
    let mut rows: VecDeque<Number> = VecDeque::new();
    Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(next) = rows.pop_front() {
                return Some(next);
            }
            rows = match input.next() {
                Some(Ok(x)) => {
                    let group = groups.entry(x % 3).or_default();
                    group.push_back(Ok(x));
                    if group.len() == size { groups.remove(&(x % 3))? } else { continue }
                }
                Some(error) => return Some(error),
                None => groups.pop_first()?.1,
            };
            rows.rotate_left(1);
        }
    }))
}

/// The elements of batches of `size` that were made to batches of `sizes` in turn.
fn rebatched(mut input: Pass, size: usize, sizes: [usize; 2], drop_short: bool) -> Pass {
    let mut sizes = sizes.into_iter().cycle();
    let (mut held, mut rows) = (VecDeque::new(), VecDeque::new());
    Box::new(std::iter::from_fn(move || {
        if rows.is_empty() {
            let size_now = sizes.next()?;
            while held.len() < size_now {
                let before = held.len();
                held.extend(input.by_ref().take(size));
                if held.len() == before {
                    break;
                }
            }
            if held.len() < size_now && drop_short {
                held.clear();
            }
            rows.extend(held.drain(..size_now.min(held.len())));
        }
        rows.pop_front()
    }))
}

/// Kept as the first whole pass gave them.
fn cached(input: Source) -> Source {
    let kept: Rc<RefCell<Option<Vec<Number>>>> = Rc::default();
    Rc::new(move || {
        if let Some(all) = &*kept.borrow() {
            return Box::new(all.clone().into_iter());
        }
        let (mut pass, kept, mut seen) = (input(), Rc::clone(&kept), Vec::new());
        Box::new(std::iter::from_fn(move || {
            let next = pass.next();
            match &next {
                Some(outcome) => seen.push(outcome.clone()),
                None => *kept.borrow_mut() = Some(seen.clone()),
            }
            next
        }))
    })
}

/// Two sources by the choices that a plan of the engine draws: those have golden vectors.
fn sampled(input: Source, stop: bool) -> Source {
    let seeds = SeedGenerator::new(Some((87_654_321, 5)), true);
    let logits = [0.6_f64, 0.4].iter().map(|weight| weight.ln()).collect();
    let choices = SelectorNode::plan(Weights::Logits(logits), seeds).unwrap();
    Rc::new(move || {
        let mut choices = Reader::open(&choices, options(1), None);
        let first = row_text(&collect(&[Tensor::scalar(0_i64).unwrap()]), 0);
        let mut sources = [Some(input()), Some(numbers(9))];
        Box::new(std::iter::from_fn(move || {
            while sources.iter().any(Option::is_some) {
                let at = usize::from(choices.next().unwrap() != first);
                let Some(source) = &mut sources[at] else { continue };
                if let Some(next) = source.next() {
                    return Some(next);
                }
                sources[at] = None;
                if stop {
                    sources = [None, None];
                }
            }
            None
        }))
    })
}

fn each(input: Source, change: fn(Pass) -> Pass) -> Source {
    Rc::new(move || change(input()))
}

fn mapped(input: Source, function: fn(i64) -> Number) -> Source {
    Rc::new(move || Box::new(input().map(move |outcome| outcome.and_then(function))))
}

/// True for the steps that the reference has; some of them only where nothing has failed.
pub fn is_known(step: &Step, before: &[Step]) -> bool {
    let fails = before.iter().any(|step| matches!(step, Step::Fails));
    match step {
        Step::Noise => false,
        // What they count, and what a cache keeps, after an error is told by tests of their own.
        Step::Skip(_) | Step::Shard(..) | Step::Cache | Step::Interleave(..) => !fails,
        Step::Zip(_) | Step::Window { .. } | Step::Rebatch(..) => !fails,
        _ => true,
    }
}

/// The outcomes of the plan that `speed` makes of these steps.
pub fn expected(speed: Speed, source: i64, steps: &[Step]) -> Vec<Number> {
    let first: Source = Rc::new(move || numbers(source));
    let (mut plan, mut top) = match source % 3 {
        1 => (shuffle_of(first, -2, Seeds::new((87_654_321, 3))), "shuffle"),
        _ => (first, ""),
    };
    for step in steps {
        if speed.ahead > 0 && !matches!(step, Step::Batch(..) | Step::Rebatch(..)) {
            top = "prefetch";
        }
        plan = add(plan, step, top);
        top = match step {
            Step::Shuffle(..) => "shuffle",
            Step::Map { .. } | Step::Fails | Step::Enumerate | Step::Zip(_) => "map",
            // They change nothing.
            Step::Repeat(1) | Step::Skip(0) | Step::Shard(1, _) => top,
            _ => "",
        };
    }
    take(plan, 60)().collect()
}

fn add(input: Source, step: &Step, top: &str) -> Source {
    match *step {
        Step::Map { .. } => mapped(input, |x| Ok(x + 1)),
        Step::Fails => mapped(input, |x| if x % 4 == 1 { Err(format!("no {x}")) } else { Ok(x) }),
        Step::Filter { .. } => each(input, |pass| {
            Box::new(pass.filter(|outcome| outcome.as_ref().map_or(true, |x| x % 3 == 0)))
        }),
        Step::Shuffle(size, seed) => shuffle_of(input, size, Seeds::new((87_654_321, seed))),
        Step::Repeat(1) => input,
        Step::Repeat(count) => repeat(input, count, top == "shuffle"),
        Step::Take(count) => take(input, count),
        Step::Skip(count) => Rc::new(move || Box::new(input().skip(count as usize))),
        Step::Batch(size, drop) => {
            let whole = top == "map";
            Rc::new(move || batches(input(), size as usize, drop, whole))
        }
        Step::Shard(shards, equal) => {
            Rc::new(move || last_shard(input(), shards as usize, equal == Equal::Wrap))
        }
        Step::Enumerate => mapped(input, |x| Ok(x & 63)),
        Step::Concatenate(n) => Rc::new(move || Box::new(input().chain(numbers(n)))),
        Step::Sample(stop) => sampled(input, stop),
        Step::Scan { .. } => each(input, scanned),
        Step::TakeWhile => each(input, |pass| {
            Box::new(pass.take_while(|outcome| outcome.as_ref().map_or(true, |x| *x < 13)))
        }),
        Step::Unique => each(input, unique_residues),
        Step::Cache => cached(input),
        Step::IgnoreErrors => each(input, |pass| Box::new(pass.filter(Number::is_ok))),
        Step::FlatMap(n) => Rc::new(move || {
            Box::new(input().flat_map(move |outcome| match outcome {
                Ok(x) => shuffled(numbers(x.rem_euclid(n) + 1), 2, Seeds::new((1, 2)).next()),
                error => Box::new(std::iter::once(error)),
            }))
        }),
        Step::Captured(n) => {
            let inner = shuffle_of(Rc::new(move || numbers(n)), 3, Seeds::new((87_654_321, 7)));
            Rc::new(move || {
                let inner = Rc::clone(&inner);
                Box::new(input().flat_map(move |outcome| match outcome {
                    Ok(_) => inner(),
                    error => Box::new(std::iter::once(error)),
                }))
            })
        }
        Step::Interleave(cycle, block) => {
            let make = |x: i64| -> Pass {
                let inner = shuffled(numbers(4), 3, Seeds::new((1, 8)).next());
                Box::new(inner.take(x.rem_euclid(5) as usize))
            };
            Rc::new(move || interleaved(input(), make, cycle as usize, block))
        }
        Step::Zip(n) => mapped(Rc::new(move || Box::new(zipped(input(), n))), |x| Ok(x & 63)),
        Step::Window { size, shift, stride, drop } => {
            let [size, shift, stride] = [size, shift, stride].map(|n| n as usize);
            Rc::new(move || windows(input(), size, shift, stride, drop))
        }
        Step::Group(size) => Rc::new(move || groups(input(), size as usize)),
        Step::Rebatch(size, sizes, drop) => Rc::new(move || {
            rebatched(input(), size as usize, sizes.map(|size| size as usize), drop)
        }),
        Step::Noise => input,
    }
}
