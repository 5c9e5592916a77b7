#!/usr/bin/env bash
# Sees to what the system must have and prints the Python to use (>= 3.11, with venv).
#
# Needed: a Rust toolchain, a C compiler and linker, cmake and nasm (for libjpeg-turbo), Python with
# its venv module. What Debian's packages can give is installed when this runs as root with apt-get,
# and named when it does not.
# PYTHON=/path/to/python chooses the interpreter.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }

# The interpreter that a name stands for, if it can make virtual environments.
usable() {
    "$1" -c '
import ensurepip, sys, venv
if sys.version_info < (3, 11): sys.exit(1)
print(sys.executable)' 2>/dev/null
}

find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do
        usable "$name" && return
    done
    return 1
}

# Only the x86 code of libjpeg-turbo is written in nasm's language.
needs_no_nasm() {
    case $(uname -m) in x86_64 | i?86) return 1 ;; esac
}

missing_packages() {
    command -v cc >/dev/null || printf 'gcc libc6-dev '
    command -v cmake >/dev/null && command -v make >/dev/null || printf 'cmake make '
    command -v nasm >/dev/null || needs_no_nasm || printf 'nasm '
    [ -n "${PYTHON:-}" ] || find_python >/dev/null || printf 'python3 python3-venv '
}

if [ -n "${PYTHON:-}" ] && ! usable "$PYTHON" >/dev/null; then
    say "PYTHON=$PYTHON is not a Python >= 3.11 with venv"
    exit 1
fi

if ! command -v cargo >/dev/null; then
    say "cargo is missing: install a Rust toolchain (see rust-version in Cargo.toml), then run this again"
    exit 1
fi

packages=$(missing_packages)
if [ -n "$packages" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing $packages"
        # shellcheck disable=SC2086  # a list of words
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } >&2
    else
        say "missing on this system: $packages(Debian's names). Install them, then run this again."
        exit 1
    fi
fi

if [ -n "${PYTHON:-}" ]; then
    usable "$PYTHON"
    exit
fi
find_python || {
    say "no Python >= 3.11 with venv was found; name one with PYTHON=/path/to/python"
    exit 1
}
