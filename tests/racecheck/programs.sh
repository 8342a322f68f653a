#!/usr/bin/env bash
# timeout: 900
# tests/racecheck/programs/*.cu: the accesses of one race are a group. Every race is found, at lines
# of one group on both sides, and nothing else is. All programs print what they print without the
# tool. make check: racecheck alone and one of the two other modes in turn (make check-long: all).
# RACECHECK_QUICK: racecheck alone.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
one() {
  local mode turn=$((n / 2 % 2)) place=0
  build "$file" "$d/program" -g -O3 --extended-lambda || return
  run_plain "$d"
  for mode in racecheck memcheck,racecheck "racecheck --race=full"; do
    place=$((place + 1))
    [ -n "${RACECHECK_QUICK:-}" ] && [ "$mode" != racecheck ] && continue
    [ "${TEST_SIZE:-}" = long ] || [ -n "${TEST_ONLY:-}" ] || [ $place != $((2 + turn)) ] ||
      continue
    # shellcheck disable=SC2086
    run_tools "$d" $mode
    judge "$name $mode" "$file" "$d" "${mode% *}"
  done
}
programs tests/racecheck/programs
