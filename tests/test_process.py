"""The life of a process: its end and signals. Each case is a process of its own."""

import functools
import os
import signal

import pytest
from ahead import ahead, partly_ahead
from processes import assert_ended_at_once, assert_heard_at_once, finish, shared_files
from processes import interrupt as interrupt_plainly
from processes import run as run_plainly
from processes import start as start_plainly

# In the development mode Python sees more mistakes, and faulthandler is on.
run = functools.partial(run_plainly, dev=True)
start = functools.partial(start_plainly, dev=True)
interrupt = functools.partial(interrupt_plainly, dev=True)

# ------------------------------------------------------------------ the end


@ahead
def test_breaking_out_of_a_loop_ends_at_once(dataset):
    ended = run(f"""
for i, x in enumerate({dataset}):
    if i == 3:
        break
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@partly_ahead
def test_an_iterator_kept_in_a_global_does_not_hold_up_the_end(dataset):
    ended = run(f"""
dataset = {dataset}
iterator = iter(dataset)
next(iterator)
other = iter(dataset)
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@partly_ahead
def test_an_iterator_in_a_reference_cycle_does_not_hold_up_the_end(dataset):
    ended = run(f"""
gc.disable()
class Holder: pass
holder = Holder()
holder.self, holder.iterator = holder, iter({dataset})
next(holder.iterator)
del holder
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@partly_ahead
def test_an_iterator_in_a_thread_does_not_hold_up_the_end(dataset):
    ended = run(f"""
kept = []
def consume():
    iterator = iter({dataset})
    kept.append(iterator)
    next(iterator)
thread = threading.Thread(target=consume)
thread.start()
thread.join()
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@ahead
def test_a_daemon_in_the_midst_of_next_does_not_hold_up_the_end(dataset):
    ended = run(f"""
taken = threading.Event()
def consume():
    for x in {dataset}:
        taken.set()
threading.Thread(target=consume, daemon=True).start()
taken.wait()
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@partly_ahead
def test_sys_exit_in_a_loop_gives_its_code(dataset):
    ended = run(f"""
for x in {dataset}:
    print(now(), flush=True)
    sys.exit(3)
""")
    assert_ended_at_once(ended, code=3)


@partly_ahead
def test_an_uncaught_exception_in_a_loop_is_shown_once(dataset):
    ended = run(f"""
for x in {dataset}:
    print(now(), flush=True)
    raise KeyError("mine")
""")
    assert ended.err.count("Traceback") == 1
    assert_ended_at_once(ended, code=1, err=r"Traceback.*KeyError: 'mine'\n\Z")


def test_a_function_that_sleeps_long_does_not_hold_up_the_end():
    # Nobody can wake it: it is left behind.
    ended = run("""
dataset = hr.Dataset.range(8).map(python(lambda x: time.sleep(60 * (x > 0)) or x), 4)
for x in dataset:
    break
time.sleep(0.2)
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


def test_a_function_that_never_ends_does_not_hold_up_the_end():
    ended = run("""
def spin(x):
    while x > 0:
        pass
    return x
for x in hr.Dataset.range(8).map(python(spin), 4):
    break
time.sleep(0.2)
print(now(), flush=True)
""")
    assert_ended_at_once(ended)


@pytest.mark.parametrize("keep", [False, True])
def test_generators_are_closed_before_the_end(keep):
    ended = run(f"""
def numbers():
    try:
        yield from range(10**9)
    finally:
        print("closed", flush=True)
for dataset in (generate(numbers), generate(numbers).prefetch(2)):
    iterator = iter(dataset)
    next(iterator)
    if {keep}:
        globals().setdefault("kept", []).append(iterator)
""")
    assert ended.clean
    assert ended.out == "closed\nclosed\n"


# ------------------------------------------------------------------ exceptions


@pytest.mark.parametrize("calls", [None, 4])
def test_an_exception_of_a_function_is_shown_once(calls):
    ended = run(f"""
def fail(x):
    if x == 7:
        raise KeyError("mine")
    return x
for x in hr.Dataset.range(100).map(fail, num_parallel_calls={calls}):
    print(x)
""")
    assert ended.code == 1
    assert ended.out.split() == [str(x) for x in range(7)]
    assert ended.err.count("Traceback") == 1
    lines = ended.err.splitlines()
    assert lines[-2] == "KeyError: 'mine'"
    assert lines[-1].startswith("in map fail at ")
    assert lines[-1].endswith("element 7")
    frames = [line for line in lines if line.startswith("  File ")]
    assert frames[-1].endswith(", in fail")


@pytest.mark.parametrize(
    "dataset",
    [
        "hr.Dataset.range(3).map(stop)",
        "hr.Dataset.range(3).map(stop, num_parallel_calls=2)",
        "hr.Dataset.range(3).filter(stop)",
        "generate(lambda: map(stop, range(3))).batch(2)",
        "generate(Stops).prefetch(1)",
    ],
)
def test_stop_iteration_of_a_function_does_not_end_the_loop(dataset):
    # An iterator that raises it has ended: `map` and `Stops` pass it on as any iterator does.
    ended = run(f"""
def stop(x):
    str(x)
    raise StopIteration
class Stops:
    def __iter__(self):
        return self
    def __next__(self):
        return stop(0)
list({dataset})
""")
    if dataset.startswith("generate"):
        assert ended.clean
    else:
        assert ended.code == 1
        assert ended.err.splitlines()[-2] == "RuntimeError: the function raised StopIteration"
        assert "in stop" in ended.err


def test_an_exception_of_a_generator_is_shown_once():
    ended = run("""
def numbers():
    yield 1
    raise KeyError("mine")
for x in generate(numbers).prefetch(2):
    print(x)
""")
    assert (ended.code, ended.out) == (1, "1\n")
    assert ended.err.count("Traceback") == 1
    error, note = ended.err.splitlines()[-2:]
    assert error == "KeyError: 'mine'"
    assert note.startswith("in from_generator numbers at ")
    assert note.endswith(", element 1")


@pytest.mark.parametrize("calls", [None, 4])
@pytest.mark.parametrize("raised", ["SystemExit(3)", "KeyboardInterrupt()"])
def test_a_function_that_ends_the_program_closes_the_run(calls, raised):
    ended = run(f"""
def leave(x):
    if x == 7:
        raise {raised}
    return x
iterator = iter(hr.Dataset.range(100).map(python(leave), num_parallel_calls={calls}))
seen = []
try:
    for x in iterator:
        seen.append(int(x))
except BaseException as error:
    print(repr(error), seen == list(range(7)), list(iterator))
""")
    assert ended.clean
    assert ended.out.strip() == f"{raised} True []"


def test_a_function_that_ends_the_program_is_not_called_again():
    ended = run("""
calls = []
def leave(x):
    calls.append(int(x))
    if x == 7:
        raise SystemExit(3)
    return x
try:
    list(hr.Dataset.range(100).map(python(leave)).batch(50))
finally:
    print(calls)
""")
    assert (ended.code, ended.err) == (3, "")
    assert ended.out.strip() == str(list(range(8)))


# ------------------------------------------------------------------ Ctrl-C

# Each waits for long, after saying so.
LONG_WAITS = {
    "map in parallel": """
        next(iter(hr.Dataset.range(9).map(python(sleeper(60)), num_parallel_calls=4)))""",
    "map before prefetch": "next(iter(hr.Dataset.range(9).map(python(sleeper(60))).prefetch(2)))",
    "map in the main thread": "next(iter(hr.Dataset.range(9).map(python(sleeper(60)))))",
    "map before batch": """
        next(iter(hr.Dataset.range(10**9).map(python(sleeper(0.05))).batch(10**6)))""",
    "generator": "next(iter(generate(lambda: map(sleeper(60), range(9)))))",
    "generator before prefetch": """
        next(iter(generate(lambda: map(sleeper(60), range(9))).prefetch(2)))""",
    "generator before map": """
        next(iter(generate(lambda: map(sleeper(60), range(9)))
            .map(python(lambda x: x), num_parallel_calls=2)))""",
    "filter that finds nothing": "next(iter(hr.Dataset.range(10**15).filter(lambda x: x < 0)))",
    "filter before prefetch": """
        next(iter(hr.Dataset.range(10**15).filter(lambda x: x < 0).prefetch(2)))""",
    "filter above a generator": """
        next(iter(generate(lambda: map(sleeper(0.01), range(10**9))).filter(lambda x: x < 0)))""",
    "filter between": """
        next(iter(generate(lambda: map(sleeper(0.01), range(10**9)))
            .prefetch(2).filter(lambda x: x < 0).prefetch(2)))""",
    "filling a buffer": """
        slow = generate(lambda: map(sleeper(0.01), range(10**9)))
        next(iter(slow.prefetch(2).shuffle(10**6)))""",
    "skip": "next(iter(hr.Dataset.range(10**15).filter(lambda x: x >= 0).skip(10**14)))",
    "skip over a generator": """
        import itertools
        next(iter(generate(lambda: itertools.repeat(0)).skip(10**15)))""",
    "epochs without elements": """
        next(iter(hr.Dataset.range(9).filter(lambda x: x < 0).repeat(10**15)))""",
    "zip": """
        slow = hr.Dataset.range(9).map(python(sleeper(60)))
        next(iter(hr.Dataset.zip(slow, slow, slow)))""",
    "another thread's next": """
        shared = iter(generate(lambda: map(sleeper(60), range(9))))
        threading.Thread(target=next, args=(shared,), daemon=True).start()
        time.sleep(0.1)
        next(shared)""",
    "closing": """
        shared = iter(generate(lambda: map(sleeper(60), range(9))).prefetch(2))
        threading.Thread(target=next, args=(shared, None), daemon=True).start()
        time.sleep(0.1)
        shared.close()""",
    "state": """
        shared = iter(generate(lambda: map(sleeper(60), range(9))))
        threading.Thread(target=next, args=(shared,), daemon=True).start()
        time.sleep(0.1)
        shared.state()""",
    "interleave": """
        slow = lambda i: hr.Dataset.range(9).map(python(sleeper(60)))
        next(iter(hr.Dataset.range(9).interleave(slow, cycle_length=4, num_parallel_calls=4)))""",
    "interleave of searches": """
        search = lambda i: hr.Dataset.range(10**15).filter(lambda x: x < 0)
        next(iter(hr.Dataset.range(9).interleave(search, cycle_length=2)))""",
    "a function that opens datasets": """
        next(iter(hr.Dataset.range(9).flat_map(
            python(lambda i: hr.Dataset.range(sleeper(60)(9))))))""",
    "long kernels": """
        work = lambda x: np.sum(np.sqrt(np.zeros(500_000) + x))
        next(iter(hr.Dataset.range(10**6).map(work).batch(10**6)))""",
    "long kernels in parallel": """
        work = lambda x: np.sum(np.sqrt(np.zeros(500_000) + x))
        next(iter(hr.Dataset.range(10**6).map(work, num_parallel_calls=2).batch(10**6)))""",
    "list": "list(hr.Dataset.range(10**15).filter(lambda x: x % 1024 == 0))",
    "exhausting": """
        import collections
        collections.deque(hr.Dataset.range(10**15), maxlen=0)""",
    "exhausting batches": """
        import collections
        collections.deque(hr.Dataset.range(10**15).batch(8).prefetch(2), maxlen=0)""",
    "reduce": "hr.Dataset.range(10**15).reduce(np.int64(0), lambda s, x: s + x)",
    "going on from a state": """
        dataset = hr.Dataset.range(10**15).filter(lambda x: x >= 0).skip(10**14)
        next(dataset.iterator(state=dataset.iterator().state()))""",
    "save": """
        import atexit, shutil, tempfile
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        generate(lambda: map(sleeper(0.05), range(10**9))).save(folder)""",
    "one thread": """
        options = hr.Options()
        options.threading.private_threadpool_size = 1
        dataset = hr.Dataset.range(9).map(python(sleeper(60)), num_parallel_calls=4)
        next(iter(dataset.prefetch(2).with_options(options)))""",
}


@pytest.mark.parametrize("wait", LONG_WAITS.values(), ids=LONG_WAITS)
def test_ctrl_c_ends_a_long_wait(wait):
    lines = [line.strip() for line in wait.strip().splitlines()]
    indented = "\n".join("    " + line for line in lines)
    code = (
        f"print('waits', flush=True)\ntry:\n{indented}\nexcept KeyboardInterrupt:\n    print(now())"
    )
    ended = interrupt(code)
    assert_heard_at_once(ended, 0.2)
    assert_ended_at_once(ended)


@partly_ahead
def test_ctrl_c_in_a_loop_is_shown_once(dataset):
    ended = interrupt(f"""
for i, x in enumerate({dataset}):
    if i == 0:
        print("runs", flush=True)
""")
    assert ended.err.count("Traceback") == 1
    assert_ended_at_once(ended, code=-signal.SIGINT, err=r"Traceback.*\nKeyboardInterrupt\n+\Z")


def test_ctrl_c_between_elements_leaves_the_iterator_usable():
    ended = run("""
iterator = iter(hr.Dataset.range(100).map(python(lambda x: x), num_parallel_calls=2))
seen = [int(next(iterator)) for _ in range(3)]
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted", seen + [int(x) for x in iterator] == list(range(100)))
""")
    assert ended.clean
    assert ended.out == "interrupted True\n"


def test_ctrl_c_in_a_wait_closes_the_run():
    ended = run("""
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
iterator = iter(hr.Dataset.range(9).map(python(sleeper(0.5)), num_parallel_calls=2))
try:
    next(iterator)
except KeyboardInterrupt:
    print("interrupted", list(iterator))
""")
    assert ended.clean
    assert ended.out == "interrupted []\n"


def test_an_exception_of_a_signal_handler_passes_through_and_closes_the_run():
    ended = run("""
class Alarm(Exception): pass
def ring(*_): raise Alarm
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.2)
dataset = hr.Dataset.range(10**9).map(python(sleeper(0.02)), num_parallel_calls=2)
iterator = iter(dataset.batch(10**6).map(lambda x: x + 1))
try:
    next(iterator)
except Alarm:
    print("alarm", list(iterator))
""")
    assert ended.clean
    assert ended.out == "alarm []\n"


def test_a_signal_handler_that_returns_disturbs_nothing():
    ended = run("""
rung = []
signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
dataset = hr.Dataset.range(100).map(python(sleeper(0.01)), num_parallel_calls=2)
seen = sorted(int(x) for x in dataset.shuffle(10).prefetch(2).batch(100).unbatch())
signal.setitimer(signal.ITIMER_REAL, 0)
print(seen == list(range(100)), len(rung) > 5)
""")
    assert ended.clean
    assert ended.out == "True True\n"


# ------------------------------------------------------------------ SIGKILL


def test_a_killed_process_leaves_nothing_behind(tmp_path):
    code = """
os.chdir(sys.argv[1])
if not os.path.exists("a.tfrecord"):
    with hr.io.TFRecordWriter("a.tfrecord") as writer:
        for i in range(1000):
            writer.write(b"x" * i)
dataset = hr.TFRecordDataset("a.tfrecord").shuffle(100).repeat().map(python(len), 4).prefetch(2)
for i, x in enumerate(dataset):
    if i == 100:
        print("runs", flush=True)
"""
    for _ in range(3):
        process = start(code, tmp_path)
        assert process.stdout.readline() == "runs\n"
        shared = shared_files(process.pid)
        process.kill()
        assert finish(process).code == -signal.SIGKILL
        assert os.listdir(tmp_path) == ["a.tfrecord"]
        assert not any(map(os.path.exists, shared))
