//! Files that are damaged, cut off, lying or not what they are said to be.
//!
//! Each gives the true records before the damage and then an error; never a wrong record, a
//! panic, or more memory than the bytes that are there can justify.

#![allow(clippy::unwrap_used)]

mod memory;

use std::io::Write as _;

use flate2::write::{GzEncoder, ZlibEncoder};
use headrace::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
use headrace::io::compress::Compression;
use headrace::io::crc::masked_crc32c;
use headrace::{Error, ErrorKind};
use memory::peak_bytes;

const ALL: [Compression; 3] = [Compression::None, Compression::Gzip, Compression::Zlib];

type Outcome = Result<Vec<u8>, Error>;

struct TempFile(tempfile::NamedTempFile);

impl TempFile {
    fn of(bytes: &[u8]) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        TempFile(file)
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    fn outcomes(&self, compression: Compression) -> Vec<Outcome> {
        outcomes(self.path(), compression)
    }
}

/// All records and errors, in order.
fn outcomes(path: &str, compression: Compression) -> Vec<Outcome> {
    let mut reader = Reader::open(path, compression, ReadOptions::default()).unwrap();
    let mut all = Vec::new();
    loop {
        match reader.next(100) {
            Ok(Some(some)) => all.extend(some.iter().map(|record| Ok(record.to_vec()))),
            Ok(None) => return all,
            Err(error) => all.push(Err(error)),
        }
        assert!(all.len() < 10_000, "the reader does not end");
    }
}

fn parts(all: &[Outcome]) -> (Vec<&[u8]>, Vec<&Error>) {
    let records = all.iter().filter_map(|outcome| outcome.as_deref().ok()).collect();
    (records, all.iter().filter_map(|outcome| outcome.as_ref().err()).collect())
}

fn written(records: &[&[u8]], compression: Compression) -> Vec<u8> {
    let file = TempFile::of(b"");
    let options = WriterOptions { compression, level: None };
    let mut writer = Writer::create(file.path(), options).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.close().unwrap();
    std::fs::read(file.path()).unwrap()
}

/// A header that is right in itself.
fn header(len: u64) -> Vec<u8> {
    let len = len.to_le_bytes();
    [&len[..], &masked_crc32c(&len).to_le_bytes()].concat()
}

fn compressed(plain: &[u8], compression: Compression) -> Vec<u8> {
    let level = flate2::Compression::default();
    match compression {
        Compression::None => plain.to_vec(),
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zlib => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Snappy => {
            let mut encoder = snap::write::FrameEncoder::new(Vec::new());
            encoder.write_all(plain).unwrap();
            encoder.into_inner().unwrap()
        }
    }
}

const RECORDS: [&[u8]; 5] = [b"first", b"", b"the third record", b"4", b"fifth and last"];

#[test]
fn a_cut_at_any_byte_gives_the_records_before_it_and_then_an_error() {
    let mut end = 0;
    let ends = RECORDS.map(|record| {
        end += record.len() + 16;
        end
    });
    for compression in ALL {
        let bytes = written(&RECORDS, compression);
        let plain = compression == Compression::None;
        for cut in 1..bytes.len() {
            let all = TempFile::of(&bytes[..cut]).outcomes(compression);
            let (records, errors) = parts(&all);
            assert_eq!(records, RECORDS[..records.len()]);
            let clean = plain && ends.contains(&cut);
            assert_eq!(errors.len(), usize::from(!clean), "{compression:?} cut at {cut}: {all:?}");
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::DataLoss);
                assert!(error.message().starts_with("truncated record at "), "{error}");
                assert_eq!(error.place().record, Some(records.len() as u64));
            }
            if plain {
                assert_eq!(records.len(), ends.iter().filter(|end| **end <= cut).count());
            }
        }
    }
}

#[test]
fn a_flipped_bit_never_gives_a_wrong_record() {
    for compression in ALL {
        let bytes = written(&RECORDS, compression);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let all = TempFile::of(&damaged).outcomes(compression);
            let (records, errors) = parts(&all);
            if compression == Compression::None {
                // Each outcome stands in the place of its record.
                assert_eq!(errors.len(), 1, "bit {bit}: {all:?}");
                for (outcome, want) in all.iter().zip(RECORDS) {
                    assert!(outcome.as_ref().map_or(true, |record| record == want), "bit {bit}");
                }
            } else {
                // Some bits of the header (a time, a system) have no meaning for a reader.
                assert_eq!(records, RECORDS[..records.len()], "bit {bit}");
                assert!(records.len() == RECORDS.len() || errors.len() == 1, "bit {bit}: {all:?}");
            }
        }
    }
}

#[test]
fn reading_goes_on_after_a_damaged_payload_but_not_after_a_damaged_length() {
    let mut bytes = written(&RECORDS, Compression::None);
    let third = 5 + 16 + 16;
    bytes[12] ^= 1;
    bytes[third + 14] ^= 1;
    let all = TempFile::of(&bytes).outcomes(Compression::None);
    let shown: Vec<_> = all.iter().map(|outcome| outcome.as_deref().ok()).collect();
    assert_eq!(shown, [None, Some(RECORDS[1]), None, Some(RECORDS[3]), Some(RECORDS[4])]);
    let error = all[2].as_ref().unwrap_err();
    assert_eq!((error.place().record, error.place().offset), (Some(2), Some(third as u64)));

    bytes[third] ^= 1;
    let all = TempFile::of(&bytes).outcomes(Compression::None);
    assert_eq!(all.len(), 3);
    assert!(all[2].as_ref().unwrap_err().message().contains("length"));
}

#[test]
fn absurd_lengths_cost_no_memory() {
    for compression in ALL {
        for len in [1 << 31, 1 << 40, 1 << 62, 1 << 63, u64::MAX - 15, u64::MAX] {
            let mut plain = written(&[b"good"], Compression::None);
            plain.extend(header(len));
            plain.extend([7; 1000]);
            let file = TempFile::of(&compressed(&plain, compression));
            let (all, peak) = peak_bytes(|| file.outcomes(compression));
            assert!(peak < 4 << 20, "{peak} bytes for a claim of {len}");
            assert_eq!(all.len(), 2);
            assert_eq!(all[0].as_ref().unwrap(), b"good");
            let error = all[1].as_ref().unwrap_err();
            let kind = match compression {
                Compression::None => ErrorKind::DataLoss,
                _ => ErrorKind::ResourceExhausted,
            };
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.place().record, Some(1));
        }
    }
}

#[test]
fn a_length_within_the_limit_is_believed_only_as_bytes_arrive() {
    for compression in [Compression::Gzip, Compression::Zlib] {
        let mut plain = header(1 << 29);
        plain.extend([7; 100_000]);
        let file = TempFile::of(&compressed(&plain, compression));
        let (all, peak) = peak_bytes(|| file.outcomes(compression));
        assert!(peak < 16 << 20, "{peak}");
        assert_eq!(all[0].as_ref().unwrap_err().kind(), ErrorKind::DataLoss);
    }
}

#[test]
fn a_limit_on_records_holds_in_plain_files_too() {
    let file = TempFile::of(&written(&[b"four", b"seven77"], Compression::None));
    let options = ReadOptions { max_record_bytes: Some(4), ..ReadOptions::default() };
    let mut reader = Reader::open(file.path(), Compression::None, options).unwrap();
    assert_eq!(reader.next(9).unwrap().unwrap().len(), 1);
    let error = reader.next(9).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceExhausted);
    assert!(error.to_string().contains("max_record_bytes"), "{error}");
    assert!(reader.next(9).unwrap().is_none());
}

#[test]
fn a_bomb_streams_in_bounded_memory() {
    let zeros = vec![0; 1 << 20];
    let records = vec![&zeros[..]; 200];
    for compression in [Compression::Gzip, Compression::Zlib] {
        let file = TempFile::of(&written(&records, compression));
        assert!(file.0.path().metadata().unwrap().len() < 1 << 20);
        let (count, peak) = peak_bytes(|| {
            let options = ReadOptions::default();
            let mut reader = Reader::open(file.path(), compression, options).unwrap();
            let mut count = 0;
            while let Some(some) = reader.next(1000).unwrap() {
                count += some.len();
            }
            count
        });
        assert_eq!(count, 200);
        // Freed blocks are kept for reuse, up to 32 MiB.
        assert!(peak < 40 << 20, "{peak}");
    }
}

#[test]
fn a_git_lfs_pointer_is_named() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\n\
        oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    for compression in ALL {
        let file = TempFile::of(pointer);
        let (all, peak) = peak_bytes(|| file.outcomes(compression));
        assert!(peak < 32 << 20);
        assert_eq!(all.len(), 1);
        let text = all[0].as_ref().unwrap_err().to_string();
        assert!(text.contains("Git LFS") && text.contains("not a TFRecord file"), "{text}");
        assert!(text.contains("git lfs pull"), "{text}");
    }
}

#[test]
fn other_files_are_refused() {
    for bytes in [&b"x"[..], b"{\"a\": 1}", b"short, header", b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
        let all = TempFile::of(bytes).outcomes(Compression::None);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].as_ref().unwrap_err().kind(), ErrorKind::DataLoss);
    }
}

#[test]
fn a_file_of_no_bytes_has_no_records() {
    for compression in ALL {
        let file = TempFile::of(b"");
        let mut reader = Reader::open(file.path(), compression, ReadOptions::default()).unwrap();
        assert!(!reader.was_empty());
        assert!(reader.next(10).unwrap().is_none());
        assert!(reader.was_empty());
    }
    let file = TempFile::of(&written(&[], Compression::Gzip));
    let mut reader = Reader::open(file.path(), Compression::Gzip, ReadOptions::default()).unwrap();
    assert!(reader.next(10).unwrap().is_none());
    assert!(!reader.was_empty());
}

#[test]
fn what_cannot_be_opened_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    for (path, kind) in
        [(&*missing, ErrorKind::NotFound), (folder.path(), ErrorKind::FailedPrecondition)]
    {
        let path = path.to_str().unwrap();
        let all = outcomes(path, Compression::None);
        assert_eq!(all.len(), 1);
        let error = all[0].as_ref().unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(path), "{error}");
    }
}
