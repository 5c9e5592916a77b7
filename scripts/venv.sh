#!/usr/bin/env bash
# scripts/venv.sh VENV PACKAGE... : a virtual environment with these packages, versions as in
# requirements-dev.txt. `scripts/venv.sh VENV -r requirements-dev.txt` installs all of them.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$1
shift

# One that lost its interpreter (the system's Python moved on) is made anew.
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(scripts/system.sh)
    echo "making $venv with $python"
    "$python" -m venv --clear "$venv"
fi

# pip is only asked when the wanted list changed: its no-op takes seconds.
wanted=$(echo "$*" | cat - requirements-dev.txt | cksum)
stamp="$venv/.installed-$(echo "$*" | cksum | cut -d' ' -f1)"
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint requirements-dev.txt "$@"
    echo "$wanted" >"$stamp"
fi
