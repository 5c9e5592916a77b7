#!/usr/bin/env bash
# scripts/wheel.sh VENV : builds the release wheel into dist/ and installs it in VENV.
# cargo sees to it that nothing is compiled twice, so this may be called as often as one likes.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$1

rm -f dist/*.whl
"$venv/bin/maturin" build --release --locked --interpreter "$venv/bin/python" --out dist
# --force-reinstall: the version stays the same while the contents change.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --force-reinstall --no-deps dist/headrace-*.whl

du -h dist/headrace-*.whl
if [ -n "$(find dist -name '*.whl' -size +10M)" ]; then
    echo "the wheel is to stay under 10 MB" >&2
    exit 1
fi
