#!/usr/bin/env bash
# timeout: 600
# Every example about floating point is reported at its line, in both modes; its twin, and all
# examples about other things, are not.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip examples: nvcc is not on PATH"; exit 0; }
errors() { python3 -c 'import json,sys; print(*["%s:%d" % (f["kind"], (f.get("inlined_at") or
  [f])[-1]["line"]) for f in json.load(open(sys.argv[1]))["findings"] if f["severity"] !=
  "note"])' "$1"; }
bug() { grep -n "/\* bug:" "$1" | cut -d: -f1 | head -n 1; }
try_one() { # name, kinds at their lines
  local file=examples/${1%_ok}/$1.cu mode d=$TEST_DIR/$1
  mkdir -p "$d"
  # shellcheck disable=SC2086
  tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 ${TEST_NVCC:-} -o "$d/program" "$file" 2> \
    "$d/nvcc.log" || { cat "$d/nvcc.log"; echo "FAIL $1"; return; }
  for mode in full fast; do
    "$WARPGRIND" --device="$device" --tool=fpcheck --fp-mode=$mode --host-stacks=no -q \
      --json="$d/report.json" "$d/program" 100 > "$d/out" 2>&1
    # those are for full mode
    want=$2; [ $mode = full ] || want=$(echo " $2" | sed 's/ fp-subnormal:[0-9]*//; s/^ //')
    check "$1, $mode" is "$(errors "$d/report.json")" "$want"
  done
}
running=0
try() { # as many at a time as there are processors
  [ $((running++)) -lt "$(nproc)" ] || wait -n
  try_one "$@" > "$TEST_DIR/$1.said" 2>&1 &
}
at() { echo $(($(bug "examples/$1/$1.cu") + $2)); }
try triangle_normals "fp-div0:$(at triangle_normals 1) fp-nan:$(at triangle_normals 1)"
try masked_softmax "fp-nan:$(at masked_softmax 1)"
try gram_schmidt "fp-nan:$(at gram_schmidt 0)"
try half_variance "fp-inf:$(at half_variance 0)"
try likelihood "fp-subnormal:$(at likelihood 0) fp-inf:$(at likelihood 1)"
for file in examples/*/*.cu; do
  case $file in examples/interrupts/*) continue ;; esac  # they have tests of their own
  name=$(basename "$file" .cu)
  case $name in \
    triangle_normals|masked_softmax|gram_schmidt|half_variance|likelihood|endless_loop) ;;
    *) try "$name" "" ;; esac
done
wait
cat "$TEST_DIR"/*.said
