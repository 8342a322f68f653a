#!/usr/bin/env bash
# quick: yes
# timeout: 600
# Every opcode with a validity rule: the code of shadow registers, the steps of regions and the
# device code that carries them out find the same uninitialised bits, bit for bit
# (tests/initcheck/rules/rules.c). RULES_SEED is the start of the random values; TEST_SIZE=long
# takes every form.
set -u
cd "$ROOT" || exit 1
forms=4; [ "${TEST_SIZE:-}" = long ] && forms=0
seed=${RULES_SEED:-1}
work=$TEST_DIR
. tests/gpumode/lib.sh
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wno-misleading-indentation -o "$work/rules" \
  tests/initcheck/rules/rules.c tests/semantics/forms.c -L"$BUILD/lib" \
  -l:libcuda.so.1 -Wl,--allow-shlib-undefined -ldl -lm || { echo "FAIL compile"; exit 1; }
# NAME DEVICE REGIONS
run() {
  WARPGRIND_REGIONS=$3 "$WARPGRIND" --device="$2" --workers=1 --tool=initcheck -q \
    --error-exitcode=0 --log-file="$work/$1.log" -- \
    "$work/rules" "$seed" $forms > "$work/$1" 2> "$work/$1.err"
  local code=$?
  [ $code = 0 ] && return
  tail -n 5 "$work/$1" "$work/$1.err" "$work/$1.log"; echo "FAIL $1: exit code $code"; exit 1
}
run registers cpu no
run registers_gpu gpu no
run steps gpu yes
tail -n 1 "$work/registers"
# Which kernels take the steps: most, or this test says little.
LD_LIBRARY_PATH=$BUILD/lib "$work/rules" "$seed" $forms ptx > "$work/rules.ptx" 2> "$work/no_form"
kernels=$(grep -c '^.visible .entry f' "$work/rules.ptx")
followed=$("$WARPGRIND" ptx --tool=initcheck "$work/rules.ptx" |
  awk '/\.entry/ { here = 1 } /mov.*wg_init_follow;/ && here { n++; here = 0 } END { print n + 0 }')
if [ -s "$work/no_form" ]; then cat "$work/no_form"
  echo "FAIL forms: an opcode with a rule has none"
elif [ "$followed" -lt $((kernels * 9 / 10)) ]
  then echo "FAIL forms: steps in $followed of $kernels kernels"
else echo "ok forms"; fi
if grep -E '^(unsound|depends)' "$work/registers" | head -n 20 | grep .; then
  echo "FAIL sound"
else
  echo "ok sound"
fi
for other in registers_gpu steps; do
  if cmp -s "$work/registers" "$work/$other"; then echo "ok $other"
  else diff "$work/registers" "$work/$other" | head -n 20
    echo "FAIL $other: other bits than the registers of the virtual device"; fi
done
