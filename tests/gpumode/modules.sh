#!/usr/bin/env bash
# timeout: 300
# The module path: which kernels run our code, variables that exist once, attributes, images of
# every kind, the cache on disk.
set -u
. tests/gpumode/lib.sh
. tests/lib/check.sh
export WARPGRIND_CACHE_DIR=$TEST_DIR/cache
# shellcheck disable=SC2046
$CC -std=gnu11 -g -O1 -Wall -Isrc -I"$BUILD/gen" -pthread -o "$TEST_DIR/modules" \
  tests/gpumode/modules.c $(ls src/base/*.c) -L"$BUILD/lib" -l:libcuda.so.1 \
  -Wl,--allow-shlib-undefined -lzstd -llz4 -ldl -lrt -lm || { echo "FAIL build"; exit 1; }

# run TOOL PROGRAM [OPTION…]: what it prints is in out, what Warpgrind says in err, the run file in
# run.wg
run() {
  local tool=$1 program=$2; shift 2
  rm -f "$TEST_DIR/run.wg"
  "$WARPGRIND" --device=gpu --tool="$tool" -v -o "$TEST_DIR/run.wg" "$@" -- "$TEST_DIR/modules" \
    "$program" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
sql() { "$WARPGRIND" sql "$TEST_DIR/run.wg" "${1//$'\n'/ }" | tail -n +2; }
passes() {
  run "$@" && grep -q '^all checks passed' "$TEST_DIR/out" || { cat "$TEST_DIR/out" "$TEST_DIR/err"
    return 1; }
}
# covered NAME…: these kernels, and no others that were launched, ran our code
covered() {
  local got
  got=$(sql "select distinct name from kernel where launches > 0 and covered = 1 and ifnull(reason,
    '') = '' order by name" | tr '\n' ' ')
  [ "${got% }" = "$*" ] || { echo "covered: $got"; echo "wanted:  $* "; cat "$TEST_DIR/err"
    return 1; }
}

for tool in none count; do
  rm -rf "$WARPGRIND_CACHE_DIR"
  for program in variables libraries managed attributes images linked relocatable threads again \
    contexts; do
    check "$tool-$program" passes $tool $program
    case $program in
      variables) check "$tool-$program-covered" covered alone read text write ;;
      libraries) check "$tool-$program-covered" covered alone read write ;;
      again) check "$tool-$program-once" test \
        "$(sql "select count(*) from kernel where name = 'alone'")" = 1 ;;
      linked | relocatable) check "$tool-$program-covered" covered use_triple ;;
      images) check "$tool-$program-covered" covered read ;;
      managed) check "$tool-$program-memory" test \
        "$(sql "select count(*) from allocation where name = 'total' and size = 4")" = 1 ;;
      attributes) check "$tool-$program-covered" covered wide ;;
    esac
  done
done

# What has no PTX for this device runs as it is, and the report says why and what helps.
check foreign passes none foreign
check foreign-covered covered
check foreign-reason test "$(sql "select count(*) from kernel where name = 'of_tomorrow' and covered
  = 0 and reason like '%PTX only for compute_100, which does not fit%' and cure like
  '%-gencode arch=compute_90,code=compute_90%'")" = 1

loaded() {
  [ "$(grep -c '^==.* kernel alone: ' "$TEST_DIR/err")" = "$1" ] || { cat "$TEST_DIR/err"; return 1
    }
}
check lazy passes none eager
check lazy-loads loaded 0
CUDA_MODULE_LOADING=EAGER run none eager
check eager-loads loaded 1

# A driver that refuses our code: the program runs as it would without us, variables included.
WARPGRIND_CACHE_DIR=
export STANDIN_REFUSES=word
check refused passes none variables
check refused-covered covered alone text
check refused-reason test "$(sql "select count(*) from kernel where name in ('read', 'write') and
  covered = 0 and reason like
  'the driver''s compiler refuses it: %refused by the stand-in;%and again'")" = 2
check refused-libraries passes count libraries
STANDIN_REFUSES=.version
check refused-all passes count variables
check refused-all-covered covered
unset STANDIN_REFUSES
# One kernel of a linked program that is refused with checks in it stays as it is, alone.
for tool in memcheck all; do
  check "$tool-linked" passes $tool two_relocatable
  check "$tool-linked-covered" covered use_base use_triple
  export STANDIN_REFUSES_KERNEL=use_triple
  check "$tool-one-refused" passes $tool two_relocatable
  check "$tool-one-refused-covered" covered use_base
  check "$tool-one-refused-reason" test "$(sql "select count(*) from kernel where name =
    'use_triple' and covered = 0 and reason like
    '%with checks: Entry function ''use_triple'' with max regcount of 32%'")" = 1
  # a driver that asks for fewer registers again and again, a unit at a time, gets them
  STANDIN_REFUSES_TIMES=5 check "$tool-fewer-registers" passes $tool two_relocatable
  check "$tool-fewer-registers-covered" covered use_base use_triple
  unset STANDIN_REFUSES_KERNEL
done
STANDIN_SLOW_MS=2500 run none libraries
check slow grep -qE 'compiling kernel (read|alone) \.\.\.$' "$TEST_DIR/err"

# --- the cache ---
WARPGRIND_CACHE_DIR=$TEST_DIR/cache
rm -rf "$WARPGRIND_CACHE_DIR"
files() { find "$WARPGRIND_CACHE_DIR"/?? -type f | wc -l; }
from_cache() {
  passes none variables && [ "$(grep -c 'from the cache' "$TEST_DIR/err")" = "$1" ] ||
    { cat "$TEST_DIR/err"; return 1; }
}
check cache-cold from_cache 0
check cache-files test "$(files)" = 4                               # the index, and three pieces
check cache-warm from_cache 3
covered alone read text write > /dev/null && echo "ok cache-warm-covered" ||
  echo "FAIL cache-warm-covered"
for f in "$WARPGRIND_CACHE_DIR"/*/*.ptx; do
  printf X | dd of="$f" bs=1 seek=100 conv=notrunc 2> /dev/null
done
check cache-damaged from_cache 0
check cache-repaired from_cache 3
for f in "$WARPGRIND_CACHE_DIR"/??/*; do : > "$f"; done
check cache-emptied from_cache 0
check cache-with-a-tool passes count variables
linked_from_cache() {
  passes none relocatable && [ "$(grep -c 'from the cache' "$TEST_DIR/err")" = "$1" ] ||
    { cat "$TEST_DIR/err"; return 1; }
}
check cache-linked-cold linked_from_cache 0
check cache-linked-warm linked_from_cache 1
: > "$TEST_DIR/a-file"
WARPGRIND_CACHE_DIR=$TEST_DIR/a-file/cache
check cache-impossible from_cache 0
check cache-impossible-said has "$TEST_DIR/err" "the cache is not used"
WARPGRIND_CACHE_DIR=
check cache-off from_cache 0
WARPGRIND_CACHE_DIR=$TEST_DIR/small WARPGRIND_CACHE_LIMIT=1
mkdir -p "$WARPGRIND_CACHE_DIR/00"
for i in 1 2 3; do
  head -c 600000 /dev/zero > "$WARPGRIND_CACHE_DIR/00/old$i.ptx"
    touch -d "$i days ago" "$WARPGRIND_CACHE_DIR/00/old$i.ptx"
done
export WARPGRIND_CACHE_LIMIT
check cache-full from_cache 0
check cache-trimmed test ! -e "$WARPGRIND_CACHE_DIR/00/old3.ptx" -a -e \
  "$WARPGRIND_CACHE_DIR/00/old1.ptx"
