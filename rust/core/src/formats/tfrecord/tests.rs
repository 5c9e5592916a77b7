//! Round trips, skipping, positions, and what another process sees of a file that is written.

use std::io::Write as _;

use proptest::prelude::*;

use super::*;
use crate::ErrorKind;
use crate::error::Result;
use crate::io::compress::Compression;

/// Readers and writers move between threads.
const _: fn() = || {
    fn send<T: Send>() {}
    send::<(Reader, Writer)>();
};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> String {
        self.0.path().join("a.tfrecord").to_str().unwrap().to_owned()
    }
}

fn write(path: &str, records: &[Vec<u8>], compression: Compression) {
    let mut writer = Writer::create(path, WriterOptions { compression, level: None }).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.close().unwrap();
}

fn open(path: &str, compression: Compression, buffer_size: usize) -> Reader {
    let options = ReadOptions { buffer_size: Some(buffer_size), ..ReadOptions::default() };
    Reader::open(path, compression, options).unwrap()
}

fn read_all(reader: &mut Reader, max: usize) -> Result<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    while let Some(some) = reader.next(max)? {
        assert!((1..=max).contains(&some.len()));
        records.extend(some.iter().map(<[u8]>::to_vec));
        assert_eq!(reader.record(), records.len() as u64);
    }
    Ok(records)
}

fn compressions() -> impl Strategy<Value = Compression> {
    prop::sample::select(vec![Compression::None, Compression::Gzip, Compression::Zlib])
}

/// Many short records, some longer than a small block, a few longer than a page or two.
fn many_records() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let len = prop_oneof![8 => 0..40_usize, 4 => 40..600_usize, 1 => 4000..20_000_usize];
    let record = (len, any::<u8>()).prop_map(|(len, seed)| {
        (0..len).map(|i| (i as u8).wrapping_mul(31) ^ seed).collect::<Vec<u8>>()
    });
    prop::collection::vec(record, 0..60)
}

fn block_sizes() -> impl Strategy<Value = usize> {
    prop_oneof![1..40_usize, 40..5000_usize, Just(4096), Just(8192), Just(262_144)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_was_written_is_read(
        records in many_records(),
        compression in compressions(),
        block in block_sizes(),
        max in prop_oneof![Just(1_usize), 1..30_usize, Just(usize::MAX)],
    ) {
        let folder = Folder::new();
        write(&folder.path(), &records, compression);
        let mut reader = open(&folder.path(), compression, block);
        prop_assert!(read_all(&mut reader, max).unwrap() == records);
        let bytes: usize = records.iter().map(|record| record.len() + 16).sum();
        prop_assert_eq!(reader.offset(), bytes as u64);
    }

    #[test]
    fn skipping_is_reading_and_dropping(
        records in many_records(),
        compression in compressions(),
        block in block_sizes(),
        steps in prop::collection::vec((0..25_u64, 0..5_usize), 1..6),
    ) {
        let folder = Folder::new();
        write(&folder.path(), &records, compression);
        let mut reader = open(&folder.path(), compression, block);
        let mut at = 0;
        for (skip, take) in steps {
            let want = skip.min((records.len() - at) as u64);
            prop_assert_eq!(reader.skip(skip).unwrap(), want);
            at += want as usize;
            for _ in 0..take {
                let Some(one) = reader.next(1).unwrap() else {
                    prop_assert_eq!(at, records.len());
                    break;
                };
                prop_assert!(one.get(0) == records[at]);
                at += 1;
            }
            let offset: usize = records[..at].iter().map(|record| record.len() + 16).sum();
            prop_assert_eq!((reader.record(), reader.offset()), (at as u64, offset as u64));
        }
    }
}

#[test]
fn opening_reads_nothing() {
    let reader = Reader::open("/nonexistent/a", Compression::None, ReadOptions::default());
    assert_eq!(reader.unwrap().next(1).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_call_gives_about_a_mebibyte() {
    let folder = Folder::new();
    write(&folder.path(), &vec![vec![1; 100_000]; 40], Compression::None);
    let mut reader = open(&folder.path(), Compression::None, 262_144);
    let some = reader.next(usize::MAX).unwrap().unwrap();
    assert_eq!(some.len(), 11);
    assert!(!some.buffer(3).unwrap().is_owned(), "a record is a view of its block");
}

#[test]
fn large_records_come_one_block_each() {
    let folder = Folder::new();
    let records: Vec<Vec<u8>> = (0..7_u8).map(|i| vec![i; 1_000_000 + 37 * i as usize]).collect();
    for compression in [Compression::None, Compression::Gzip] {
        write(&folder.path(), &records, compression);
        for block in [100, 4096, 262_144] {
            let mut reader = open(&folder.path(), compression, block);
            assert!(read_all(&mut reader, 3).unwrap() == records);
            let mut reader = open(&folder.path(), compression, block);
            assert_eq!(reader.skip(5).unwrap(), 5);
            assert!(reader.next(1).unwrap().unwrap().get(0) == records[5]);
            assert_eq!(reader.skip(5).unwrap(), 1);
        }
    }
}

#[test]
fn skipping_a_million_records_leads_to_the_one_behind() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path(), WriterOptions::default()).unwrap();
    for i in 0..1_000_000_u64 {
        let mut record = [0; 100];
        record[..8].copy_from_slice(&i.to_le_bytes());
        writer.write(&record).unwrap();
    }
    writer.close().unwrap();
    let mut reader = open(&folder.path(), Compression::None, 262_144);
    assert_eq!(reader.skip(900_000).unwrap(), 900_000);
    assert_eq!(reader.next(1).unwrap().unwrap().get(0)[..8], 900_000_u64.to_le_bytes());
}

#[test]
fn skipping_stops_before_what_it_cannot_pass() {
    for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
        for block in [50, 4096, 262_144] {
            let folder = Folder::new();
            // The last record is longer than a block, so that its end is not in the window.
            write(&folder.path(), &[vec![1; 10], vec![2; 300_000]], Compression::None);
            let plain = std::fs::read(folder.path()).unwrap();
            let cut = &plain[..plain.len() - 3];
            let mut sink = crate::io::compress::Sink::new(
                std::fs::File::create(folder.path()).unwrap(),
                compression,
                None,
            )
            .unwrap();
            sink.write_parts(&[cut]).unwrap();
            sink.finish().unwrap();
            let mut reader = open(&folder.path(), compression, block);
            assert_eq!(reader.skip(10).unwrap(), 1);
            assert_eq!((reader.record(), reader.offset()), (1, 26));
            let error = reader.next(1).unwrap_err();
            assert!(error.message().starts_with("truncated record at 26"), "{error}");
            assert_eq!(error.place().record, Some(1));
            assert_eq!((reader.skip(1).unwrap(), reader.next(1).unwrap()), (0, None));
        }
    }
}

#[test]
fn a_damaged_payload_counts_as_one_when_skipped() {
    let folder = Folder::new();
    write(&folder.path(), &vec![vec![3; 10]; 5], Compression::None);
    let mut bytes = std::fs::read(folder.path()).unwrap();
    bytes[2 * 26 + 15] ^= 1;
    std::fs::write(folder.path(), bytes).unwrap();
    let mut reader = open(&folder.path(), Compression::None, 4096);
    assert_eq!(reader.skip(4).unwrap(), 4);
    // Its error is owed after the records before it: it is what is skipped next.
    let mut reader = open(&folder.path(), Compression::None, 4096);
    assert_eq!(reader.next(9).unwrap().unwrap().len(), 2);
    assert_eq!((reader.record(), reader.offset()), (2, 52));
    assert_eq!(reader.skip(1).unwrap(), 1);
    assert_eq!((reader.record(), reader.offset()), (3, 78));
    assert_eq!(reader.next(9).unwrap().unwrap().len(), 2);
}

#[test]
fn a_flush_shows_all_records_so_far() {
    for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
        let folder = Folder::new();
        let mut writer =
            Writer::create(&folder.path(), WriterOptions { compression, level: Some(9) }).unwrap();
        for i in 0..100_u8 {
            writer.write(&[i; 50]).unwrap();
        }
        writer.flush().unwrap();
        let mut reader = open(&folder.path(), compression, 4096);
        assert_eq!(reader.next(1000).unwrap().unwrap().len(), 100);
        match compression {
            Compression::None => assert!(reader.next(1000).unwrap().is_none()),
            _ => assert_eq!(reader.next(1000).unwrap_err().kind(), ErrorKind::DataLoss),
        }
        writer.write(b"one more").unwrap();
        drop(writer);
        let mut reader = open(&folder.path(), compression, 4096);
        assert_eq!(read_all(&mut reader, 7).unwrap().len(), 101);
    }
}

#[test]
fn only_whole_records_reach_the_file() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path(), WriterOptions::default()).unwrap();
    for _ in 0..1000 {
        writer.write(&[5; 999]).unwrap();
        let len = std::fs::metadata(folder.path()).unwrap().len();
        assert!(len.is_multiple_of(999 + 16), "{len}");
    }
    assert!(std::fs::metadata(folder.path()).unwrap().len() > 500_000);
}

#[test]
fn a_closed_writer_refuses_records_and_may_be_closed_again() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path(), WriterOptions::default()).unwrap();
    writer.write(b"a").unwrap();
    writer.close().unwrap();
    writer.close().unwrap();
    assert_eq!(writer.write(b"b").unwrap_err().kind(), ErrorKind::FailedPrecondition);
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::FailedPrecondition);
    assert_eq!(writer.records(), 1);
}

#[test]
fn nothing_follows_a_failed_write() {
    let mut writer = Writer::create("/dev/full", WriterOptions::default()).unwrap();
    writer.write(b"buffered").unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::ResourceExhausted);
    assert_eq!(writer.write(b"more").unwrap_err().kind(), ErrorKind::FailedPrecondition);
    assert_eq!(writer.close().unwrap_err().kind(), ErrorKind::FailedPrecondition);
}

#[test]
fn a_level_is_checked_before_the_file_is_touched() {
    let folder = Folder::new();
    std::fs::write(folder.path(), b"precious").unwrap();
    let options = WriterOptions { compression: Compression::Gzip, level: Some(10) };
    let error = Writer::create(&folder.path(), options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(std::fs::read(folder.path()).unwrap(), b"precious");
}

#[test]
fn concatenated_files_are_one_file() {
    for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
        let folder = Folder::new();
        let mut all = Vec::new();
        for records in [vec![vec![1; 10]], vec![], vec![vec![2; 20], vec![]]] {
            write(&folder.path(), &records, compression);
            all.extend(std::fs::read(folder.path()).unwrap());
        }
        std::fs::File::create(folder.path()).unwrap().write_all(&all).unwrap();
        let mut reader = open(&folder.path(), compression, 4096);
        assert_eq!(read_all(&mut reader, 9).unwrap(), [vec![1; 10], vec![2; 20], vec![]]);
    }
}

#[test]
fn a_damaged_stream_is_what_skipping_tells_of() {
    let folder = Folder::new();
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8;
    write(&folder.path(), &[(0..100_000).map(noise).collect()], Compression::Gzip);
    let mut bytes = std::fs::read(folder.path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xff);
    std::fs::write(folder.path(), bytes).unwrap();
    let mut reader = open(&folder.path(), Compression::Gzip, 4096);
    assert_eq!(reader.skip(1).unwrap(), 0);
    let error = reader.next(1).unwrap_err();
    assert!(error.message().contains("damaged GZIP stream"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_is_closed_at_its_end() {
    let folder = Folder::new();
    write(&folder.path(), &[vec![1; 10]], Compression::None);
    let is_open = || {
        let links = std::fs::read_dir("/proc/self/fd").unwrap();
        let mut targets = links.filter_map(|link| std::fs::read_link(link.unwrap().path()).ok());
        targets.any(|target| target.to_str() == Some(&folder.path()))
    };
    let mut reader = open(&folder.path(), Compression::None, 4096);
    assert!(!is_open());
    assert!(reader.next(1).unwrap().is_some() && is_open());
    assert!(reader.next(1).unwrap().is_none() && !is_open());
}
