# How each kind of test is run: functions of tests/run, called in a shell of their own with
# TEST_FILE, TEST_DIR (an empty folder), TEST_NAME and BLESS set. Exit code 77 means skipped.

. tests/lib/annotations.sh

# Compares what the program printed, and its exit code, with what the test says.
judge() {
  local out=$1 code=$2 expected=${TEST_FILE%.*}.expected want
  want=$(setting exit)
  if [ "$code" != "${want:-0}" ]; then
    cat "$out" "$TEST_DIR/stderr" "$TEST_DIR/log"
    echo "exit code $code, expected ${want:-0}"
    return 1
  fi
  if [ "$BLESS" = 1 ] && [ -s "$out" ]; then
    cp "$out" "$expected"; echo "blessed $expected"
  fi
  if [ -e "$expected" ]; then
    diff -u "$expected" "$out" || { cat "$TEST_DIR/stderr" "$TEST_DIR/log"; return 1; }
  else
    local line missing=0
    while IFS= read -r line; do
      grep -qF -- "$line" "$out" || { echo "the output lacks: $line"; missing=1; }
    done < <(settings prints)
    [ $missing = 0 ] || { cat "$out" "$TEST_DIR/stderr" "$TEST_DIR/log"; return 1; }
  fi
}

# shellcheck disable=SC2046,SC2086
run_program() {
  local code
  # what Warpgrind says, and the PTX it keeps after a fault, go there
  touch "$TEST_DIR/log"
  "$WARPGRIND" --device="${TEST_DEVICE:-cpu}" --tool="${TEST_TOOL:-none}" -q \
    --log-file="$TEST_DIR/log" ${TEST_OPTIONS:-} $(setting options) -- "$@" $(setting args) > \
    "$TEST_DIR/stdout" 2> "$TEST_DIR/stderr"
  code=$?
  judge "$TEST_DIR/stdout" $code
}

step_script() { bash "$TEST_FILE"; }

# shellcheck disable=SC2046,SC2086
compile_c() {
  $CC -std=gnu11 -g -O1 -Wall -Isrc -Itests/lib -pthread $(setting cflags) -o "$1" "$TEST_FILE" \
    -L"$BUILD/lib" -l:libcuda.so.1 \
    -Wl,--allow-shlib-undefined -ldl -lm
}

step_c_program() {
  compile_c "$TEST_DIR/program" || return 1
  run_program "$TEST_DIR/program"
}

# Everything but the launch script is in the PTX file; see tests/lib/ptxhost.c.
step_ptx_kernel() { run_program "$(ptxhost)" "$TEST_FILE"; }

# The generic host program, compiled once and only when it has changed.
ptxhost() {
  local exe=$BUILD/tests/ptxhost
  if [ ! -e "$exe" ] || [ tests/lib/ptxhost.c -nt "$exe" ]; then
    mkdir -p "$BUILD/tests"
    $CC -std=gnu11 -g -O1 -Wall -o "$exe.$$" tests/lib/ptxhost.c -ldl -lm >&2 &&
      mv "$exe.$$" "$exe" || return 1
  fi
  echo "$exe"
}

# The bytes of a little-endian number.
little() {
  local i escapes=
  for ((i = 0; i < $2; i++)); do escapes+=$(printf '\\x%02x' $(($1 >> 8 * i & 255))); done
  printf '%b' "$escapes"
}

# A fatbin that holds one PTX text, uncompressed (docs/image.md has the layout).
make_fatbin() {
  local size
  size=$(($(stat -c %s "$1") + 1))
  little 0xBA55ED50 4; little 1 2; little 16 2; little $((size + 64)) 8
  little 1 2; little 0x101 2; little 64 4; little $size 8; little 0 8; little 0 2; little 7 2
    little 75 4; little 0 8
  little 0x11 8; little 0 8; little 0 8
  cat "$1"; printf '\0'
}

# nvcc is not here: clang compiles the host part against a header of our own, the kernels come from
# the kept PTX.
compile_with_clang() {
  make_fatbin "$2" > "$TEST_DIR/kernels.fatbin"
  clang -x cuda --cuda-host-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 \
    -Wno-unknown-cuda-version \
    -Xclang -target-sdk-version=11.0 -Xclang -fcuda-include-gpubinary -Xclang \
      "$TEST_DIR/kernels.fatbin" \
    -include tests/lib/minicuda.h -O1 -o "$1" "$TEST_FILE" -L"$BUILD/lib/cpu" -l:libcudart.so.13 -lm
}

# With nvcc the program itself. Without it the kept PTX, with a host part in C where there is one,
# or compiled by clang.
# shellcheck disable=SC2046,SC2086
step_cuda_program() {
  local name host ptx arch
  name=$(basename "${TEST_FILE%.cu}")
  # one host part serves an example and its correct twin
  host=$(dirname "$TEST_FILE")/${name%_ok}_host.c
  ptx=$(dirname "$TEST_FILE")/ptx/$name.ptx
  if command -v nvcc >/dev/null 2>&1; then
    arch=$(setting arch); arch=${arch:-compute_75}
    # as other tests compile the examples, which share the object
    tests/lib/nvcc -w -g -O3 -lineinfo -gencode "arch=$arch,code=$arch" -o "$TEST_DIR/$name" \
      $(setting nvcc) ${TEST_NVCC:-} "$TEST_FILE" || return 1
    run_program "$TEST_DIR/$name"
  elif [ -e "$host" ]; then
    $CC -std=gnu11 -g -O1 -Wall -o "$TEST_DIR/$name" "$host" -ldl -lm || return 1
    run_program "$TEST_DIR/$name" "$ptx"
  elif [ -e "$ptx" ] && command -v clang >/dev/null 2>&1; then
    compile_with_clang "$TEST_DIR/$name" "$ptx" || return 1
    run_program "$TEST_DIR/$name"
  else
    echo "nvcc is not installed, and no PTX is kept"
    return 77
  fi
}
