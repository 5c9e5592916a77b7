#!/usr/bin/env bash
# scripts/sdist_check.sh VENV : builds the source distribution, installs from it in a fresh
# environment and imports it. It shows that the archive holds all that a build needs.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$1

rm -f dist/*.tar.gz
"$venv/bin/maturin" sdist --out dist
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$venv/bin/python" -m venv "$fresh"
"$fresh/bin/python" -m pip install --quiet --disable-pip-version-check dist/headrace-*.tar.gz
cd "$fresh" # so that the checkout is not what gets imported
"$fresh/bin/python" -c 'import headrace; print("installed from the source distribution:", headrace.__file__)'
