#!/usr/bin/env bash
# timeout: 1800
# Every other CUDA program of the tests and examples in GPU mode, with an instrumented kernel in
# place of each; one in three of them without, too (make check-long: all, both ways): our runtime,
# then the exported driver functions, the proxy, and the virtual device as the real driver. So code
# arrives as CUlibrary and CUkernel.
set -u
BLESS=0
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"
  exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
  TEST_NVCC=-cudart=shared TEST_OPTIONS=--error-exitcode=0
# in place of the one in steps.sh: the same program with both tools
number=0
run_program() {
  local tool code said=0 tools=count
  number=$((number + 1))
  if [ "${TEST_SIZE:-}" = long ] || [ $((number % 3)) = 1 ]; then tools="none count"; fi
  for tool in $tools; do
    touch "$TEST_DIR/log"
    # shellcheck disable=SC2046,SC2086
    "$WARPGRIND" --device=gpu --tool=$tool -q --log-file="$TEST_DIR/log" $TEST_OPTIONS \
      $(setting options) -- "$@" $(setting args) > "$TEST_DIR/stdout" 2> "$TEST_DIR/stderr"
    code=$?
    judge "$TEST_DIR/stdout" $code || { echo "with --tool=$tool"; said=1; }
  done
  return $said
}
files=() place=0
for f in tests/*/*.cu examples/*/*.cu; do
  # CUDA's own libraries do not run on the stand-in, ours only on the virtual device
  case $f in tests/libraries/*) continue ;; esac
  [ ! -e "${f%.cu}.sh" ] || continue
  place=$((place + 1))
  [ "${TEST_SIZE:-}" != long ] && [ $((place % 2)) = 0 ] || files+=("$f")
done
every_test cuda_program "${files[@]}"
