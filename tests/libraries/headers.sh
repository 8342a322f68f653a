#!/usr/bin/env bash
# Every function of the toolkit's headers is in its library's table (functions.def), and every
# function of the table is exported under each of the library's names. Those that are not served
# return the library's own "not supported" and are named once each.
# quick: yes
. tests/lib/check.sh
export LC_ALL=C  # one order of names
includes=
beside_nvcc=$(dirname "$(dirname "$(command -v nvcc)")")
for folder in "${CUDA_HOME:-}" "$beside_nvcc" /usr; do
  [ -n "$includes" ] || [ ! -e "$folder/include/cublas_v2.h" ] || includes=$folder/include
done
[ -n "$includes" ] || { echo "skip headers: CUDA's headers are not installed"; exit 0; }

table() { sed -n "s/^$1(\([A-Za-z0-9_]*\))$/\1/p" "src/libraries/$library/functions.def" | sort; }
declared() {  # what the library's headers declare, without the functions that they define
  for header in $headers; do
    printf '#include <cuda_runtime.h>\n#include <%s>\n' "$header" |
      "$CC" -E -I"$includes" -x c - 2> /dev/null
  done | grep -v '^#' | tr '\n' ' ' | sed 's/{[^{}]*}/\n/g; s/[;}]/\n/g' |
    grep -v 'static' | grep -oE "\b$prefix[A-Za-z0-9_]+ *\( *[^ *]" |
    sed 's/ *(.*//' | sort -u
}
all_declared() {
  [ -s "$TEST_DIR/declared" ] && ! comm -23 "$TEST_DIR/declared" "$TEST_DIR/table" | grep .
}
exports() {  # FILE: the names with its own version, as NVIDIA's has them
  nm -D --defined-only --with-symbol-versions "$1" | sed -n 's/^[0-9a-f]* [TW] //p' |
    grep "^$prefix" | sort > "$TEST_DIR/exported"
  sed "s/\$/@@$(basename "$1")/" "$TEST_DIR/table" | sort | diff - "$TEST_DIR/exported"
}
not_supported() {  # FILE STATUS
  { printf '#include <dlfcn.h>\n#include <stdio.h>\nstatic const char *names[] = {\n'
    sed 's/.*/"&",/' "$TEST_DIR/none"
    cat << END
};
int main(void) {
  void *library = dlopen("$(basename "$1")", RTLD_NOW);
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    for (int twice = 0; twice < 2; twice++) {
      int (*f)(void) = (int (*)(void))dlsym(library, names[i]);
      int status = f ? f() : -1;
      if (status != $2) printf("%s: status %d\n", names[i], status);
    }
  return 0;
}
END
  } > "$TEST_DIR/program.c"
  "$CC" -o "$TEST_DIR/program" "$TEST_DIR/program.c" -ldl || return 1
  "$WARPGRIND" --device=cpu --tool=none "$TEST_DIR/program" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  [ ! -s "$TEST_DIR/out" ] || { head "$TEST_DIR/out"; return 1; }
  grep -oE "$prefix[A-Za-z0-9_]+ is not supported" "$TEST_DIR/err" | sed 's/ .*//' | sort |
    diff "$TEST_DIR/none" -
}

while read -r library prefix status headers; do
  table API > "$TEST_DIR/served"
  table NONE > "$TEST_DIR/none"
  sort "$TEST_DIR/served" "$TEST_DIR/none" > "$TEST_DIR/table"
  declared > "$TEST_DIR/declared"
  check "${library}_has_all_of_the_headers" all_declared
  for file in "$BUILD/lib/cpu/lib$library".so.*; do
    check "$(basename "$file")_exports_its_table" exports "$file"
    [ ! -s "$TEST_DIR/none" ] ||
      check "$(basename "$file")_names_what_is_not_served" not_supported "$file" "$status"
  done
done << 'END'
cublas cublas 15 cublas_v2.h cublasXt.h cublas.h
cublasLt cublasLt 15 cublasLt.h
cufft cufft 16 cufft.h cufftXt.h
curand curand 204 curand.h
cusolver cusolver 9 cusolverDn.h cusolverSp.h cusolverRf.h cusolverSp_LOWLEVEL_PREVIEW.h
cusparse cusparse 10 cusparse.h
END
