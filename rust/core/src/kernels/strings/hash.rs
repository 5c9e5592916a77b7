//! `string_hash_bucket`: a number below `num_buckets` for each string, by FarmHash ("fast"), Murmur
//! ("") or SipHash ("strong").

use std::sync::Arc;

use crate::data::{DType, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::strings::{Each, check_text, mapped};
use crate::random::fingerprint::{fingerprint64, murmur64, siphash64};

#[derive(Clone, Copy, Debug)]
enum Hash {
    Fast,
    Murmur,
    Strong([u64; 2]),
}

#[derive(Debug)]
struct HashBucket {
    hash: Hash,
    buckets: u64,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "string_hash_bucket" {
        return Ok(None);
    }
    attrs.only(&["hash", "num_buckets", "key"])?;
    let hash = match attrs.opt_str("hash")?.unwrap_or("") {
        "fast" => Hash::Fast,
        "" => Hash::Murmur,
        "strong" => match attrs.ints("key")?.as_slice() {
            [a, b] => Hash::Strong([*a as u64, *b as u64]),
            other => {
                let text = format!("Key must have 2 elements, got {}", other.len());
                return Err(Error::invalid_argument(text));
            }
        },
        other => return Err(Error::invalid_argument(format!("there is no hash {other:?}"))),
    };
    let buckets = attrs.int("num_buckets")?;
    match u64::try_from(buckets) {
        Ok(buckets) if buckets > 0 => Ok(Some(mapped(HashBucket { hash, buckets }))),
        _ => {
            let text = format!("num_buckets must be at least 1, got {buckets}");
            Err(Error::invalid_argument(text))
        }
    }
}

impl Each for HashBucket {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input).and(Ok(DType::Int64))
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let bucket = |value: &[u8]| {
            let hash = match self.hash {
                Hash::Fast => fingerprint64(value),
                Hash::Murmur => murmur64(value),
                Hash::Strong(key) => siphash64(value, key),
            };
            (hash % self.buckets) as i64
        };
        let buckets: Vec<i64> = tensor.strings()?.iter().map(bucket).collect();
        Tensor::from_values(tensor.dims(), &buckets)
    }
}
