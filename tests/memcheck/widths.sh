#!/usr/bin/env bash
# timeout: 300
# Index arithmetic of every width: what memcheck emits assembles, stays silent on good indices and
# finds one overrun. A line of the table is a name and the PTX that makes %rd9, an offset in bytes,
# of %r1, the thread's number.
set -u
cd "$ROOT" || exit 1
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
d=$TEST_DIR

forms() {
  sed ':a; /\\$/ { N; s/ *\\\n */ /; ba; }' << 'T'
wide_s cvt.s64.s32 %rd1, %r1; shl.b64 %rd9, %rd1, 2;
wide_u cvt.u64.u32 %rd1, %r1; shl.b64 %rd9, %rd1, 2;
low_half_s cvt.u64.u32 %rd1, %r1; add.s64 %rd2, %rd1, 0; cvt.s64.s32 %rd3, %rd2; \
  shl.b64 %rd9, %rd3, 2;
low_half_u mul.wide.u32 %rd1, %r1, 1; cvt.u64.u32 %rd3, %rd1; shl.b64 %rd9, %rd3, 2;
dirty_half_s cvt.u64.u32 %rd1, %r1; or.b64 %rd2, %rd1, 0x500000000; cvt.s64.s32 %rd3, %rd2; \
  shl.b64 %rd9, %rd3, 2;
dirty_half_u cvt.u64.u32 %rd1, %r1; or.b64 %rd2, %rd1, 0x500000000; cvt.u64.u32 %rd3, %rd2; \
  mul.lo.s64 %rd9, %rd3, 4;
low_quarter cvt.u64.u32 %rd1, %r1; or.b64 %rd2, %rd1, 0x70000; cvt.u64.u16 %rd3, %rd2; \
  shl.b64 %rd9, %rd3, 2;
low_quarter_s or.b32 %r2, %r1, 0x70000; cvt.s64.s16 %rd3, %r2; shl.b64 %rd9, %rd3, 2;
low_byte or.b32 %r2, %r1, 0x300; cvt.u64.u8 %rd3, %r2; shl.b64 %rd9, %rd3, 2;
narrowed cvt.u64.u32 %rd1, %r1; or.b64 %rd2, %rd1, 0x500000000; cvt.u32.u64 %r2, %rd2; \
  mul.wide.u32 %rd9, %r2, 4;
narrow_low cvt.u64.u32 %rd1, %r1; or.b64 %rd2, %rd1, 0x500000000; cvt.s32.s32 %r2, %rd2; \
  mul.wide.s32 %rd9, %r2, 4;
widened_result cvt.u32.u16 %rd1, %rs1; shl.b64 %rd9, %rd1, 2;
same_width cvt.s64.s32 %rd1, %r1; cvt.s64.s64 %rd2, %rd1; shl.b64 %rd9, %rd2, 2;
saturated cvt.sat.u64.s32 %rd1, %r1; shl.b64 %rd9, %rd1, 2;
mul_wide_s mul.wide.s32 %rd9, %r1, 4;
mul_wide_u mul.wide.u32 %rd9, %r1, 4;
mul_wide_16 mul.wide.u16 %r2, %rs1, 4; cvt.u64.u32 %rd9, %r2;
mul_wide_minus neg.s32 %r2, %r1; mul.wide.s32 %rd9, %r2, 4294967292;
mul_wide_parts mul.wide.u32 %rd1, %r1, -4; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2; \
  mul.wide.u32 %rd4, %r1, 1; shl.b64 %rd5, %rd4, 32; sub.s64 %rd9, %rd3, %rd5;
mad_wide mad.wide.s32 %rd9, %r1, 4, 0;
mad_lo cvt.u64.u32 %rd1, %r1; mad.lo.s64 %rd9, %rd1, 4, 0;
bfe_32 shl.b32 %r2, %r1, 5; bfe.u32 %r3, %r2, 5, 12; mul.wide.u32 %rd9, %r3, 4;
bfe_64 cvt.u64.u32 %rd1, %r1; shl.b64 %rd2, %rd1, 40; bfe.u64 %rd3, %rd2, 40, 12; \
  shl.b64 %rd9, %rd3, 2;
bfe_64_low cvt.u64.u32 %rd1, %r1; shl.b64 %rd2, %rd1, 20; bfe.s64 %rd3, %rd2, 20, 20; \
  cvt.s64.s32 %rd4, %rd3; shl.b64 %rd9, %rd4, 2;
bfi mov.u32 %r2, 0; bfi.b32 %r3, %r1, %r2, 2, 12; cvt.u64.u32 %rd9, %r3;
float_index cvt.rn.f32.u32 %f2, %r1; cvt.rzi.s64.f32 %rd1, %f2; cvt.s64.s32 %rd2, %rd1; \
  shl.b64 %rd9, %rd2, 2;
loop mov.u64 %rd1, 0; { Turn: cvt.s64.s32 %rd2, %rd1; shl.b64 %rd9, %rd2, 2; \
  add.s64 %rd7, %rd20, %rd9; ld.global.f32 %f3, [%rd7]; cvt.u64.u32 %rd3, %r1; \
  add.s64 %rd1, %rd1, 1; setp.le.u64 %p1, %rd1, %rd3; @%p1 bra Turn; }
loop_32 mov.u32 %r2, 0; { Turn: cvt.u64.u32 %rd2, %r2; cvt.u64.u32 %rd3, %rd2; \
  shl.b64 %rd9, %rd3, 2; add.s64 %rd7, %rd20, %rd9; ld.global.f32 %f3, [%rd7]; \
  add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1; @%p1 bra Turn; }
T
}

kernel() {       # NAME OFFSET CODE
  cat << P
.visible .entry $1(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 out) {
  .reg .b64 %rd<30>; .reg .b32 %r<10>; .reg .b16 %rs<4>; .reg .f32 %f<4>; .reg .pred %p<2>;
  ld.param.u64 %rd20, [a]; ld.param.u64 %rd21, [out];
  mov.u32 %r1, %tid.x; cvt.u16.u32 %rs1, %r1;
  $3
  add.s64 %rd22, %rd20, %rd9; ld.global.f32 %f1, [%rd22+$2];
  mul.wide.u32 %rd23, %r1, 4; add.s64 %rd24, %rd21, %rd23; st.global.f32 [%rd24], %f1; ret; }
P
}

# program THREADS: tests/lib/ptxhost.c's script and the kernels
program() {
  printf '//! buffer a f32 64 iota\n//! buffer out f32 128\n'
  { forms; echo far; echo near; } | while read -r name _; do echo "//! launch $name block=$1 a out"
    done
  printf '.version 7.0\n.target sm_70\n.address_size 64\n'
  forms | while read -r name code; do kernel "$name" 0 "$code"; done
  # Index 0xffffffff without a sign, and 4 bytes behind it: 16 GB away. With one: element 0.
  kernel far 4 "sub.u32 %r2, %r1, 1; mul.wide.u32 %rd9, %r2, 4;"
  kernel near 4 "sub.u32 %r2, %r1, 1; mul.wide.s32 %rd9, %r2, 4;"
}

# expected THREADS: of each kernel, how many reads are bad
expected() {
  forms | while read -r name code; do
    case $1$code in
      64*) ;;
      # the loop reads the last element, and the code behind it
      *Turn:*) echo "$name 2" ;;
      *) echo "$name 1" ;;
    esac
  done
  if [ "$1" = 64 ]; then echo far 1; else echo far 2; fi
  [ "$1" = 64 ] || echo near 1
}

check_program() {
  program "$1" > "$d/$1.ptx"
  expected "$1" | sort > "$d/want"
  "$WARPGRIND" --device=cpu --tool="$2" --json="$d/report.json" -- "$host" "$d/$1.ptx" > "$d/out" \
    2>&1
  python3 - "$d/report.json" << 'P' | sort > "$d/got"
import collections, json, sys
report, bad = json.load(open(sys.argv[1])), collections.Counter()
for f in report["findings"]:
    if f["kind"] == "oob-read": bad[f["kernel"]] += f["count"]
for name, count in bad.items(): print(name, count)
for k in report["coverage"].get("uncovered", []): print("not checked:", k)
P
  if diff "$d/want" "$d/got"; then
    echo "ok $2 with $1 threads"
  else
    echo "FAIL $2 with $1 threads"
  fi
}
check_program 64 memcheck
check_program 65 memcheck
check_program 65 memcheck,racecheck

for tools in memcheck memcheck,initcheck racecheck record; do
  command -v ptxas > /dev/null || { echo "skip $tools assembles: ptxas is not installed"; continue
    }
  "$WARPGRIND" ptx --tool=$tools "$d/64.ptx" > "$d/emitted.ptx" && ptxas -arch=sm_75 -o /dev/null \
    "$d/emitted.ptx" &&
    echo "ok $tools assembles" || echo "FAIL $tools assembles"
done
