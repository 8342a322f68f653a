#!/usr/bin/env bash
# timeout: 900
# Programs that call interrupts print what NAME.expected says, on the virtual device in several
# orders of warps and with every tool, which find nothing; and in GPU mode, with the virtual device
# as the driver. The PTX that runs assembles.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
here=tests/interrupts/programs
. tests/lib/steps.sh

build() {  # NAME OUT OPTION…
  local name=$1 out=$2
  shift 2
  TEST_FILE=$here/$name.cu
  # shellcheck disable=SC2046
  tests/lib/nvcc -std=c++17 -arch=compute_75 -lineinfo $(setting nvcc) "$@" -o "$out" \
    "$here/$name.cu"
}
prints() {  # NAME OPTION…: what warpgrind with these options prints, and nothing on standard error
  local name=$1
  shift
  # shellcheck disable=SC2046
  timeout 120 "$WARPGRIND" -q "$@" $(TEST_FILE=$here/$name.cu setting args |
    sed "s|FOLDER|$TEST_DIR|") > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  local code=$?
  diff "$here/$name.expected" "$TEST_DIR/out" && [ $code = 0 ] && [ ! -s "$TEST_DIR/err" ] ||
    { echo "exit code $code"; cat "$TEST_DIR/err"; return 1; }
}
with_tools() { [ "$(TEST_FILE=$here/$1.cu setting tools)" != none ]; }
number=0 seeds=1 level=-O0
[ "${TEST_SIZE:-}" != long ] || seeds="1 2" level=-O3
for f in "$here"/*.cu; do
  name=$(basename "$f" .cu)
  [ -z "${TEST_ONLY:-}" ] || [ "$TEST_ONLY" = "$name" ] || continue
  program=$TEST_DIR/$name
  build "$name" "$program" || { echo "FAIL $name.build"; continue; }
  if [ "${TEST_DEVICE:-cpu}" = gpu ]; then
    check "$name.none" prints "$name" --device=gpu --tool=none "$program"
    with_tools "$name" &&
      check "$name.memcheck" prints "$name" --device=gpu --tool=memcheck "$program"
    [ ! -e "$here/$name.plain" ] ||
      check "$name.plain" bash -c "'$program' | diff '$here/$name.plain' -"
    continue
  fi
  check "$name.none" prints "$name" --device=cpu --tool=none "$program"
  for seed in $seeds; do
    check "$name.seed$seed" prints "$name" --device=cpu --tool=none --workers=1 --seed=$seed \
      "$program"
  done
  for tool in memcheck initcheck racecheck synccheck fpcheck; do
    with_tools "$name" || continue
    # make check: every program with one or two of the tools
    number=$((number + 1))
    [ "${TEST_SIZE:-}" = long ] || [ $((number % 3)) = 0 ] || continue
    check "$name.$tool" prints "$name" --device=cpu --tool=$tool "$program"
  done
  case $name in blocks | inlined)  # code that is not optimised
    build "$name" "$program.debug" -G && check "$name.debug" prints "$name" --device=cpu \
      --tool=none "$program.debug" ;;
  esac
  "$WARPGRIND" ptx --interrupts "$program" > "$TEST_DIR/$name.ptx"
  check "$name.ptxas" ptxas -c $level -arch=sm_90 -o /dev/null "$TEST_DIR/$name.ptx"
  if [ "$name" = blocks ]; then
    "$WARPGRIND" ptx --interrupts --tool=memcheck "$program" > "$TEST_DIR/$name.ptx"
    check "$name.ptxas_memcheck" ptxas -c $level -arch=sm_90 -o /dev/null "$TEST_DIR/$name.ptx"
  fi
done
[ "${TEST_DEVICE:-cpu}" = cpu ] || exit 0
. tests/gpumode/lib.sh
shared_runtime
for f in "$here"/*.cu; do
  name=$(basename "$f" .cu)
  [ -z "${TEST_ONLY:-}" ] || [ "$TEST_ONLY" = "$name" ] || continue
  number=$((number + 1))  # make check: every third program
  [ "${TEST_SIZE:-}" = long ] || [ -n "${TEST_ONLY:-}" ] || [ $((number % 3)) = 0 ] || continue
  build "$name" "$TEST_DIR/${name}_shared" -cudart=shared || { echo "FAIL $name.build"; continue; }
  check "$name.gpu" prints "$name" --device=gpu --tool=none "$TEST_DIR/${name}_shared"
  with_tools "$name" || continue
  check "$name.gpu_memcheck" prints "$name" --device=gpu --tool=memcheck "$TEST_DIR/${name}_shared"
done
