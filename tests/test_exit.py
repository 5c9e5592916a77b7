"""The end of the interpreter in awkward moments, and what is left of runs that have ended.

Each case is a process of its own, in Python's development mode: it must say nothing on stderr.
"""

import functools
import json

import pytest
from ahead import DATASETS, SIMPLE, datasets
from processes import TRIES, assert_ended_at_once
from processes import run as run_plainly

run = functools.partial(run_plainly, dev=True)

ahead = datasets(*SIMPLE, "interleave")
partly_ahead = datasets("slow map", "slow generator", "interleave")


# ------------------------------------------------------------------ where iterators are


@partly_ahead
def test_an_iterator_in_the_frame_of_a_generator_does_not_hold_up_the_end(dataset):
    ended = run(f"""
def elements():
    for x in {dataset}:
        yield x
kept = elements()
next(kept)
held = {{"self": None, "kept": elements()}}
held["self"] = held
next(held["kept"])
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@partly_ahead
def test_iterators_in_every_sort_of_place_do_not_hold_up_the_end(dataset):
    ended = run(f"""
class Kept:
    of_class = iter({dataset})
    def __init__(self):
        self.own = iter({dataset})
next(Kept.of_class)
kept = Kept()
kept.cycle = kept
next(kept.own)
sys.headrace_iterator = iter({dataset})
next(sys.headrace_iterator)
local = threading.local()
local.iterator = iter({dataset})
next(local.iterator)
print(now(), flush=True)
sys.exit(0)
""")
    assert_ended_at_once(ended)


@partly_ahead
def test_handlers_at_exit_may_use_iterators(dataset):
    ended = run(f"""
import atexit
iterator = iter({dataset})
next(iterator)
def goodbye():
    next(iterator)
    other = iter({dataset})
    print(len([next(other) for _ in range(3)]), now(), flush=True)
atexit.register(goodbye)
""")
    assert ended.out.split()[0] == "3"
    assert_ended_at_once(ended)


@partly_ahead
def test_handlers_that_run_when_all_is_closed_get_an_end_or_an_error(dataset):
    # Registered before headrace is, they run after it has closed everything.
    before = f"""
import atexit
def goodbye():
    print(next(iterator, "end"))
    try:
        print("native", sum(int(x) for x in hr.Dataset.range(4).prefetch(1)))
        next(iter({dataset}), None)
    except hr.errors.HeadraceError as error:
        print(type(error).__name__)
    print(now(), flush=True)
atexit.register(goodbye)
"""
    ended = run(f"iterator = iter({dataset})\nnext(iterator)", before=before)
    assert ended.out.startswith("end\nnative 6\n")
    assert_ended_at_once(ended)


@partly_ahead
def test_a_thread_that_is_no_daemon_may_finish(dataset):
    ended = run(f"""
def consume():
    time.sleep(0.2)
    print(len([x for x in {dataset}.take(8)]), now(), flush=True)
threading.Thread(target=consume).start()
""")
    assert ended.out.split()[0] == "8"
    assert_ended_at_once(ended)


@ahead
def test_daemons_that_open_and_drop_iterators_do_not_hold_up_the_end(dataset):
    ended = run(f"""
started = threading.Barrier(5)
def consume():
    first = True
    while True:
        for x in {dataset}.take(3):
            if first:
                started.wait()
                first = False
for _ in range(4):
    threading.Thread(target=consume, daemon=True).start()
started.wait()
time.sleep(0.1)
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@pytest.mark.parametrize("call", ["next(shared)", "shared.state()", "shared.stats()"])
def test_daemons_in_any_call_do_not_hold_up_the_end(call):
    ended = run(f"""
import contextlib
shared = iter(generate(lambda: map(sleeper(0.02), range(10**9))).prefetch(2))
next(shared)
def work(call):
    while True:
        # What is closed at the end says so.
        with contextlib.suppress(StopIteration, hr.errors.CancelledError):
            call()
for call in (lambda: next(shared), lambda: {call}, lambda: {call}):
    threading.Thread(target=work, args=(call,), daemon=True).start()
time.sleep(0.3)
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@pytest.mark.parametrize("leave", ["sys.exit(0)", "os._exit(0)", "raise SystemExit"])
@partly_ahead
def test_leaving_from_a_loop_in_a_function(dataset, leave):
    ended = run(f"""
def train():
    for x in {dataset}:
        print(now(), flush=True)
        {leave}
train()
""")
    assert_ended_at_once(ended)


@pytest.mark.parametrize("kept", [False, True])
def test_breaking_after_the_first_batch(kept):
    ended = run(f"""
interleaved = ({DATASETS["interleave"]})
iterator = iter(interleaved)
for batch in iterator if {kept} else interleaved:
    print(now(), flush=True)
    break
""")
    assert_ended_at_once(ended)


# ------------------------------------------------------------------ callbacks


@pytest.mark.parametrize("prefetch", ["", ".prefetch(2)"])
@pytest.mark.parametrize("raised", ["KeyError('mine')", "SystemExit(3)", "KeyboardInterrupt()"])
def test_what_a_report_raises_comes_out_of_next(prefetch, raised):
    ended = run(f"""
def fail(x):
    if x == 3:
        raise ValueError("left out")
    return x
def report(error):
    raise {raised}
seen = []
dataset = hr.Dataset.range(6).map(python(fail)).ignore_errors(report=report){prefetch}
iterator = iter(dataset)
try:
    for x in iterator:
        seen.append(int(x))
except BaseException as error:
    print(repr(error), seen)
    print(sorted(map(int, iterator)) in ([], [4, 5]))
""")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{raised} [0, 1, 2]\nTrue\n".replace("'", "'")


# ------------------------------------------------------------------ what is left


DEATHS = f"""
def dropped(iterators):
    del iterators[:]

def closed(iterators):
    iterators[0].close()

def in_a_cycle(iterators):
    cycle = [iterators.pop()]
    cycle.append(cycle)
    del cycle
    gc.collect()

def by_an_exception(iterators):
    def fail(iterator):
        for x in iterator:
            raise KeyError
    try:
        fail(iterators.pop())
    except KeyError:
        pass

def in_a_thread(iterators):
    thread = threading.Thread(target=iterators.pop)
    thread.start()
    thread.join()

calls = [0]
def counted(x):
    calls[0] += 1
    return x

def children():
    with open(f"/proc/self/task/{{os.getpid()}}/children") as file:
        return file.read().split()

def left():
    return descriptors(), others(), children()

def is_at_rest(before):
    "Whether there is no more than before, and no task runs."
    count, *names = left()
    if count > before[0] or any(set(new) - set(old) for new, old in zip(names, before[1:])):
        return False
    ran = calls[0]
    time.sleep(0.05)
    return calls[0] == ran

def leaves_nothing(death, build, before):
    "Whether a run that dies so has gone within a second, at least once; or else what is left."
    for _ in range({TRIES}):
        iterators = [iter(build())]
        for _ in range(3):
            next(iterators[0])
        death(iterators)
        try:
            wait_until(lambda: is_at_rest(before), 1)
            return True
        except AssertionError:
            time.sleep(2)
    return left(), before, calls

def tell_what_deaths_leave(build):
    next(iter(build()))
    time.sleep(1.5)
    before = left()
    deaths = (dropped, closed, in_a_cycle, by_an_exception, in_a_thread)
    tell(**{{death.__name__: leaves_nothing(death, build, before) for death in deaths}})
"""


def assert_nothing_is_left(ended):
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert told == dict.fromkeys(told, True)
    assert len(told) == 5


@ahead
def test_a_second_after_the_last_iterator_only_the_work_pool_is_left(dataset, tmp_path):
    ended = run(
        DEATHS
        + f"""
path = os.path.join(sys.argv[1], "a.tfrecord")
with hr.io.TFRecordWriter(path) as writer:
    for i in range(1000):
        writer.write(bytes(1000))
def build():
    dataset = {dataset}.map(python(counted), num_parallel_calls=2)
    records = hr.TFRecordDataset([path] * 4, num_parallel_reads=2).repeat().prefetch(4)
    return hr.Dataset.zip(dataset, records)
tell_what_deaths_leave(build)
""",
        tmp_path,
    )
    assert_nothing_is_left(ended)


# What is written to files while it is read, and what runs in other processes.
WRITING = {
    "interleave": """hr.Dataset.range(10**9).interleave(
        lambda i: hr.Dataset.range(9).map(python(lambda x: x)), 4,
        num_parallel_calls=hr.AUTOTUNE)""",
    "reads": "hr.TFRecordDataset([records] * 9, num_parallel_reads=hr.AUTOTUNE).repeat()",
    "generator": "generate(lambda: iter(range(10**9)))",
    "cache": "hr.Dataset.range(10**9).map(python(lambda x: x)).cache(fresh())",
    "cache ahead": "hr.Dataset.range(10**9).map(python(lambda x: x)).cache(fresh()).prefetch(4)",
    "snapshot": "hr.Dataset.range(10**9).map(python(lambda x: x)).snapshot(fresh())",
    "sharded snapshot": """hr.Dataset.range(10**9).map(python(lambda x: x)).snapshot(
        fresh(), shard_func=lambda x: x % 3)""",
    "processes": """hr.Dataset.range(10**9).map(
        abs, num_parallel_calls=2, executor="process")""",
}


@pytest.mark.parametrize("dataset", WRITING.values(), ids=WRITING)
def test_a_second_after_the_last_iterator_its_files_are_closed(dataset, tmp_path):
    ended = run(
        DEATHS
        + f"""
import itertools, subprocess
numbers = itertools.count()
records = os.path.join(sys.argv[1], "a.tfrecord")
with hr.io.TFRecordWriter(records) as writer:
    for i in range(1000):
        writer.write(bytes(1000))
def fresh():
    return os.path.join(sys.argv[1], f"files {{next(numbers)}}")
def build():
    return {dataset}.map(python(counted), num_parallel_calls=2)
tell_what_deaths_leave(build)
""",
        tmp_path,
    )
    assert_nothing_is_left(ended)


SAVING = {
    "native": "hr.Dataset.range(10**9).save(path)",
    "python": "numbers.save(path)",
    "parallel": "hr.Dataset.range(10**9).map(slow, num_parallel_calls=4).save(path)",
    "compressed": 'numbers.save(path, compression="GZIP")',
    "shards": "numbers.save(path, shard_func=lambda x: x % 3)",
    "python shards": "numbers.save(path, shard_func=python(lambda x: x % 3))",
    "checkpoints": """numbers.save(path, checkpoint_args={
        "directory": path + ".checkpoints", "checkpoint_interval": 3})""",
    "processes": """hr.Dataset.range(10**9).map(
        abs, num_parallel_calls=2, executor="process").save(path)""",
}


@pytest.mark.parametrize("saving", SAVING.values(), ids=SAVING)
def test_daemons_that_save_do_not_hold_up_the_end(saving, tmp_path):
    ended = run(
        f"""
import tempfile
path = os.path.join(tempfile.mkdtemp(dir=sys.argv[1]), "saved")
slow = python(sleeper(0.001))
numbers = hr.Dataset.range(10**9).map(slow)
def save():
    {saving}
threading.Thread(target=save, daemon=True).start()
wait_until(lambda: os.path.exists(path) and len(os.listdir(path)) > 0)
time.sleep(0.2)
print(now(), flush=True)
""",
        tmp_path,
    )
    assert_ended_at_once(ended)
    # What is there is no saved dataset yet.
    assert list(tmp_path.glob("*/saved"))
    assert not list(tmp_path.glob("*/saved/snapshot.metadata"))


def test_a_saving_that_ended_with_the_interpreter_goes_on(tmp_path):
    code = """
path = os.path.join(sys.argv[1], "saved")
arguments = {"directory": path + ".checkpoints", "checkpoint_interval": 3}
slow = hr.Dataset.range(300).map(python(sleeper(0.002)))
def save():
    slow.save(path, checkpoint_args=arguments)
thread = threading.Thread(target=save, daemon=True)
thread.start()
if sys.argv[2] == "leave":
    wait_until(lambda: os.path.exists(path + ".checkpoints"))
    time.sleep(0.1)
else:
    thread.join()
    print([x.item() for x in hr.Dataset.load(path)] == list(range(300)))
"""
    left = run(code, tmp_path, "leave")
    assert (left.code, left.err) == (0, "")
    ended = run(code, tmp_path, "whole")
    assert (ended.code, ended.out, ended.err) == (0, "True\n", "")
