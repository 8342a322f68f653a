# Sourced by the scripts here: what they need, or why they cannot run.
[ -e "$BUILD/lib/libwarpgrind_opencl.so" ] ||
  { echo "skip opencl: built without the headers of OpenCL"; exit 0; }
printf 'int main(void){return 0;}' | $CC -x c -o "$TEST_DIR/empty" - -lOpenCL 2> /dev/null ||
  { echo "skip opencl: no libOpenCL.so to link with"; exit 0; }
compilers=$(ls /usr/bin/clang-1[7-9] /usr/bin/clang-2* 2> /dev/null)
ls /usr/lib/clc/nvptx64--nvidiacl.bc /usr/share/clc/nvptx64--nvidiacl.bc 2> /dev/null | grep -q . &&
  [ -n "$compilers" ] || { echo "skip opencl: no clang with libclc"; exit 0; }
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
export WARPGRIND_CACHE_DIR=$TEST_DIR/cache
# build SOURCE NAME
build() {
  # shellcheck disable=SC2086
  $CC -std=gnu11 -g -O1 -Wall $san -pthread -o "$TEST_DIR/$2" "$1" -lOpenCL -lm ||
    { echo "FAIL $2: does not compile"; exit 1; }
}
