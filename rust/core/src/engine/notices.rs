//! What a user should hear of although it is no error: an empty file among those to be read.
//!
//! The threads of a run leave notices here, each once in the life of the process; whoever hands
//! elements to the user takes them and tells. Nothing here ever waits: a lock that another thread
//! holds, or held when the process forked, costs a notice and not the run.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many different notices are kept apart; later ones are not given.
const MOST: usize = 1000;

struct Notices {
    given: Option<HashSet<String>>,
    waiting: Vec<String>,
}

static NOTICES: Mutex<Notices> = Mutex::new(Notices { given: None, waiting: Vec::new() });
static PENDING: AtomicBool = AtomicBool::new(false);

/// Leaves a notice for the user, unless it was given before.
pub fn give(text: String) {
    give_once(text.clone(), text);
}

/// Leaves a notice for the user, unless one of this name was given before: for texts that tell
/// numbers which differ from run to run.
pub fn give_once(name: String, text: String) {
    let Ok(mut notices) = NOTICES.try_lock() else { return };
    let given = notices.given.get_or_insert_default();
    if given.len() < MOST && given.insert(name) {
        notices.waiting.push(text);
        PENDING.store(true, Ordering::Release);
    }
}

/// The notices that nobody has taken yet.
pub fn take() -> Vec<String> {
    if !PENDING.load(Ordering::Acquire) {
        return Vec::new();
    }
    let Ok(mut notices) = NOTICES.try_lock() else { return Vec::new() };
    PENDING.store(false, Ordering::Release);
    std::mem::take(&mut notices.waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_given_once() {
        let text = "a test has something to say".to_string();
        let mine = || take().into_iter().filter(|notice| *notice == text).count();
        give(text.clone());
        give(text.clone());
        assert_eq!(mine(), 1);
        give(text.clone());
        assert_eq!(mine(), 0);
    }
}
