//! Some elements, in columns.

use std::ops::Range;
use std::sync::Arc;

use crate::data::column::Column;
use crate::data::mark::Mark;
use crate::data::spec::{ElementSpec, Structure};
use crate::error::{Error, Result};

/// Some elements, at least one: a row count and a column per component.
#[derive(Clone)]
pub struct Chunk {
    rows: usize,
    structure: Arc<Structure>,
    columns: Vec<Column>,
    /// Where the run can be opened to continue with the first element of this chunk.
    pub mark: Option<Mark>,
}

impl Chunk {
    /// Elements of this nesting.
    ///
    /// # Errors
    /// `Internal` if a column has another number of rows or the structure another number of
    /// leaves.
    pub fn new(rows: usize, structure: Arc<Structure>, columns: Vec<Column>) -> Result<Self> {
        if structure.leaves() != columns.len() || columns.iter().any(|c| c.len() != rows) {
            let lengths: Vec<_> = columns.iter().map(Column::len).collect();
            return Err(Error::internal(format!(
                "a chunk of {rows} rows of {structure} with columns of {lengths:?}"
            )));
        }
        Ok(Chunk { rows, structure, columns, mark: None })
    }

    /// Elements of one component.
    ///
    /// # Errors
    /// `Internal` for an empty column.
    pub fn of_column(column: Column) -> Result<Self> {
        Self::new(column.len(), Arc::new(Structure::Leaf), vec![column])
    }

    /// Number of elements.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How the columns nest.
    pub fn structure(&self) -> &Arc<Structure> {
        &self.structure
    }

    /// The columns in the order of the structure's leaves.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Takes the columns out.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The same rows and mark with other columns.
    ///
    /// # Errors
    /// As [`Chunk::new`].
    pub fn with_columns(&self, structure: Arc<Structure>, columns: Vec<Column>) -> Result<Self> {
        let mut chunk = Self::new(self.rows, structure, columns)?;
        chunk.mark = self.mark.clone();
        Ok(chunk)
    }

    /// The same chunk with its mark set.
    #[must_use]
    pub fn marked(mut self, mark: Option<Mark>) -> Self {
        self.mark = mark;
        self
    }

    /// Rows `range`, sharing memory; they keep the mark if they start at row 0.
    ///
    /// # Errors
    /// `Internal` if the range is not within the chunk.
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        if range == (0..self.rows) {
            return Ok(self.clone());
        }
        let columns =
            self.columns.iter().map(|c| c.slice(range.clone())).collect::<Result<Vec<_>>>()?;
        let mark = if range.start == 0 { self.mark.clone() } else { None };
        Ok(Chunk { rows: range.len(), structure: Arc::clone(&self.structure), columns, mark })
    }

    /// Rows at `indices`, without the mark.
    ///
    /// # Errors
    /// `Internal` if an index is not within the chunk.
    pub fn gather(&self, indices: &[usize]) -> Result<Self> {
        let columns = self.columns.iter().map(|c| c.gather(indices)).collect::<Result<Vec<_>>>()?;
        let structure = Arc::clone(&self.structure);
        Ok(Chunk { rows: indices.len(), structure, columns, mark: None })
    }

    /// Chunks of one structure, one after another, with the mark of the first.
    ///
    /// # Errors
    /// `InvalidArgument` if structures or types differ.
    pub fn concat(mut chunks: Vec<Self>) -> Result<Self> {
        if chunks.len() == 1 {
            return chunks.pop().ok_or_else(|| Error::internal("no chunk"));
        }
        let Some((first, rest)) = chunks.split_first() else {
            return Err(Error::internal("concat of no chunks"));
        };
        if let Some(other) = rest.iter().find(|chunk| chunk.structure != first.structure) {
            let (a, b) = (&first.structure, &other.structure);
            return Err(Error::invalid_argument(format!(
                "expected elements of structure {a}, got {b}"
            )));
        }
        let columns = (0..first.columns.len())
            .map(|i| {
                let parts: Vec<_> = chunks.iter().map(|chunk| &chunk.columns[i]).collect();
                Column::concat(&parts)
            })
            .collect::<Result<Vec<_>>>()?;
        let rows = chunks.iter().map(|chunk| chunk.rows).sum();
        let structure = Arc::clone(&first.structure);
        Ok(Chunk { rows, structure, columns, mark: first.mark.clone() })
    }

    /// What elements of this structure and these dtypes look like, of whatever sizes.
    pub fn loose_spec(&self) -> ElementSpec {
        let specs = self.columns.iter().map(Column::loose_spec).collect();
        ElementSpec::Known(Arc::clone(&self.structure), specs)
    }

    /// True if the other's elements have the same structure and dtypes, of whatever sizes.
    pub fn is_like(&self, other: &Self) -> bool {
        self.structure == other.structure
            && self
                .columns
                .iter()
                .zip(&other.columns)
                .all(|(own, other)| own.kind() == other.kind() && own.dtype() == other.dtype())
    }

    /// Memory that the values take.
    pub fn payload_bytes(&self) -> usize {
        self.columns.iter().map(Column::payload_bytes).sum()
    }

    /// Memory that lives because of the chunk, see [`Buffer::count`](crate::data::Buffer::count).
    pub fn count(&self, counter: u64) -> usize {
        self.columns.iter().map(|column| column.count(counter)).sum()
    }

    /// Memory that the values take, unless somebody keeps it anyway.
    pub fn own_bytes(&self) -> usize {
        self.columns.iter().map(Column::own_bytes).sum()
    }

    /// From now on somebody keeps the memory: it counts as nothing.
    pub fn keep(&self) {
        self.columns.iter().for_each(Column::keep);
    }

    /// The same elements in memory that they alone hold, so that it can be given away.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for a copy.
    pub fn into_owned(self) -> Result<Self> {
        let columns =
            self.columns.into_iter().map(Column::into_owned).collect::<Result<Vec<_>>>()?;
        Ok(Chunk { columns, ..self })
    }
}
