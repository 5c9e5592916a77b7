"""What each op does, in plain Python: lists in, lists out, as slow and as plain as can be.

An element is what `headrace` yields with arrays as lists and scalars as Python's.
"""


def map_(elements, function):
    return [function(x) for x in elements]


def filter_(elements, predicate):
    return [x for x in elements if predicate(x)]


def take_while(elements, predicate):
    taken = []
    for x in elements:
        if not predicate(x):
            break
        taken.append(x)
    return taken


def scan(elements, state, function):
    outputs = []
    for x in elements:
        state, output = function(state, x)
        outputs.append(output)
    return outputs


def reduce(elements, state, function):
    for x in elements:
        state = function(state, x)
    return state


def unique(elements):
    seen = []
    for x in elements:
        if x not in seen:
            seen.append(x)
    return seen


def take(elements, count):
    return elements if count < 0 else elements[:count]


def skip(elements, count):
    return [] if count < 0 else elements[count:]


def repeat(elements, count):
    return elements * count


def concatenate(elements, others):
    return elements + others


def zip_(*inputs):
    return list(zip(*inputs, strict=False))


def enumerate_(elements, start):
    return list(enumerate(elements, start))


def shard(elements, shards, index, equal):
    count = len(elements)
    if equal == "drop":
        elements = elements[: count // shards * shards]
    elif equal == "wrap" and count:
        missing = -count % shards
        elements = elements + [elements[i % count] for i in range(missing)]
    return elements[index::shards]


def batch(elements, size, drop_remainder=False):
    batches = [elements[i : i + size] for i in range(0, len(elements), size)]
    return [b for b in batches if len(b) == size or not drop_remainder]


def padded_batch(elements, size, drop_remainder=False, value=0):
    def pad(rows):
        width = max(map(len, rows))
        return [row + [value] * (width - len(row)) for row in rows]

    return [pad(rows) for rows in batch(elements, size, drop_remainder)]


def unbatch(elements):
    return [row for rows in elements for row in rows]


def rebatch(elements, sizes, drop_remainder=False):
    rows, batches, turn = unbatch(elements), [], 0
    while rows:
        size = sizes[turn % len(sizes)]
        if len(rows) >= size or not drop_remainder:
            batches.append(rows[:size])
        rows = rows[size:]
        turn += 1
    return batches


def flat_map(elements, function):
    return [y for x in elements for y in function(x)]


def interleave(elements, function, cycle_length, block_length):
    source = iter(elements)
    slots = [None] * cycle_length
    outputs, ended = [], False
    while True:
        for slot in range(cycle_length):
            for _ in range(block_length):
                if slots[slot] is None and not ended:
                    try:
                        slots[slot] = list(function(next(source)))
                    except StopIteration:
                        ended = True
                if slots[slot] is None:
                    break
                if not slots[slot]:
                    slots[slot] = None
                    break
                outputs.append(slots[slot].pop(0))
        if ended and all(slot is None for slot in slots):
            return outputs
