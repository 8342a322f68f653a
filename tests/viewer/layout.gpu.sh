#!/usr/bin/env bash
# On a real GPU: where variables in shared and local memory lie in recorded accesses, and whether a
# recording made there has the tables that the page needs. VIEW_DEVICE=cpu tries the script itself.
set -u
cd "${ROOT:-$(dirname "$0")/../..}" || exit 1
BUILD=$(realpath -m "${BUILD:-build}")
WARPGRIND=${WARPGRIND:-$BUILD/warpgrind}
TEST_DIR=${TEST_DIR:-$BUILD/tests/viewer-layout}
mkdir -p "$TEST_DIR"
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip layout: nvcc is not installed"; exit 0; }
nvcc -w -g -O3 -lineinfo -Iinclude -arch=compute_75 -o "$TEST_DIR/truth" tests/viewer/truth.cu ||
  { echo "FAIL nvcc"; exit 1; }
run=$TEST_DIR/truth.wg
timeout 100 "$WARPGRIND" --device="${VIEW_DEVICE:-gpu}" --tool=memcheck,racecheck --record -q \
  --kernel-exclude=skipped -o "$run" "$TEST_DIR/truth" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
code=$?
[ $code = 99 ] || { tail -n 20 "$TEST_DIR/err"; echo "FAIL recording: $code"; exit 1; }
sql() { "$WARPGRIND" sql "$run" "$1" | tail -n +2; }
echo "variables, as the page places them:"
sql "select k.name, v.space, v.name, v.address, v.bytes from kernel_variable v join kernel k on
  k.id = v.kernel"
echo "accesses: launch, space, line, lowest and highest address, name and offset of the lowest:"
sql "select a.launch, a.space, p.line, min(a.address), max(a.address), min(a.buffer),
  min(a.offset) from access a left join place p on p.site = a.site and p.depth = 0 where
  a.space <> 'global' group by a.launch, a.space, a.site order by 1, 2, 4"
lowest() { sql "select min(address) from access where launch = $1 and space = '$2'"; }
check only_shared_variable test "$(lowest 7 shared)" = \
  "$(sql "select address from kernel_variable where name = 'last'")"
# Local memory begins elsewhere on a GPU; the array is placed by what was accessed.
check local_named test "$(sql "select min(buffer || ' ' || offset) from access where launch = 8 and
  space = 'local' and offset = 0")" = "a 0"
check shared_named test "$(sql "select buffer || ' ' || offset from access where launch = 6 and
  thread = 3 and kind = 'store' and space = 'shared' limit 1")" = "s 12"
check launch_use test "$(sql "select count(*) > 50 from launch_use")" = 1
check kernel_ptx test "$(sql "select count(*) > 10 from kernel_ptx")" = 1
check sources test "$(sql "select count(*) > 0 from source_text")" = 1
check counts test "$(sql "select count(*) from access where launch = 19")" = 40000
