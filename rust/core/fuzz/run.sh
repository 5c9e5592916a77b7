#!/usr/bin/env bash
# run.sh TARGET [ARGUMENT OF LIBFUZZER...] : builds the fuzzer TARGET and runs it.
#
# Stable Rust has the coverage counters that libFuzzer needs, but no sanitizers.
set -euo pipefail
cd "$(dirname "$0")"

target=$1
shift
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
# --target keeps the flags from build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --target "$host" --bin "$target"

golden=../../../tests/golden
case $target in
example | parse) seeds=$golden/tfrecord ;;
csv | strings) seeds=$golden/text ;;
*) seeds=$golden/$target ;;
esac
mkdir -p artifacts "grown/$target" "corpus/$target"
exec "${CARGO_TARGET_DIR:-target}/$host/release/$target" -artifact_prefix=artifacts/ -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=2048 "$@" "grown/$target" "corpus/$target" "$seeds"
