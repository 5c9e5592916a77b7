"""Forks of a process in which pipelines run. Each case is a process of its own."""

import functools

from ahead import ahead, partly_ahead
from processes import run as run_plainly

# In the development mode Python sees more mistakes, and faulthandler is on.
run = functools.partial(run_plainly, dev=True)

FORK = """
def in_child(work):
    "Run `work` in a forked child and return how that ended."
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        try:
            work()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]

def check():
    dataset = hr.Dataset.range(1000).map(lambda x: x * 2, num_parallel_calls=4).shuffle(50)
    assert sorted(int(x) for x in dataset.prefetch(2)) == list(range(0, 2000, 2))
    dataset = hr.Dataset.range(50).map(python(lambda x: x + 1), num_parallel_calls=4)
    assert [int(x) for x in dataset.prefetch(2)] == list(range(1, 51))
    assert [int(x) for x in generate(lambda: iter(range(50))).prefetch(2)] == list(range(50))
"""


def test_a_fork_before_the_first_use():
    ended = run(FORK + "print(in_child(check)); check()")
    assert ended.clean
    assert ended.out == "0\n"


def test_a_fork_after_use_and_a_grandchild():
    ended = run(FORK + "check(); print(in_child(lambda: (check(), in_child(check), check())))")
    assert ended.clean
    assert ended.out == "0\n"


@ahead
def test_a_fork_while_running(dataset):
    ended = run(
        FORK
        + f"""
dataset = {dataset}
busy = [iter(dataset) for _ in range(2)]
for iterator in busy:
    next(iterator)
print(in_child(lambda: next(iter(dataset))), *[in_child(check) for _ in range(4)])
for iterator in busy:
    next(iterator)
"""
    )
    assert ended.clean
    assert ended.out.split() == ["0"] * 5


@partly_ahead
def test_an_iterator_opened_before_the_fork_says_so(dataset):
    ended = run(
        FORK
        + f"""
iterator = iter({dataset})
next(iterator)
def use():
    for call in (lambda: next(iterator), iterator.state, iterator.stats):
        try:
            call()
        except hr.errors.FailedPreconditionError as error:
            print(error, flush=True)
    iterator.close()
    globals().pop("iterator")
    gc.collect()
    check()
print(in_child(use))
next(iterator)
"""
    )
    assert ended.clean
    text = "the iterator was opened before this process was forked; call iter(ds) in the child"
    assert ended.out.splitlines() == [text] * 3 + ["0"]


@partly_ahead
def test_a_child_that_exits_as_usual_ends(dataset):
    ended = run(f"""
iterator = iter({dataset})
next(iterator)
child = os.fork()
if child == 0:
    own = iter({dataset})
    next(own)
    sys.exit(5)
# What it shares with its parent would hold it up for ever.
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert ended.clean
    assert ended.out == "5\n"


def test_closing_in_a_child_leaves_the_parents_run_alone():
    ended = run(
        FORK
        + """
iterator = iter(generate(lambda: iter(range(100))).prefetch(2))
print(next(iterator), in_child(iterator.close), list(iterator) == list(range(1, 100)))
"""
    )
    assert ended.clean
    assert ended.out == "0 0 True\n"


def test_workers_of_multiprocessing_have_pipelines_of_their_own():
    ended = run("""
import multiprocessing
dataset = hr.Dataset.range(100).map(lambda x: x + 1, num_parallel_calls=4).prefetch(2)
def total(shard):
    return sum(int(x) for x in dataset)
list(dataset)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(total, range(6)))
""")
    assert ended.clean
    assert ended.out.strip() == str([5050] * 6)


def test_a_fork_while_other_threads_are_in_the_midst_of_next():
    ended = run(
        FORK
        + """
def consume():
    while True:
        for x in generate(lambda: iter(range(50))).map(python(lambda x: x), 2).prefetch(2):
            pass
for _ in range(3):
    threading.Thread(target=consume, daemon=True).start()
time.sleep(0.1)
print(*[in_child(check) for _ in range(6)])
"""
    )
    assert ended.clean
    assert ended.out.split() == ["0"] * 6


def test_a_fork_while_threads_come_to_the_interpreter_and_leave_it():
    ended = run("""
def short_waits():
    for i in range(10**9):
        time.sleep(0.0002)
        yield i
parallel = hr.Dataset.range(10**9).map(python(sleeper(0.0003)), num_parallel_calls=8)
busy = [iter(generate(short_waits).prefetch(4)), iter(parallel), iter(parallel)]
def consume(iterator):
    for x in iterator:
        pass
for iterator in busy:
    threading.Thread(target=consume, args=(iterator,), daemon=True).start()
began = now()
while now() - began < 2:
    child = os.fork()
    if child == 0:
        os._exit(0)
    wait_until(lambda: os.waitpid(child, os.WNOHANG)[0] == child)
print("done", flush=True)
""")
    assert ended.clean
    assert ended.out == "done\n"


def test_a_function_and_a_generator_may_start_processes():
    ended = run("""
import subprocess
def echo(x):
    return int(subprocess.run(["echo", str(x)], capture_output=True, check=True).stdout)
def numbers():
    for i in range(4):
        child = os.fork()
        if child == 0:
            os._exit(i)
        yield os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
dataset = generate(numbers).prefetch(2).map(python(echo), num_parallel_calls=4)
print([int(x) for x in dataset.prefetch(2)])
""")
    assert ended.clean
    assert ended.out == "[0, 1, 2, 3]\n"


def test_a_module_that_is_loaded_twice_forks_well():
    ended = run(
        FORK
        + """
import importlib
kept = dict(sys.modules)
for name in [name for name in sys.modules if name.split(".")[0] == "headrace"]:
    del sys.modules[name]
importlib.import_module("headrace")
print(in_child(check), in_child(lambda: in_child(check)))
"""
    )
    assert ended.clean
    assert ended.out == "0 0\n"
