//! `Dataset.from_generator`: elements that foreign code yields.
//!
//! Without a driver above it a generator runs in the caller's thread. Below a driver, whose
//! threads change, it has a thread of its own that alone pulls from it and closes it: generators
//! may depend on their thread, and must not be entered by two.

use std::sync::Arc;

use crossbeam_channel::RecvTimeoutError;

use crate::data::{Chunk, ElementSpec, ForeignValue};
use crate::engine::limit::unlimited;
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::run::RunContext;
use crate::engine::skipping::SkipError;
use crate::engine::stage::is_final;
use crate::engine::stats::{StageStats, waiting};
use crate::engine::sync::{Builder, JoinHandle, Receiver, Sender, bounded};
use crate::engine::wait::{POLL, poll, poll_if_due};
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// A factory of foreign iterators.
pub trait ForeignSource: Send + Sync {
    /// What messages call it.
    fn name(&self) -> String;
    /// What its elements look like.
    fn spec(&self) -> &ElementSpec;
    /// The same in each process for the same code and arguments.
    fn hash64(&self) -> u64;
    /// True if a new iterator does not yield again what another has yielded.
    fn is_live(&self) -> bool {
        false
    }
    /// A new iterator, not started yet, to run within what was around the code that opened the
    /// run. Called in any thread: there may be epochs.
    ///
    /// # Errors
    /// Those of the foreign code.
    fn open(&self, surroundings: Option<&ForeignValue>) -> Result<Box<dyn ForeignIterator>>;
}

/// A foreign iterator.
pub trait ForeignIterator: Send {
    /// From 1 to `max` elements, or `None` at the end.
    ///
    /// # Errors
    /// Those of the foreign code, after which the iterator is at its end; or an element that
    /// does not fit, after which it goes on.
    fn next(&mut self, max: usize) -> Result<Option<Chunk>>;
    /// Advances without converting elements, up to the first error; returns by how many.
    ///
    /// # Errors
    /// Those of the foreign code, which are outcomes.
    fn skip(&mut self, n: u64) -> Skipped;
    /// Closes the iterator where it stands.
    fn close(&mut self);
}

/// Elements of a foreign iterator.
pub struct GeneratorNode {
    source: Arc<dyn ForeignSource>,
}

impl GeneratorNode {
    /// A plan over `source`.
    pub fn plan(source: Arc<dyn ForeignSource>) -> Plan {
        Arc::new(GeneratorNode { source })
    }
}

impl Node for GeneratorNode {
    fn name(&self) -> &'static str {
        "from_generator"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("generator", self.source.name()).identified(self.source.hash64())]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        self.source.spec()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn observable(&self) -> bool {
        true
    }

    fn unfixed(&self, _options: &RunOptions) -> Option<Unfixed> {
        self.source.is_live().then(|| Unfixed::Live(self.source.name()))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let iterator = self.source.open(opening.run.surroundings.as_ref())?;
        let iterator = Box::new(Counted { iterator, source: Arc::clone(&self.source), passed: 0 });
        Ok(if opening.is_driven() {
            Box::new(ThreadStage::new(iterator, opening)?)
        } else {
            Box::new(HereStage { run: Arc::clone(opening.run), iterator })
        })
    }
}

/// Tells of an exception in the generator's code which element was to come.
struct Counted {
    iterator: Box<dyn ForeignIterator>,
    source: Arc<dyn ForeignSource>,
    passed: u64,
}

impl Counted {
    fn placed(&self, error: Error) -> Error {
        if is_final(&error) || error.foreign_ref().is_none() {
            return error;
        }
        error.at_node(|| format!("from_generator {}, element {}", self.source.name(), self.passed))
    }
}

impl ForeignIterator for Counted {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let chunk = self.iterator.next(max).map_err(|error| self.placed(error))?;
        self.passed += chunk.as_ref().map_or(0, |chunk| chunk.rows() as u64);
        Ok(chunk)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        match self.iterator.skip(n) {
            Ok(skipped) => {
                self.passed += skipped;
                Ok(skipped)
            }
            Err(SkipError { passed, error }) => {
                self.passed += passed.saturating_sub(1);
                Err(SkipError { passed, error: self.placed(error) })
            }
        }
    }

    fn close(&mut self) {
        self.iterator.close();
    }
}

/// Elements passed over between two looks at whether the run is over.
const PIECE: u64 = 1024;

/// Skips `n` elements by and by, so that a long skip can be interrupted.
fn skip_in_pieces(n: u64, mut skip: impl FnMut(u64) -> Skipped) -> Skipped {
    let mut skipped = 0;
    while skipped < n {
        let piece = PIECE.min(n - skipped);
        let passed = skip(piece).map_err(|met| met.after(skipped))?;
        skipped += passed;
        if passed < piece {
            break;
        }
    }
    Ok(skipped)
}

/// Runs in whichever thread asks: the caller's.
struct HereStage {
    run: Arc<RunContext>,
    iterator: Box<dyn ForeignIterator>,
}

impl Stage for HereStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.iterator.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_in_pieces(n, |piece| {
            self.run.check()?;
            poll_if_due()?;
            self.iterator.skip(piece)
        })
    }

    fn quiet(&self) -> bool {
        false
    }
}

impl Drop for HereStage {
    fn drop(&mut self) {
        self.iterator.close();
    }
}

enum Request {
    Next(usize),
    Skip(u64),
}

enum Reply {
    Chunk(Result<Option<Chunk>>),
    Skipped(Skipped),
}

/// Asks the iterator's own thread.
struct ThreadStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    requests: Option<Sender<Request>>,
    replies: Receiver<Reply>,
    thread: Option<JoinHandle<()>>,
}

impl ThreadStage {
    fn new(iterator: Box<dyn ForeignIterator>, opening: &Opening<'_>) -> Result<Self> {
        let (requests, inbox) = bounded(1);
        let (outbox, replies) = bounded(1);
        let run = Arc::clone(opening.run);
        run.task_started();
        let ended = TaskEnd(Arc::clone(&run));
        let thread = Builder::new().name("headrace-generator".into()).spawn(move || {
            let _ended = ended;
            serve(iterator, &inbox, &outbox);
        });
        let thread =
            thread.map_err(|e| Error::resource_exhausted(format!("cannot start a thread: {e}")))?;
        Ok(ThreadStage {
            run,
            stats: Arc::clone(&opening.stats),
            requests: Some(requests),
            replies,
            thread: Some(thread),
        })
    }

    fn ask(&mut self, request: Request) -> Result<Reply> {
        let gone = || Error::internal("the thread of a generator is gone");
        let sent = self.requests.as_ref().map(|requests| requests.send(request));
        if !matches!(sent, Some(Ok(()))) {
            return Err(gone());
        }
        loop {
            let reply = unlimited(|| waiting(&self.stats, || self.replies.recv_timeout(POLL)))?;
            match reply {
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                Err(RecvTimeoutError::Timeout) => {
                    poll()?;
                    self.run.check()?;
                }
            }
        }
    }
}

/// Counts the thread out of its run when it ends.
struct TaskEnd(Arc<RunContext>);

impl Drop for TaskEnd {
    fn drop(&mut self) {
        self.0.task_ended();
    }
}

fn serve(
    mut iterator: Box<dyn ForeignIterator>,
    requests: &Receiver<Request>,
    replies: &Sender<Reply>,
) {
    for request in requests {
        let reply = match request {
            Request::Next(max) => Reply::Chunk(iterator.next(max)),
            Request::Skip(n) => Reply::Skipped(iterator.skip(n)),
        };
        if replies.send(reply).is_err() {
            break;
        }
    }
    iterator.close();
}

impl Stage for ThreadStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        match self.ask(Request::Next(max))? {
            Reply::Chunk(outcome) => outcome,
            Reply::Skipped(_) => Err(Error::internal("a generator's thread answered amiss")),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_in_pieces(n, |piece| match self.ask(Request::Skip(piece))? {
            Reply::Skipped(outcome) => outcome,
            Reply::Chunk(_) => Err(Error::internal("a generator's thread answered amiss").into()),
        })
    }

    fn quiet(&self) -> bool {
        false
    }
}

impl Drop for ThreadStage {
    fn drop(&mut self) {
        // The thread closes the generator after its present yield; nobody waits for it here.
        self.requests = None;
        drop(self.thread.take());
    }
}
