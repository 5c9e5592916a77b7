"""What each op does, in plain Python: no engine, no chunks, one element at a time.

A plan here is an object with `open()`, which starts a run and returns an iterator; as in tf.data, a
run opens its inputs when it is made, and a shuffle draws its seeds then. Elements are integers,
tuples, and lists for arrays of one axis or two.
"""

import math
import operator
import struct

MASK = 0xFFFFFFFF


class Philox:
    """Philox 4x32-10: an endless row of 32-bit numbers."""

    def __init__(self, seed, seed2):
        self.key = (seed & MASK, seed >> 32 & MASK)
        self.counter = (seed2 & MASK) << 64 | (seed2 >> 32 & MASK) << 96
        self.words = []

    def __call__(self):
        if not self.words:
            counter = tuple(self.counter >> shift & MASK for shift in (0, 32, 64, 96))
            self.words = list(philox(counter, self.key))
            self.counter += 1
        return self.words.pop(0)


def philox(counter, key):
    """Return the block of four words for a counter and a key."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = second >> 32 ^ c1 ^ k0, second & MASK, first >> 32 ^ c3 ^ k1, first & MASK
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return c0, c1, c2, c3


def seed_pair(seed):
    """Return the pair of seeds of an op, without a global seed."""
    return 87654321, seed % (2**31 - 1)


class Plan:
    """A step: `start` opens the inputs and returns an iterator."""

    is_shuffle = False

    def __init__(self, start):
        self.start = start

    def open(self):
        return self.start()

    def __iter__(self):
        return self.open()

    def _over(self, make):
        """A step that opens this plan at once and yields what `make` does of its elements."""
        return Plan(lambda: make(self.open()))

    # Sources.

    @classmethod
    def of(cls, elements):
        return cls(lambda: iter(elements))

    @classmethod
    def range(cls, *numbers):
        return cls.of(range(*numbers))

    # Steps of one input.

    def map(self, function):
        return self._over(lambda run: map(function, run))

    def filter(self, predicate):
        return self._over(lambda run: filter(predicate, run))

    def take(self, count):
        if count < 0:
            return self

        def take(run):
            for _, element in zip(range(count), run, strict=False):
                yield element

        return self._over(take) if count else Plan.of([])

    def skip(self, count):
        def skip(run):
            return (element for number, element in enumerate(run) if 0 <= count <= number)

        return self._over(skip)

    def shard(self, shards, index, equal=None):
        def shard(run):
            elements = list(run)
            if equal == "drop":
                del elements[len(elements) // shards * shards :]
            elif equal == "wrap" and elements:
                elements += [elements[i % len(elements)] for i in range(-len(elements) % shards)]
            return iter(elements[index::shards])

        return self._over(shard)

    def reduce(self, state, function):
        for element in self.open():
            state = function(state, element)
        return state

    def take_while(self, predicate):
        def take_while(run):
            for element in run:
                if not predicate(element):
                    return
                yield element

        return self._over(take_while)

    def scan(self, state, function):
        def scan(run):
            held = state
            for element in run:
                held, output = function(held, element)
                yield output

        return self._over(scan)

    def unique(self):
        def unique(run):
            seen = set()
            for element in run:
                if element not in seen:
                    seen.add(element)
                    yield element

        return self._over(unique)

    def enumerate(self, start):
        return self._over(lambda run: enumerate(run, start))

    def same(self):
        """A step that changes no element: prefetch, ignore_errors."""
        return self._over(iter)

    def repeat(self, count):
        fused = self.is_shuffle

        def start():
            return epochs(self.open())

        def epochs(run):
            for number in range(1, count + 1):
                yield from run
                # One run more than needed is opened, unless the shuffle does the repeating.
                if number < count or not fused:
                    run = self.open()

        return Plan(start) if count else Plan.of([])

    def cache(self):
        kept = []

        def start():
            if kept:
                return iter(kept[0])
            return keep(self.open())

        def keep(run):
            elements = []
            for element in run:
                elements.append(element)
                yield element
            kept[:] = [elements]

        return Plan(start)

    def shuffle(self, size, seed, reshuffle):
        pair = seed_pair(seed)
        generator = Philox(*pair)

        def start():
            return shuffled(Philox(generator(), generator()) if reshuffle else Philox(*pair))

        def shuffled(draw):
            held = []
            # Its input is opened when it is first asked for an element.
            for element in self.open():
                held.append(element)
                if len(held) == size:
                    yield pick(held, draw)
            while held:
                yield pick(held, draw)

        def pick(held, draw):
            index = draw() % len(held)
            element, held[index] = held[index], held[0]
            del held[0]
            return element

        plan = Plan(start)
        plan.is_shuffle = True
        return plan

    # Batches.

    def batch(self, size, drop):
        def batch(run):
            rows = []
            for element in run:
                rows.append(element)
                if len(rows) == size:
                    yield rows
                    rows = []
            if rows and not drop:
                yield rows

        return self._over(batch)

    def padded_batch(self, size, drop):
        def pad(rows):
            width = max(map(len, rows))
            return [row + [0] * (width - len(row)) for row in rows]

        return self.batch(size, drop).map(pad)

    def rebatch(self, sizes, drop):
        def rebatch(run):
            rows, number = [], 0
            for batch in run:
                rows += batch
                while len(rows) >= sizes[number]:
                    size = sizes[number]
                    yield rows[:size]
                    rows = rows[size:]
                    number = (number + 1) % len(sizes)
            if rows and not drop:
                yield rows

        return self._over(rebatch)

    def unbatch(self):
        return self._over(lambda run: (row for batch in run for row in batch))

    def window(self, size, shift, stride, drop):
        shift = size if shift is None else shift

        def window(run):
            elements = list(run)
            for start in range(0, len(elements), shift):
                rows = elements[start : start + size * stride : stride]
                if len(rows) == size or not drop:
                    yield rows

        return self._over(window)

    def group_by_window(self, key, size):
        """Windows of elements of one key, as rows; those that are left come by key."""

        def group(run):
            held = {}
            for element in run:
                rows = held.setdefault(key(element), [])
                rows.append(element)
                if len(rows) == size:
                    yield held.pop(key(element))
            for _, rows in sorted(held.items()):
                yield rows

        return self._over(group)

    # Several inputs.

    def concatenate(self, other):
        def concatenate(run):
            yield from run
            yield from other.open()

        return self._over(concatenate)

    @staticmethod
    def zip(*plans):
        return Plan(lambda: zip(*[plan.open() for plan in plans], strict=False))

    def flat_map(self, function):
        return self._over(lambda run: (x for element in run for x in function(element).open()))

    def interleave(self, function, cycle, block):
        def interleave(run):
            slots = [None] * cycle
            ended = False
            turn = 0
            while not ended or any(slots):
                if slots[turn] is None and not ended:
                    try:
                        slots[turn] = function(next(run)).open()
                    except StopIteration:
                        ended = True
                if slots[turn] is not None:
                    for _ in range(block):
                        try:
                            yield next(slots[turn])
                        except StopIteration:
                            slots[turn] = None
                            break
                turn = (turn + 1) % cycle

        return self._over(interleave)

    @staticmethod
    def choose(plans, choices, stop):
        def start():
            run = choices.open()
            return choose(run, [plan.open() for plan in plans])

        def choose(run, inputs):
            for choice in run:
                if not any(inputs):
                    return
                if inputs[choice] is None:
                    continue
                try:
                    yield next(inputs[choice])
                except StopIteration:
                    inputs[choice] = None
                    if stop:
                        return

        return Plan(start)

    @staticmethod
    def sample(plans, weights, seed, stop, rerandomize):
        pair = seed_pair(seed)
        generator = Philox(*pair)

        def start():
            draw = Philox(generator(), generator()) if rerandomize else Philox(*pair)
            return choices(draw)

        def choices(draw):
            while True:
                yield categorical(weights, draw(), draw())

        return Plan.choose(plans, Plan(start), stop)


def categorical(weights, a, b):
    """Return which of the weights a pair of seeds draws."""
    key = philox((a, 0, b, 0), (0x3EC8F720, 0x02461E29))
    x0, x1, *_ = philox((0, 0, key[2], key[3]), key[:2])
    bits = 1023 << 52 | (x0 & 0xFFFFF) << 32 | x1
    uniform = struct.unpack("<d", struct.pack("<Q", bits))[0] - 1.0
    logits = [to_float32(math.log(to_float32(weight))) for weight in weights]
    total, sums = 0.0, []
    for logit in logits:
        total += math.exp(to_float32(logit - max(logits)))
        sums.append(total)
    return next(j for j, upper in enumerate(sums) if upper > uniform * total)


def to_float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def add_up(state, x):
    return state + x, state + x


add = operator.add
