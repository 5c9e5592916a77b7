//! The stages of a plan as states name them: each by its name and a hash of each of its arguments.
//!
//! In memory, and in the text of long states, stages of one kind (the same name and arguments) stand
//! together, and a hash that they all have stands once: of a mix of a thousand datasets little is left
//! but what tells them apart. A plan of few stages is written as their list, to be read.
//!
//! Where each dataset of a large mix has many arguments of its own, 64 bits for each would make states
//! too long. Hashes are cut then, so that a differing argument is named all the same, and a hash of all
//! of them is added, which no other plan has.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::node::Plan;
use crate::graph::hash::Fnv;

type Name = Cow<'static, str>;

/// Up to so many stages are written as a list.
const LISTED: usize = 64;
/// Plans with as many sources are mixes, whose states have a limit for each.
const MIX: usize = 64;
/// Bits of hashes for each source of a mix: 40 of the 64 bytes that it may take, in base 64.
const SOURCE_BITS: usize = 40 * 6;
/// So many hashes of an argument are never cut.
const SHORT: usize = 16;
/// Hexadecimal digits of a whole hash, and of one that is cut as far as can be.
const WHOLE: usize = 16;
const SHORTEST: usize = 2;

/// The stages of a plan from the outermost, without those that change nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct PlanKeys(Arc<Stages>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stages {
    kinds: Vec<Kind>,
    /// The kind of each stage.
    order: Vec<usize>,
    /// A hash of all hashes that are cut.
    whole: Option<u64>,
}

/// Stages of one name and with the same arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    name: Name,
    args: Vec<Column>,
}

/// The hashes of one argument: that which all stages have, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    name: Name,
    hashes: Vec<u64>,
    /// What is left of each, in hexadecimal digits.
    digits: usize,
}

impl Column {
    fn new(name: Name, hashes: Vec<u64>) -> Self {
        Column { name, hashes, digits: WHOLE }
    }

    fn at(&self, place: usize) -> u64 {
        let hashes = &self.hashes;
        let place = if hashes.len() == 1 { 0 } else { place };
        hashes.get(place).copied().unwrap_or(0)
    }

    /// One hash for all that are alike.
    fn fold(&mut self) {
        if self.hashes.windows(2).all(|pair| pair[0] == pair[1]) {
            self.hashes.truncate(1);
        }
    }

    /// The hash of a stage, cut to so many digits.
    fn cut_to(&self, digits: usize, place: usize) -> u64 {
        cut(self.at(place), self.digits, digits)
    }

    fn cut(&mut self, digits: usize) {
        self.hashes.iter_mut().for_each(|hash| *hash = cut(*hash, self.digits, digits));
        self.digits = digits;
    }
}

/// The first digits of a hash of which there are `digits`.
fn cut(mut hash: u64, digits: usize, wanted: usize) -> u64 {
    if digits <= wanted {
        return hash;
    }
    if digits == WHOLE {
        // The first digits of like values' hashes are alike: mixed as MurmurHash mixes at its end.
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^= hash >> 33;
    }
    let rest = 4 * WHOLE.saturating_sub(wanted) as u32;
    hash.checked_shr(rest).and_then(|hash| hash.checked_shl(rest)).unwrap_or(0)
}

/// A stage: its kind and its number among those of that kind.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    kind: &'a Kind,
    place: usize,
}

impl<'a> Key<'a> {
    pub(super) fn name(self) -> &'a str {
        &self.kind.name
    }

    fn column(self, name: &str) -> Option<&'a Column> {
        self.kind.args.iter().find(|column| column.name == name)
    }

    /// True if argument `name` is there and has this hash.
    pub(super) fn has(self, name: &str, hash: u64) -> bool {
        let column = self.column(name);
        column.is_some_and(|column| column.at(self.place) == cut(hash, WHOLE, column.digits))
    }

    /// The first argument, of either, that the two do not have alike.
    pub(super) fn difference(self, other: Self) -> Option<&'a str> {
        let alike = |name: &str| match (self.column(name), other.column(name)) {
            (Some(a), Some(b)) => {
                let digits = a.digits.min(b.digits);
                a.cut_to(digits, self.place) == b.cut_to(digits, other.place)
            }
            _ => false,
        };
        let columns = self.kind.args.iter().chain(&other.kind.args);
        columns.map(|column| &*column.name).find(|name| !alike(name))
    }
}

impl PlanKeys {
    /// Those of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut stages = Stages::default();
        let sources = stages.collect(plan);
        stages.columns().for_each(Column::fold);
        stages.fit(sources);
        PlanKeys(Arc::new(stages))
    }

    /// The stages in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Key<'_>> {
        let Stages { kinds, order, .. } = &*self.0;
        let mut passed = vec![0; kinds.len()];
        order.iter().filter_map(move |number| {
            let (kind, passed) = (kinds.get(*number)?, passed.get_mut(*number)?);
            *passed += 1;
            Some(Key { kind, place: *passed - 1 })
        })
    }

    /// True if what was cut off hashes was the same, given that nothing else differs.
    pub(super) fn is_cut_from_same(&self, other: &Self) -> bool {
        self.0.whole == other.0.whole
    }
}

impl Stages {
    /// Adds the stages of a plan; returns how many sources it has.
    fn collect(&mut self, plan: &Plan) -> usize {
        if !plan.is_passage() {
            let args = plan.args().into_iter().filter(|arg| arg.in_state);
            let mut args: Vec<(Name, u64)> =
                args.map(|arg| (arg.name.into(), arg.hash64())).collect();
            // Data that is part of the plan. There may be much of it: a sample must do.
            let mut data = Fnv::sampling();
            plan.feed(&mut data);
            if data.finish() != Fnv::default().finish() {
                args.push(("data".into(), data.finish()));
            }
            args.sort();
            self.push(plan.name().into(), args);
        }
        let inputs = plan.inputs();
        inputs.iter().map(|input| self.collect(input)).sum::<usize>().max(1)
    }

    fn push(&mut self, name: Name, args: Vec<(Name, u64)>) {
        let alike = |kind: &Kind| {
            kind.name == name
                && kind.args.len() == args.len()
                && kind.args.iter().zip(&args).all(|(column, (name, _))| column.name == *name)
        };
        let number = self.kinds.iter().position(alike).unwrap_or_else(|| {
            let columns = args.iter().map(|(name, _)| Column::new(name.clone(), Vec::new()));
            self.kinds.push(Kind { name, args: columns.collect() });
            self.kinds.len() - 1
        });
        self.order.push(number);
        if let Some(kind) = self.kinds.get_mut(number) {
            kind.args.iter_mut().zip(args).for_each(|(column, (_, hash))| column.hashes.push(hash));
        }
    }

    fn columns(&mut self) -> impl Iterator<Item = &mut Column> {
        self.kinds.iter_mut().flat_map(|kind| &mut kind.args)
    }

    /// Cuts the hashes of a mix of so many sources if they would take too much.
    fn fit(&mut self, sources: usize) {
        let mut long: Vec<_> =
            self.columns().filter(|column| column.hashes.len() > SHORT).collect();
        let hashes: usize = long.iter().map(|column| column.hashes.len()).sum();
        let digits = (sources * SOURCE_BITS / 4 / hashes.max(1)).clamp(SHORTEST, WHOLE);
        if sources < MIX || digits == WHOLE {
            return;
        }
        let mut all = Fnv::default();
        let hashes = long.iter().flat_map(|column| &column.hashes);
        hashes.for_each(|hash| all.number(*hash));
        long.iter_mut().for_each(|column| column.cut(digits));
        self.whole = Some(all.finish());
    }
}

/// The text of keys.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    /// Name and arguments of each stage.
    Listed(Vec<(Name, BTreeMap<Name, String>)>),
    Columns(Columns),
}

#[derive(Clone, Serialize, Deserialize)]
struct Columns {
    /// The hashes of an argument are one string: one hash, or those of all stages on end.
    kinds: Vec<(Name, Vec<(Name, String)>)>,
    order: Vec<usize>,
    /// How long they are, where there are more than a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digits: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

fn hex(hash: u64, digits: usize) -> String {
    format!("{:0digits$x}", hash >> (4 * (WHOLE - digits)))
}

fn from_hex(text: &str) -> Option<u64> {
    let rest = WHOLE.checked_sub(text.len())?;
    let hash = u64::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'))?;
    hash.checked_shl(4 * rest as u32)
}

impl From<PlanKeys> for Written {
    fn from(keys: PlanKeys) -> Self {
        let Stages { kinds, order, whole } = &*keys.0;
        if order.len() <= LISTED && whole.is_none() {
            let listed = keys.iter().map(|Key { kind, place }| {
                let args = kind.args.iter();
                let args = args.map(|column| (column.name.clone(), hex(column.at(place), WHOLE)));
                (kind.name.clone(), args.collect())
            });
            return Written::Listed(listed.collect());
        }
        let column = |Column { name, hashes, digits }: &Column| {
            (name.clone(), hashes.iter().map(|hash| hex(*hash, *digits)).collect())
        };
        let kind = |kind: &Kind| (kind.name.clone(), kind.args.iter().map(column).collect());
        let mut columns = kinds.iter().flat_map(|kind| &kind.args);
        Written::Columns(Columns {
            kinds: kinds.iter().map(kind).collect(),
            order: order.clone(),
            digits: columns.find(|column| column.digits < WHOLE).map(|column| column.digits),
            hash: whole.map(|hash| hex(hash, WHOLE)),
        })
    }
}

impl TryFrom<Written> for PlanKeys {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let stages = match written {
            Written::Listed(listed) => from_list(listed),
            Written::Columns(columns) => from_columns(columns),
        };
        stages.map(|stages| PlanKeys(Arc::new(stages))).ok_or("the stages of its plan are none")
    }
}

fn from_list(listed: Vec<(Name, BTreeMap<Name, String>)>) -> Option<Stages> {
    let mut stages = Stages::default();
    for (name, args) in listed {
        let hash = |hash: &str| from_hex(hash).filter(|_| hash.len() == WHOLE);
        let args = args.into_iter().map(|(name, text)| Some((name, hash(&text)?)));
        stages.push(name, args.collect::<Option<_>>()?);
    }
    stages.columns().for_each(Column::fold);
    Some(stages)
}

fn from_columns(Columns { kinds, order, digits, hash }: Columns) -> Option<Stages> {
    let mut counts = vec![0; kinds.len()];
    for number in &order {
        *counts.get_mut(*number)? += 1;
    }
    let cut = digits.unwrap_or(WHOLE);
    let column = |name, text: &str, count: usize| {
        let digits = if text.len() == WHOLE || count <= SHORT { WHOLE } else { cut };
        let pieces = text.as_bytes().chunks(digits.clamp(1, WHOLE));
        let hashes = pieces.map(|piece| from_hex(std::str::from_utf8(piece).ok()?));
        Some(Column { name, hashes: hashes.collect::<Option<_>>()?, digits })
    };
    let kind = |((name, args), count): ((Name, Vec<(Name, String)>), usize)| {
        let args = args.into_iter().map(|(name, text)| column(name, &text, count));
        Some(Kind { name, args: args.collect::<Option<_>>()? })
    };
    let kinds = kinds.into_iter().zip(counts).map(kind).collect::<Option<_>>()?;
    let whole = match hash {
        Some(hash) => Some(from_hex(&hash)?),
        None => None,
    };
    Some(Stages { kinds, order, whole })
}

#[cfg(test)]
mod tests;
