//! Damage of every kind in every place: what comes is true, and no more is lost than was touched.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::*;
use crate::ErrorKind;
use crate::formats::tfrecord::{ReadOptions, Reader};
use crate::io::compress::{Compression, Sink};

type Records = Vec<Vec<u8>>;

/// The bytes of a file of these records.
fn framed(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for record in records {
        let len = (record.len() as u64).to_le_bytes();
        file.extend(len);
        file.extend(crc::masked_crc32c(&len).to_le_bytes());
        file.extend(record);
        file.extend(crc::masked_crc32c(record).to_le_bytes());
    }
    file
}

/// Different records, of `least` to `most` bytes.
fn records(count: usize, least: usize, most: usize) -> Records {
    let noise = |i: usize| (i as u32).wrapping_mul(2_654_435_761).rotate_left(15);
    let record = |i: usize| {
        let len = least + noise(i) as usize % (most - least + 1);
        let body = (0..len).map(|k| (noise(i * 1009 + k) >> 7) as u8);
        (i as u32).to_le_bytes().into_iter().chain(body).collect()
    };
    (0..count).map(record).collect()
}

/// What a reader that salvages finds.
#[derive(Debug, Default, PartialEq)]
struct Found {
    records: Records,
    lost: Vec<(u64, Option<u64>)>,
}

struct File(tempfile::TempDir);

impl File {
    fn new() -> Self {
        File(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> String {
        self.0.path().join("a.tfrecord").to_str().unwrap().to_owned()
    }

    fn reader(&self, bytes: &[u8], compression: Compression) -> Reader {
        self.reader_of(bytes, compression, ReadOptions { salvage: true, ..ReadOptions::default() })
    }

    fn reader_of(&self, bytes: &[u8], compression: Compression, options: ReadOptions) -> Reader {
        let file = std::fs::File::create(self.path()).unwrap();
        let mut sink = Sink::new(file, compression, None).unwrap();
        sink.write_parts(&[bytes]).unwrap();
        sink.finish().unwrap();
        Reader::open(&self.path(), compression, options).unwrap()
    }

    fn salvage(&self, bytes: &[u8]) -> Found {
        drain(&mut self.reader(bytes, Compression::None), bytes.len())
    }
}

fn drain(reader: &mut Reader, most: usize) -> Found {
    let mut found = Found::default();
    for _ in 0..=most {
        match reader.next(usize::MAX) {
            Ok(Some(some)) => found.records.extend(some.iter().map(<[u8]>::to_vec)),
            Ok(None) => return found,
            Err(error) => {
                let lost = error.lost().unwrap_or_else(|| panic!("{error}"));
                found.lost.push((error.place().offset.unwrap(), lost.bytes));
            }
        }
    }
    panic!("no end");
}

/// Checks that `found` are `records` in order but for those whose frames `touched` meets.
fn assert_only_lost(records: &[Vec<u8>], touched: &Range<usize>, found: &Found, what: &str) {
    let mut at = 0;
    let mut want = Vec::new();
    for record in records {
        let end = at + record.len() + AROUND as usize;
        let is_touched = match touched.is_empty() {
            true => at < touched.start && touched.start < end,
            false => at < touched.end && touched.start < end,
        };
        if !is_touched {
            want.push(record);
        }
        at = end;
    }
    let mut have = found.records.iter().filter(|record| want.contains(record));
    let missing = want.iter().filter(|record| have.next() != Some(record)).count();
    assert_eq!(missing, 0, "{what}: lost records that were not touched: {:?}", found.lost);
    let mut all = records.iter();
    let wrong = found.records.iter().filter(|record| !all.any(|other| other == *record)).count();
    assert_eq!(wrong, 0, "{what}: records that never were: {:?}", found.lost);
}

#[test]
fn a_changed_byte_costs_its_record_and_no_other() {
    let (file, records) = (File::new(), records(100, 0, 20));
    let bytes = framed(&records);
    for at in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let found = file.salvage(&damaged);
            let what = format!("byte {at} ^ {change}");
            assert_only_lost(&records, &(at..at + 1), &found, &what);
            assert_eq!(found.records.len(), 99, "{what}");
            assert_eq!(found.lost.len(), 1, "{what}");
        }
    }
}

#[test]
fn a_changed_byte_is_an_error_in_its_place_for_who_wants_all_records() {
    let (file, records) = (File::new(), records(100, 0, 20));
    let bytes = framed(&records);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x01;
        let mut reader = file.reader_of(&damaged, Compression::None, ReadOptions::default());
        let mut seen = Vec::new();
        let error = loop {
            match reader.next(usize::MAX) {
                Ok(Some(some)) => seen.extend(some.iter().map(<[u8]>::to_vec)),
                Ok(None) => panic!("byte {at}: no error"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::DataLoss, "byte {at}: {error}");
        assert_eq!(seen, records[..seen.len()], "byte {at}");
        let before: usize = seen.iter().map(|record| record.len() + AROUND as usize).sum();
        let touched = records[seen.len()].len() + AROUND as usize;
        assert!((before..before + touched).contains(&at), "byte {at}: {} records", seen.len());
    }
}

#[test]
fn a_file_that_is_cut_loses_its_last_record() {
    let (file, records) = (File::new(), records(30, 0, 20));
    let bytes = framed(&records);
    for end in 1..bytes.len() {
        let found = file.salvage(&bytes[..end]);
        assert_only_lost(&records, &(end..bytes.len()), &found, &format!("cut at {end}"));
        let lost: u64 = found.lost.iter().map(|(_, bytes)| bytes.unwrap()).sum();
        let kept: usize = found.records.iter().map(|record| record.len() + 16).sum();
        assert_eq!(lost as usize + kept, end);
    }
}

#[test]
fn missing_bytes_cost_the_records_they_are_missing_in() {
    let (file, records) = (File::new(), records(12, 0, 40));
    let bytes = framed(&records);
    for count in [1, 4, 12, 70] {
        for at in 0..bytes.len() - count {
            let damaged = [&bytes[..at], &bytes[at + count..]].concat();
            let found = file.salvage(&damaged);
            let what = format!("{count} bytes missing at {at}");
            assert_only_lost(&records, &(at..at + count), &found, &what);
        }
    }
}

#[test]
fn a_header_may_be_whole_by_chance_where_bytes_are_missing() {
    let (file, records) = (File::new(), records(40, 0, 40));
    let bytes = framed(&records);
    // The next header starts within this one, and has the byte that is missing.
    let (start, len) = (framed(&records[..17]).len(), records[17].len() + 16);
    let header = &bytes[start..start + 12];
    assert_eq!(header[11], bytes[start + len]);
    let touched = start + 11..start + len;
    let damaged = [&bytes[..touched.start], &bytes[touched.end..]].concat();
    assert_only_lost(&records, &touched, &file.salvage(&damaged), "a header");
}

#[test]
fn bytes_put_in_cost_the_record_they_are_put_in() {
    let (file, records) = (File::new(), records(12, 0, 40));
    let bytes = framed(&records);
    for count in [1, 3, 16, 100] {
        for at in 0..bytes.len() {
            let damaged = [&bytes[..at], &vec![0x5a; count], &bytes[at..]].concat();
            let found = file.salvage(&damaged);
            let what = format!("{count} bytes put in at {at}");
            assert_only_lost(&records, &(at..at), &found, &what);
        }
    }
}

#[test]
fn a_page_of_zeros_costs_the_records_on_it() {
    let file = File::new();
    for records in [records(2000, 0, 60), records(100, 500, 1500), records(12, 9000, 20_000)] {
        let bytes = framed(&records);
        for page in 0..bytes.len() / 4096 {
            let mut damaged = bytes.clone();
            let zeros = page * 4096..(page + 1) * 4096;
            damaged[zeros.clone()].fill(0);
            let found = file.salvage(&damaged);
            assert_only_lost(&records, &zeros, &found, &format!("page {page}"));
            assert!(found.lost.len() <= 2, "{:?}", found.lost);
        }
    }
}

#[test]
fn between_two_pages_of_zeros_records_are_found() {
    let (file, records) = (File::new(), records(400, 100, 400));
    let bytes = framed(&records);
    let (mut damaged, mut zeros) = (bytes.clone(), Vec::new());
    for page in (1..bytes.len() / 4096).step_by(4) {
        zeros.push(page * 4096..(page + 1) * 4096);
        damaged[page * 4096..(page + 1) * 4096].fill(0);
    }
    let found = file.salvage(&damaged);
    let mut all = records.iter();
    assert!(found.records.iter().all(|record| all.any(|other| other == record)));
    let touched = records.len() * 4096 * zeros.len() / bytes.len() + 2 * zeros.len();
    let lost = records.len() - found.records.len();
    assert!(lost <= touched, "{lost} of {touched}");
}

/// Small records around one that is a file of records itself, with `more` bytes behind them.
fn nested(inner: usize, more: usize) -> (Records, Range<usize>) {
    let mut all = records(20, 0, 20);
    let frames = framed(&records(inner, 5, 30)[20.min(inner)..]);
    let len = frames.len() + more;
    all[7] = [frames, vec![0xa5; more]].concat();
    let start = framed(&all[..7]).len();
    (all, start..start + len + 16)
}

#[test]
fn records_within_a_lost_record_are_none() {
    let file = File::new();
    for (inner, more) in [(23, 0), (90, 0), (90, 3), (90, 40), (1000, 0), (1000, 100)] {
        let (all, frame) = nested(inner, more);
        let bytes = framed(&all);
        let around = (frame.start..frame.start + 40).chain(frame.end - 40..frame.end);
        for at in around {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let what = format!("{inner} and {more}, byte {at}");
            assert_only_lost(&all, &(at..at + 1), &file.salvage(&damaged), &what);
        }
        for zeros in [0..12, 4..12, 0..9, 0..13, 0..20, 0..40] {
            let mut damaged = bytes.clone();
            let touched = frame.start + zeros.start..frame.start + zeros.end;
            damaged[touched.clone()].fill(0);
            let what = format!("{inner} and {more}, {zeros:?}");
            assert_only_lost(&all, &touched, &file.salvage(&damaged), &what);
        }
        for at in [0, 5, 12, 13, 60].map(|at| frame.start + at).into_iter().chain([frame.end - 9]) {
            let missing = [&bytes[..at], &bytes[at + 1..]].concat();
            let what = format!("{inner} and {more}, byte {at} missing");
            assert_only_lost(&all, &(at..at + 1), &file.salvage(&missing), &what);
        }
        let cut = &bytes[..frame.start + frame.len() / 2];
        let found = file.salvage(cut);
        assert_eq!(found.records, all[..7]);
        assert_eq!(found.lost, [(frame.start as u64, Some((frame.len() / 2) as u64))]);
    }
}

#[test]
fn the_first_record_may_hold_records_too() {
    let file = File::new();
    let mut all = records(20, 0, 20);
    all[0] = framed(&records(500, 5, 30)[100..]);
    let bytes = framed(&all);
    for zeros in [0..12, 0..8, 8..12, 0..30] {
        let mut damaged = bytes.clone();
        damaged[zeros.clone()].fill(0);
        assert_only_lost(&all, &zeros, &file.salvage(&damaged), &format!("{zeros:?}"));
    }
}

#[test]
fn two_damaged_neighbours_are_two_places() {
    let (file, records) = (File::new(), records(30, 10, 10));
    let bytes = framed(&records);
    let frame = 30;
    for (a, b) in [(3, 4), (3, 5), (0, 1), (28, 29), (27, 29)] {
        for (i, j) in [(0, 0), (9, 2), (13, 13), (13, 1), (1, 29), (29, 29)] {
            let mut damaged = bytes.clone();
            damaged[a * frame + i] ^= 0xff;
            damaged[b * frame + j] ^= 0xff;
            let found = file.salvage(&damaged);
            let left = |n: &usize| *n != a && *n != b;
            let want: Records = (0..30).filter(left).map(|n| records[n].clone()).collect();
            assert_eq!(found.records, want, "{a}.{i} {b}.{j}");
            let lost = [a, b].map(|n| ((n * frame) as u64, Some(frame as u64)));
            assert_eq!(found.lost, lost);
        }
    }
}

#[test]
fn an_intact_file_loses_nothing() {
    let (file, records) = (File::new(), records(500, 0, 3000));
    let found = file.salvage(&framed(&records));
    assert_eq!(found, Found { records, lost: Vec::new() });
    assert_eq!(file.salvage(b""), Found::default());
}

#[test]
fn a_file_without_a_record_is_lost_whole() {
    let file = File::new();
    for bytes in [&[0; 100_000][..], &[0xff; 70], b"x", &framed(&records(1, 50, 50))[..40]] {
        let lost = vec![(0, Some(bytes.len() as u64))];
        assert_eq!(file.salvage(bytes), Found { records: Vec::new(), lost });
    }
}

#[test]
fn a_file_of_another_kind_is_no_damaged_one() {
    let file = File::new();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
    let gzip = [&[0x1f, 0x8b, 8, 0][..], &[7; 200]].concat();
    for (bytes, word) in [(&pointer[..], "Git LFS"), (&gzip, "GZIP")] {
        let mut reader = file.reader(bytes, Compression::None);
        let error = reader.next(9).unwrap_err();
        assert!(error.lost().is_none() && error.to_string().contains(word), "{error}");
        assert_eq!(reader.next(9).unwrap(), None);
    }
    file.reader(&framed(&records(3, 1, 5)), Compression::None);
    let options = ReadOptions { salvage: true, ..ReadOptions::default() };
    let mut reader = Reader::open(&file.path(), Compression::Gzip, options).unwrap();
    let error = reader.next(9).unwrap_err();
    assert!(error.lost().is_none() && error.to_string().contains("not GZIP"), "{error}");
}

#[test]
fn a_damaged_stream_gives_what_comes_before() {
    let (file, records) = (File::new(), records(300, 50, 300));
    for compression in [Compression::Gzip, Compression::Zlib] {
        file.reader(&framed(&records), compression);
        let bytes = std::fs::read(file.path()).unwrap();
        for at in (20..bytes.len() - 8).step_by(bytes.len() / 40) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            std::fs::write(file.path(), &damaged).unwrap();
            let options = ReadOptions { salvage: true, ..ReadOptions::default() };
            let mut reader = Reader::open(&file.path(), compression, options).unwrap();
            let found = drain(&mut reader, bytes.len());
            let mut all = records.iter();
            assert!(found.records.iter().all(|record| all.any(|other| other == record)), "{at}");
            assert!(!found.lost.is_empty());
            std::fs::write(file.path(), &bytes[..at]).unwrap();
            let mut reader = Reader::open(&file.path(), compression, options).unwrap();
            let found = drain(&mut reader, bytes.len());
            assert_eq!(found.records, records[..found.records.len()]);
            assert!(matches!(found.lost[..], [(_, None)]));
        }
        // Damage from before the compression: a payload is passed over, a length is not.
        let mut damaged = framed(&records);
        damaged[20] ^= 1;
        let found = drain(&mut file.reader(&damaged, compression), damaged.len());
        assert_eq!(found.records, records[1..]);
        assert_eq!(found.lost, [(0, Some(records[0].len() as u64 + AROUND))]);
    }
}

#[test]
fn skipping_counts_records_and_damage() {
    let (file, records) = (File::new(), records(10, 10, 10));
    let mut bytes = framed(&records);
    bytes[3 * 30 + 15] ^= 1;
    bytes[6 * 30 + 2] ^= 1;
    for skipped in 0..12 {
        let mut reader = file.reader(&bytes, Compression::None);
        assert_eq!(reader.skip(skipped).unwrap(), skipped.min(10));
        let found = drain(&mut reader, 400);
        let left = (skipped as usize..10).filter(|n| *n != 3 && *n != 6);
        assert_eq!(found.records, left.map(|n| records[n].clone()).collect::<Records>());
    }
}

#[test]
fn a_search_can_be_ended_and_taken_up_again() {
    let (file, records) = (File::new(), records(10, 10, 10));
    let mut bytes = framed(&records);
    bytes[90..102].fill(0);
    let tries = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let check = move || match counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0..3 => Err(crate::Error::cancelled()),
        _ => Ok(()),
    };
    let mut reader = file.reader(&bytes, Compression::None).checked(Check(Arc::new(check)));
    assert_eq!(reader.next(9).unwrap().unwrap().len(), 3);
    for _ in 0..3 {
        assert_eq!(reader.next(9).unwrap_err().kind(), ErrorKind::Cancelled);
    }
    assert_eq!((reader.record(), reader.offset()), (3, 90));
    let error = reader.next(9).unwrap_err();
    assert_eq!(error.lost().unwrap().bytes, Some(30));
    assert_eq!(drain(&mut reader, 400).records, records[4..]);
}

/// Places that look like frames, each with a long way to look ahead, do not add up.
#[test]
fn a_hostile_file_takes_time_by_its_length() {
    let file = File::new();
    let len = 400_000_u64;
    let mut bytes = vec![0; 20];
    while (bytes.len() as u64) < len {
        let payload = (len - bytes.len() as u64 + 3).to_le_bytes();
        bytes.extend(payload);
        bytes.extend(crc::masked_crc32c(&payload).to_le_bytes());
    }
    bytes.extend(vec![1; len as usize * 2]);
    let start = Instant::now();
    let found = file.salvage(&bytes);
    assert_eq!(found.records, Records::new());
    assert_eq!(found.lost, [(0, Some(bytes.len() as u64))]);
    assert!(start.elapsed() < Duration::from_secs(100), "{:?}", start.elapsed());
}
