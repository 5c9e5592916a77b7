//! Aligned bytes: written once through [`BufferMut`], then shared as [`Buffer`].
//!
//! Blocks are 64-byte aligned, so that any element type can be read in place and consumers such
//! as JAX can take them without a copy. Large blocks that are freed are kept for a while and
//! handed out again: page faults on fresh memory cost more than the copies into it. A buffer can
//! also borrow memory from somebody else (a NumPy array), whom it keeps alive.
//!
//! All memory here is initialised: fresh blocks are zeroed by the allocator (for large ones the
//! system does that on first touch), recycled ones hold old values.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, Deref, DerefMut, RangeBounds};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use crate::data::dtype::Element;
use crate::error::{Error, Result};

/// Alignment of every block, in bytes.
pub const ALIGNMENT: usize = 64;

/// Blocks below this are left to the allocator, which is good at them; not at somewhat larger ones
/// that are aligned, such as small batches.
const RECYCLE_FROM: usize = 1 << 10;
/// Upper limit of the freed memory that is kept for reuse, large blocks not counted.
const RECYCLE_BYTES: usize = 32 << 20;
/// What is more than half of that is large. Blocks such as batches of images are kept up to this
/// size: the one that the user drops is the next one to be filled.
const RECYCLE_LARGEST: usize = 64 << 20;
/// How many large blocks are kept: batches in the making and read ahead come and go in pairs.
const LARGE_SPARES: usize = 2;

/// One piece of memory from the allocator.
struct Memory {
    ptr: NonNull<u8>,
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is plain memory that it alone owns.
unsafe impl Send for Memory {}
// SAFETY: shared access only reads.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(capacity: usize) -> Result<Self> {
        let too_much = || Error::resource_exhausted(format!("cannot allocate {capacity} bytes"));
        // The allocator takes zeroed pages from the system only at its own alignment: at ours it
        // would write the zeros itself. So large blocks are aligned here, within some slack.
        let (size, alignment) = match capacity {
            ..RECYCLE_FROM => (capacity, ALIGNMENT),
            _ => (capacity.saturating_add(ALIGNMENT), align_of::<u128>()),
        };
        let layout = Layout::from_size_align(size, alignment).map_err(|_| too_much())?;
        // SAFETY: `Block::class` never gives a size of 0.
        let base = unsafe { alloc_zeroed(layout) };
        match NonNull::new(base) {
            Some(base) => {
                let offset = base.as_ptr().align_offset(ALIGNMENT);
                // SAFETY: the offset is less than the alignment, which is the slack; it is 0 where
                // the allocator aligned.
                let ptr = unsafe { base.add(offset) };
                Ok(Memory { ptr, base, layout })
            }
            None if capacity > (1 << 30) => Err(too_much()),
            None => handle_alloc_error(layout),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and nobody else holds it.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// Memory that is kept for reuse when it is dropped.
struct Block {
    ptr: NonNull<u8>,
    capacity: usize,
    memory: Option<Memory>,
    /// Who counted it last, see [`Buffer::count`].
    counted: AtomicU64,
}

/// Counter of blocks that are no queue's memory, since somebody else keeps them anyway.
const KEPT: u64 = u64::MAX;

// SAFETY: the pointer is that of its own memory.
unsafe impl Send for Block {}
// SAFETY: shared access only reads.
unsafe impl Sync for Block {}

impl Block {
    /// Rounds up so that blocks of similar sizes can stand in for each other.
    fn class(bytes: usize) -> usize {
        let step = if bytes < RECYCLE_FROM { ALIGNMENT } else { bytes.next_power_of_two() / 8 };
        bytes.max(1).checked_next_multiple_of(step).unwrap_or(bytes)
    }

    fn new(bytes: usize) -> Result<Self> {
        // Beyond this no power of two is left to round up to, and no layout.
        if bytes > isize::MAX as usize / 2 {
            return Err(Error::resource_exhausted(format!("cannot allocate {bytes} bytes")));
        }
        let capacity = Self::class(bytes);
        let memory = match recycled(capacity) {
            Some(memory) => memory,
            None => Memory::new(capacity)?,
        };
        let counted = AtomicU64::new(0);
        Ok(Block { ptr: memory.ptr, capacity, memory: Some(memory), counted })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            recycle(self.capacity, memory);
        }
    }
}

/// Freed memory by capacity.
struct Freed {
    bytes: usize,
    spare: BTreeMap<usize, Vec<Memory>>,
    /// Large blocks with their capacities, the oldest first.
    large: Vec<(usize, Memory)>,
}

/// True if so large a block is kept among the few.
fn is_large(capacity: usize) -> bool {
    capacity > RECYCLE_BYTES / 2
}

/// Only ever tried, never waited for: it may have been locked by another thread when the process
/// was forked.
static FREED: Mutex<Freed> =
    Mutex::new(Freed { bytes: 0, spare: BTreeMap::new(), large: Vec::new() });

fn recycled(capacity: usize) -> Option<Memory> {
    if capacity < RECYCLE_FROM {
        return None;
    }
    let mut freed = FREED.try_lock().ok()?;
    if is_large(capacity) {
        let at = freed.large.iter().position(|(size, _)| *size == capacity)?;
        return Some(freed.large.remove(at).1);
    }
    let memory = freed.spare.get_mut(&capacity)?.pop()?;
    freed.bytes -= capacity;
    Some(memory)
}

/// Keeps the memory, or frees it.
fn recycle(capacity: usize, memory: Memory) {
    if !(RECYCLE_FROM..=RECYCLE_LARGEST).contains(&capacity) {
        return;
    }
    let Ok(mut freed) = FREED.try_lock() else { return };
    if is_large(capacity) {
        let oldest = (freed.large.len() == LARGE_SPARES).then(|| freed.large.remove(0));
        freed.large.push((capacity, memory));
        drop(freed);
        drop(oldest);
        return;
    }
    let mut outdated = BTreeMap::new();
    if freed.bytes + capacity > RECYCLE_BYTES {
        // What nobody took for so long is of sizes that are no longer asked for.
        outdated = std::mem::take(&mut freed.spare);
        freed.bytes = 0;
    }
    freed.bytes += capacity;
    freed.spare.entry(capacity).or_default().push(memory);
    drop(freed);
    drop(outdated);
}

/// Memory of the caller's runtime, for long values that are handed out whole: what is read into it
/// need not be copied for the caller.
pub trait Lender: Send + Sync {
    /// `len` bytes, if there are just as many at hand. Waits for nothing.
    fn lend(&self, len: usize) -> Option<BufferMut>;
}

/// Bytes that are being written.
pub struct BufferMut {
    ptr: NonNull<u8>,
    len: usize,
    holder: Holder,
}

enum Holder {
    Block(Block),
    Foreign(Arc<dyn Any + Send + Sync>),
}

// SAFETY: the memory is that of its block, or lent to it alone.
unsafe impl Send for BufferMut {}
// SAFETY: shared access only reads.
unsafe impl Sync for BufferMut {}

impl BufferMut {
    /// `len` bytes of unspecified value, for callers that write all of them.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn scratch(len: usize) -> Result<Self> {
        let block = Block::new(len)?;
        Ok(BufferMut { ptr: block.ptr, len, holder: Holder::Block(block) })
    }

    /// `len` zero bytes.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn zeroed(len: usize) -> Result<Self> {
        let mut buffer = Self::scratch(len)?;
        buffer.fill(0);
        Ok(buffer)
    }

    /// Memory that somebody else keeps, of unspecified value.
    ///
    /// # Safety
    /// `ptr` must be valid for reads and writes of `len` bytes for as long as `owner` lives, and
    /// nobody else may write to them in that time, or read them before the buffer is frozen.
    pub unsafe fn lent(
        ptr: NonNull<u8>,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> BufferMut {
        BufferMut { ptr, len, holder: Holder::Foreign(owner) }
    }

    /// Forgets all bytes from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The bytes as values of `T`.
    pub fn typed_mut<T: Element>(&mut self) -> &mut [T] {
        let whole = self.len / size_of::<T>() * size_of::<T>();
        bytemuck::cast_slice_mut(&mut self[..whole])
    }

    /// Shares the bytes from now on.
    pub fn freeze(self) -> Buffer {
        let owner = match self.holder {
            Holder::Block(block) => Owner::Block(Arc::new(block)),
            Holder::Foreign(owner) => Owner::Lent(owner),
        };
        Buffer { ptr: self.ptr, len: self.len, owner }
    }
}

impl Deref for BufferMut {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the holder keeps at least `len` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl DerefMut for BufferMut {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only access.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

#[derive(Clone)]
enum Owner {
    Block(Arc<Block>),
    /// Of somebody who had it before.
    Foreign(Arc<dyn Any + Send + Sync>),
    /// Made for us to write to.
    Lent(Arc<dyn Any + Send + Sync>),
}

/// Shared, immutable bytes: a view that keeps its memory alive. Clones and slices are cheap.
#[derive(Clone)]
pub struct Buffer {
    ptr: NonNull<u8>,
    len: usize,
    owner: Owner,
}

// SAFETY: the memory is only read, and its owner is Send and Sync.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A copy of `bytes`.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn copy_from(bytes: &[u8]) -> Result<Self> {
        let mut buffer = BufferMut::scratch(bytes.len())?;
        buffer.copy_from_slice(bytes);
        Ok(buffer.freeze())
    }

    /// A copy of typed values.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn from_values<T: Element>(values: &[T]) -> Result<Self> {
        Self::copy_from(bytemuck::cast_slice(values))
    }

    /// Borrows memory that `owner` keeps alive and in place.
    ///
    /// # Safety
    /// `ptr` must be valid for reads of `len` bytes for as long as `owner` lives. (Writes by
    /// others during that time give unspecified values.)
    pub unsafe fn borrow(ptr: *const u8, len: usize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        let ptr = NonNull::new(ptr.cast_mut()).unwrap_or(NonNull::dangling());
        Buffer { ptr, len, owner: Owner::Foreign(owner) }
    }

    /// True if the memory is somebody else's, who keeps it whether we do or not.
    pub fn is_borrowed(&self) -> bool {
        matches!(self.owner, Owner::Foreign(_) | Owner::Lent(_))
    }

    /// Memory that lives because of this view, for a counter with a number of its own: all of the
    /// block, however little of it is seen here, but once for as long as nobody else counts it.
    /// What somebody keeps whether we do or not is 0.
    pub fn count(&self, counter: u64) -> usize {
        match &self.owner {
            Owner::Foreign(_) => 0,
            Owner::Lent(_) => self.len,
            Owner::Block(block) => {
                let last = block.counted.load(Relaxed);
                if last == counter || last == KEPT {
                    return 0;
                }
                block.counted.store(counter, Relaxed);
                block.capacity
            }
        }
    }

    /// From now on somebody keeps the memory whatever becomes of its views: it counts as nothing.
    pub fn keep(&self) {
        if let Owner::Block(block) = &self.owner {
            block.counted.store(KEPT, Relaxed);
        }
    }

    /// True if somebody keeps the memory whatever becomes of its views.
    pub fn is_kept(&self) -> bool {
        match &self.owner {
            Owner::Block(block) => block.counted.load(Relaxed) == KEPT,
            Owner::Foreign(_) => true,
            Owner::Lent(_) => false,
        }
    }

    /// Who keeps the memory, if it is somebody else's.
    pub fn lender(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        match &self.owner {
            Owner::Block(_) => None,
            Owner::Foreign(owner) | Owner::Lent(owner) => Some(owner),
        }
    }

    /// This view and the one of the same lender's memory right behind it, as one.
    pub fn joined(&self, next: &Self) -> Option<Self> {
        let (Owner::Foreign(own), Owner::Foreign(other)) = (&self.owner, &next.owner) else {
            return None;
        };
        let end = self.ptr.as_ptr().wrapping_add(self.len);
        let adjoins = Arc::ptr_eq(own, other) && end == next.ptr.as_ptr();
        // Both parts are valid for as long as their one owner lives, so the whole is.
        adjoins.then(|| Buffer { len: self.len + next.len, ..self.clone() })
    }

    /// Part of the bytes, sharing memory.
    ///
    /// # Errors
    /// `Internal` if the range is not within the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(start) => start + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(end) => end + 1,
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            let text = format!("slice {start}..{end} of a buffer of {} bytes", self.len);
            return Err(Error::internal(text));
        }
        // SAFETY: `start` is within the memory, as just checked.
        let ptr = unsafe { self.ptr.add(start) };
        Ok(Buffer { ptr, len: end - start, owner: self.owner.clone() })
    }

    /// The bytes as values of `T`.
    ///
    /// # Errors
    /// `Internal` if the memory is not aligned for `T` or no whole number of values.
    pub fn typed<T: Element>(&self) -> Result<&[T]> {
        bytemuck::try_cast_slice(self)
            .map_err(|e| Error::internal(format!("buffer read as {}: {e}", T::DTYPE)))
    }

    /// True if the memory starts at a multiple of `alignment`.
    pub fn is_aligned(&self, alignment: usize) -> bool {
        self.ptr.as_ptr().addr().is_multiple_of(alignment)
    }

    /// True if this view alone holds its block, and most of it: such memory can be given away
    /// without a copy.
    pub fn is_owned(&self) -> bool {
        match &self.owner {
            Owner::Block(block) => {
                let sole = block.ptr == self.ptr && Arc::strong_count(block) == 1;
                sole && (self.len >= block.capacity / 2 || block.capacity <= 4096)
            }
            Owner::Foreign(_) | Owner::Lent(_) => false,
        }
    }

    /// Start of the memory, for handing it to another runtime.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the owner keeps `len` bytes alive.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for memory ahead of its use, all of its cache lines at once, and goes on without it.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint to the cache, which changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    for line in bytes.chunks(LINE) {
        std::hint::black_box(line.first().copied());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A buffer over memory that is not its own.
    pub(crate) fn lend(bytes: Vec<u8>) -> Buffer {
        let owner = Arc::new(bytes);
        // SAFETY: the vector is never changed.
        unsafe { Buffer::borrow(owner.as_ptr(), owner.len(), Arc::<Vec<u8>>::clone(&owner)) }
    }

    #[test]
    fn blocks_are_aligned_and_typed() {
        let buffer = Buffer::from_values(&[1_i64, 2, 3]).unwrap();
        assert!(buffer.is_aligned(ALIGNMENT));
        assert_eq!(buffer.typed::<i64>().unwrap(), [1, 2, 3]);
        assert_eq!(buffer.slice(8..).unwrap().typed::<i64>().unwrap(), [2, 3]);
        assert!(buffer.slice(4..).unwrap().typed::<i64>().is_err());
    }

    #[test]
    fn large_blocks_are_aligned_and_used_again() {
        // No other test asks for as much; the list of spares may be busy at times.
        let again = (0..100).any(|_| {
            let place = |buffer: BufferMut| buffer.as_ptr();
            let large = || place(BufferMut::scratch(33 << 20).unwrap());
            let (first, second) = (large(), large());
            assert!((first as usize).is_multiple_of(ALIGNMENT));
            first == second
        });
        assert!(again);
        let fresh = BufferMut::scratch(RECYCLE_LARGEST + 1).unwrap();
        assert!((fresh.as_ptr() as usize).is_multiple_of(ALIGNMENT));
        assert!(fresh.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn only_a_sole_whole_view_is_owned() {
        let buffer = Buffer::copy_from(&[0; 1000]).unwrap();
        assert!(buffer.is_owned());
        let part = buffer.slice(0..10).unwrap();
        assert!(!buffer.is_owned() && !part.is_owned());
        drop(part);
        assert!(buffer.is_owned());
        assert!(!buffer.slice(0..10).unwrap().is_owned());
    }

    #[test]
    fn a_slice_out_of_range_is_an_error() {
        assert!(Buffer::copy_from(b"abc").unwrap().slice(2..4).is_err());
    }

    #[test]
    fn borrowed_neighbours_join() {
        let buffer = lend((0..10).collect());
        let (front, back) = (buffer.slice(2..5).unwrap(), buffer.slice(5..9).unwrap());
        assert_eq!(&front.joined(&back).unwrap()[..], [2, 3, 4, 5, 6, 7, 8]);
        assert!(back.joined(&front).is_none());
        let own = Buffer::copy_from(&[0; 8]).unwrap();
        assert!(own.slice(0..4).unwrap().joined(&own.slice(4..8).unwrap()).is_none());
    }

    #[test]
    fn lent_memory_is_written_in_place_and_goes_back_to_its_lender() {
        let owner = Arc::new(Mutex::new(vec![0_u8; 8]));
        let ptr = NonNull::new(owner.lock().unwrap().as_mut_ptr()).unwrap();
        let lender: Arc<dyn Any + Send + Sync> = Arc::<Mutex<Vec<u8>>>::clone(&owner);
        // SAFETY: nobody touches the vector while the buffer lives.
        let mut buffer = unsafe { BufferMut::lent(ptr, 8, lender) };
        buffer.copy_from_slice(b"abcdefgh");
        let buffer = buffer.freeze();
        assert!(buffer.lender().unwrap().is::<Mutex<Vec<u8>>>());
        assert!(!buffer.is_owned() && buffer.slice(1..).unwrap().lender().is_some());
        drop(buffer);
        assert_eq!(Arc::strong_count(&owner), 1);
        assert_eq!(*owner.lock().unwrap(), b"abcdefgh");
    }

    #[test]
    fn a_block_is_counted_whole_and_once_by_each_counter() {
        let buffer = Buffer::copy_from(&[0; 10_000]).unwrap();
        let (a, b) = (buffer.slice(0..10).unwrap(), buffer.slice(10..20).unwrap());
        assert!(a.count(1) >= 10_000);
        assert_eq!(b.count(1), 0);
        assert!(b.count(2) >= 10_000);
        assert!(!b.is_kept());
        buffer.keep();
        assert!(b.is_kept());
        assert_eq!(b.count(3), 0);
        assert_eq!(lend(vec![0; 10]).count(3), 0);
    }

    #[test]
    fn large_blocks_come_back() {
        let buffer = BufferMut::scratch(777_777).unwrap();
        let address = buffer.as_ptr().addr();
        drop(buffer);
        let others: Vec<_> = (0..4).map(|_| BufferMut::scratch(777_000).unwrap()).collect();
        assert!(others.iter().any(|b| b.as_ptr().addr() == address));
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(BufferMut::scratch(usize::MAX / 2).is_err());
    }
}
