#!/usr/bin/env bash
# --launch-log: a line for every launch, on the virtual device and through GPU mode, with and
# without a tool.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
standin=$BUILD/tests/libcuda-standin.so
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$standin" > "$TEST_DIR/make.log" \
  2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -w $san -pthread -Isrc -Itests/driver -o "$TEST_DIR/logged" \
  tests/api/logged.c -L"$BUILD/lib" -l:libcuda.so.1 -Wl,-rpath,"$BUILD/lib" || { echo "FAIL build"
  exit 1; }
export WARPGRIND_REAL_DRIVER=$standin WARPGRIND_CACHE_DIR=$TEST_DIR/cache
here=$PWD
cd "$TEST_DIR" || exit 1

# Numbers that change from run to run replaced; the graph's runs carry a number on the virtual
# device only.
plain() { sed -E 's/^process [0-9]+ //; s/stream 0x[0-9a-f]+/stream S/; s/0x[0-9a-f]{9,} \(/P '\
'(/g; s/^graph runs launch( [0-9]+)? device/graph runs launch device/' "$1"; }
for device in cpu gpu; do
  for tool in none memcheck; do
    rm -f log.*
    check "ends_${device}_$tool" [ \
      "$(code "$WARPGRIND" --device=$device --tool=$tool --launch-log=log.%p ./logged)" = 0 ]
    plain log.[0-9]* > lines
    check "lines_${device}_$tool" diff -u "$here/tests/api/launch_log.expected" lines
  done
done
# The line is there before the kernel runs: this one never ends.
check killed [ "$(code timeout -s KILL 20 "$WARPGRIND" --device=cpu --tool=none --launch-log=last \
  ./logged die)" != 0 ]
check last_line grep -q ' launch 1 .*: last grid 1 1 1 ' last
check unwritable [ "$(code "$WARPGRIND" --device=cpu --tool=none --launch-log=no/such/folder \
  ./logged)" = 125 ]
check unwritable_said grep -q 'launch-log' err
