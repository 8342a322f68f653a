#!/usr/bin/env bash
# The compiler ends with its program, also in the middle of a kernel that takes long to compile.
set -u
cd "$ROOT" || exit 1
helper=$BUILD/lib/warpgrind-jit
[ -x "$helper" ] || { echo "there is no compiler: LLVM was not found"; exit 77; }
python3 tests/jit/program_ends.py "$helper"
