//! A driver hands on all that its input gives, in order, and no more is pulled than it may.

use super::*;

fn run_and_check(source: Numbers, how: How, max: usize) {
    let count = source.left.end;
    let ordered = how.ordered;
    let run = context(None);
    let mut driver = driver(source, how, &run);
    let mut seen = all(&mut driver, max);
    assert!(all(&mut driver, max).is_empty(), "the end stays the end");
    if !ordered {
        seen.sort_unstable();
    }
    assert_eq!(seen, (0..count).collect::<Vec<_>>());
    drop(driver);
    assert_tasks_end(&run);
}

#[test]
fn results_keep_the_order_of_the_input() {
    explore(Late::Never, || run_and_check(numbers(6), how(), 1));
}

#[test]
fn waits_that_end_early_change_nothing() {
    explore(Late::AtAnyTime, || run_and_check(numbers(5), how(), 1));
    explore(Late::AtAnyTime, || run_and_check(numbers(5), foreign(), 1));
}

#[test]
fn a_task_that_only_pulls_keeps_the_order() {
    let prefetch = || How { work: None, workers: Knob::fixed(1), ..how() };
    explore(Late::Never, move || run_and_check(numbers(6), prefetch(), 1));
    // What can be observed goes one by one.
    let live = || Numbers { quiet: false, ..numbers(6) };
    explore(Late::Never, move || run_and_check(live(), prefetch(), 1));
}

#[test]
fn a_window_of_one_has_room_for_what_the_consumer_waits_for() {
    let narrow = || How { window: Window::fixed(1), workers: Knob::fixed(3), ..how() };
    explore(Late::Never, move || run_and_check(numbers(6), narrow(), 1));
}

#[test]
fn chunks_are_cut_to_what_is_asked_for() {
    let source = || Numbers { rows: 3, ..numbers(7) };
    explore(Late::Never, move || run_and_check(source(), how(), 2));
    let joined = || How { fill: true, ..how() };
    explore(Late::Never, move || run_and_check(source(), joined(), 5));
}

#[test]
fn foreign_functions_run_beside_each_other() {
    explore(Late::Never, || run_and_check(numbers(6), foreign(), 1));
}

#[test]
fn nothing_is_lost_without_an_order() {
    let loose = || How { ordered: false, ..how() };
    explore(Late::Never, move || run_and_check(numbers(6), loose(), 1));
    let foreign = || How { ordered: false, ..foreign() };
    explore(Late::Never, move || run_and_check(numbers(6), foreign(), 1));
}

#[test]
fn an_error_comes_in_its_place() {
    let failing = || Numbers { fails_at: Some(2), ..numbers(5) };
    explore(Late::Never, move || run_and_check(failing(), how(), 1));
    explore(Late::Never, move || run_and_check(failing(), foreign(), 1));
}

/// Drivers above each other want more tasks than there are threads.
#[test]
fn drivers_above_each_other_need_no_free_thread() {
    fn check(upper: How, middle: How, lower: How) {
        let run = context(None);
        let lower = Driven(driver(numbers(5), lower, &run));
        let middle = Driven(driver(lower, middle, &run));
        let mut upper = driver(middle, upper, &run);
        assert_eq!(all(&mut upper, 1), [0, 1, 2, 3, 4]);
        drop(upper);
        assert_tasks_end(&run);
    }
    explore(Late::Never, || check(how(), how(), how()));
    // The one who waits for a foreign function below holds a thread that others need.
    let working = || How { kind: Kind::Work, ..foreign() };
    explore(Late::AtAnyTime, move || check(working(), foreign(), working()));
}

/// Whatever others have put on the account, each gets what it waits for.
#[test]
fn no_budget_is_too_small() {
    fn check(budget: usize, upper: How, lower: How) {
        let run = context_of(RunOptions {
            autotune: AutotuneOptions { ram_budget: budget, ..AutotuneOptions::default() },
            ..RunOptions::default()
        });
        let lower = Driven(driver(numbers(5), lower, &run));
        let mut upper = driver(lower, upper, &run);
        assert_eq!(all(&mut upper, 1), [0, 1, 2, 3, 4]);
        drop(upper);
        assert_tasks_end(&run);
        assert_eq!(run.account().total(), 0);
    }
    // None at all, one element, three.
    for budget in [1, 64, 192] {
        explore(Late::Never, move || check(budget, how(), how()));
        explore(Late::Never, move || check(budget, foreign(), how()));
        explore(Late::AtAnyTime, move || check(budget, how(), foreign()));
    }
}

#[test]
fn a_driver_runs_no_further_ahead_than_its_window() {
    fn check(how: How) {
        let window = how.window.now(&how.workers);
        let run = context(None);
        let watch = Arc::new(Watch::default());
        let source = Watched(Numbers { quiet: false, ..numbers(8) }, 0, Arc::clone(&watch));
        let mut driver = driver(source, how, &run);
        for taken in 1..=4 {
            driver.next(1).unwrap().unwrap();
            thread::yield_now();
            assert!(watch.begun() <= taken + window, "{} pulled", watch.begun());
        }
        drop(driver);
        assert_tasks_end(&run);
        assert!(watch.begun() <= 4 + window);
    }
    explore(Late::Never, || check(how()));
    explore(Late::Never, || check(foreign()));
    explore(Late::Never, || check(How { work: None, workers: Knob::fixed(1), ..how() }));
}

#[test]
fn knobs_that_move_lose_nothing() {
    explore(Late::Never, || {
        let run = context(None);
        let (workers, window) = (Knob::between(1, 1, 3), Knob::between(1, 1, 3));
        let how = How {
            workers: Arc::clone(&workers),
            window: Window::Chunks(Arc::clone(&window)),
            ..how()
        };
        let mover = moving(workers, window);
        let mut driver = driver(numbers(6), how, &run);
        assert_eq!(all(&mut driver, 1), [0, 1, 2, 3, 4, 5]);
        drop(driver);
        mover.join().unwrap();
        assert_tasks_end(&run);
    });
}

/// Tasks go on as long as there is room, though the consumer does something else.
#[test]
fn room_is_filled_though_nobody_waits() {
    fn check(taken: usize, how: How) {
        let window = how.window.now(&how.workers);
        let run = context(None);
        let watch = Arc::new(Watch::default());
        let mut driver = driver(Watched(numbers(20), 0, Arc::clone(&watch)), how, &run);
        driver.start();
        for _ in 0..taken {
            driver.next(1).unwrap().unwrap();
        }
        watch.wait_for(taken + window);
        drop(driver);
        assert_tasks_end(&run);
    }
    let single = || How { workers: Knob::fixed(1), ..how() };
    for taken in [0, 1, 3] {
        explore(Late::Never, move || check(taken, how()));
        explore(Late::Never, move || check(taken, foreign()));
        explore(Late::Never, move || check(taken, single()));
        explore(Late::Never, move || check(taken, How { ordered: false, ..single() }));
    }
}

/// Work that goes on only beside that on another chunk.
struct Meeting(Watch);

impl Work for Meeting {
    fn run(&self, input: Chunk, first: u64, hands: &dyn Hands) -> Outcomes {
        self.0.begin(0);
        self.0.wait_for(2);
        self.0.end();
        Add(0).run(input, first, hands)
    }
}

/// A call that takes long keeps no other from beginning.
#[test]
fn foreign_functions_begin_beside_each_other_though_nobody_waits() {
    fn check(how: How) {
        let run = context(None);
        let meeting = Arc::new(Meeting(Watch::default()));
        let work: Option<Arc<dyn Work>> = Some(Arc::clone(&meeting) as Arc<dyn Work>);
        let mut driver = driver(numbers(4), How { work, ..how }, &run);
        driver.start();
        meeting.0.wait_for(2);
        assert_eq!(all(&mut driver, 1).len(), 4);
        drop(driver);
        assert_tasks_end(&run);
    }
    explore(Late::Never, || check(foreign()));
    explore(Late::Never, || check(How { ordered: false, ..foreign() }));
}
