#!/usr/bin/env bash
# Programs that were linked against another version of CUDA find the libraries by their names and
# symbol versions; a function that is not served is named once, and returns "not supported".
# quick: yes
. tests/lib/check.sh
cat > "$TEST_DIR/program.c" << 'END'
#include <stdio.h>
int cublasCreate_v2(void **handle);
int cublasSetStream_v2(void *handle, void *stream);
int cublasDestroy_v2(void *handle);
int cublasUint8gemmBias(void);
int main(void) {
  void *handle = NULL;
  int create = cublasCreate_v2(&handle), set = cublasSetStream_v2(handle, NULL);
  int missing = cublasUint8gemmBias();
  cublasUint8gemmBias();
  printf("%d %d %d %d\n", create, set, missing, cublasDestroy_v2(handle));
  return 0;
}
END
for major in 12 13; do
  # A stub has the names and versions of the real library, and no code.
  printf 'int cublasCreate_v2, cublasSetStream_v2, cublasDestroy_v2, cublasUint8gemmBias;\n' |
    sed 's/int /void /; s/,/(void){} void/g; s/;/(void){}/' > "$TEST_DIR/stub.c"
  printf 'libcublas.so.%s { global: *; };\n' $major > "$TEST_DIR/stub.map"
  "$CC" -shared -fPIC -Wl,-soname,libcublas.so.$major -Wl,--version-script="$TEST_DIR/stub.map" \
    -o "$TEST_DIR/libstub$major.so" "$TEST_DIR/stub.c" || exit 1
  "$CC" -o "$TEST_DIR/program$major" "$TEST_DIR/program.c" "$TEST_DIR/libstub$major.so" || exit 1
  "$WARPGRIND" --device=cpu --tool=none "$TEST_DIR/program$major" > "$TEST_DIR/out" 2>&1
  check "runs_$major" has "$TEST_DIR/out" '0 0 15 0'
  check "names_missing_once_$major" [ "$(grep -c 'cublasUint8gemmBias is not supported' \
    "$TEST_DIR/out")" = 1 ]
done

# One function of each of the other libraries, under the numbers of CUDA 12 and 13.
for library in cublasLt.12:cublasLtCreate cublasLt.13:cublasLtCreate cufft.11:cufftCreate \
  cufft.12:cufftCreate curand.10:curandGetVersion cusolver.11:cusolverDnCreate \
  cusolver.12:cusolverDnCreate cusparse.12:cusparseCreate; do
  name=${library%%:*} function=${library#*:}
  soname=lib${name%.*}.so.${name#*.}
  printf 'void %s(void) {}\n' "$function" > "$TEST_DIR/stub.c"
  printf '%s { global: *; };\n' "$soname" > "$TEST_DIR/stub.map"
  "$CC" -shared -fPIC -Wl,-soname,"$soname" -Wl,--version-script="$TEST_DIR/stub.map" \
    -o "$TEST_DIR/libstub$name.so" "$TEST_DIR/stub.c" || exit 1
  printf 'int %s(void **);\nint main(void) { void *h; return %s(&h); }\n' "$function" \
    "$function" > "$TEST_DIR/program.c"
  "$CC" -o "$TEST_DIR/program$name" "$TEST_DIR/program.c" "$TEST_DIR/libstub$name.so" || exit 1
  check "creates_$name" "$WARPGRIND" --device=cpu --tool=none "$TEST_DIR/program$name"
done
