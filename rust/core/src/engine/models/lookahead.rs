//! What was drawn ahead of the consumer is taken back when the driver is dropped.

use super::*;
use crate::engine::lookahead::Lookahead;
use crate::engine::seeds::SeedGenerator;

/// Draws once for each number.
struct Drawing {
    numbers: Numbers,
    run: Arc<RunContext>,
    generator: Arc<SeedGenerator>,
}

impl Stage for Drawing {
    fn next(&mut self, _max: usize) -> Result<Option<Chunk>> {
        let chunk = self.numbers.next(1)?;
        if chunk.is_some() {
            self.run.draw(0, &self.generator)?;
        }
        Ok(chunk)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.numbers.skip(n)
    }

    fn quiet(&self) -> bool {
        true
    }
}

fn check(taken: u64, lower: How, upper: How) {
    let run = context(None);
    let stats = Arc::new(StageStats::on_account(run.account(), &ElementSpec::Unknown));
    let generator = Arc::new(SeedGenerator::new(Some((1, 2)), true));
    let by = Lookahead::new(&run, None);
    let below = Lookahead::new(&run, Some(&by));
    let drawing =
        Drawing { numbers: numbers(6), run: Arc::clone(&run), generator: Arc::clone(&generator) };
    let input = Input::new(Box::new(drawing), &run).read_ahead_by(below);
    let lower = Driven(Driver::new(input, lower, &run, &stats));
    let input = Input::new(Box::new(lower), &run).read_ahead_by(by);
    let mut driver = Driver::new(input, upper, &run, &stats);
    driver.start();
    for _ in 0..taken {
        driver.next(1).unwrap().unwrap();
    }
    drop(driver);
    assert_eq!(generator.drawn(), taken);
    run.draw(0, &generator).unwrap();
    assert_tasks_end(&run);
    assert_eq!(generator.drawn(), taken + 1);
    run.journal.with(|ahead| assert_eq!(ahead.count(), 0));
}

#[test]
fn what_was_drawn_ahead_is_taken_back() {
    let prefetch = || How { work: None, workers: Knob::fixed(1), ..how() };
    for taken in [0, 1, 4] {
        explore(Late::Never, move || check(taken, prefetch(), prefetch()));
        explore(Late::Never, move || check(taken, how(), foreign()));
        explore(Late::AtAnyTime, move || check(taken, foreign(), prefetch()));
    }
}
