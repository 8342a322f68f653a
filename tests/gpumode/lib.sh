# For the tests of GPU mode on a machine without a GPU: the stand-in is the real driver. Folders of
# programs, all of which ran on the virtual device already, are repeated by a sixth (chosen of
# tests/lib/programs.sh); make check-long and make check-gpu run all.
. tests/lib/steps.sh
WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so
export WARPGRIND_REAL_DRIVER TEST_DEVICE=gpu TEST_SHARE=6 WARPGRIND_CACHE_DIR=$TEST_DIR/cache
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$WARPGRIND_REAL_DRIVER" > \
  "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }

# shared_runtime: programs find our libcudart, which the stand-in serves; nvcc is told to link it
shared_runtime() {
  flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
    "$BUILD/tests/cudart/libcudart.so.13" \
    > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
  export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    TEST_NVCC=-cudart=shared
}

# every_test STEP FILE…: each as it would run on the virtual device, but through the driver proxy
every_test() {
  local step=$1 file work=$TEST_DIR code
  shift
  for file in "$@"; do
    [ "$step" = c_program ] && [ -e "${file%.c}.sh" ] && continue
    TEST_FILE=$file TEST_DIR=$work/run
    rm -rf "$TEST_DIR"; mkdir -p "$TEST_DIR"
    "step_$step" > "$work/said" 2>&1; code=$?
    case $code in
      0) echo "ok $(basename "${file%.*}")" ;;
      77) echo "skip $(basename "${file%.*}"): $(tail -n 1 "$work/said")" ;;
      *) echo "FAIL $(basename "${file%.*}")"; sed 's/^/    /' "$work/said" ;;
    esac
  done
}
