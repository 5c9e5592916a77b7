use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
use crate::io::compress::Compression;

fn write(path: &str, lens: &[usize], compression: Compression) {
    let mut writer = Writer::create(path, WriterOptions { compression, level: None }).unwrap();
    for (i, len) in lens.iter().enumerate() {
        writer.write(&vec![i as u8; *len]).unwrap();
    }
    writer.close().unwrap();
}

fn made(path: &str, place: Option<&Sidecar>) -> Index {
    build(path, Compression::None, place, &mut |_| Ok(())).unwrap()
}

/// Offsets as a reader finds them.
fn offsets(path: &str, compression: Compression) -> Vec<u64> {
    let mut reader = Reader::open(path, compression, ReadOptions::default()).unwrap();
    let mut offsets = vec![0];
    while reader.skip(1).unwrap() == 1 {
        offsets.push(reader.offset());
    }
    offsets
}

fn check(index: &Index, offsets: &[u64]) {
    assert_eq!(index.records() as usize, offsets.len() - 1);
    assert_eq!(index.end(), *offsets.last().unwrap());
    let mut last = Lookup::default();
    for (i, pair) in offsets.windows(2).enumerate() {
        assert_eq!(index.place_in(&mut last, i as u64).unwrap(), (pair[0], pair[1]));
    }
    assert!(index.place(index.records()).is_err());
}

struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        Scene(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().into()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_record_is_where_the_index_says(
        lens in proptest::collection::vec(prop_oneof![Just(20_usize), 0..400_usize, 0..200_000_usize], 0..40),
        times in 1..90_usize,
        gzip in any::<bool>(),
    ) {
        let (scene, compression) = (Scene::new(), if gzip { Compression::Gzip } else { Compression::None });
        let path = scene.path("a");
        let lens: Vec<usize> = lens.iter().copied().cycle().take(lens.len() * times).collect();
        // Not all of the large ones over and over.
        let lens: Vec<usize> = lens.iter().enumerate().map(|(i, len)| if i > 60 { len % 300 } else { *len }).collect();
        write(&path, &lens, compression);
        let want = offsets(&path, compression);
        let place = Sidecar::beside(&path);
        for place in [None, Some(&place)] {
            check(&build(&path, compression, place, &mut |_| Ok(())).unwrap(), &want);
        }
        let Found::Valid(found) = place.find(&path, compression).unwrap() else { panic!("not valid") };
        check(&found, &want);
        prop_assert_eq!(scene.names(), [".a.hridx", "a"]);
    }

    #[test]
    fn hostile_bytes_give_an_error_or_the_truth(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let scene = Scene::new();
        let path = scene.path("a");
        write(&path, &(0..3000).map(|i| i * 7 % 50).collect::<Vec<_>>(), Compression::None);
        let want = offsets(&path, Compression::None);
        let place = Sidecar::beside(&path);
        drop(made(&path, Some(&place)));
        let mut bytes = fs::read(place.path()).unwrap();
        for (at, flip) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(place.path(), &bytes).unwrap();
        if let Found::Valid(index) = place.find(&path, Compression::None).unwrap() {
            for record in 0..index.records().min(4000) {
                if let Ok(found) = index.place(record) {
                    prop_assert_eq!(found, (want[record as usize], want[record as usize + 1]));
                }
            }
        }
    }
}

#[test]
fn records_of_one_length_take_no_room() {
    let scene = Scene::new();
    let path = scene.path("a");
    write(&path, &[20; 50_000], Compression::None);
    let index = made(&path, None);
    check(&index, &offsets(&path, Compression::None));
    assert!(index.bytes() < 50 * 50, "{}", index.bytes());
}

#[test]
fn a_file_without_records_has_an_index_without_any() {
    let scene = Scene::new();
    let path = scene.path("a");
    write(&path, &[], Compression::None);
    let place = Sidecar::beside(&path);
    check(&made(&path, Some(&place)), &[0]);
    assert!(matches!(place.find(&path, Compression::None).unwrap(), Found::Valid(_)));
}

#[test]
fn compressed_records_are_read_from_points_near_them() {
    let scene = Scene::new();
    for compression in [Compression::Gzip, Compression::Zlib] {
        let path = scene.path(compression.name());
        let mut writer = Writer::create(&path, WriterOptions { compression, level: None }).unwrap();
        let record = |i: usize| format!("{i} of {}", i * i).repeat(i % 200).into_bytes();
        (0..8000).for_each(|i| writer.write(&record(i)).unwrap());
        writer.close().unwrap();
        let place = Sidecar::beside(&path);
        let options = ReadOptions::default();
        let index = build(&path, compression, Some(&place), &mut |_| Ok(())).unwrap();
        check(&index, &offsets(&path, compression));
        let mut points = 0;
        for i in (0..8000).step_by(61) {
            let (start, _) = index.place(i).unwrap();
            let point = index.point_before(start, 0).unwrap();
            if let Some(point) = &point {
                points += 1;
                assert!(start - point.output < 3 << 20);
            }
            let at = (i, start);
            let mut reader = Reader::open_from(&path, compression, options, at, point).unwrap();
            let found = reader.next(1).unwrap().unwrap();
            assert_eq!(found.get(0), record(i as usize));
            assert_eq!((reader.record(), reader.offset()), (i + 1, index.place(i).unwrap().1));
        }
        assert!(points > 50, "{points}");
        // Small beside the file.
        assert!(index.bytes() < fs::metadata(&path).unwrap().len() / 2);
    }
}

#[test]
fn long_records_are_hopped_over_also_behind_short_ones() {
    let scene = Scene::new();
    let path = scene.path("a");
    let lens = [vec![30; 90_000], vec![1 << 20; 3], vec![30; 90_000], vec![300_000; 9]].concat();
    write(&path, &lens, Compression::None);
    let mut read = 0;
    let mut steps = |_| {
        read += 1;
        Ok(())
    };
    let index = build(&path, Compression::None, None, &mut steps).unwrap();
    check(&index, &offsets(&path, Compression::None));
    // One step for each large block of short records, and some for each long record.
    assert!(read < 60, "{read}");
}

#[test]
fn noise_is_read_from_points_too() {
    let scene = Scene::new();
    let (path, compression) = (scene.path("a"), Compression::Gzip);
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let records: Vec<Vec<u8>> = (0..700).map(|_| (0..9000).map(|_| noise()).collect()).collect();
    let mut writer = Writer::create(&path, WriterOptions { compression, level: None }).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.close().unwrap();
    let place = Sidecar::beside(&path);
    let index = build(&path, compression, Some(&place), &mut |_| Ok(())).unwrap();
    check(&index, &offsets(&path, compression));
    for i in (0..700).step_by(90) {
        let (start, _) = index.place(i).unwrap();
        let point = index.point_before(start, 0).unwrap();
        assert!(point.is_some() || start < 2 << 20);
        let at = (i, start);
        let options = ReadOptions::default();
        let mut reader = Reader::open_from(&path, compression, options, at, point).unwrap();
        assert_eq!(reader.next(1).unwrap().unwrap().get(0), records[i as usize]);
    }
}

#[test]
fn what_has_changed_is_noticed() {
    let scene = Scene::new();
    let path = scene.path("a");
    let place = Sidecar::beside(&path);
    let unfit = |words: &str| match place.find(&path, Compression::None).unwrap() {
        Found::Unfit(error) => {
            assert_eq!(error.kind(), ErrorKind::FailedPrecondition);
            assert!(error.to_string().contains(words), "{error}");
        }
        other => panic!("{other:?}"),
    };
    write(&path, &[20; 100], Compression::None);
    assert!(matches!(place.find(&path, Compression::None).unwrap(), Found::Missing));
    drop(made(&path, Some(&place)));
    // Appended to, cut off, replaced by another of the same length.
    for lens in [&[20; 101][..], &[20; 99], &[19, 21].repeat(50)] {
        write(&path, lens, Compression::None);
        unfit("is stale");
    }
    // Bytes in their old place.
    write(&path, &[20; 100], Compression::None);
    assert!(matches!(place.find(&path, Compression::None).unwrap(), Found::Valid(_)));
    match place.find(&path, Compression::Gzip).unwrap() {
        Found::Unfit(error) => assert!(error.to_string().contains("compression_type"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_copy_with_another_time_is_known_by_its_bytes() {
    let scene = Scene::new();
    let (path, copy) = (scene.path("a"), scene.path("b"));
    write(&path, &(0..5000).map(|i| i % 90).collect::<Vec<_>>(), Compression::None);
    drop(made(&path, Some(&Sidecar::beside(&path))));
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::copy(&path, &copy).unwrap();
    fs::copy(Sidecar::beside(&path).path(), Sidecar::beside(&copy).path()).unwrap();
    let found = Sidecar::beside(&copy).find(&copy, Compression::None).unwrap();
    assert!(matches!(found, Found::Valid(_)));
}

#[test]
fn damage_is_told_as_a_reader_tells_it() {
    let scene = Scene::new();
    let path = scene.path("a");
    write(&path, &[30; 100], Compression::None);
    let whole = fs::read(&path).unwrap();
    let told = |words: &str| {
        let error = build(&path, Compression::None, None, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DataLoss);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.place().record, Some(50));
    };
    let mut bytes = whole.clone();
    bytes[50 * 46] ^= 1;
    fs::write(&path, &bytes).unwrap();
    told("corrupted record at 2300");
    fs::write(&path, &whole[..50 * 46 + 20]).unwrap();
    told("truncated record at 2300");
    fs::write(&path, &whole[..50 * 46 + 5]).unwrap();
    told("truncated record at 2300");
    // A payload is looked at when it is read.
    let mut bytes = whole;
    bytes[50 * 46 + 15] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(made(&path, None).records(), 100);
}

#[test]
fn an_index_without_a_place_stays_in_memory() {
    let scene = Scene::new();
    let path = scene.path("a");
    write(&path, &[30; 10], Compression::None);
    let index = made(&path, Some(&Sidecar::within(Path::new("/proc/none"), &path)));
    assert!(index.unwritten().is_some() && index.path().is_none());
    check(&index, &offsets(&path, Compression::None));
}
