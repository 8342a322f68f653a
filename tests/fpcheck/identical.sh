#!/usr/bin/env bash
# timeout: 2400
# Checks change no result: the kernel tests and the examples print under fpcheck, in both modes,
# what they print without it.
set -u
BLESS=0
. tests/lib/steps.sh
export TEST_TOOL=fpcheck

work=$TEST_DIR number=0
try() { # step file
  local name=$(basename "${2%.*}") mode code
  TEST_FILE=$2 TEST_DIR=$work/run
  rm -rf "$TEST_DIR"; mkdir -p "$TEST_DIR"
  number=$((number + 1))
  for mode in full fast; do
    # make check: every program in one of the modes
    [ "${TEST_SIZE:-}" = long ] || { [ $((number % 2)) = 0 ] && [ $mode = full ]; } ||
      { [ $((number % 2)) = 1 ] && [ $mode = fast ]; } || continue
    export TEST_OPTIONS="--error-exitcode=0 --fp-mode=$mode"
    # built already
    if [ "$mode" = fast ] && [ -x "$TEST_DIR/$name" ]; then run_program "$TEST_DIR/$name" > \
      "$work/said" 2>&1
    else "step_$1" > "$work/said" 2>&1; fi
    code=$?
    case $code in
      0) echo "ok $name, $mode" ;;
      77) echo "skip $name, $mode: $(tail -n 1 "$work/said")" ;;
      *) echo "FAIL $name, $mode"; sed 's/^/    /' "$work/said" ;;
    esac
  done
}
# shellcheck disable=SC2046
for file in examples/*/*.cu tests/kernels/*.cu; do
  [ "$(basename "$file")" = endless_loop.cu ] || try cuda_program "$file"
done
for file in $(grep -l '^//!' tests/*/*.ptx); do try ptx_kernel "$file"; done
