#!/usr/bin/env bash
# quick: yes
# timeout: 600
# tests/memcheck/programs/*.cu: what memcheck must find, place by place, and what it must not.
# A program that finds nothing prints what it prints without the tool. TEST_TOOL=memcheck,initcheck:
# initcheck beside it inlines calls, and its own findings are another test's matter.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
tools=${TEST_TOOL:-memcheck}
one() {
  build "$file" "$d/program" -O3 || return
  run_plain "$d"
  run_tools "$d" "$tools"
  judge "$name" "$file" "$d" "$tools" --frame=marked --ignore='uninit-*' --prevented
}
programs tests/memcheck/programs
