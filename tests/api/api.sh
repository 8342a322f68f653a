#!/usr/bin/env bash
# quick: yes
# timeout: 600
# tests/api/programs: CUDA calls that are wrong, and programs that do the same rightly. Programs in
# C use the driver's interface. They run on the virtual device and, with that in the role of the
# real driver, through GPU mode: what they find is the same. Programs in CUDA run on the virtual
# device only. TEST_DEVICE=gpu: all of them on a real GPU (gpu.sh).
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
devices=${TEST_DEVICE:-cpu gpu}
standin=$BUILD/tests/libcuda-standin.so
if [ -z "${TEST_DEVICE:-}" ]; then
  flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$standin" > \
    "$TEST_DIR/make.log" 2>&1 ||
    { cat "$TEST_DIR/make.log"; exit 1; }
  export WARPGRIND_REAL_DRIVER=$standin WARPGRIND_CACHE_DIR=$TEST_DIR/cache
fi

build_c() {
  # shellcheck disable=SC2086
  $CC -std=gnu11 -g -O1 -w $san -pthread -Isrc -Itests/driver -o "$2" "$1" -L"$BUILD/lib" \
    -l:libcuda.so.1 \
    -Wl,-rpath,"$BUILD/lib" || { echo "FAIL $name: does not compile"; return 1; }
}

one() {
  local device
  case $file in
    *.c) build_c "$file" "$d/program" || return ;;
    *.cu)
      command -v nvcc > /dev/null || { echo "skip $name: nvcc is not installed"; return; }
      build "$file" "$d/program" -g || return ;;
  esac
  for device in $devices; do
    case $file:$device:${TEST_DEVICE:-} in *.cu:gpu:) continue ;; esac
    run_tools "$d" memcheck
    judge "$name $device" "$file" "$d" memcheck
  done
}
programs tests/api/programs
