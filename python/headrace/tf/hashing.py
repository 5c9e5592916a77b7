"""Hashes of byte strings as TensorFlow computes them: FarmHash, Murmur, SipHash.

Plain Python on 64-bit integers, so that buckets agree with models trained elsewhere.
"""

from __future__ import annotations

from itertools import starmap

__all__ = ["farmhash64", "murmur64", "siphash"]

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _rotate(value: int, shift: int) -> int:
    value &= _MASK
    return value if shift == 0 else ((value >> shift) | (value << (64 - shift))) & _MASK


def _mix(value: int) -> int:
    value &= _MASK
    return value ^ (value >> 47)


def _hash16(u: int, v: int, factor: int) -> int:
    a = _mix(((u ^ v) & _MASK) * factor)
    b = _mix((((v & _MASK) ^ a) * factor) & _MASK)
    return (b * factor) & _MASK


def _up_to_16(data: bytes) -> int:
    size = len(data)
    if size >= 8:
        factor = _K2 + size * 2
        a = (_word(data, 0) + _K2) & _MASK
        b = _word(data, size - 8)
        c = (_rotate(b, 37) * factor + a) & _MASK
        d = ((_rotate(a, 25) + b) * factor) & _MASK
        return _hash16(c, d, factor)
    if size >= 4:
        factor = _K2 + size * 2
        return _hash16(size + (_word(data, 0, 4) << 3), _word(data, size - 4, 4), factor)
    if size > 0:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[size - 1] << 2)
        return (_mix((y * _K2) ^ (z * _K0)) * _K2) & _MASK
    return _K2


def _up_to_32(data: bytes) -> int:
    size = len(data)
    factor = _K2 + size * 2
    a = (_word(data, 0) * _K1) & _MASK
    b = _word(data, 8)
    c = (_word(data, size - 8) * factor) & _MASK
    d = (_word(data, size - 16) * _K2) & _MASK
    first = _rotate(a + b, 43) + _rotate(c, 30) + d
    return _hash16(first, a + _rotate(b + _K2, 18) + c, factor)


def _up_to_64(data: bytes) -> int:
    size = len(data)
    factor = _K2 + size * 2
    a = (_word(data, 0) * _K2) & _MASK
    b = _word(data, 8)
    c = (_word(data, size - 8) * factor) & _MASK
    d = (_word(data, size - 16) * _K2) & _MASK
    y = (_rotate(a + b, 43) + _rotate(c, 30) + d) & _MASK
    z = _hash16(y, a + _rotate(b + _K2, 18) + c, factor)
    e = (_word(data, 16) * factor) & _MASK
    f = _word(data, 24)
    g = ((y + _word(data, size - 32)) * factor) & _MASK
    h = ((z + _word(data, size - 24)) * factor) & _MASK
    first = _rotate(e + f, 43) + _rotate(g, 30) + h
    return _hash16(first, e + _rotate(f + a, 18) + g, factor)


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = starmap(_word, ((data, at), (data, at + 8), (data, at + 16), (data, at + 24)))
    a = (a + w) & _MASK
    b = _rotate(b + a + z, 21)
    c = a
    a = (a + x + y) & _MASK
    b = (b + _rotate(a, 44)) & _MASK
    return (a + z) & _MASK, (b + c) & _MASK


def farmhash64(data: bytes) -> int:
    """Return FarmHash's ``Fingerprint64``.

    Examples
    --------
    >>> farmhash64(b"") == 0x9AE16A3B2F90404F
    True
    """
    size = len(data)
    if size <= 32:
        return _up_to_16(data) if size <= 16 else _up_to_32(data)
    if size <= 64:
        return _up_to_64(data)
    seed = 81
    x, y = seed, (seed * _K1 + 113) & _MASK
    z = (_mix((y * _K2 + 113) & _MASK) * _K2) & _MASK
    v = w = (0, 0)
    x = (x * _K2 + _word(data, 0)) & _MASK
    end = ((size - 1) // 64) * 64
    last = end + ((size - 1) & 63) - 63
    for at in range(0, end, 64):
        x = (_rotate(x + y + v[0] + _word(data, at + 8), 37) * _K1) & _MASK
        y = (_rotate(y + v[1] + _word(data, at + 48), 42) * _K1) & _MASK
        x ^= w[1]
        y = (y + v[0] + _word(data, at + 40)) & _MASK
        z = (_rotate(z + w[0], 33) * _K1) & _MASK
        v = _weak(data, at, v[1] * _K1, x + w[0])
        w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
        z, x = x, z
    factor = (_K1 + ((z & 0xFF) << 1)) & _MASK
    at = last
    w = ((w[0] + ((size - 1) & 63)) & _MASK, w[1])
    v = ((v[0] + w[0]) & _MASK, v[1])
    w = ((w[0] + v[0]) & _MASK, w[1])
    x = (_rotate(x + y + v[0] + _word(data, at + 8), 37) * factor) & _MASK
    y = (_rotate(y + v[1] + _word(data, at + 48), 42) * factor) & _MASK
    x ^= (w[1] * 9) & _MASK
    y = (y + v[0] * 9 + _word(data, at + 40)) & _MASK
    z = (_rotate(z + w[0], 33) * factor) & _MASK
    v = _weak(data, at, v[1] * factor, x + w[0])
    w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
    z, x = x, z
    first = _hash16(v[0], w[0], factor) + _mix(y) * _K0 + z
    return _hash16(first, _hash16(v[1], w[1], factor) + x, factor)


def murmur64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """Return the 64-bit Murmur hash that ``to_hash_bucket`` uses."""
    factor, shift = 0xC6A4A7935BD1E995, 47
    h = (seed ^ (len(data) * factor)) & _MASK
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        k = (_word(data, at) * factor) & _MASK
        k = ((k ^ (k >> shift)) * factor) & _MASK
        h = ((h ^ k) * factor) & _MASK
    if whole < len(data):
        h = ((h ^ _word(data, whole)) * factor) & _MASK
    h = ((h ^ (h >> shift)) * factor) & _MASK
    return h ^ (h >> shift)


def siphash(data: bytes, key: tuple[int, int]) -> int:
    """Return SipHash-2-4, which ``to_hash_bucket_strong`` uses."""
    k0, k1 = key[0] & _MASK, key[1] & _MASK
    state = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    whole = len(data) & ~7
    words = [_word(data, at) for at in range(0, whole, 8)]
    words.append(_word(data, whole) | ((len(data) & 0xFF) << 56))
    for word in words:
        state[3] ^= word
        _sip_rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    _sip_rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_rounds(state: list[int], count: int) -> None:
    a, b, c, d = state
    for _ in range(count):
        a = (a + b) & _MASK
        b = _rotate(b, 51) ^ a
        a = _rotate(a, 32)
        c = (c + d) & _MASK
        d = _rotate(d, 48) ^ c
        a = (a + d) & _MASK
        d = _rotate(d, 43) ^ a
        c = (c + b) & _MASK
        b = _rotate(b, 47) ^ c
        c = _rotate(c, 32)
    state[:] = [a, b, c, d]
