//! Hashes of bytes that stay the same for ever: FarmHash's `Fingerprint64`, the 64-bit Murmur hash
//! and SipHash-2-4, as TensorFlow's buckets use them.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

fn word(data: &[u8], at: usize) -> u64 {
    data.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn half(data: &[u8], at: usize) -> u64 {
    let found = data.get(at..at + 4).and_then(|b| b.try_into().ok());
    u64::from(found.map_or(0, u32::from_le_bytes))
}

fn mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

fn pair(u: u64, v: u64, factor: u64) -> u64 {
    let a = mix((u ^ v).wrapping_mul(factor));
    mix((v ^ a).wrapping_mul(factor)).wrapping_mul(factor)
}

fn up_to_16(data: &[u8]) -> u64 {
    let size = data.len();
    let factor = K2.wrapping_add(size as u64 * 2);
    match size {
        8.. => {
            let a = word(data, 0).wrapping_add(K2);
            let b = word(data, size - 8);
            let c = b.rotate_right(37).wrapping_mul(factor).wrapping_add(a);
            let d = a.rotate_right(25).wrapping_add(b).wrapping_mul(factor);
            pair(c, d, factor)
        }
        4.. => {
            let first = (size as u64).wrapping_add(half(data, 0) << 3);
            pair(first, half(data, size - 4), factor)
        }
        1.. => {
            let y = u64::from(data[0]) + (u64::from(data[size >> 1]) << 8);
            let z = size as u64 + (u64::from(data[size - 1]) << 2);
            mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
        }
        0 => K2,
    }
}

fn up_to_32(data: &[u8]) -> u64 {
    let size = data.len();
    let factor = K2.wrapping_add(size as u64 * 2);
    let a = word(data, 0).wrapping_mul(K1);
    let b = word(data, 8);
    let c = word(data, size - 8).wrapping_mul(factor);
    let d = word(data, size - 16).wrapping_mul(K2);
    let first = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let second = a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c);
    pair(first, second, factor)
}

fn up_to_64(data: &[u8]) -> u64 {
    let size = data.len();
    let factor = K2.wrapping_add(size as u64 * 2);
    let a = word(data, 0).wrapping_mul(K2);
    let b = word(data, 8);
    let c = word(data, size - 8).wrapping_mul(factor);
    let d = word(data, size - 16).wrapping_mul(K2);
    let y = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let z = pair(y, a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c), factor);
    let e = word(data, 16).wrapping_mul(factor);
    let f = word(data, 24);
    let g = y.wrapping_add(word(data, size - 32)).wrapping_mul(factor);
    let h = z.wrapping_add(word(data, size - 24)).wrapping_mul(factor);
    let first = e.wrapping_add(f).rotate_right(43).wrapping_add(g.rotate_right(30)).wrapping_add(h);
    let second = e.wrapping_add(f.wrapping_add(a).rotate_right(18)).wrapping_add(g);
    pair(first, second, factor)
}

/// Mixes 32 bytes into two words.
fn weak(data: &[u8], a: u64, b: u64) -> (u64, u64) {
    let (w, x, y, z) = (word(data, 0), word(data, 8), word(data, 16), word(data, 24));
    let a = a.wrapping_add(w);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let c = a;
    let a = a.wrapping_add(x).wrapping_add(y);
    let b = b.wrapping_add(a.rotate_right(44));
    (a.wrapping_add(z), b.wrapping_add(c))
}

/// One hash of two, as TensorFlow makes it of hashes in a row.
pub fn fingerprint_cat64(first: u64, second: u64) -> u64 {
    const MUL: u64 = 0xc6a4_a793_5bd1_e995;
    let mix = |value: u64| value ^ (value >> 47);
    let hash = (first ^ MUL) ^ mix(second.wrapping_mul(MUL)).wrapping_mul(MUL);
    mix(mix(hash.wrapping_mul(MUL)).wrapping_mul(MUL))
}

/// FarmHash's `Fingerprint64`.
pub fn fingerprint64(data: &[u8]) -> u64 {
    let size = data.len();
    match size {
        0..=16 => return up_to_16(data),
        17..=32 => return up_to_32(data),
        33..=64 => return up_to_64(data),
        _ => {}
    }
    let seed = 81_u64;
    let mut x = seed.wrapping_mul(K2).wrapping_add(word(data, 0));
    let mut y = seed.wrapping_mul(K1).wrapping_add(113);
    let mut z = mix(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let (mut v, mut w) = ((0_u64, 0_u64), (0_u64, 0_u64));
    let rest = (size - 1) & 63;
    let end = size - 1 - rest;
    for block in data[..end].chunks_exact(64) {
        x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(word(block, 8));
        x = x.rotate_right(37).wrapping_mul(K1);
        y = y.wrapping_add(v.1).wrapping_add(word(block, 48)).rotate_right(42).wrapping_mul(K1);
        x ^= w.1;
        y = y.wrapping_add(v.0).wrapping_add(word(block, 40));
        z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(K1);
        v = weak(block, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = weak(&block[32..], z.wrapping_add(w.1), y.wrapping_add(word(block, 16)));
        std::mem::swap(&mut z, &mut x);
    }
    finish(data, (x, y, z, v, w), rest as u64)
}

type State = (u64, u64, u64, (u64, u64), (u64, u64));

/// The last 64 bytes, some of which the blocks have seen.
fn finish(data: &[u8], (mut x, mut y, mut z, mut v, mut w): State, rest: u64) -> u64 {
    let factor = K1.wrapping_add((z & 0xff) << 1);
    let block = &data[data.len() - 64..];
    w.0 = w.0.wrapping_add(rest);
    v.0 = v.0.wrapping_add(w.0);
    w.0 = w.0.wrapping_add(v.0);
    x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(word(block, 8));
    x = x.rotate_right(37).wrapping_mul(factor);
    y = y.wrapping_add(v.1).wrapping_add(word(block, 48)).rotate_right(42).wrapping_mul(factor);
    x ^= w.1.wrapping_mul(9);
    y = y.wrapping_add(v.0.wrapping_mul(9)).wrapping_add(word(block, 40));
    z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(factor);
    v = weak(block, v.1.wrapping_mul(factor), x.wrapping_add(w.0));
    w = weak(&block[32..], z.wrapping_add(w.1), y.wrapping_add(word(block, 16)));
    std::mem::swap(&mut z, &mut x);
    let first = pair(v.0, w.0, factor).wrapping_add(mix(y).wrapping_mul(K0)).wrapping_add(z);
    pair(first, pair(v.1, w.1, factor).wrapping_add(x), factor)
}

/// The seed that TensorFlow's `Hash64` starts from.
const MURMUR_SEED: u64 = 0x00de_cafc_affe;

/// The last bytes of `data`, fewer than eight, as a word.
fn tail(data: &[u8]) -> u64 {
    data.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

/// The 64-bit Murmur hash of TensorFlow's `to_hash_bucket`.
pub fn murmur64(data: &[u8]) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let mut hash = MURMUR_SEED ^ (data.len() as u64).wrapping_mul(FACTOR);
    let (words, rest) = data.as_chunks::<8>();
    for bytes in words {
        let word = u64::from_le_bytes(*bytes).wrapping_mul(FACTOR);
        hash = (hash ^ (word ^ (word >> 47)).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        hash = (hash ^ tail(rest)).wrapping_mul(FACTOR);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(FACTOR);
    hash ^ (hash >> 47)
}

/// SipHash-2-4 under a key of 128 bits.
pub fn siphash64(data: &[u8], key: [u64; 2]) -> u64 {
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = data.as_chunks::<8>();
    let last = tail(rest) | ((data.len() as u64) << 56);
    for word in words.iter().map(|bytes| u64::from_le_bytes(*bytes)).chain([last]) {
        state[3] ^= word;
        rounds(&mut state, 2);
        state[0] ^= word;
    }
    state[2] ^= 0xff;
    rounds(&mut state, 4);
    state.into_iter().fold(0, |all, part| all ^ part)
}

fn rounds(state: &mut [u64; 4], count: usize) {
    let [mut a, mut b, mut c, mut d] = *state;
    for _ in 0..count {
        a = a.wrapping_add(b);
        b = b.rotate_left(13) ^ a;
        a = a.rotate_left(32);
        c = c.wrapping_add(d);
        d = d.rotate_left(16) ^ c;
        a = a.wrapping_add(d);
        d = d.rotate_left(21) ^ a;
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        c = c.rotate_left(32);
    }
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_tensorflows_at_every_length() {
        let text = include_str!("../../../../tests/golden/tf_hashes.json");
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        let most = i64::MAX as u64;
        for (size, expected) in golden.as_object().unwrap() {
            let data: Vec<u8> =
                (0..size.parse::<usize>().unwrap()).map(|k| (k * 7) as u8).collect();
            let found =
                [fingerprint64(&data), murmur64(&data), siphash64(&data, [1, 2])].map(|h| h % most);
            let expected: Vec<u64> =
                expected.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
            assert_eq!(found.as_slice(), expected, "{size} bytes");
        }
    }
}
