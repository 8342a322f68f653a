#!/usr/bin/env bash
# Images of every kind: made by the test program itself, by the assembler, and by nvcc where there
# is one.
# timeout: 300
set -u
cd "$ROOT" || exit 1
failed=0
ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; failed=1; }

# --- the test program, with sanitizers: damaged images must be errors ---
# shellcheck disable=SC2046
if $CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -pthread -Isrc -I"$BUILD/gen" \
    -o "$TEST_DIR/image_test" tests/image/image_test.c $(ls src/image/*.c src/base/*.c) -lzstd \
      -llz4 -lrt; then
  ASAN_OPTIONS=detect_leaks=0 "$TEST_DIR/image_test" || failed=1
else
  fail build "the test program does not compile"
fi

# --- contains NAME OUTPUT PATTERN…: the listing has a line for each extended regular expression ---
contains() {
  local name=$1 output=$2 pattern
  shift 2
  for pattern in "$@"; do
    grep -qE -- "$pattern" <<< "$output" || { fail "$name" "no line matches: $pattern"
      echo "$output" | sed 's/^/    /'; return; }
  done
  ok "$name"
}
list() { "$WARPGRIND" image "$@" 2>&1; }

# --- host files made by the assembler: pointers in relocations, sections padded, for this and the
# other architecture ---
mkdir -p "$TEST_DIR/seeds"
"$TEST_DIR/image_test" "$TEST_DIR/seeds"
cat > "$TEST_DIR/host.c" <<'C'
struct Wrapper { int magic, version; const void *data, *extra; };
#define FATBIN(name, section) __asm__(".pushsection " section ",\"a\"\n.balign 256\n" #name ":\n" \
  ".incbin \"" SEED "\"\n.popsection\n"); extern const char name[]
FATBIN(linked, ".nv_fatbin");
FATBIN(whole, ".nv_fatbin");
FATBIN(object, "__nv_relfatbin");
struct Wrapper wrappers[] __attribute__((section(".nvFatBinSegment"))) = {
  {0x466243B1, 2, linked, 0}, {0x466243B1, 1, whole, 0}, {0x466243B1, 1, object, 0}};
C
for compiler in "$CC" x86_64-linux-gnu-gcc aarch64-linux-gnu-gcc; do
  name=${compiler%% *}; name=${name##*/}
  if [ "$compiler" != "$CC" ] && ! command -v "$compiler" > /dev/null; then continue; fi
  $compiler -fPIC -DSEED="\"$TEST_DIR/seeds/zstd\"" -c -o "$TEST_DIR/host.o" "$TEST_DIR/host.c" &&
    $compiler -shared -nostdlib -o "$TEST_DIR/host.so" "$TEST_DIR/host.o" ||
      { fail "host-$name" "cannot be built"; continue; }
  contains "object-file-$name" "$(list "$TEST_DIR/host.o")" 'host file, 9 entries' \
    'fatbin 1 .*made by the device linker' 'fatbin 2 at offset 0x[0-9a-f]+$' 'fatbin 3 .*-rdc=true'
  contains "shared-library-$name" "$(list "$TEST_DIR/host.so")" 'host file, 9 entries' \
    'fatbin 1 .*made by the device linker' 'fatbin 2 at offset 0x[0-9a-f]+$' 'fatbin 3 .*-rdc=true'
  rm -f "$TEST_DIR/lib.a"
  ar rcs "$TEST_DIR/lib.a" "$TEST_DIR/host.o"
  contains "static-library-$name" "$(list "$TEST_DIR/lib.a")" 'static library, 9 entries' \
    'fatbin 1 in host.o at .*made by the device linker'
done

# --- errors of the command ---
expect_error() {
  local name=$1 text=$2 output code
  shift 2
  output=$(list "$@"); code=$?
  if [ $code != 125 ]; then
    fail "$name" "exit code $code instead of 125"
  else
    contains "$name" "$output" "$text"
  fi
}
head -c 100 "$TEST_DIR/seeds/zstd" > "$TEST_DIR/short"
: > "$TEST_DIR/nothing"
expect_error error-truncated 'fatbin is truncated or damaged: it should be' "$TEST_DIR/short"
expect_error error-empty 'is empty' "$TEST_DIR/nothing"
expect_error error-missing 'No such file' "$TEST_DIR/not-there"
expect_error error-no-code 'holds no CUDA code' "$(type -P env)"

# --- what nvcc makes ---
if ! command -v nvcc > /dev/null; then
  echo "skip nvcc: nvcc is not installed"
  exit $failed
fi
cd "$TEST_DIR" || exit 1
cat > k.cu <<'C'
#include <cstdio>
__constant__ float table[16];
__managed__ int shared_with_host;
struct P { int a; double b; char c[20]; };
__global__ void __launch_bounds__(256, 2) scale(int n, float *y, P p) {
  __shared__ float s[128];
  s[threadIdx.x % 128] = y[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[n % 128] * table[n % 16] + (float)p.b;
}
__global__ void hello(int *out) { *out = shared_with_host; if (*out == 7) printf("seven\n"); }
#ifndef NO_MAIN
int main() { scale<<<1, 1>>>(0, 0, P()); hello<<<1, 1>>>(0); return 0; }
#endif
C
cat > part.cu <<'C'
__device__ int factor = 4;
__device__ int helper(int x) { return x * factor; }
C
cat > whole.cu <<'C'
extern __device__ int helper(int);
__global__ void rdc_kernel(int *o) { *o = helper(*o); }
int main() { rdc_kernel<<<1, 1>>>(0); return 0; }
C
nvcc_() { nvcc -Wno-deprecated-gpu-targets "$@" > nvcc.log 2>&1 || { cat nvcc.log; return 1; }; }
many="-gencode arch=compute_80,code=[sm_80,compute_80] -gencode "\
"arch=compute_90,code=[sm_90,compute_90] -gencode arch=compute_90a,code=[sm_90a,compute_90a]"
nvcc_ -ptx -arch=sm_90 k.cu -o k.ptx
contains nvcc-ptx "$(list k.ptx)" 'PTX text' 'PTX compute_90, ISA [0-9]+\.[0-9]' \
  'kernel _Z5scaleiPf1P' 'kernel _Z5helloPi'

# The PTX that comes out of a fatbin is the PTX that nvcc prints, but for comments and blanks.
plain() { sed 's#//.*##' "$1" | tr -d ' \t\n'; }
for mode in none size speed balance default; do
  # shellcheck disable=SC2086
  if ! nvcc_ -compress-mode=$mode -fatbin $many k.cu -o "$mode.fatbin"; then
    echo "skip nvcc-$mode: this nvcc does not have -compress-mode=$mode"; continue
  fi
  contains "nvcc-$mode" "$(list "$mode.fatbin")" 'fatbin, 6 entries' 'cubin sm_80' 'cubin sm_90,' \
    'cubin sm_90a' 'PTX compute_80' 'PTX compute_90,' 'PTX compute_90a'
  rm -rf out
  "$WARPGRIND" image --extract=out "$mode.fatbin" > extracted.log 2>&1
  same=0
  for f in out/*compute_90.ptx; do
    [ -e "$f" ] && [ "$(plain "$f")" = "$(plain k.ptx)" ] && same=1
  done
  [ $same = 1 ] && ok "nvcc-$mode-text" ||
    fail "nvcc-$mode-text" "the PTX of the fatbin is not that of nvcc -ptx"
done
contains nvcc-packing "$(list size.fatbin speed.fatbin none.fatbin)" 'PTX compute_90, .*, zstd' \
  'PTX compute_90, .*, LZ4' 'PTX compute_90, .*, raw' 'cubin sm_90, zstd' 'cubin sm_90, raw'
nvcc_ -fatbin -arch=sm_90 -lineinfo -maxrregcount=32 k.cu -o options.fatbin
contains nvcc-options "$(list options.fatbin)" 'options " ?-maxrregcount=32 ' 'source k.cu' \
  'lines: source lines, PTX lines' 'kernel _Z5helloPi: .* at most 32 registers'
nvcc_ -fatbin -arch=sm_90 -G k.cu -o debug.fatbin
contains nvcc-debug "$(list debug.fatbin)" 'PTX compute_90.*, debug' 'cubin sm_90.*, debug' \
  'variables \(-G\)'

# What ptxas says about each kernel is what the cubin holds.
nvcc_ -cubin -arch=sm_80 -Xptxas -v k.cu -o k.cubin
regs=$(sed -n '/entry function .*scale/,$s/.*Used \([0-9]*\) registers.*/\1/p' nvcc.log | head -n 1)
contains nvcc-cubin "$(list k.cubin)" 'cubin sm_80' "kernel _Z5scaleiPf1P: $regs registers, 512 "\
"bytes shared, .*parameters 56 bytes \(4@0 8@8 40@16\), at most 256x1x1" \
  'constant table: 64 bytes' 'global shared_with_host: 4 bytes, managed' 'calls vprintf' \
    'none \(build with -lineinfo\)'

nvcc_ -c -arch=sm_90 k.cu -o k.o
contains nvcc-object "$(list k.o)" 'host file, 2 entries' 'kernel _Z5helloPi'
for cudart in static shared; do
  nvcc_ -arch=sm_90 -cudart $cudart k.cu -o "k_$cudart" &&
    contains "nvcc-$cudart" "$(list "k_$cudart")" 'fatbin 1 .*made by the device linker' \
      'PTX compute_90' 'kernel _Z5scaleiPf1P'
done
nvcc_ -rdc=true -arch=sm_90 whole.cu part.cu -o rdc &&
  contains nvcc-rdc "$(list rdc)" 'fatbin 1 .*made by the device linker' 'fatbin 2 .*to be linked' \
    'fatbin 3 .*to be linked' 'kernel _Z10rdc_kernelPi' 'calls _Z6helperi'
nvcc_ -dlto -rdc=true -arch=sm_90 -c whole.cu -o lto.o && contains nvcc-dlto "$(list lto.o)" \
  'LTO-IR lto_90'
exit $failed
