#!/usr/bin/env bash
# timeout: 300
# docs/new-opcode.md, followed: the opcode parses, is verified, runs, and uninitialised bits reach
# its result.
set -u
cd "$ROOT" || exit 1
. tests/lib/lesson.sh
follow_lesson docs/new-opcode.md ptx/tables.o ptx/forms.o weave/code.o 'vgpu/exec/arith_bits*.o' ||
  { echo "FAIL build"; exit 1; }
echo "ok build"

cat > "$TEST_DIR/mux.ptx" << 'P'
//! buffer out u32 1 zero
//! launch mux grid=1 block=1 out
//! expect out[0] 0x12f4
.version 9.0
.target sm_75
.address_size 64
.visible .entry mux(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 0x1234;
  mov.u32 %r2, 0xfff0;
  mov.u32 %r3, 0xff0f;
  bitmux.b32 %r4, %r1, %r2, %r3;
  st.global.u32 [%rd1], %r4;
  ret;
}
P
"$tree/$tree_build/warpgrind" ptx "$TEST_DIR/mux.ptx" > "$TEST_DIR/printed" 2>&1 &&
  grep -q 'bitmux.b32' "$TEST_DIR/printed" && echo "ok parse" || { cat "$TEST_DIR/printed"
  echo "FAIL parse"; }
. tests/lib/steps.sh
host=$(ptxhost)
if "$tree/$tree_build/warpgrind" --device=cpu --tool=none -q "$host" "$TEST_DIR/mux.ptx" > \
  "$TEST_DIR/run.out" 2>&1; then echo "ok run"; else cat "$TEST_DIR/run.out"; echo "FAIL run"; fi

sed 's/bitmux.b32/bitmux.b64/' "$TEST_DIR/mux.ptx" > "$TEST_DIR/wrong.ptx"
if "$tree/$tree_build/warpgrind" ptx "$TEST_DIR/wrong.ptx" > "$TEST_DIR/printed" 2>&1; then
  echo "FAIL a form that is not there is taken"
else
  echo "ok form"
fi

# The same with an operand from memory that nobody wrote.
python3 - "$TEST_DIR/mux.ptx" "$TEST_DIR/uninitialised.ptx" << 'P'
import sys
text = open(sys.argv[1]).read()
text = text.replace('mov.u32 %r1, 0x1234;',
                    '.local .align 4 .b8 own[4];\n  ld.local.u32 %r1, [own];')
text = text.replace('st.global.u32 [%rd1], %r4;',
                    '.reg .pred %p1;\n  setp.gt.u32 %p1, %r4, 5;\n  @%p1 ret;')
open(sys.argv[2], 'w').write(text)
P
"$tree/$tree_build/warpgrind" --device=cpu --tool=initcheck "$host" "$TEST_DIR/uninitialised.ptx" \
  > "$TEST_DIR/init.out" 2>&1
if grep -q "uninitialised" "$TEST_DIR/init.out" && grep -q "ERROR SUMMARY: 1 error" \
  "$TEST_DIR/init.out"; then echo "ok initcheck"; else cat "$TEST_DIR/init.out"
  echo "FAIL initcheck"; fi
