//! Rows that stay where they are: in memory that the user lends.
//!
//! A shuffle over an array or a mapped file need not copy what it holds. Only where each row is
//! gets noted; rows that follow each other are views of one piece, so a source that is read in
//! order is a single piece, however many rows are asked for at a time.

use crate::data::buffer::{Buffer, BufferMut};
use crate::error::{Error, Result};

/// Rows below this size are cheaper to copy than to find again.
pub const LEND_FROM_BYTES: usize = 64;

/// A piece of lent memory.
struct Piece {
    buffer: Buffer,
    rows: u32,
    /// How many of its rows are held.
    held: usize,
}

/// Numbered places of rows of one size.
pub struct LentRows {
    row_bytes: usize,
    pieces: Vec<Option<Piece>>,
    /// Numbers of no piece: of those no row was held any more.
    free: Vec<u32>,
    /// The piece written last.
    last: usize,
    /// Piece and row of each place.
    places: Vec<(u32, u32)>,
}

/// An empty place.
const NOWHERE: (u32, u32) = (u32::MAX, 0);

impl LentRows {
    /// No rows yet, each of `row_bytes`.
    pub fn new(row_bytes: usize) -> Self {
        let (pieces, free, places) = (Vec::new(), Vec::new(), Vec::new());
        LentRows { row_bytes, pieces, free, last: 0, places }
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Memory that the notes take.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<(u32, u32)>()
            + self.pieces.capacity() * size_of::<Option<Piece>>()
    }

    /// True if there is no place.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Notes row `i` of the buffer at place `slots[i]`.
    ///
    /// # Errors
    /// `Internal` if it holds fewer rows.
    pub fn put(&mut self, slots: &[usize], buffer: &Buffer) -> Result<()> {
        let rows = u32::try_from(slots.len())
            .ok()
            .filter(|_| Some(buffer.len()) == slots.len().checked_mul(self.row_bytes));
        let rows = rows.ok_or_else(|| Error::internal("rows that do not fit their places"))?;
        let (piece, first) = self.piece_for(buffer, rows);
        for (row, slot) in (first..).zip(slots) {
            if self.places.len() <= *slot {
                self.places.resize(slot + 1, NOWHERE);
            }
            self.places[*slot] = (piece, row);
        }
        if let Some(piece) = &mut self.pieces[piece as usize] {
            piece.held += slots.len();
        }
        Ok(())
    }

    /// The piece that takes the rows in, and the number of the first of them there.
    fn piece_for(&mut self, buffer: &Buffer, rows: u32) -> (u32, u32) {
        if let Some(Some(last)) = self.pieces.get_mut(self.last)
            && let Some(joined) = last.buffer.joined(buffer)
            && let Some(sum) = last.rows.checked_add(rows)
        {
            let first = std::mem::replace(&mut last.rows, sum);
            last.buffer = joined;
            return (self.last as u32, first);
        }
        let piece = Some(Piece { buffer: buffer.clone(), rows, held: 0 });
        self.last = match self.free.pop() {
            Some(free) => {
                self.pieces[free as usize] = piece;
                free as usize
            }
            None => {
                self.pieces.push(piece);
                self.pieces.len() - 1
            }
        };
        (self.last as u32, 0)
    }

    /// Takes the rows at `slots` out, copied together; an empty place gives zeros.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for them.
    pub fn take(&mut self, slots: &[usize]) -> Result<Buffer> {
        let mut out = BufferMut::scratch(slots.len() * self.row_bytes)?;
        for (slot, out) in slots.iter().zip(out.chunks_exact_mut(self.row_bytes)) {
            let place = self.places.get_mut(*slot);
            let (piece, row) = place.map_or(NOWHERE, |place| std::mem::replace(place, NOWHERE));
            let Some(lender) = self.pieces.get_mut(piece as usize) else {
                out.fill(0);
                continue;
            };
            let Some(lent) = lender else { continue };
            out.copy_from_slice(&lent.buffer[row as usize * self.row_bytes..][..self.row_bytes]);
            lent.held -= 1;
            if lent.held == 0 {
                *lender = None;
                self.free.push(piece);
            }
        }
        Ok(out.freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::buffer::tests::lend;

    #[test]
    fn rows_in_order_are_one_piece() {
        let buffer = lend((0..20).collect());
        let mut rows = LentRows::new(2);
        for row in 0..10 {
            rows.put(&[9 - row], &buffer.slice(row * 2..row * 2 + 2).unwrap()).unwrap();
        }
        assert_eq!(rows.pieces.len(), 1);
        assert_eq!(&rows.take(&[9, 0, 4]).unwrap()[..], [0, 1, 18, 19, 10, 11]);
    }

    #[test]
    fn pieces_without_rows_are_used_again() {
        let mut rows = LentRows::new(4);
        for round in 0..5_u8 {
            rows.put(&[0, 1], &lend(vec![round; 8])).unwrap();
            assert_eq!(&rows.take(&[1, 0]).unwrap()[..], [round; 8]);
        }
        assert_eq!(rows.pieces.len(), 1);
        assert_eq!(&rows.take(&[1]).unwrap()[..], [0; 4]);
    }
}
