//! Elements become batches, and back.
