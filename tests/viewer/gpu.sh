#!/usr/bin/env bash
# On a real GPU: a recording made there answers the questions of the page as one of the virtual
# device does. VIEW_DEVICE=cpu tries the script itself.
set -u
cd "${ROOT:-$(dirname "$0")/../..}" || exit 1
export VIEW_DEVICE=${VIEW_DEVICE:-gpu} CC=${CC:-gcc}
BUILD=$(realpath -m "${BUILD:-build}")
WARPGRIND=${WARPGRIND:-$BUILD/warpgrind}
TEST_DIR=${TEST_DIR:-$BUILD/tests/viewer-gpu}
mkdir -p "$TEST_DIR"
. tests/viewer/lib.sh
command -v nvcc > /dev/null || { echo "skip viewer: nvcc is not installed"; exit 0; }
record merge_sort --tool=memcheck,initcheck,racecheck || exit 0
"$WARPGRIND" view --static "$TEST_DIR/none/none" "$TEST_DIR/merge_sort.wg" > "$TEST_DIR/none.txt" \
  2>&1
if grep -q "built without" "$TEST_DIR/none.txt"; then
  echo "skip viewer: $(cat "$TEST_DIR/none.txt")"; exit 0
fi
serve "$TEST_DIR/merge_sort.wg" || exit 1
python3 tests/viewer/api.py "$URL"
end_server
