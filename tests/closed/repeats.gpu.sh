#!/usr/bin/env bash
# Launches of machine code that repeat a checked one, on the real GPU: what goes wrong in a later
# launch is found, correct twins are silent, most of their launches run without patches, and results
# are those without Warpgrind.
set -u
source=$(dirname "$0")/programs/repeats.cu program=$TEST_DIR/repeats
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
nvcc -gencode "arch=compute_$sm,code=sm_$sm" -o "$program" "$source" > "$TEST_DIR/nvcc" 2>&1 ||
  { echo "FAIL nvcc"; cat "$TEST_DIR/nvcc"; exit 1; }
run() {  # NAME OPTION ARGUMENTS…
  local name=$1 option=$2
  shift 2
  "$WARPGRIND" --device=gpu --tool=memcheck "$option" "$program" "$@" > "$TEST_DIR/$name.out" \
    2> "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
}
bad() { echo "FAIL $1: $2"; sed 's/^/  /' "$TEST_DIR/$1.log" | head -n 30; }
judge() {  # NAME EXIT_CODE PATTERN…
  local name=$1 code=$2 pattern
  shift 2
  [ "$(cat "$TEST_DIR/$name.code")" = "$code" ] ||
    { bad "$name" "exit code $(cat "$TEST_DIR/$name.code")"; return; }
  for pattern; do
    grep -qE -- "$pattern" "$TEST_DIR/$name.log" || { bad "$name" "lacks $pattern"; return; }
  done
  echo "ok $name"
}
repeated() { sed -n 's/.*(\([0-9]*\) repeat a checked one).*/\1/p' "$TEST_DIR/$1.log"; }

modes='data number smaller freed flag lists variable reset threads attribute graph'
for mode in $modes; do
  "$program" "$mode" ok > "$TEST_DIR/$mode.plain" &
  run "$mode" --closed=check "$mode" &
  run "$mode-ok" --closed=check "$mode" ok &
  wait
done
run always --closed=always number ok
for mode in $modes; do
  kind='oob-(read|write)'
  [ $mode = freed ] && kind=use-after-free
  judge $mode 99 "$kind" '100%'
  judge $mode-ok 0 'ERROR SUMMARY: 0 errors' 'coverage .memcheck.: .*100%'
  if cmp -s "$TEST_DIR/$mode.plain" "$TEST_DIR/$mode-ok.out"; then echo "ok $mode-same"
  else bad $mode-ok "prints $(cat "$TEST_DIR/$mode-ok.out"), plainly $(cat "$TEST_DIR/$mode.plain")"
  fi
done
# kernels that read indices from memory, or use a variable, are patched each time
for pair in data:0 number:40 smaller:40 flag:20 lists:40 variable:0 reset:80 threads:3000 \
  attribute:80 graph:200; do
  mode=${pair%:*} least=${pair#*:} got=$(repeated "$mode-ok")
  if [ "${got:-0}" -ge "$least" ] && { [ "$least" != 0 ] || [ "${got:-0}" = 0 ]; }; then
    echo "ok $mode-repeated"
  else bad "$mode-ok" "${got:-0} launches repeat a checked one, expected $least"; fi
done
if [ -z "$(repeated always)" ]; then echo "ok always"; else bad always "launches repeat others"; fi
