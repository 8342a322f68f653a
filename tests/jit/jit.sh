# Sourced by the tests of this folder: skips where there is no compiler, and runs programs with and
# without it. Caches are in $TEST_DIR.
. tests/lib/check.sh
. tests/lib/steps.sh
if [ ! -x "$BUILD/lib/warpgrind-jit" ]; then
  echo "llvm-c/Core.h was missing when Warpgrind was built"
  exit 77
fi
if ! grep -qE '^flags.* avx2( |$)' /proc/cpuinfo && [ "$(uname -m)" = x86_64 ]; then
  echo "this CPU has no AVX2"
  exit 77
fi
export WARPGRIND_CACHE_DIR=$TEST_DIR/cache
# run MODE OPTION… -- PROGRAM…: what Warpgrind says is in $TEST_DIR/log.MODE
run() {
  local mode=$1; shift
  timeout 250 "$WARPGRIND" --device=cpu --tool=none -v --log-file="$TEST_DIR/log.$mode" \
    --jit="$mode" "$@"
}
compiled() { grep -c 'is compiled:' "$TEST_DIR/log.${1:-always}"; }
