use std::io::Write;

use flate2::Compression as Level;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::*;
use crate::io::compress::Inflate;
use crate::io::seek_point::SeekPoint;

#[derive(Default)]
struct Collected {
    bytes: Vec<u8>,
    points: Vec<SeekPoint>,
}

impl Output for Collected {
    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn block(&mut self, start: BlockStart<'_>) -> Result<()> {
        let BlockStart { input, bit, output, window } = start;
        assert!(self.bytes.ends_with(window));
        assert_eq!(output, self.bytes.len() as u64);
        self.points.push(SeekPoint { input, bit, output, window: window.to_vec() });
        Ok(())
    }
}

fn compress(bytes: &[u8], how: Compression, level: u32) -> Vec<u8> {
    let level = Level::new(level);
    match how {
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

fn open(file: &tempfile::NamedTempFile) -> BlockReader {
    BlockReader::open(file.path().to_str().unwrap()).unwrap()
}

fn collect(file: &tempfile::NamedTempFile, how: Compression) -> Result<Collected> {
    let mut out = Collected::default();
    inflate(open(file), how, &mut out).map(|()| out)
}

/// Texts and noise, so that blocks of every kind come.
fn body(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut out = Vec::new();
    while out.len() < count {
        match draw() % 4 {
            0 => (0..draw() % 3000).for_each(|_| out.push(draw() as u8)),
            1 => out.extend(std::iter::repeat_n(draw() as u8, (draw() % 9000) as usize)),
            2 => (0..draw() % 400)
                .for_each(|i| out.extend_from_slice(format!("{} ", i * 7).as_bytes())),
            _ => {
                let far = (draw() as usize % 40_000).min(out.len());
                let part = out[out.len() - far..][..far.min(500)].to_vec();
                out.extend_from_slice(&part);
            }
        }
    }
    out
}

#[test]
fn it_gives_what_the_library_gives_and_goes_on_at_every_block() {
    let mut bits = [false; 8];
    for how in [Compression::Gzip, Compression::Zlib] {
        let mut want = Vec::new();
        let mut stored = Vec::new();
        for (seed, level) in (1..12).zip([1, 6, 9, 0, 3].into_iter().cycle()) {
            let part = body(seed, if seed == 5 { 0 } else { 400_000 });
            stored.extend(compress(&part, how, level));
            want.extend(part);
        }
        let file = file_of(&stored);
        let found = collect(&file, how).unwrap();
        assert!(found.bytes == want);
        assert!(found.points.len() > 20);
        for point in &found.points {
            bits[point.bit as usize] = true;
            let mut stream = Inflate::resume(open(&file), how, point).unwrap();
            let after = want.len() - point.output as usize;
            let wanted = if point.input % 23 == 0 { after + 1 } else { after.min(10_000) };
            let mut rest = vec![0; wanted];
            let mut count = 0;
            loop {
                match stream.read(&mut rest[count..]).unwrap() {
                    0 => break,
                    more => count += more,
                }
            }
            let start = point.output as usize;
            assert_eq!(count, wanted.min(after));
            assert!(rest[..count] == want[start..start + count], "{} {}", point.input, point.bit);
        }
    }
    assert_eq!(bits, [true; 8]);
}

#[test]
fn headers_with_all_their_fields_are_passed_over() {
    let mut encoder = flate2::GzBuilder::new()
        .extra(vec![1; 300])
        .filename("a name")
        .comment("a comment")
        .write(Vec::new(), Level::best());
    encoder.write_all(b"text").unwrap();
    let file = file_of(&encoder.finish().unwrap());
    assert_eq!(collect(&file, Compression::Gzip).unwrap().bytes, b"text");
    assert_eq!(collect(&file_of(b""), Compression::Gzip).unwrap().bytes, b"");
}

#[test]
fn what_is_cut_off_is_an_error() {
    let stored = compress(b"some text that is some text", Compression::Gzip, 6);
    for cut in 1..stored.len() {
        assert!(collect(&file_of(&stored[..cut]), Compression::Gzip).is_err(), "{cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hostile_bytes_end_in_an_error_or_in_bytes(
        seed in any::<u64>(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        level in 0..10_u32,
    ) {
        let mut stored = compress(&body(seed, 20_000), Compression::Zlib, level);
        let len = stored.len();
        for (at, byte) in flips {
            stored[at.index(len)] = byte;
        }
        let file = file_of(&stored);
        let ours = collect(&file, Compression::Zlib);
        // What the library takes we take, and to the same bytes.
        let mut stream = Inflate::new(open(&file), Compression::Zlib).unwrap();
        let (mut theirs, mut block) = (Vec::new(), vec![0; 65536]);
        let taken = loop {
            match stream.read(&mut block) {
                Ok(0) => break true,
                Ok(count) => theirs.extend_from_slice(&block[..count]),
                Err(_) => break false,
            }
        };
        if taken {
            prop_assert!(ours.unwrap().bytes == theirs);
        }
    }

    #[test]
    fn random_bytes_after_a_header_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let file = file_of(&[&[0x78, 0x9c][..], &bytes].concat());
        let _ = collect(&file, Compression::Zlib);
    }
}
