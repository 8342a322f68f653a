#!/usr/bin/env bash
# timeout: 300
# Kernels of graphs: each execution is a launch of its own, on both devices.
set -u
. tests/record/common
make_show
RECORD_NVCC=-cudart=shared build graph || exit
want="00 01 01 0b 07 07 0b 0c 0c 16 07 07 16 17 17 21 07 07"
run="launch1 launch1 copy1 set1 launch1"
steps() { sql "$1" "SELECT group_concat(kind || recorded, ' ') FROM step"; }
values() { "$work/show" "$work/$1.wg" | awk '$2 == 3 { print substr($NF, 7) }' | tr '\n' ' '; }
record cpu graph cpu
check result test "$(cat "$work/cpu.out")" = 33
check executions test "$(values cpu)" = "$want "
check steps test "$(steps cpu)" = "set1 $run $run $run copy1"
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/libcuda-standin.so" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
LD_LIBRARY_PATH=$BUILD/tests/cudart WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so \
  WARPGRIND_CACHE_DIR=$work/cache record gpu graph standin
check standin-result test "$(cat "$work/standin.out")" = 33
check standin-executions test "$(values standin)" = "$want "
check standin-steps test "$(steps standin)" = "set1 $run $run $run copy1"
contents() { sql "$1" "SELECT group_concat(known || ' ' || value) FROM contents((SELECT max(id) FROM
  allocation WHERE kind = 'device'), (SELECT max(id) FROM step WHERE kind = 'set'), 48, 32)"; }
check standin-contents test "$(contents standin)" = "$(contents cpu)"
check standin-known test -n "$(contents standin | grep '^1 ')"
