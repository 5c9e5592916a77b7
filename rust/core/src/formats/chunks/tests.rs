use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::data::foreign::OptionalValue;
use crate::data::spec::Key;
use crate::data::{
    Buffer, BytesArray, Chunk, Column, DType, ElementSpec, ForeignValue, Spec, Structure, Tensor,
    Value,
};
use crate::error::ErrorKind;
use crate::io::compress::Compression;

fn ints(dims: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_values(dims, values).unwrap()
}

fn texts(dtype: DType, values: &[&str]) -> Column {
    let array = BytesArray::from_values(values).unwrap();
    Column::Stacked(Tensor::text(dtype, [values.len()][..].into(), array).unwrap())
}

fn optionals(values: &[Option<i64>]) -> Column {
    let element_spec = ElementSpec::leaf(Spec::scalar(DType::Int64));
    let optional = |value: &Option<i64>| {
        let column = value.map(|value| Column::Stacked(ints(&[1], &[value])));
        let value = column.map(|column| Chunk::of_column(column).unwrap());
        Arc::new(OptionalValue { element_spec: element_spec.clone(), value }) as ForeignValue
    };
    Column::Foreign(values.iter().map(optional).collect())
}

/// Two elements with a component of every kind.
fn everything() -> Chunk {
    let sparse = |at: i64| Value::Sparse {
        indices: ints(&[1, 1], &[at]),
        values: ints(&[1], &[at * 10]),
        dense_shape: ints(&[1], &[4]),
    };
    let ragged = |ends: &[i64]| Value::Ragged {
        values: ints(&[2], &[7, 8]),
        splits: vec![ints(&[ends.len()], ends)],
    };
    let bools = Tensor::fixed(DType::Bool, [2][..].into(), Buffer::copy_from(&[1, 0]).unwrap());
    let columns = vec![
        Column::Stacked(ints(&[2, 2], &[1, 2, 3, 4])),
        Column::from_tensors(&[ints(&[1], &[5]), ints(&[2, 0], &[])]).unwrap(),
        texts(DType::Bytes, &["a", ""]),
        texts(DType::Str, &["ä", "b"]),
        Column::from_values(&[sparse(1), sparse(3)]).unwrap(),
        Column::from_values(&[ragged(&[0, 2]), ragged(&[0, 0, 1, 2])]).unwrap(),
        Column::Stacked(bools.unwrap()),
        optionals(&[Some(7), None]),
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g"].map(|k| (Key::Str(k.into()), Structure::Leaf));
    let dict = Structure::Dict(names.into_iter().collect());
    let nest = Structure::Tuple(vec![Structure::Leaf, dict, Structure::Nothing]);
    Chunk::new(2, Arc::new(nest), columns).unwrap()
}

fn text(chunk: &Chunk) -> String {
    let row = |row| {
        let values = chunk.columns().iter().map(|column| match column.row(row).unwrap() {
            Value::Tensor(tensor) => format!("{tensor:?}"),
            Value::Sparse { indices, values, dense_shape } => {
                format!("{indices:?}{values:?}{dense_shape:?}")
            }
            Value::Ragged { values, splits } => format!("{values:?}{splits:?}"),
            Value::Foreign(value) => {
                let optional = value.downcast_ref::<OptionalValue>().unwrap();
                let value = optional.value.as_ref().map(text);
                format!("optional {} {value:?}", optional.element_spec)
            }
        });
        values.collect::<Vec<_>>().join("|")
    };
    (0..chunk.rows()).map(row).collect::<Vec<_>>().join("\n")
}

/// Tensors as text, whatever memory they lie in.
fn content(chunk: &Chunk) -> Vec<u8> {
    encode(chunk).unwrap()
}

#[test]
fn every_kind_of_component_comes_back() {
    let chunk = everything();
    let record = Buffer::copy_from(&encode(&chunk).unwrap()).unwrap();
    let back = decode(&record, chunk.structure()).unwrap();
    assert_eq!(content(&back), content(&chunk), "{} / {}", text(&back), text(&chunk));
}

#[test]
fn structures_come_back_from_json() {
    let chunk = everything();
    let json = structure_to_json(chunk.structure());
    assert!(structure_from_json(&json).unwrap() == **chunk.structure());
}

#[test]
fn a_file_is_read_from_any_element_on() {
    let folder = tempfile::tempdir().unwrap();
    for compression in [Compression::None, Compression::Gzip] {
        let path = folder.path().join("chunks");
        let path = path.to_str().unwrap();
        let mut writer = ChunkWriter::create(path, compression, 7).unwrap();
        for i in 0..5000 {
            let column = Column::Stacked(ints(&[1], &[i]));
            writer.push(&Chunk::of_column(column).unwrap()).unwrap();
        }
        let chunks = writer.finish().unwrap();
        let places = if compression == Compression::None { &chunks[..] } else { &[] };
        for from in [0_u64, 1, 1024, 1025, 4999, 5000, 6000] {
            let mut reader = ChunkReader::open(path, compression, None, Some(7)).unwrap();
            assert_eq!(reader.skip(from, 0, places).unwrap(), from.min(5000));
            let next = reader.next(1).unwrap();
            assert_eq!(next.is_some(), from < 5000);
            if let Some(chunk) = next {
                let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
                assert_eq!(tensor.values::<i64>().unwrap(), [from as i64]);
                // From the middle on, too.
                let more = reader.skip(2000, from + 1, places).unwrap();
                assert_eq!(more, 2000.min(4999 - from));
            }
        }
        let mut other = ChunkReader::open(path, compression, None, Some(8)).unwrap();
        assert_eq!(other.next(1).err().unwrap().kind(), ErrorKind::DataLoss);
    }
}

#[test]
fn a_file_is_written_on_where_a_checkpoint_left_it() {
    let folder = tempfile::tempdir().unwrap();
    for compression in [Compression::None, Compression::Gzip, Compression::Snappy] {
        let path = folder.path().join(format!("{compression:?}"));
        let path = path.to_str().unwrap();
        let rows = |from: i64| Chunk::of_column(Column::Stacked(ints(&[1], &[from]))).unwrap();
        let write = |mut writer: ChunkWriter, numbers: std::ops::Range<i64>| {
            numbers.for_each(|i| writer.push(&rows(i)).unwrap());
            writer
        };
        let mut writer = write(ChunkWriter::create(path, compression, 7).unwrap(), 0..1500);
        let written = writer.checkpoint().unwrap();
        assert_eq!(written.rows, 1500);
        // What comes after the checkpoint is lost with the process, even where it is in the file.
        write(writer, 5000..9000).finish().unwrap();
        let writer = ChunkWriter::resume(path, compression, 7, written).unwrap();
        let mut writer = write(writer, 1500..3000);
        assert_eq!(writer.checkpoint().unwrap().rows, 3000);
        let chunks = write(writer, 3000..3001).finish().unwrap();
        assert_eq!(chunks.last().unwrap().0, 3001);
        for from in [0, 1400, 1500, 2999, 3000] {
            let places = if compression == Compression::None { &chunks[..] } else { &[] };
            let mut reader = ChunkReader::open(path, compression, None, Some(7)).unwrap();
            reader.skip(from, 0, places).unwrap();
            let mut seen = Vec::new();
            while let Some(chunk) = reader.next(usize::MAX).unwrap() {
                let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
                seen.extend_from_slice(tensor.values::<i64>().unwrap());
            }
            assert_eq!(seen, (from as i64..3001).collect::<Vec<_>>(), "{compression:?}");
        }
        let more = Written { rows: 3002, ..written };
        assert!(ChunkWriter::resume(path, compression, 7, more).is_err());
        let longer = Written { bytes: 1 << 40, ..written };
        assert!(ChunkWriter::resume(path, compression, 7, longer).is_err());
    }
}

#[test]
fn sizes_that_are_claimed_are_not_believed() {
    let leaf = Arc::new(Structure::Leaf);
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    for kind in [STACKED, ROWS, SPARSE, RAGGED, OPTIONAL] {
        for dtype in 0..20 {
            for rows in [0, 1, u32::MAX] {
                let mut bytes = rows.to_le_bytes().to_vec();
                bytes.extend(1_u32.to_le_bytes());
                bytes.extend([kind, dtype, 2]);
                bytes.extend(huge);
                bytes.extend(huge);
                let _ = decode(&Buffer::copy_from(&bytes).unwrap(), &leaf).map(|_| ());
            }
        }
    }
}

proptest! {
    #[test]
    fn damaged_records_are_errors(at in 0_usize..400, byte: u8, cut in 0_usize..400) {
        let chunk = everything();
        let mut bytes = encode(&chunk).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut % bytes.len() / 2 * usize::from(cut % 2 == 0));
        // Either an error or a chunk that can be written again.
        if let Ok(back) = decode(&Buffer::copy_from(&bytes).unwrap(), chunk.structure()) {
            encode(&back).unwrap();
        }
    }
}
