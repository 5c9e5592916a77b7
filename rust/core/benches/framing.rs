//! How fast records are framed: checksums, reading and writing, from the page cache.
//!
//! `cargo bench --bench framing`. The `raw` lines are the unavoidable work for the same bytes:
//! `pread` into a warm aligned block, and that with one checksum over each block.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use headrace::data::BufferMut;
use headrace::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
use headrace::io::compress::Compression;
use headrace::io::crc::crc32c;
use headrace::io::local::BlockReader;

const SIZES: [(&str, usize, usize); 4] = [
    ("20 B", 20, 2_000_000),
    ("600 B", 600, 100_000),
    ("30 kB", 30_000, 2_000),
    ("1 MiB", 1 << 20, 64),
];

fn write(path: &str, len: usize, count: usize, compression: Compression) {
    let mut payload: Vec<u8> = (0..len).map(|i| (i * i / 7) as u8).collect();
    let mut writer = Writer::create(path, WriterOptions { compression, level: None }).unwrap();
    for i in 0..count {
        let stamp = i.to_le_bytes();
        payload[..8].copy_from_slice(&stamp);
        writer.write(&payload).unwrap();
    }
    writer.close().unwrap();
}

fn read(path: &str, compression: Compression, options: ReadOptions) -> usize {
    let mut reader = Reader::open(path, compression, options).unwrap();
    let mut count = 0;
    while let Some(some) = reader.next(1024).unwrap() {
        count += black_box(some).len();
    }
    count
}

fn read_raw(path: &str, checked: bool) -> u32 {
    let mut file = BlockReader::open(path).unwrap();
    let mut block = BufferMut::scratch((256 << 10) + 4096).unwrap();
    let start = (block.as_ptr().addr()).wrapping_neg() % 4096;
    let block = &mut block[start..start + (256 << 10)];
    let mut sum = 0;
    loop {
        match file.read(block).unwrap() {
            0 => return sum,
            count if checked => sum ^= crc32c(&block[..count]),
            count => sum ^= count as u32,
        }
    }
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_secs(2));
    group
}

fn checksums(criterion: &mut Criterion) {
    let bytes: Vec<u8> = (0..(1 << 20) + 16).map(|i: usize| (i * i / 7) as u8).collect();
    let mut group = group(criterion, "crc32c");
    for (name, len) in [("8 B", 8), ("20 B", 20), ("600 B", 600), ("1 MiB", 1 << 20)] {
        group.throughput(Throughput::Bytes(len as u64));
        group.bench_function(name, |b| b.iter(|| crc32c(black_box(&bytes[3..3 + len]))));
    }
}

fn reading(criterion: &mut Criterion) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    for (name, len, count) in SIZES {
        write(path, len, count, Compression::None);
        let bytes = file.path().metadata().unwrap().len();
        let mut group = group(criterion, &format!("read {name}"));
        group.throughput(Throughput::Elements(count as u64));
        for block in [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20] {
            let options = ReadOptions { buffer_size: Some(block), ..ReadOptions::default() };
            let name = format!("blocks of {} KiB", block >> 10);
            group.bench_function(name, |b| {
                b.iter(|| assert_eq!(read(path, Compression::None, options), count));
            });
        }
        group.bench_function("skip", |b| {
            b.iter(|| {
                let options = ReadOptions::default();
                let mut reader = Reader::open(path, Compression::None, options).unwrap();
                assert_eq!(reader.skip(u64::MAX).unwrap(), count as u64);
            });
        });
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function("raw pread", |b| b.iter(|| read_raw(path, false)));
        group.bench_function("raw pread and crc", |b| b.iter(|| read_raw(path, true)));
        group.bench_function("read", |b| {
            b.iter(|| read(path, Compression::None, ReadOptions::default()));
        });
    }
    let mut group = group(criterion, "read GZIP");
    write(path, 600, 50_000, Compression::Gzip);
    group.throughput(Throughput::Bytes(616 * 50_000));
    group.bench_function("600 B", |b| {
        b.iter(|| read(path, Compression::Gzip, ReadOptions::default()));
    });
}

fn writing(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = folder.path().join("out");
    let path = path.to_str().unwrap();
    for (name, len, count) in SIZES {
        let mut group = group(criterion, &format!("write {name}"));
        let count = count / 4;
        group.throughput(Throughput::Bytes(((len + 16) * count) as u64));
        group.bench_function("records", |b| b.iter(|| write(path, len, count, Compression::None)));
        let block = vec![1; len];
        group.bench_function("raw writes", |b| {
            b.iter(|| {
                let file = std::fs::File::create(path).unwrap();
                let mut file = std::io::BufWriter::with_capacity(256 << 10, file);
                (0..count).for_each(|_| file.write_all(&block).unwrap());
            });
        });
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    checksums(&mut criterion);
    reading(&mut criterion);
    writing(&mut criterion);
    criterion.final_summary();
}
