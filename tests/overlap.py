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
    """The elements that a consumer has taken; functions wait for there to be so many."""

    def __init__(self):
        self.elements = []
        self.changed = threading.Condition()

    def take(self, iterator, count):
        for _ in range(count):
            element = int(next(iterator))
            with self.changed:
                self.elements.append(element)
                self.changed.notify_all()

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.elements) >= count, PATIENCE)


def assert_overlap(build, count=12):
    """Check that elements are made while others are consumed.

    `build` makes a dataset of a function that is called for each of `count` elements.
    """
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def produce(x):
        if x > 0:
            # The consumer is at the element before this one.
            meeting.wait()
        return x

    for x in build(produce):
        if x < count - 1:
            meeting.wait()
