//! Dropping or cancelling a run at any moment ends its tasks and every wait for it.

use std::sync::Weak;

use super::*;
use crate::engine::group::Group;
use crate::engine::limit::limited;
use crate::engine::run::Run;
use crate::engine::skipping::Skipped;
use crate::engine::sync::bounded;

fn leave_after(taken: usize, source: Numbers, how: How) {
    let run = context(None);
    let mut driver = driver(source, how, &run);
    for _ in 0..taken {
        driver.next(1).unwrap().unwrap();
    }
    drop(driver);
    assert_tasks_end(&run);
}

#[test]
fn dropping_a_driver_ends_its_tasks() {
    explore(Late::Never, || leave_after(2, numbers(1000), how()));
    explore(Late::Never, || leave_after(1, numbers(1000), foreign()));
    explore(Late::Never, || leave_after(1, numbers(1000), How { ordered: false, ..how() }));
    explore(Late::Never, || leave_after(1, Numbers { quiet: false, ..numbers(1000) }, how()));
}

#[test]
fn a_driver_that_was_started_and_never_read_ends() {
    explore(Late::Never, || {
        let run = context(None);
        let driver = driver(numbers(1000), how(), &run);
        driver.start();
        drop(driver);
        assert_tasks_end(&run);
    });
}

#[test]
fn dropping_drivers_above_each_other_ends_all_tasks() {
    explore(Late::Never, || {
        let run = context(None);
        let lower = Driven(driver(numbers(1000), how(), &run));
        let mut upper = driver(lower, how(), &run);
        upper.next(1).unwrap().unwrap();
        drop(upper);
        assert_tasks_end(&run);
    });
}

/// A task that has seen that the run goes on may begin still, no other.
#[test]
fn nothing_begins_once_a_run_is_over() {
    fn check(how: How, end: fn(&mut Option<Driver>, &RunContext)) {
        let run = context(None);
        let watch = Arc::new(Watch::default());
        let source = Watched(numbers(1000), 0, Arc::clone(&watch));
        let how = How { workers: Knob::fixed(3), window: Window::fixed(8), ..how };
        let mut driver = Some(driver(source, how, &run));
        driver.as_mut().unwrap().next(1).unwrap().unwrap();
        end(&mut driver, &run);
        let begun = watch.begun();
        assert_tasks_end(&run);
        assert!(watch.begun() <= begun + 1, "{} began", watch.begun() - begun);
    }
    let ends: [fn(&mut Option<Driver>, &RunContext); 2] =
        [|driver, _| *driver = None, |_, run| run.cancel()];
    for end in ends {
        explore(Late::Never, move || check(how(), end));
        explore(Late::Never, move || check(foreign(), end));
        explore(Late::Never, move || check(How { ordered: false, ..how() }, end));
        explore(Late::Never, move || check(How { work: None, ..how() }, end));
    }
}

/// A function or a source that is stuck on any thread but the consumer's.
struct Stuck {
    gate: Arc<Gate>,
    consumer: thread::ThreadId,
    numbers: Numbers,
}

impl Stuck {
    fn new(gate: &Arc<Gate>) -> Self {
        let (gate, consumer) = (Arc::clone(gate), thread::current().id());
        Stuck { gate, consumer, numbers: numbers(1000) }
    }

    fn pass(&self) {
        if thread::current().id() != self.consumer {
            self.gate.pass();
        }
    }
}

impl Work for Stuck {
    fn run(&self, input: Chunk, first: u64, hands: &dyn Hands) -> Outcomes {
        self.pass();
        Add(0).run(input, first, hands)
    }
}

impl Stage for Stuck {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.pass();
        self.numbers.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.numbers.skip(n)
    }

    fn quiet(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy)]
enum At {
    Source,
    Function,
}

/// The consumer hears of the end of the run while what it waits for goes on.
fn consumer_leaves(how: How, stuck: At, permits: Option<usize>) {
    let run = context(permits);
    let gate = Arc::new(Gate::default());
    let mut driver = match stuck {
        At::Source => driver(Stuck::new(&gate), how, &run),
        At::Function => {
            let work: Option<Arc<dyn Work>> = Some(Arc::new(Stuck::new(&gate)));
            driver(numbers(1000), How { work, ..how }, &run)
        }
    };
    driver.start();
    let other = Arc::clone(&run);
    let canceller = thread::spawn(move || {
        thread::yield_now();
        other.cancel();
    });
    // As `Run::next_chunk` does.
    let mut next = || run.check().and_then(|()| limited(run.limit(), || driver.next(1))?);
    let error = loop {
        if let Err(error) = next() {
            break error;
        }
        thread::yield_now();
    };
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    gate.open();
    canceller.join().unwrap();
    drop(driver);
    assert_tasks_end(&run);
}

#[test]
fn cancelling_ends_the_wait_of_the_consumer() {
    // A wait notices by and by that the run is over: time may pass.
    for stuck in [At::Source, At::Function] {
        explore(Late::AtAnyTime, move || consumer_leaves(how(), stuck, None));
        explore(Late::AtAnyTime, move || consumer_leaves(foreign(), stuck, None));
        let loose = || How { ordered: false, ..foreign() };
        explore(Late::AtAnyTime, move || consumer_leaves(loose(), stuck, None));
    }
}

#[test]
fn cancelling_ends_the_wait_for_a_permit() {
    for stuck in [At::Source, At::Function] {
        explore(Late::AtAnyTime, move || consumer_leaves(how(), stuck, Some(1)));
        explore(Late::AtAnyTime, move || consumer_leaves(foreign(), stuck, Some(1)));
    }
}

#[test]
fn cancelling_ends_the_wait_for_whichever_driver_of_a_group() {
    explore(Late::AtAnyTime, || {
        let group = Group::new(Knob::fixed(2));
        let loose = || How { group: Some(group), reorder: 2, ..foreign() };
        consumer_leaves(loose(), At::Function, None);
    });
}

/// What takes as long as the run does, as a function that waits for another process.
struct UntilOver(Weak<RunContext>);

impl Work for UntilOver {
    fn run(&self, input: Chunk, _first: u64, _hands: &dyn Hands) -> Outcomes {
        let (_sender, never) = bounded::<()>(1);
        while self.0.upgrade().is_some_and(|run| !run.is_cancelled()) {
            let _ = never.recv_timeout(POLL);
        }
        Outcomes::from([Ok(input)])
    }
}

/// A driver above one whose functions end with the run.
struct Ahead(ElementSpec);

impl Node for Ahead {
    fn name(&self) -> &'static str {
        "ahead"
    }

    fn args(&self) -> Vec<Arg> {
        Vec::new()
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.0
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let work: Option<Arc<dyn Work>> = Some(Arc::new(UntilOver(Arc::downgrade(opening.run))));
        let lower = Driven(driver(numbers(1000), How { work, ..foreign() }, opening.run));
        let upper =
            driver(lower, How { work: None, workers: Knob::fixed(1), ..how() }, opening.run);
        upper.start();
        Ok(Box::new(Driven(upper)))
    }
}

#[test]
fn the_end_of_a_run_ends_what_runs_as_long() {
    fn check(end: fn(Run)) {
        let plan: Plan = Arc::new(Ahead(numbers(0).spec));
        let run = Run::open(&plan, RunOptions::default(), None).unwrap();
        let context = Arc::clone(run.context());
        thread::yield_now();
        end(run);
        assert_tasks_end(&context);
    }
    explore(Late::AtAnyTime, || check(drop));
    explore(Late::AtAnyTime, || {
        check(|mut run| assert!(run.close(Duration::from_secs(60)), "tasks go on"));
    });
}
