"""Functions that show what runs at the same time, by waiting for each other or by counting."""

import threading
import time

# Guards against hanging, no more.
PATIENCE = 100


class Together:
    """A function of which so many calls must be inside at once before any of them returns."""

    def __init__(self, count):
        self.barrier = threading.Barrier(count, timeout=PATIENCE)

    def __call__(self, x):
        self.barrier.wait()
        return x


class Calls:
    """A function that sleeps, and knows how many calls of it ran at once."""

    def __init__(self, seconds=0.02):
        self.seconds = seconds
        self.running = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, x):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        with self.lock:
            self.running -= 1
        return x


class Seen:
    """The elements that a consumer has taken; functions wait for there to be so many.

    A consumer that finds no thread at work, as on a busy machine, calls a function itself: then it
    cannot be waited for, and `own` counts it.
    """

    def __init__(self):
        self.elements = []
        self.own = 0
        self.consumer = threading.get_ident()
        self.changed = threading.Condition()

    def take(self, iterator, count):
        for _ in range(count):
            element = int(next(iterator))
            with self.changed:
                self.elements.append(element)
                self.changed.notify_all()

    def wait_for(self, count):
        if threading.get_ident() == self.consumer:
            self.own += 1
            return
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.elements) >= count, PATIENCE)


def seen_by_others(take):
    """What `take` puts into a `Seen`, when all that waits for it did so in other threads."""
    for _ in range(20):
        seen = Seen()
        take(seen)
        if seen.own == 0:
            return seen.elements
    raise AssertionError("the consumer does all the work")


def assert_overlap(build, count=12):
    """Check that each element is begun while the one before it is consumed.

    `build` makes a dataset of a function that is called for each of `count` elements.
    """
    begun = [threading.Event() for _ in range(count)]

    def produce(x):
        begun[x].set()
        return x

    for x in build(produce):
        assert x == count - 1 or begun[x + 1].wait(PATIENCE)
